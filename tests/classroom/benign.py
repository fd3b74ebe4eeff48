"""Learners with known verdicts, made from the package's answers and the wrong ones.

`learner_notebook` makes one notebook; `write_class` a folder of learners with all
lessons, each a mixture that only its number decides.
"""

import inspect
import random
import runpy
from functools import cache
from pathlib import Path

import nbformat

from tests.learner import RAISES, cells_with_answer
from workbook.exercises.catalogue import exercises, lessons
from workbook.exercises.report import Outcome
from workbook.paths import ROOT

RIGHT, WRONG, STUB, RAISED = "right", "wrong", "stub", "raised"
VERDICTS = {
    RIGHT: [Outcome.PASSED],
    WRONG: [Outcome.WRONG, Outcome.RAISED],
    STUB: [Outcome.NOT_ATTEMPTED],
    RAISED: [Outcome.RAISED, Outcome.WRONG],  # a machine catches its own
}


def cells(slug, kind, number=0):
    """Return the cells of one answer; of the wrong ones that of this number."""
    if kind == RIGHT:
        return cells_with_answer(slug)
    if kind == RAISED:
        return [RAISES.format(slug=slug)]
    if kind == STUB:
        signature = inspect.signature(exercises()[slug].function())
        names = ", ".join(
            f"*{name}" if each.kind is each.VAR_POSITIONAL else name
            for name, each in signature.parameters.items()
            if each.kind is not each.KEYWORD_ONLY
        )
        more = any(
            each.kind is each.KEYWORD_ONLY for each in signature.parameters.values()
        )
        names += ", **options" if more and names else ""
        return [
            f"def {slug}({names}):\n    raise NotImplementedError('your code here')"
        ]
    path, chosen = ROOT / "tests" / "wrong_answers" / f"{slug}.py", wrong_answers(slug)
    name = chosen[number % len(chosen)]
    # In a dictionary of its own: it calls the package's function by the same name.
    text = f"wrong_{slug} = {{}}\nexec({path.read_text('utf-8')!r}, wrong_{slug})\n"
    call = f"    return wrong_{slug}[{name!r}](*args, **kwargs)\n"
    return [f"{text}\ndef {slug}(*args, **kwargs):\n{call}"]


@cache
def wrong_answers(slug):
    """Return the names of an exercise's wrong answers, in their order."""
    path = ROOT / "tests" / "wrong_answers" / f"{slug}.py"
    return [answer.__name__ for answer in runpy.run_path(str(path))["WRONG"]]


def learner_notebook(kinds, number=0):
    """Return a notebook's text, with an answer of its kind for each exercise."""
    make = nbformat.v4.new_code_cell
    made = [make("from workbook import check", metadata={"tags": ["setup"]})]
    for slug, kind in kinds.items():
        *before, answer = cells(slug, kind, number)
        made += [make(each) for each in before]
        answer += f"\n{slug} = check({slug})"
        made.append(make(answer, metadata={"tags": ["exercise"]}))
    return nbformat.writes(nbformat.v4.new_notebook(cells=made))


def lesson_notebook(lesson, kinds, number=0):
    """Return the lesson's own notebook with its stubs filled in."""
    notebook = nbformat.read(lesson.notebook, as_version=4)
    made = []
    for cell in notebook.cells:
        slug = next((s for s in kinds if f"def {s}(" in cell.source), "")
        if cell.cell_type != "code" or not slug or kinds[slug] == STUB:
            made.append(cell)
            continue
        *before, answer = cells(slug, kinds[slug], number)
        made += [nbformat.v4.new_code_cell(each) for each in before]
        cell.source = f"{answer}\n{slug} = check({slug})"
        made.append(cell)
    notebook.cells = made
    return nbformat.writes(notebook)


def kinds_of(number):
    """Return what a learner did of each exercise; every tenth all right."""
    if number % 10 == 9:
        return dict.fromkeys(exercises(), RIGHT)
    chance = random.Random(number)
    weights = {RIGHT: 6, WRONG: 3, STUB: 2, RAISED: 1}
    drawn = chance.choices(list(weights), list(weights.values()), k=len(exercises()))
    return dict(zip(exercises(), drawn, strict=True))


def write_class(folder: Path, learners=30, only=None):
    """Write the folders; return the kind of answer by (learner, exercise)."""
    known = {}
    for number in range(learners):
        name, kinds = f"learner {number:02}", kinds_of(number)
        (folder / name).mkdir(parents=True)
        for lesson in lessons().values():
            if only and lesson.slug[:2] not in only:
                continue
            mine = {
                s: k for s, k in kinds.items() if exercises()[s].lesson == lesson.slug
            }
            text = lesson_notebook(lesson, mine, number)
            (folder / name / f"{lesson.slug}.ipynb").write_text(text, encoding="utf-8")
            known |= {(name, slug): kind for slug, kind in mine.items()}
    return known
