"""What a function needs of the cells of a notebook, and nothing else."""

import pytest

from workbook.exercises.source import self_contained


def run(cells, slug="answer", others=()):
    namespace = {}
    exec(self_contained(cells, slug, others), namespace)
    return namespace[slug]


def test_imports_constants_and_helpers_come_along():
    """imports, constants, helpers and their helpers are taken along"""
    cells = [
        "import math, json\nfrom collections import Counter as C\nTEN = 10",
        "def deeper(n):\n    return math.floor(n)",
        "def helper(n):\n    return deeper(n) + TEN",
        "def answer(n):\n    return helper(n), C('aa')['a']",
    ]
    assert run(cells)(1.5) == (11, 2)


def test_what_is_not_needed_stays():
    """what a function does not use is left, loops and prints with it"""
    text = self_contained(
        [
            "import os\nfor name in 'ab': print(name)\nnoise = [1]",
            "print(1)\ndef answer(name):\n    return name\nanswer = check(answer)",
        ],
        "answer",
        (),
    )
    assert text == "def answer(name):\n    return name\n"


def test_the_last_definition_before_the_answer_counts():
    """a helper that was written again counts as it was when the answer's cell ran"""
    cells = [
        "def helper(): return 1",
        "def helper(): return 2",
        "def answer(): return helper()",
        "def helper(): return 3",
    ]
    assert run(cells)() == 2


def test_a_helper_below_the_answer_in_its_cell():
    """a helper may stand below the answer, in its cell"""
    assert run(["def answer(): return helper()\ndef helper(): return 5"])() == 5


def test_magics_and_broken_cells_are_passed_over():
    """magics are no Python, and a cell that never ran is no source"""
    cells = [
        "%matplotlib inline\nK = 1",
        "def oops(:",
        "@check\ndef answer(): return K",
    ]
    assert run(cells)() == 1


def test_comments_of_the_answer_are_kept():
    """the file shows what the learner wrote, comments too"""
    text = self_contained(["def answer():\n    # why\n    return 1"], "answer", ())
    assert "    # why" in text


def test_another_exercise_becomes_a_part():
    """a name that is another exercise's is asked for by name, unless it is its own"""
    cells = ["def other(): return 1", "def answer(): return other()"]
    assert 'other = part("other")' in self_contained(cells, "answer", {"other"})
    own = ["def other(): return 1\ndef answer(): return other()"]
    assert run(own, others={"other"})() == 1


def test_nested_and_class_names():
    """names in nested functions, classes, comprehensions and annotations are found"""
    cells = [
        "from dataclasses import dataclass\nSIZE = 3\nimport re as r",
        "@dataclass\nclass Box:\n    size: int = SIZE",
        "def answer(box: Box = Box()):\n"
        "    def inner():\n        return [r.escape(x) for x in 'a.'][: box.size]\n"
        "    return inner()",
    ]
    assert run(cells)() == ["a", "\\."]


def test_a_name_that_no_cell_defines():
    """without a definition there is nothing to keep"""
    with pytest.raises(LookupError, match="no cell defines answer"):
        self_contained(["answer = 3"], "answer", ())


def test_future_imports_come_first():
    """`from __future__` stays the first statement"""
    cells = ["import re\nfrom __future__ import annotations", "def answer(): return re"]
    assert run(cells)().__name__ == "re"
