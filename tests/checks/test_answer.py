"""A learner's function as one text, with what it needs of the cells."""

import functools

import pytest

from workbook.checks.answer import answer_in, cells_of
from workbook.checks.catalogue import CourseError

PLAIN = "def answer(name):\n    # why\n    return name"


def run(cells):
    exec(answer_in(cells, "answer"), space := {})
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
        # What names nothing: it is always taken, from its own cell as well.
        (["from math import *\nimport re\nfrom __future__ import annotations",
          "def answer(x: Later = pi): return round(x), re.escape('.')"], (3, "\\.")),
        # A call for its effect, in its own cell; a name that is only declared global.
        (["TABLE = {}\ndef fill(t): t['a'] = 1\nN = 0\nfill(TABLE)\nprint(answer)\n"
          "def answer():\n    global N\n    N += 1\n    return TABLE, N"],
         ({"a": 1}, 1)),
    ],
)  # fmt: skip
def test_what_is_needed_comes_along(cells, value):
    """a function has all that it uses, as it was when its cell ran"""
    assert run(cells)() == value


@pytest.mark.parametrize(
    "last",
    [
        "%matplotlib inline\n!ls\n?os\ndef answer(): return 2",
        "%%time\n@check\ndef answer(): return 2",
        "\n\n%%time\n%%capture --no-stderr\n\ndef answer(): return 2",
        ">>> def answer():\n...     return 2",
    ],
)
def test_cells_are_read_as_the_notebook_runs_them(last):
    """magics and pasted prompts are read; what runs elsewhere is no answer

    Of https://github.com/ipython/ipython/issues/15312 and its kind.
    """
    elsewhere = ["%%script bash\n", "%%writefile a.py\n", "\n%%html\n", "!ls\n\0"]
    others = [f"{each}def answer(): return 3" for each in elsewhere]
    assert run(["def answer(): return 1", last, *others])() == 2


@pytest.mark.parametrize(
    "cell",
    [
        "@check\n{}",
        "{}\nanswer = workbook.check(answer)",
        "import os\nprint(1)\n{}\nfor name in 'ab':\n    print(answer(name))",
    ],
)
def test_what_is_not_needed_stays(cell):
    """checks, prints and trials of the function are left; its comments are not"""
    uses = ["import math", "print(math.sqrt(1 / 0))", "def answer(): return math.pi"]
    assert run(uses)() > 3
    assert answer_in(["noise = [1]", cell.format(PLAIN)], "answer") == f"{PLAIN}\n"


def test_another_exercise_becomes_a_part():
    """a name that is another exercise's is asked for by name, unless it is its own"""
    cells = ["def who_writes(): return 1", "def answer(): return who_writes()"]
    assert answer_in(cells, "answer") == (
        "from workbook.checks.parts import part\n"
        'who_writes = part("who_writes")\n\n\ndef answer(): return who_writes()\n'
    )
    assert run(["\n".join(cells)])() == 1


@pytest.mark.parametrize(
    ("table", "change", "value"),
    [
        ("TABLE = [1]", "TABLE.append(2)", [1, 2]),
        ("TABLE = {'x': 1}", "del TABLE['x']", {}),
        ("TABLE = [1]", "TABLE += [2]", [1, 2]),
        ("TABLE = [1]", "TABLE = TABLE + [2]", [1, 2]),
        ("TABLE = {'x': [1]}", "last = TABLE['x'].pop()", {"x": []}),
        ("class TABLE: x = 1", "TABLE.x = 2", 2),
    ],
)
def test_a_line_that_changes_what_is_used_comes_along(table, change, value):
    """a value is as the cells left it, in its own cell and in another"""
    cells = ["TABLE = 'old'", table, change, "def answer(): return TABLE"]
    for each in (cells, ["\n".join(cells)]):
        found = run(each)()
        assert getattr(found, "x", found) == value
    assert answer_in([*cells[:3], PLAIN], "answer") == f"{PLAIN}\n"


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("def answer(x)\n    return x", "SyntaxError: expected ':' in line 1"),
        ("\n\nx = 1\ndef answer(x):\n  return (x", "in line 5 of its cell: return (x"),
    ],
)
def test_a_cell_that_is_no_python_is_no_missing_answer(cell, words):
    """a syntax error in the cell of an answer is reported with its line"""
    with pytest.raises(CourseError) as info:
        answer_in(["def answer(): return 1", cell], "answer")
    assert words in str(info.value)
    assert run(["def answer(: return 1", "def answer(): return 2"])() == 2


def test_what_cannot_be_written_down_is_refused(cell):
    """a function without source, or over a live object, gets a message what to do"""
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
