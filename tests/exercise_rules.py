"""What must hold for every exercise, each as a function that returns the breaches.

The suite runs them over data/exercises.toml: an exercise that is solved as it ships,
has an empty hint, or is never checked by its notebook fails the build.
"""

import ast
import builtins
import html
import inspect
import runpy

import nbformat

from workbook.classroom.notebooks import read_cells, to_python
from workbook.exercises.catalogue import ROOT, exercises, lessons
from workbook.exercises.display import as_message
from workbook.exercises.grade import grade
from workbook.exercises.report import Outcome

WRONG_ANSWERS = 2
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


def package_answer(exercise):
    """The package's own function passes."""
    report = grade(exercise, exercise.function())
    if report.outcome is not Outcome.PASSED:
        yield str(as_message(report))


def stub_of(exercise):
    """Return a stub with the exercise's name and signature."""

    def stub(*args, **kwargs):
        raise NotImplementedError("your code here")

    stub.__name__ = exercise.slug
    stub.__signature__ = inspect.signature(exercise.function())
    return stub


def stub_answer(exercise):
    """The stub counts as not attempted."""
    report = grade(exercise, stub_of(exercise))
    if report.outcome is not Outcome.NOT_ATTEMPTED:
        yield f"the stub of {exercise.slug} is graded as:\n{as_message(report)}"


def wrong_answers(exercise):
    """Return the wrong answers, each with the name of the test that must catch it."""
    path = ROOT / "tests" / "wrong_answers" / f"{exercise.slug}.py"
    return runpy.run_path(str(path))["WRONG"]


def wrong_answers_fail(exercise):
    """At least two wrong answers; each one is caught by the test that it names."""
    answers = wrong_answers(exercise)
    if len(answers) < WRONG_ANSWERS:
        yield f"{exercise.slug} has {len(answers)} wrong answers, not {WRONG_ANSWERS}"
    for function, test in answers.items():
        report = grade(exercise, function)
        if report.outcome not in (Outcome.WRONG, Outcome.RAISED):
            yield f"{function.__name__} is graded as {report.outcome}"
        elif test not in [failure.test for failure in report.failures]:
            yield f"{function.__name__} is not caught by {test}:\n{as_message(report)}"


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


def rules(exercise):
    """Return what is tested, a sentence a test, as a failing check prints it."""
    tree = ast.parse(exercise.tests_path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        name = getattr(node, "name", None) or ""
        if name.startswith("test_") and exercise.slug in _arguments(node):
            yield ast.get_docstring(node).splitlines()[0].strip()


def _arguments(function):
    return [argument.arg for argument in function.args.args]


def card(exercise, lesson):
    """The card before the stub states the goal and every rule that is tested."""
    cells = nbformat.read(lesson.notebook, as_version=4).cells
    place = _place_of_stub(cells, exercise.slug)
    text = html.unescape(cells[place - 1].source) if place else ""
    if exercise.goal not in text:
        yield f"{exercise.slug}: the card lacks the goal: {exercise.goal}"
    for rule in rules(exercise):
        if rule not in text:
            yield f"{exercise.slug}: the card lacks the rule: {rule}"


def used(exercise, lesson):
    """The code cell behind the stub uses the function."""
    cells = nbformat.read(lesson.notebook, as_version=4).cells
    place = _place_of_stub(cells, exercise.slug)
    behind = [c for c in cells[place + 1 :] if c.cell_type == "code"][:1]
    names = [
        word
        for cell in behind
        for node in ast.walk(ast.parse(to_python(cell.source)))
        for word in (getattr(node, "id", None), getattr(node, "value", None))
    ]
    if exercise.slug not in names:
        yield f"{exercise.slug}: the code cell behind its stub does not use it"


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


def hint_names(exercise, lesson):
    """What the third hint uses is there, in the lesson before the stub or in the hint.

    MY_… is what the learner has written.
    """
    cells = read_cells(lesson.notebook)
    (place,) = [n for n, cell in enumerate(cells) if _function(cell, exercise.slug)]
    hint = ast.parse(exercise.hints[-1])
    trees = [ast.parse(to_python(cell.source)) for cell in cells[: place + 1]]
    known = {*dir(builtins), "___"}.union(*map(_bound, [hint, *trees]))
    used = {node.id for node in ast.walk(hint) if isinstance(node, ast.Name)}
    for name in sorted(used - known):
        if not name.startswith("MY_"):
            yield f"{exercise.slug}: nobody has {name}, which the third hint uses"


def _bound(tree):
    """Return the names that are imported, defined or assigned somewhere."""
    for node in ast.walk(tree):
        match node:
            case ast.alias():
                yield (node.asname or node.name).partition(".")[0]
            case ast.Name(ctx=ast.Store()):
                yield node.id
            case ast.FunctionDef() | ast.ClassDef() | ast.ExceptHandler():
                yield node.name
            case ast.MatchAs() | ast.MatchStar():
                yield node.name
            case ast.arg():
                yield node.arg


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
