"""What must hold for every exercise in data/exercises/.

An exercise that is solved as it ships, has an empty hint, or is never checked by its
notebook fails the build.
"""

import ast
import html
import inspect
import re
from functools import cache

import nbformat
import pytest

from tests.learner import report_on
from workbook.checks.answer import answer_in, to_python
from workbook.checks.catalogue import ROOT, exercises, lessons
from workbook.checks.display import as_message
from workbook.checks.handed_in import read_cells
from workbook.paths import DATA

WRONG_ANSWERS = ROOT / "tests" / "wrong_answers"
CHANGE = re.compile(r"(?:^[ -].*\n)+(?:^\+.*\n)*|(?:^\+.*\n)+", re.MULTILINE)
CELL_LINES = 15
# Their wrong answers take as long as those of all others.
LONG = {"my_agent", "safe_eval", "find_cycle", "consensus", "run_in_parallel"}
SOONER = [
    pytest.param(slug, marks=[pytest.mark.in_ci] * (slug in LONG))
    for slug in exercises()
]
each = pytest.mark.parametrize("slug", exercises())


def report_of(exercise, text):
    """Return what the exercise's tests find of an answer."""
    return report_on(exercise.slug, text, str(exercise.tests_path))


@cache
def read(path):
    return nbformat.read(path, as_version=4).cells


def cells_of(exercise):
    """Return a notebook's cells, and the place of the one that has the stub."""
    cells = read(lessons()[exercise.lesson].notebook)
    stub = f"def {exercise.slug}("
    (place,) = [
        n for n, c in enumerate(cells) if c.cell_type == "code" and stub in c.source
    ]
    return cells, place


def as_handed_in(exercise, solution):
    """Return a solution as a check has it, in its cell below those before it."""
    stub = f"def {exercise.slug}("
    cells = [cell.source for cell in read_cells(lessons()[exercise.lesson].notebook)]
    (place,) = [n for n, source in enumerate(cells) if stub in source]
    above = cells[place].partition(stub)[0]  # the stub's imports
    cells[place:] = [above + solution]
    return answer_in(cells, exercise.slug)


def wrong_answers(exercise):
    """Yield the test that catches it, its idea and its text, of each wrong answer.

    Each is the solution with some lines changed, as a diff without line numbers: what
    is to be changed must be there once. One with new lines alone is written in full.
    """
    text = (WRONG_ANSWERS / f"{exercise.slug}.diff").read_text(encoding="utf-8")
    for entry in re.split(r"\n(?=test_)", text.rstrip("\n")):
        title, _, diff = f"{entry}\n".partition("\n")
        test, _, idea = title.partition(": ")
        assert test in exercise.rules(), f"no title `test_…: idea`: {title}"
        assert idea, f"{test}: write `: ` and the idea after it"
        answer = f"\n{exercise.solution}"
        unread = [line for line in CHANGE.sub("", diff).splitlines() if line != "@@"]
        assert not unread, (
            f"{idea}: a line begins with ' ', '-', '+' or is @@: {unread}"
        )
        for change in CHANGE.findall(diff):
            lines = change.splitlines(keepends=True)
            old = "\n" + "".join(line[1:] for line in lines if line[0] != "+")
            new = "\n" + "".join(line[1:] for line in lines if line[0] != "-")
            times = answer.count(old)
            where = f"{times} times in the last hint with its gap filled:{old}"
            assert times == 1 or old == "\n", f"{idea}: {where}"
            answer = answer.replace(old, new) if old != "\n" else new
        assert f"def {exercise.slug}(" in answer, f"{idea}: lacks its def:{answer}"
        yield test, idea, as_handed_in(exercise, answer)


@each
def test_its_entry_is_complete(slug):
    """Three hints that say something, a goal, a title, figures in their range"""
    exercise = exercises()[slug]
    assert len({hint for hint in exercise.hints if hint.strip()}) == 3
    assert exercise.title.strip()
    assert exercise.goal.strip()
    assert 1 <= exercise.difficulty <= 5
    assert exercise.minutes >= 1
    assert exercise.lesson in lessons()
    assert exercise.function().__name__ == slug


@each
def test_its_stub_is_typed_and_checked(slug):
    """A short cell with a docstring, the types of ours, and its own check"""
    exercise = exercises()[slug]
    cells, place = cells_of(exercise)
    source = cells[place].source
    assert "exercise" in cells[place].metadata.tags
    assert len(source.splitlines()) <= CELL_LINES
    body = ast.parse(to_python(source)).body
    (stub,) = [n for n in body if isinstance(n, ast.FunctionDef) and n.name == slug]
    is_decorated = "check" in map(ast.unparse, stub.decorator_list)
    assert is_decorated or f"{slug} = check({slug})" in map(ast.unparse, body)
    assert ast.get_docstring(stub)
    named = [*stub.args.posonlyargs, *stub.args.args, *stub.args.kwonlyargs]
    assert stub.returns
    assert all(argument.annotation for argument in named)
    parameters = inspect.signature(exercise.function()).parameters
    # What only the package offers has to be named by whoever gives it.
    asked = [n for n, p in parameters.items() if p.kind is not p.KEYWORD_ONLY]
    assert [argument.arg for argument in named] in ([*parameters], asked)
    assert ast.unparse(stub.body[-1]).startswith("raise NotImplementedError(")


@each
def test_its_card_states_goal_and_rules(slug):
    """The card before the stub has title, minutes, goal, and every tested rule"""
    exercise = exercises()[slug]
    cells, place = cells_of(exercise)
    card = html.unescape(cells[place - 1].source)
    dots = "●" * exercise.difficulty + "○" * (5 - exercise.difficulty)
    head = f"### Exercise · {exercise.title}\n\nDifficulty {dots}"
    head += f" · {exercise.minutes} minutes\n"
    for text in (head, exercise.goal, *exercise.rules().values()):
        assert text in card, f"the card lacks: {text}"
    told = re.search(r"The (\d+) rules, as", card)
    assert not told or int(told[1]) == len(exercise.rules()), told[0]


@each
def test_it_is_used_at_once(slug):
    """The first code below the stub uses the function; hints are commented out"""
    cells, place = cells_of(exercises()[slug])
    below = [c.source for c in cells[place + 1 :] if c.cell_type == "code"]
    code = next(source for source in below if not source.startswith("# hint("))
    nodes = [*ast.walk(ast.parse(to_python(code)))]
    names = {getattr(node, "id", getattr(node, "value", None)) for node in nodes}
    assert slug in names, code


@pytest.mark.in_ci
@each
def test_the_stub_is_not_attempted(slug):
    """A stub is told apart from a wrong answer"""
    stub = f"def {slug}(*args, **kwargs):\n    raise NotImplementedError\n"
    report = report_of(exercises()[slug], stub)
    assert report["outcome"] == "not attempted", as_message(report)


@pytest.mark.in_ci  # tests/notebooks has every lesson solved with it
@each
def test_the_package_passes(slug):
    """The package's own function passes the exercise's tests"""
    module, _, name = exercises()[slug].target.partition(":")
    report = report_of(exercises()[slug], f"from {module} import {name}\n")
    assert report["outcome"] == "passed", as_message(report)


@each
def test_the_last_hint_passes_with_its_gap_filled(slug):
    """Whoever fills the one gap of the third hint, below the cells before it, passes"""
    exercise = exercises()[slug]
    names = [
        getattr(node, "id", "") for node in ast.walk(ast.parse(exercise.hints[-1]))
    ]
    assert names.count("___") == 1
    assert f"def {slug}(" in exercise.hints[-1]
    report = report_of(exercise, as_handed_in(exercise, exercise.solution))
    assert report["outcome"] == "passed", as_message(report)


@pytest.mark.parametrize("slug", SOONER)
def test_every_wrong_answer_is_caught_by_its_test(slug):
    """Each fails in the test that it names; each rule is broken by one alone"""
    exercise, alone = exercises()[slug], set()
    for test, idea, text in wrong_answers(exercise):
        report = report_of(exercise, text)
        failed = {failure["test"] for failure in report["failures"]}
        shown = f"{idea}:\n{as_message(report)}"
        assert report["outcome"] in ("wrong", "your code raised"), shown
        assert test in failed, shown
        assert "NameError" not in shown, shown
        alone |= failed if len(failed) == 1 else set()
    missing = exercise.rules().keys() - alone
    assert not missing, f"no wrong answer breaks one of these alone: {missing}"


def test_nothing_is_there_twice_or_left_over():
    """Each exercise and each lesson has one entry; no wrong answers are of none"""
    files = (DATA / "exercises").glob("*.toml")
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    assert text.count("[[exercise]]") == len(exercises())
    assert text.count("[[lesson]]") == len(lessons())
    assert {path.stem for path in WRONG_ANSWERS.glob("*.diff")} == set(exercises())


@pytest.mark.parametrize("slug", lessons())
def test_the_exercises_fit_into_the_lesson(slug):
    """The exercises of a lesson take no longer than the lesson says"""
    total = sum(e.minutes for e in exercises().values() if e.lesson == slug)
    assert total <= lessons()[slug].minutes
