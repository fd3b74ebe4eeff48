"""Lessons and labs have one form, are short enough for an hour, and are slides, too."""

import ast
import re

import pytest

from tests.notebooks.conftest import read
from workbook.checks.catalogue import exercises, lessons

NOTEBOOKS = list(lessons().values())
LESSON = {"cells": 40, "words": 1800, "given": 200, "names": 25, "exercises": 4}
LAB = {"cells": 40, "words": 2000, "given": 220, "names": 30, "exercises": 3}
MORE = {"05_state_machine": {"exercises": 5}}

LEFT_OUT = {"setup", "exercise", "own-model"}  # on slides

each = pytest.mark.parametrize("lesson", NOTEBOOKS, ids=lambda lesson: lesson.slug)


def code_of(cells):
    return [cell for cell in cells if cell.cell_type == "code"]


def is_exercise(cell):
    return "exercise" in cell.metadata.get("tags", ())


def sizes(cells):
    """Return how much a reader has before them: what is counted, and how many."""
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    given = [cell.source for cell in code_of(cells) if not is_exercise(cell)]
    names = {
        alias.name
        for cell in code_of(cells)
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.ImportFrom)
        if (node.module or "").startswith("workbook")
        for alias in node.names
    }
    return {
        "cells": len(cells),
        "words": len(re.sub(r"<[^>]+>|!\[[^]]*\]\S+", " ", prose).split()),
        "given": sum(bool(line.strip()) for s in given for line in s.splitlines()),
        "names": len(names),
        "exercises": sum(map(is_exercise, code_of(cells))),
    }


@each
def test_a_notebook_fits_into_its_hour(lesson):
    """Cells, words, lines of given code, imported names and exercises have a limit"""
    most = (LAB if lesson.lab else LESSON) | MORE.get(lesson.slug, {})
    found = sizes(read(lesson.notebook).cells)
    over = [f"{k}: {n}, at most {most[k]}" for k, n in found.items() if n > most[k]]
    another = "use another lab" if lesson.lab else "move an exercise into a lab"
    told = f"shorten the notebook, or {another}"
    assert not over, f"{'; '.join(over)}: {told}"


@each
def test_the_first_cell_says_what_one_will_be_able_to_do(lesson):
    """Title, what it is, minutes, the idea, and a list of what one can do afterwards"""
    kind, number = ("lab", "Lab to lesson") if lesson.lab else ("lesson", "Lesson")
    place = f"{number} {lesson.slug[:2]} · {lesson.minutes} minutes"
    head, first = f"# {lesson.title}\n\n*{place}*\n\n", read(lesson.notebook).cells[0]
    assert first.source.startswith(head), f"begin the first cell with {head!r}"
    assert f"\n\nAfter this {kind} you can\n\n- " in first.source


@each
def test_the_last_cells_say_what_was_built_and_what_comes_next(lesson):
    """What you built, your agent's parts of this lesson, what is next, the labs"""
    built, agent, last = read(lesson.notebook).cells[-3:]
    assert built.source.startswith("## What you built\n\n- ")
    assert agent.source == f'your_agent("{lesson.slug[:2]}")'
    following = [s for s, one in lessons().items() if not one.lab and s > lesson.slug]
    labs = [s for s, one in lessons().items() if one.lab and s[:2] == lesson.slug[:2]]
    if lesson.lab:
        wanted = {f"../{s}" for s, one in lessons().items() if s[:2] == lesson.slug[:2]
                  if not one.lab}  # fmt: skip
    else:
        wanted = {*following[:1], *(f"labs/{lab}" for lab in labs)}
        said = [f"[{s[:2]} · {lessons()[s].title}]({s}.ipynb)" for s in following[:1]]
        said += [f"[{lessons()[lab].title}](labs/{lab}.ipynb)" for lab in labs]
        missing = [link for link in said if link not in last.source]
        assert not missing, f"add to the last cell: {' '.join(missing)}"
    linked = set(re.findall(r"\]\(([\w./]+)\.ipynb\)", last.source))
    assert wanted <= linked


@each
def test_a_guess_is_made_before_the_answer_is_on_the_screen(lesson):
    """The guess is compared in a later cell than the one that asks for it"""
    asked = {}
    for number, cell in enumerate(read(lesson.notebook).cells):
        for name in re.findall(r"(\w+)\.reveal\(", cell.source):
            assert asked[name] < number, cell.source
        for name in re.findall(r"(\w+) = predict\(", cell.source):
            asked[name] = number


@each
def test_prose_comes_in_small_pieces(lesson):
    """Between two cells of code are at most eight paragraphs, lists and tables"""
    for cell in read(lesson.notebook).cells:
        if cell.cell_type == "markdown" and "### Exercise" not in cell.source:
            assert len(re.split(r"\n\s*\n", cell.source.strip())) <= 8, cell.source


@each
def test_every_exercise_is_in_its_notebook(lesson):
    """The exercises of the catalogue are those of the notebook, in the same order"""
    wanted = [e.slug for e in exercises().values() if e.lesson == lesson.slug]
    cells = [c for c in code_of(read(lesson.notebook).cells) if is_exercise(c)]
    assert [re.search(r"(\w+) = check\(\1\)", c.source)[1] for c in cells] == wanted


@each
def test_a_notebook_is_written_as_the_style_asks(lesson):
    """Without outputs; a setup cell first; short cells and lines; tags for models"""
    code = code_of(read(lesson.notebook).cells)
    assert "setup" in code[0].metadata.get("tags", [])
    for cell in code:
        tags, lines = cell.metadata.get("tags", []), cell.source.splitlines()
        assert not cell.outputs, cell.source
        assert not cell.execution_count, cell.source
        assert len(lines) <= 15, cell.source
        assert max(map(len, lines)) <= 88, cell.source
        if "record" in tags:  # a model that was not asked is a line
            assert re.search(r"\bon_own_model\(", cell.source), cell.source
        if "real_model(" in cell.source:
            assert "local-model" in tags, cell.source


def slide_types(cells):
    """Say where each cell is shown: a slide, a step of it, below its text, nowhere."""
    after_text = False
    for cell in cells:
        if cell.cell_type == "markdown":
            yield "slide" if re.search("(?m)^##? ", cell.source) else "subslide"
            after_text = "### Exercise" not in cell.source
            continue
        hidden = LEFT_OUT & set(cell.metadata.get("tags", ()))
        if hidden or cell.source.startswith("# hint("):
            yield "skip"
        else:
            yield "-" if after_text else "subslide"
        after_text = False


@each
def test_a_notebook_is_a_deck(lesson):
    """A heading begins a slide, a stub is on none, and code stands with its text"""
    cells = read(lesson.notebook).cells
    for cell, expected in zip(cells, slide_types(cells), strict=True):
        found = cell.metadata.get("slideshow", {"slide_type": "-"})["slide_type"]
        wanted = f"`slideshow` has the slide_type {expected!r} (for '-', leave it out)"
        assert found == expected, f"set the metadata so that {wanted}: {cell.source}"
