"""What must hold for every exercise in data/exercises/."""

from dataclasses import replace

import pytest

from tests import exercise_rules as rules
from workbook.checks.catalogue import exercises, find, lessons
from workbook.paths import DATA


def assert_no_breach(breaches):
    found = "\n".join(breaches)
    assert not found, found


EXERCISES = pytest.mark.parametrize("slug", exercises())


@EXERCISES
def test_what_is_written_is_complete(slug):
    """entry, stub, card, hints and the cell behind have all that `exercise_rules` asks

    A goal, a title and three hints; a typed stub that is checked; each rule that is
    tested, on the card; a third hint with one gap; and the learner's function at work
    at once.
    """
    exercise = exercises()[slug]
    breaches = [*rules.entry(exercise), *rules.last_hint(exercise)]
    for rule in (rules.notebook, rules.card, rules.used):
        breaches += rule(exercise, lessons()[exercise.lesson])
    assert_no_breach(breaches)


@pytest.mark.in_ci  # tests/notebooks has every lesson solved with it
@EXERCISES
def test_the_package_passes(slug):
    """the package's own function passes the exercise's tests"""
    assert_no_breach(rules.package_answer(exercises()[slug]))


@pytest.mark.in_ci
@EXERCISES
def test_the_stub_is_not_attempted(slug):
    """a stub is told apart from a wrong answer"""
    assert_no_breach(rules.stub_answer(exercises()[slug]))


@EXERCISES
def test_every_wrong_answer_is_caught_by_its_test(slug):
    """plausible wrong answers fail, each in the test that it names; each rule alone"""
    assert_no_breach(rules.wrong_answers_fail(exercises()[slug]))


@EXERCISES
def test_the_last_hint_passes_with_its_gap_filled(slug):
    """who fills the gap of the third hint, and nothing else, passes"""
    exercise = exercises()[slug]
    assert_no_breach(rules.filled_hint(exercise, lessons()[exercise.lesson]))


def test_no_exercise_is_there_twice():
    """each exercise has one entry, and so has each lesson"""
    files = (DATA / "exercises").glob("*.toml")
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    assert text.count("[[exercise]]") == len(exercises())
    assert text.count("[[lesson]]") == len(lessons())


@pytest.mark.parametrize("slug", lessons())
def test_the_exercises_fit_into_the_lesson(slug):
    """the exercises of a lesson take no longer than the lesson says"""
    assert_no_breach(rules.lesson_minutes(lessons()[slug]))


def test_every_wrong_answers_file_belongs_to_an_exercise():
    """no file of wrong answers is left over from an exercise that is gone"""
    folder = rules.ROOT / "tests" / "wrong_answers"
    assert {path.stem for path in folder.glob("*.py")} <= set(exercises())


def test_an_answer_that_is_graded_otherwise_than_it_should_be_is_found(
    tmp_path, monkeypatch
):
    """ours that fails, a stub or a wrong answer that passes or fails elsewhere"""
    who = find("who_writes")
    broken = replace(who, target="builtins:len")
    assert "cell can be run" in next(rules.package_answer(broken))
    (tmp_path / "test_it.py").write_text("def test_it(who_writes): pass")
    lenient = replace(who, tests=str(tmp_path / "test_it.py"))
    for rule in (rules.stub_answer, rules.wrong_answers_fail):
        assert "graded as" in next(rule(lenient))
    monkeypatch.setattr(rules, "wrong_answers", lambda exercise: {len: "test_x"})
    uncaught, *uncovered = rules.wrong_answers_fail(who)
    assert "len is not caught by test_x" in uncaught
    assert "no wrong answer breaks" in uncovered[0]
