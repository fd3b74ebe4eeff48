"""What must hold for every exercise, each as a function that returns the breaches.

The suite runs them over data/exercises/: an exercise that is solved as it ships,
has an empty hint, or is never checked by its notebook fails the build.
"""

import ast
import html
import inspect
import runpy

import nbformat

from tests.learner import report_on
from workbook.checks.answer import answer_in, to_python
from workbook.checks.catalogue import ROOT, exercises, lessons
from workbook.checks.display import as_message
from workbook.checks.handed_in import read_cells

CELL_LINES = 15


def entry(exercise):
    """Three hints that say something, a goal, a title, figures in their range."""
    if len(exercise.hints) != 3 or len(set(exercise.hints)) != 3:
        yield f"{exercise.slug} has {len(set(exercise.hints))} hints, not three"
    for name in ("title", "goal"):
        if not getattr(exercise, name).strip():
            yield f"{exercise.slug} has no {name}"
    if not all(hint.strip() for hint in exercise.hints):
        yield f"{exercise.slug} has an empty hint"
    if exercise.difficulty not in range(1, 6):
        yield f"{exercise.slug}: difficulty {exercise.difficulty} is not 1 to 5"
    if exercise.minutes < 1:
        yield f"{exercise.slug}: {exercise.minutes} minutes"
    if exercise.lesson not in lessons():
        yield f"{exercise.slug}: there is no lesson {exercise.lesson}"
    if exercise.function().__name__ != exercise.slug:
        yield f"{exercise.slug}: its target is {exercise.function().__name__}"


def lesson_minutes(lesson):
    """The exercises fit into the time that the lesson names."""
    total = sum(e.minutes for e in exercises().values() if e.lesson == lesson.slug)
    if total > lesson.minutes:
        yield f"{lesson.slug}: {total} minutes of exercises in {lesson.minutes}"


def tested(exercise, text):
    """Return what the exercise's tests find of an answer."""
    return report_on(exercise.slug, text, str(exercise.tests_path))


def package_answer(exercise):
    """The package's own function passes."""
    module, _, name = exercise.target.partition(":")
    report = tested(exercise, f"from {module} import {name}\n")
    if report["outcome"] != "passed":
        yield str(as_message(report))


def stub_answer(exercise):
    """The stub counts as not attempted."""
    stub = f"def {exercise.slug}(*args, **kwargs):\n    raise NotImplementedError\n"
    report = tested(exercise, stub)
    if report["outcome"] != "not attempted":
        yield f"the stub of {exercise.slug} is graded as:\n{as_message(report)}"


def wrong_answers(exercise):
    """Return the wrong answers, each with the name of the test that must catch it."""
    path = ROOT / "tests" / "wrong_answers" / f"{exercise.slug}.py"
    assert path.is_file(), f"write wrong answers into {path}"
    return runpy.run_path(str(path))["WRONG"]


def wrong_answers_fail(exercise):
    """Each is caught by the test that it names; each rule is broken by one alone."""
    answers, alone = wrong_answers(exercise), set()
    for number, (function, test) in enumerate(answers.items()):
        report = tested(
            exercise,
            f"from tests.wrong_answers.{exercise.slug} import WRONG\n"
            f"{exercise.slug} = [*WRONG][{number}]\n",
        )
        failed = [failure["test"] for failure in report["failures"]]
        if report["outcome"] not in ("wrong", "your code raised"):
            yield f"{function.__name__} is graded as {report['outcome']}"
        elif test not in failed:
            yield f"{function.__name__} is not caught by {test}:\n{as_message(report)}"
        alone |= {*failed} if len(failed) == 1 else set()
    for test in exercise.rules().keys() - alone:
        yield f"{exercise.slug}: no wrong answer breaks {test} alone"


def notebook(exercise, lesson):
    """The notebook has a setup cell, and a typed stub that its own cell checks."""
    slug, name = exercise.slug, lesson.notebook.name
    if not lesson.notebook.is_file():
        yield f"{lesson.notebook} is missing"
        return
    cells = read_cells(lesson.notebook)
    if not cells or "setup" not in cells[0].tags:
        yield f"{name}: the first code cell is not tagged setup"
    stubs = [(cell, stub) for cell in cells if (stub := _function(cell, slug))]
    if len(stubs) != 1:
        yield f"{name}: {len(stubs)} cells define {slug}, not one"
        return
    ((cell, stub),) = stubs
    if "exercise" not in cell.tags:
        yield f"{name}, cell {cell.number}: not tagged exercise"
    if not _is_checked(cell, stub):
        yield f"{name}: no `{slug} = check({slug})` in the stub's cell"
    if len(cell.source.splitlines()) > CELL_LINES:
        yield f"{name}, {slug}: the cell has more than {CELL_LINES} lines"
    yield from (f"{name}, {slug}: {breach}" for breach in _stub(stub, exercise))


def card(exercise, lesson):
    """The card before the stub states the goal and every rule that is tested."""
    cells = nbformat.read(lesson.notebook, as_version=4).cells
    place = _place_of_stub(cells, exercise.slug)
    text = html.unescape(cells[place - 1].source) if place else ""
    if exercise.goal not in text:
        yield f"{exercise.slug}: the card lacks the goal: {exercise.goal}"
    for rule in exercise.rules().values():
        if rule not in text:
            yield f"{exercise.slug}: the card lacks the rule: {rule}"


def used(exercise, lesson):
    """The first code below the stub uses the function; hints are commented out."""
    cells = nbformat.read(lesson.notebook, as_version=4).cells
    place = _place_of_stub(cells, exercise.slug)
    below = [c.source for c in cells[place + 1 :] if c.cell_type == "code"]
    code = [source for source in below if not source.startswith("# hint(")][:1]
    names = [
        word
        for source in code
        for node in ast.walk(ast.parse(to_python(source)))
        for word in (getattr(node, "id", None), getattr(node, "value", None))
    ]
    if exercise.slug not in names:
        yield f"{exercise.slug}: the next code cell after its stub does not use it"


def _place_of_stub(cells, slug):
    places = [n for n, cell in enumerate(cells) if f"def {slug}(" in cell.source]
    return next((n for n in places if cells[n].cell_type == "code"), 0)


def last_hint(exercise):
    """The third hint is code that can be run, with one gap."""
    code = exercise.hints[-1]
    try:
        names = [getattr(node, "id", "") for node in ast.walk(ast.parse(code))]
    except SyntaxError as error:
        yield f"{exercise.slug}: the third hint is no Python: {error}"
        return
    if names.count("___") != 1:
        yield f"{exercise.slug}: {names.count('___')} gaps in the third hint, not one"
    if f"def {exercise.slug}(" not in code:
        yield f"{exercise.slug}: the third hint does not define it"


def filled_hint(exercise, lesson):
    """The third hint with its gap filled passes, below the lesson's cells before it."""
    cells = [cell.source for cell in read_cells(lesson.notebook)]
    places = [n for n, c in enumerate(cells) if f"def {exercise.slug}(" in c]
    if len(places) != 1:
        return  # reported by `notebook`
    (place,) = places
    above = cells[place].partition(f"def {exercise.slug}(")[0]  # the stub's imports
    cells[place:] = [above + exercise.solution]
    report = tested(exercise, answer_in(cells, exercise.slug))
    if report["outcome"] != "passed":
        yield f"the filled hint of {exercise.slug} fails:\n{as_message(report)}"


def _stub(function, exercise):
    if not ast.get_docstring(function):
        yield "no docstring"
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    if function.returns is None or any(a.annotation is None for a in named):
        yield "not every parameter and the result has a type"
    parameters = inspect.signature(exercise.function()).parameters
    ours = list(parameters)
    # What only the package offers has to be named by whoever gives it.
    asked = [n for n, p in parameters.items() if p.kind is not p.KEYWORD_ONLY]
    if [a.arg for a in named] not in (ours, asked):
        yield f"takes {[a.arg for a in named]}, the package's takes {ours}"
    match function.body[-1]:
        case ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError"))):
            pass
        case _:
            yield "does not end in `raise NotImplementedError(…)`"


def _function(cell, slug):
    for node in ast.parse(to_python(cell.source)).body:
        if isinstance(node, ast.FunctionDef) and node.name == slug:
            return node
    return None


def _is_checked(cell, stub):
    if "check" in [ast.unparse(decorator) for decorator in stub.decorator_list]:
        return True
    lines = map(ast.unparse, ast.parse(to_python(cell.source)).body)
    return f"{stub.name} = check({stub.name})" in lines
