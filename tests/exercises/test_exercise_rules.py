"""The rules find what they are there to find."""

from dataclasses import replace

import pytest

from tests import exercise_rules as rules
from workbook.exercises.catalogue import Lesson, find

GOOD = '''
    def who_writes(label: str) -> str:
        """Say who writes it."""
        raise NotImplementedError("your code here")

    who_writes = check(who_writes)
'''


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hints": ("a", "b")}, "has 2 hints, not three"),
        ({"hints": ("a", "b", " ")}, "has an empty hint"),
        ({"goal": " "}, "has no goal"),
        ({"difficulty": 6}, "difficulty 6 is not 1 to 5"),
        ({"minutes": 0}, "0 minutes"),
        ({"lesson": "99_none"}, "there is no lesson 99_none"),
        ({"target": "builtins:abs"}, "its target is abs"),
    ],
)
def test_an_incomplete_entry_is_found(change, words):
    """an entry with something missing is named"""
    (breach,) = rules.entry(replace(find("who_writes"), **change))
    assert words in breach


def test_a_package_that_fails_is_found():
    """a package's function that fails its own tests is found"""
    exercise = replace(find("who_writes"), target="builtins:len")
    assert "called" in next(rules.package_answer(exercise))


def test_a_stub_that_passes_is_found(monkeypatch):
    """a stub that is not told apart from an answer is found"""
    monkeypatch.setattr(rules, "stub_of", lambda exercise: lambda label: "model")
    assert "is graded as" in next(rules.stub_answer(find("who_writes")))


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({len: "test_x"}, "has 1 wrong answers, not 2"),
        ({len: "test_x", abs: "test_x"}, "len is not caught by test_x"),
        ({find("who_writes").function(): "test_x"}, "is graded as passed"),
    ],
)
def test_a_bad_wrong_answer_is_found(monkeypatch, answers, words):
    """a wrong answer that passes, or that another test catches, is found"""
    monkeypatch.setattr(rules, "wrong_answers", lambda exercise: answers)
    assert words in "\n".join(rules.wrong_answers_fail(find("who_writes")))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("who_writes = check(who_writes)", "check(who_writes)", "no `who_writes = "),
        (": str", "", "has a type"),
        (" -> str", "", "has a type"),
        ('"""Say who writes it."""', "x = 1", "no docstring"),
        ('raise NotImplementedError("your code here")', "pass", "does not end in"),
        ("(label", "(text", "takes ['text'], the package's takes ['label']"),
        ("def who_writes", "def who_wrote", "0 cells define who_writes"),
    ],
)
def test_a_bad_stub_is_found(tmp_path, write_notebook, monkeypatch, old, new, words):
    """a notebook whose stub has no type, no docstring or no check is found"""
    found = breaches(tmp_path, write_notebook, monkeypatch, GOOD.replace(old, new))
    assert words in found


def test_a_long_cell_is_found(tmp_path, write_notebook, monkeypatch):
    """a stub's cell has at most fifteen lines, its check with them"""
    cell = GOOD.replace("Say who writes it.", "Say." + 11 * "\n    and")
    assert "more than 15 lines" in breaches(tmp_path, write_notebook, monkeypatch, cell)


def test_a_check_as_a_decorator_counts(tmp_path, write_notebook, monkeypatch):
    """`@check` above the stub is the same as a line below it"""
    cell = GOOD.replace("who_writes = check(who_writes)", "")
    cell = cell.replace("    def who", "    @check\n    def who")
    assert breaches(tmp_path, write_notebook, monkeypatch, cell) == ""


def test_a_good_notebook_passes(tmp_path, write_notebook, monkeypatch):
    """a typed stub with a docstring that is checked passes"""
    assert breaches(tmp_path, write_notebook, monkeypatch, GOOD) == ""


def test_a_missing_notebook_is_found():
    """a lesson without its notebook is found"""
    lesson = Lesson("99_none", "t", 5)
    assert "is missing" in next(rules.notebook(find("who_writes"), lesson))


def test_too_many_minutes_are_found(monkeypatch):
    """exercises that take longer than their lesson are found"""
    lesson = Lesson("00_start_here", "t", 1)
    assert "minutes of exercises in 1" in next(rules.lesson_minutes(lesson))


def breaches(tmp_path, write_notebook, monkeypatch, cell):
    """Return the breaches of a notebook with this exercise cell, as text."""
    monkeypatch.setattr("workbook.exercises.catalogue.ROOT", tmp_path)
    write_notebook(
        tmp_path / "notebooks" / "00_start_here.ipynb",
        ("from workbook import check", "setup"),
        (cell, "exercise"),
    )
    lesson = Lesson("00_start_here", "t", 5)
    return "\n".join(rules.notebook(find("who_writes"), lesson))
