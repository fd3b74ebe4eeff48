"""A learner's function as one text, with what it needs of the cells."""

import functools

import pytest

from workbook.exercises.answer import answer_in, cells_of, left_out
from workbook.exercises.catalogue import CourseError

PLAIN = "def answer(name):\n    # why\n    return name"


def run(cells, others=()):
    exec(answer_in(cells, "answer", others), space := {})
    return space["answer"]


@pytest.mark.parametrize(
    ("cells", "value"),
    [
        # Imports, constants, helpers and their helpers, below it in its cell as well.
        (["import math, json\nfrom collections import Counter as C\nTEN = 10",
          "def deeper(n): return math.floor(n)",
          "def helper(n): return deeper(n) + TEN",
          "def answer(n=1.5): return helper(n), C('aa')['a'], below\nbelow = 1"],
         (11, 2, 1)),
        # Names in nested functions, comprehensions, defaults, annotations and classes.
        (["from dataclasses import dataclass\nSIZE = 3\nimport re as r",
          "@dataclass\nclass Box:\n    size: int = SIZE",
          "def answer(box: Box = Box()):\n    def inner():\n"
          "        return [r.escape(x) for x in 'a.'][: box.size]\n    return inner()"],
         ["a", "\\."]),
        # The last definition before the last cell with the function.
        (["def h(): return 1", "def answer(): return 0", "def h(): return 2",
          "def answer(): return h()", "def h(): return 3"], 2),
        # Magics, cells that never ran, decorators.
        (["%matplotlib inline\ndef twice(f): return lambda: 2 * f()\nK = 1",
          "def oops(:", "!ls\n\0", "%%time\n@check\n@twice\ndef answer(): return K"],
         2),
        # What names nothing: it is always taken, from its own cell as well.
        (["from math import *\nimport re\nfrom __future__ import annotations",
          "def answer(x: Later = pi): return round(x), re.escape('.')"], (3, "\\.")),
        # A call for its effect, in its own cell; a name that is only declared global.
        (["TABLE = {}\ndef fill(t): t['a'] = 1\nN = 0\nfill(TABLE)\nprint(answer)\n"
          "def answer():\n    global N\n    N += 1\n    return TABLE, N"],
         ({"a": 1}, 1)),
        (["from math import *\nfrom __future__ import annotations\n"
          "def answer(x: Later = pi): return round(x)"], 3),
    ],
)  # fmt: skip
def test_what_is_needed_comes_along(cells, value):
    """a function has all that it uses, as it was when its cell ran"""
    assert run(cells)() == value


@pytest.mark.parametrize(
    "cell",
    [
        "@check\n{}",
        "@workbook.check\n{}",
        "{}\nanswer = check(answer)",
        "{}\nworkbook.check(function=answer)",
        "import os\nprint(1)\n{}\nfor name in 'ab':\n    print(answer(name))",
    ],
)
def test_what_is_not_needed_stays(cell):
    """checks, prints and trials of the function are left; its comments are not"""
    assert answer_in(["noise = [1]", cell.format(PLAIN)], "answer") == f"{PLAIN}\n"


def test_another_exercise_becomes_a_part():
    """a name that is another exercise's is asked for by name, unless it is its own"""
    cells = ["def other(): return 1", "def answer(): return other()"]
    assert answer_in(cells, "answer", {"other"}) == (
        "from workbook.exercises.your_agent import part\n"
        'other = part("other")\n\n\ndef answer(): return other()\n'
    )
    assert run(["\n".join(cells)], {"other"})() == 1


@pytest.mark.parametrize(
    ("table", "change", "value"),
    [
        ("TABLE = [1]", "TABLE.append(2)", [1, 2]),
        ("TABLE = {}", "TABLE['x'] = 1", {"x": 1}),
        ("TABLE = {'x': 1}", "del TABLE['x']", {}),
        ("TABLE = [1]", "TABLE += [2]", [1, 2]),
        ("TABLE = [1]", "TABLE = TABLE + [2]", [1, 2]),
        ("TABLE = [1]", "import os; TABLE += [2]", [1, 2]),
        ("TABLE = 1", "for n in range(3):\n    TABLE += n", 4),
        ("TABLE = {'x': [1]}", "last = TABLE['x'].pop()", {"x": []}),
        ("TABLE = []", "for n in range(3):\n    TABLE.append(n)", [0, 1, 2]),
        ("class TABLE: x = 1", "TABLE.x = 2", 2),
    ],
)
def test_a_change_is_taken_with_its_cell_and_refused_in_another(table, change, value):
    """a line that changes what is used comes along, or the message says where to put it

    In a kernel, too, where the old cells are still known.
    """
    cells = [table, change, "def answer(): return TABLE"]
    with pytest.raises(CourseError) as info:
        answer_in(cells, "answer")
    line = change.rpartition("; ")[2].splitlines()[0]
    assert str(info.value) == (
        f"answer uses TABLE, and `{line}` changes it in an earlier cell."
        " Put TABLE and that line into the cell of `def answer`."
    )
    found = run([*cells, "\n".join(cells)])()
    assert getattr(found, "x", found) == value
    assert answer_in([*cells[:2], PLAIN], "answer") == f"{PLAIN}\n"


def test_calls_of_earlier_cells_that_may_change_what_is_used_are_known():
    """a call on a value that the function uses is not run, and can be told"""
    cells = ["TABLE = []\ndef fill(t): t.append(1)", "fill(TABLE)\nprint(TABLE)\nTABLE"]
    cells += ["other = fill([])\nfill(other)", "def answer(): return fill, TABLE"]
    assert left_out(cells, "answer") == ["fill(TABLE)"]
    assert run(cells)()[1] == []


def test_what_cannot_be_written_down_is_refused(cell):
    """a function without source, or over a live object, is told what to do"""
    assert cells_of(functools.cache(cell(PLAIN))) == [PLAIN]
    live = object()

    def answer():
        return live

    with pytest.raises(CourseError, match="uses variables of the function around it"):
        cells_of(answer)
    exec("def answer(): return 1", space := {})
    for function in (space["answer"], len):
        with pytest.raises(CourseError, match=r"no source .*Write `def \w+` in"):
            cells_of(function)
    with pytest.raises(LookupError, match="no cell defines answer"):
        answer_in(["answer = 3", "answer = lambda: 3"], "answer")
