"""The rules find what they are there to find."""

from dataclasses import replace

import pytest

from tests import exercise_rules as rules
from workbook.exercises.catalogue import Lesson, find

WHO = find("who_writes")
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
        ({"goal": " "}, "has no goal"),
        ({"difficulty": 6}, "difficulty 6 is not 1 to 5"),
        ({"lesson": "99_none"}, "there is no lesson 99_none"),
        ({"target": "builtins:abs"}, "its target is abs"),
    ],
)
def test_an_incomplete_entry_is_found(change, words):
    """an entry with something missing is named"""
    (breach,) = rules.entry(replace(WHO, **change))
    assert words in breach


def test_an_answer_that_is_graded_otherwise_than_it_should_be_is_found(
    tmp_path, monkeypatch
):
    """ours that fails, a stub or a wrong answer that passes or fails elsewhere"""
    broken = replace(WHO, target="builtins:len")
    assert "cell can be run" in next(rules.package_answer(broken))
    (tmp_path / "test_it.py").write_text("def test_it(who_writes): pass")
    lenient = replace(WHO, tests=str(tmp_path / "test_it.py"))
    for rule in (rules.stub_answer, rules.wrong_answers_fail):
        assert "graded as" in next(rule(lenient))
    monkeypatch.setattr(rules, "wrong_answers", lambda exercise: {len: "test_x"})
    few, uncaught = rules.wrong_answers_fail(WHO)
    assert "has 1 wrong answers, not 2" in few
    assert "len is not caught by test_x" in uncaught


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("", "", ""),
        ("who_writes = check(who_writes)", "check(who_writes)", "no `who_writes = "),
        (": str", "", "has a type"),
        (" -> str", "", "has a type"),
        ('"""Say who writes it."""', "x = 1", "no docstring"),
        ('raise NotImplementedError("your code here")', "pass", "does not end in"),
        ("(label", "(text", "takes ['text'], the package's takes ['label']"),
        ("def who_writes", "def who_wrote", "0 cells define who_writes"),
        ("Say who", "Say." + 11 * "\n        and", "more than 15 lines"),
    ],
)
def test_a_bad_stub_is_found(tmp_path, write_notebook, monkeypatch, old, new, words):
    """a stub without a type, a docstring or a check is found, and a good one passes"""
    monkeypatch.setattr("workbook.exercises.catalogue.ROOT", tmp_path)
    path = tmp_path / "notebooks" / "00_start_here.ipynb"
    cell = GOOD.replace(old, new, 1)
    write_notebook(path, ("import workbook", "setup"), (cell, "exercise"))
    found = "\n".join(rules.notebook(WHO, Lesson("00_start_here", "t", 5)))
    assert words in found
    assert bool(words) == bool(found)


def test_a_missing_notebook_and_too_many_minutes_are_found():
    """a lesson without its notebook is found, and one that is too short"""
    assert "is missing" in next(rules.notebook(WHO, Lesson("99_none", "t", 5)))
    short = Lesson("00_start_here", "t", 1)
    assert "minutes of exercises in 1" in next(rules.lesson_minutes(short))
