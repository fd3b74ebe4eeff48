"""A submission and its paper: what comes back, whatever is in the notebook."""

import pytest

from tests.classroom.texts import Notebook
from workbook.classroom import judge as judging
from workbook.classroom.judge import judge
from workbook.classroom.results import PAPER, Submission
from workbook.exercises.report import Outcome

HALF = "def who_writes(label):\n    return chr(0xD800)\n"
RIGHT = "def count_tokens_sent(first, growth, turns):\n" + (
    "    if min(first, growth, turns) < 0:\n"
    "        raise ValueError(turns)\n"
    "    return turns * first + growth * turns * (turns - 1) // 2\n"
)
OWN = '''
def test_it_is_german(who_writes):
    """it answers in German"""
    assert who_writes("Thought") == "Modell"


def test_it_is_text(who_writes):
    """it answers in words"""
    assert isinstance(who_writes("Thought"), str)
'''


def submission(*cells):
    setup = ("from workbook import check", ["setup"])
    book = Notebook("a", "", {}, [setup, *((cell, ["exercise"]) for cell in cells)])
    return Submission("ann", "mine.ipynb", book.as_json(), "a note", "2026-01-01")


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    """The paper of a notebook with a strange answer and a right one, and own tests."""
    hidden = tmp_path_factory.mktemp("hidden")
    (hidden / "test_german.py").write_text(OWN)
    (hidden / "test_of_nothing.py").write_text("def test_it(): assert False")
    return judge(submission(HALF, RIGHT), hidden)


def test_half_a_character_costs_nobody_a_notebook(paper):
    """what cannot be written as text is one wrong answer; the others keep theirs"""
    found = {graded.slug: graded.report.outcome for graded in paper.graded}
    assert found == {
        "who_writes": Outcome.WRONG,
        "count_tokens_sent": Outcome.PASSED,
    }
    assert PAPER.validate_json(PAPER.dump_json(paper)) == paper


def test_own_tests_are_run_besides(paper):
    """the instructor's own tests are reported apart, for the exercises they name"""
    (extra,) = paper.hidden
    assert (extra.slug, extra.report.passed, extra.report.total) == ("who_writes", 1, 2)
    assert extra.report.failures[0].requirement == "it answers in German"


def test_a_paper_says_whose_it_is(paper):
    """learner, notebook, note and time are the submission's; limits are named"""
    about = paper.learner, paper.notebook, paper.note, paper.handed_in
    assert about == ("ann", "mine.ipynb", "a note", "2026-01-01")
    assert any("Landlock" in each or "audit hook" in each for each in paper.limits)


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("WALL_LIMIT_S", 0.01, "not judged within 0.01 seconds"),
        ("digest", lambda folder: "another", "the package was changed"),
    ],
)
def test_what_cannot_be_trusted_is_a_row_that_says_so(monkeypatch, name, value, word):
    """a judge that is late, or a changed package, is a paper with the reason"""
    monkeypatch.setattr(judging, name, value)
    judging._copy.cache_clear()
    if name == "digest":
        monkeypatch.setattr(judging, "_copy", lambda: (judging.ROOT, "as it was"))
        judging._copy.cache_clear = lambda: None
    (row,) = judge(submission(RIGHT)).graded
    assert row.report is None
    assert word in row.problem
