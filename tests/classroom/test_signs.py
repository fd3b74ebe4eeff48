"""Signs on answers: what a person should look at, and what nobody should cry over."""

import ast

import nbformat
import pytest

from tests.notebooks.test_lessons import solved
from workbook.classroom.results import Graded, Paper
from workbook.classroom.signs import SAME_AS, with_signs
from workbook.exercises.catalogue import exercises, lessons
from workbook.exercises.check import source_with_helpers
from workbook.exercises.report import Outcome, Report

SLUG, LESSON = "find_cycle", "06_guardrails"
# Long enough not to be written twice by chance, and neither our way nor the hint's.
HONEST = """\
def find_cycle(calls):
    best = None
    for size in range(1, len(calls) // 2 + 1):
        piece = calls[-size:]
        times, at = 1, len(calls) - 2 * size
        while at >= 0 and calls[at : at + size] == piece:
            times, at = times + 1, at - size
        if times > 1 and best is None:
            best = (size, times)
        elif times > 1 and size * times > best[0] * best[1]:
            best = (size, times)
    return best
"""
RENAMED = """\
def find_cycle(history: list) -> tuple:
    '''Mine, all of it.'''
    found = None  # nothing yet
    for n in range(1, len(history) // 2 + 1):
        tail = history[-n:]
        k, i = 1, len(history) - 2 * n
        while i >= 0 and history[i : i + n] == tail:
            k, i = k + 1, i - n
        if k > 1 and found is None:
            found = (n, k)
        elif k > 1 and n * k > found[0] * found[1]:
            found = (n, k)
    return found
"""


def notebook(cells, ran=True):
    """Return the text of a notebook of these cells, the first of them its setup."""
    book = nbformat.v4.new_notebook()
    for number, source in enumerate(["from workbook import check", *cells], start=1):
        tags = ["setup"] if number == 1 else ["exercise"]
        cell = nbformat.v4.new_code_cell(source, metadata={"tags": tags})
        cell.execution_count = number if ran else None
        book.cells.append(cell)
    return nbformat.writes(book)


def paper(learner, *slugs, outcome=Outcome.PASSED):
    graded = [Graded(slug, Report(slug, outcome, 1, 1)) for slug in slugs]
    return Paper(learner, "a.ipynb", graded=tuple(graded))


def signs_of(*answers, outcome=Outcome.PASSED, ran=True):
    """Return the signs on each learner's answer: a cell, or a list of cells."""
    cells = [[each] if isinstance(each, str) else each for each in answers]
    texts = [notebook(each, ran) for each in cells]
    papers = [paper(f"l{n}", SLUG, outcome=outcome) for n in range(len(texts))]
    return [each.graded[0].signs for each in with_signs(papers, texts)]


def wrapped(body, above=""):
    return f"{above}\ndef find_cycle(calls):\n    {body}\n"


HOME = "workbook.guardrails.stuck"


@pytest.mark.parametrize(
    "cell",
    [
        wrapped("return ours(calls)", f"from {HOME} import find_cycle as ours"),
        wrapped(f"from {HOME} import find_cycle as f\n    return f(calls)"),
        wrapped("return stuck.find_cycle(calls)", f"from {HOME[:-6]} import stuck"),
        wrapped(f"return {HOME}.find_cycle(calls)", f"import {HOME}"),
        wrapped("return f(calls)", f"from {HOME} import find_cycle\nf = find_cycle"),
        wrapped("...") + f"from {HOME} import find_cycle\n",
        wrapped("return yours('find_cycle')(calls)", "from workbook import yours"),
        wrapped("return w.yours('find_cycle')(calls)", "import workbook as w"),
        wrapped(
            "return exercises()['find_cycle'].function()(calls)",
            "from workbook.exercises.catalogue import exercises",
        ),
        wrapped("return getattr(s, 'find_' + 'cycle')(calls)", f"import {HOME} as s"),
        wrapped(f"import importlib\n    return importlib.import_module('{HOME}')"),
        wrapped(f"exec('from {HOME} import find_cycle as f')\n    return f(calls)"),
        ["f = find_cycle", wrapped("return f(calls)")],
        [
            "from workbook.exercises.catalogue import exercises as them",
            wrapped("...") + "find_cycle = them()['find_cycle'].function()\n",
        ],
        [wrapped("..."), f"import {HOME} as s\nfind_cycle = check(s.find_cycle)"],
    ],
)
def test_an_answer_that_calls_ours(cell):
    """whatever way an answer takes to the package's own function, a sign says so"""
    (signs,) = signs_of(cell)
    assert signs


@pytest.mark.parametrize(
    ("cell", "word"),
    [
        ("import gc\n" + HONEST, "gc"),
        (wrapped("return sys._getframe(1).f_locals", "import sys"), "_getframe"),
        (wrapped("return inspect.stack()", "import inspect"), "inspect"),
        (wrapped("os._exit(0)", "import os"), "_exit"),
        ("from unittest.mock import ANY\n" + wrapped("return ANY"), "mock"),
        ("import builtins\nbuiltins.len = lambda x: 0\n" + HONEST, "builtins.len"),
        ("import os\nos.environ['CI'] = ''\n" + HONEST, "environ"),
        (
            "from workbook.loop import Action\nAction.__eq__ = lambda *a: 1\n" + HONEST,
            "Action.__eq__",
        ),
        (["from workbook.loop import Action as A", "A.run = 1\n" + HONEST], "A.run"),
        (wrapped("return open('../tests/guardrails/test_stuck.py')"), "tests/"),
        (wrapped("return eval(calls[0])"), "eval"),
        ("%%time\nimport gc\n!ls\n" + HONEST, "gc"),
        (
            "class X(str):\n    def __eq__(s, o):\n        return True\n" + HONEST,
            "__eq",
        ),
        ("x = '" + "x" * 60_000 + "'\n" + HONEST, "too long"),
        ("import gc\n" + HONEST + "def broken(:", ""),
    ],
)
def test_an_answer_that_pries(cell, word):
    """an answer that looks at the grader, or changes what it uses, has a sign"""
    (signs,) = signs_of(cell)
    assert any(word in sign for sign in signs) or not word


def test_a_setup_of_ones_own_is_looked_at():
    """what is run before the answers can spoil them, too"""
    book = nbformat.reads(notebook([HONEST]), as_version=4)
    book.cells[0].source = "import ctypes"
    (found,) = with_signs([paper("ann", SLUG)], [nbformat.writes(book)])
    assert "ctypes" in found.graded[0].signs[0]


def test_the_same_under_other_names():
    """an answer that is another's but for names, types and comments names the other"""
    signs = signs_of(HONEST, RENAMED, HONEST.replace("best[0] *", "best[0] +"))
    assert [[s.partition(",")[0] for s in each] for each in signs] == [
        [f"{SAME_AS}l1"], [f"{SAME_AS}l0"], [],
    ]  # fmt: skip


def test_of_many_who_wrote_the_same_some_are_named():
    """a class that handed in one answer does not fill the cell with names"""
    signs = signs_of(*[HONEST] * 10)
    assert all("and 6 more" in each[0] for each in signs)


def test_wrong_in_the_same_way_is_a_sign_and_an_untouched_stub_is_none():
    """what nobody has attempted is nobody's"""
    assert all(signs_of(HONEST, HONEST, outcome=Outcome.WRONG))
    assert not any(signs_of(HONEST, HONEST, outcome=Outcome.NOT_ATTEMPTED))


def test_one_learners_two_notebooks_are_not_compared():
    """who hands in the same twice is not like anybody else"""
    texts = [notebook([HONEST])] * 2
    found = with_signs([paper("ann", SLUG)] * 2, texts)
    assert [each.graded[0].signs for each in found] == [(), ()]


def test_a_notebook_that_nobody_ran():
    """an answer that passes, in a notebook that never ran, is a sign among others"""
    texts = [notebook([HONEST], ran=number > 0) for number in range(3)]
    papers = [paper("ann", SLUG) for _ in texts]
    found = [each.graded[0].signs for each in with_signs(papers, texts)]
    assert ["never run" in "".join(signs) for signs in found] == [True, False, False]


def test_a_class_that_clears_its_outputs_is_not_accused():
    """where it is usual to clear the outputs, that says nothing of anybody"""
    assert signs_of(HONEST, "x = 1\n" + wrapped("..."), ran=False) == [(), ()]


def test_a_stub_that_passes():
    """a cell that is as it ships, and passes all the same, has a sign"""
    book = nbformat.read(lessons()[LESSON].notebook, as_version=4)
    (found,) = with_signs([paper("ann", SLUG)], [nbformat.writes(book)])
    assert "as it ships" in found.graded[0].signs[0]


@pytest.mark.parametrize("text", ["", "{", '{"cells": []}', notebook(["\x00def f("])])
def test_what_cannot_be_read_has_no_sign_and_does_no_harm(text):
    """a text that Python or the notebook's format refuses ends nothing"""
    (found,) = with_signs([paper("ann", SLUG)], [text])
    assert found.graded[0].slug == SLUG


def test_a_text_that_nests_without_end_does_no_harm():
    """an answer that breaks Python's own parser is survived"""
    deep = "x = " + "(" * 9000 + ")" * 9000 + "\n"
    (signs,) = signs_of(deep + HONEST)
    assert not any("same" in sign for sign in signs)


def honest_class():
    """Four who solved every lesson: as the suite does, as ours is, in the stub."""
    for lesson in lessons():
        slugs = [e.slug for e in exercises().values() if e.lesson == lesson]
        path = lessons()[lesson].notebook
        books = [nbformat.read(path, as_version=4) for _ in range(3)]
        solved(books[0], lesson)
        for slug in slugs:
            ours = source_with_helpers(exercises()[slug].function())
            in_stub = ast.parse(ours)
            for book in books[1:]:
                cell = cell_of(book, slug)
                (stub,) = [n for n in ast.parse(cell.source).body if is_def(n, slug)]
                if book is books[2]:
                    stub.body = in_stub.body[-1].body
                    in_stub.body[-1] = stub
                cell.source = ours if book is books[1] else ast.unparse(in_stub)
                cell.source += f"\n\n{slug} = check({slug})"
        for learner, book in zip("abcd", [*books, books[1]], strict=True):
            for number, cell in enumerate(book.cells):
                cell.execution_count = number + 1
            yield paper(learner, *slugs), nbformat.writes(book)


def is_def(node, slug):
    return isinstance(node, ast.FunctionDef) and node.name == slug


def cell_of(book, slug):
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    (cell,) = [cell for cell in cells if f"def {slug}(" in cell.source]
    return cell


@pytest.mark.in_ci
def test_an_honest_class_has_no_sign():
    """every exercise, solved as the package solves it, raises no alarm"""
    papers = with_signs(*zip(*honest_class(), strict=True))
    found = [(g.slug, g.signs) for each in papers for g in each.graded]
    assert len(found) == 4 * len(exercises())
    assert [each for each in found if each[1]] == []
