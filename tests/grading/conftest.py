"""Learners' notebooks for these tests."""

import csv
import json

from tests.learner import cells_with_answer
from workbook.exercises.catalogue import exercises

RIGHT = """
def who_writes(label):
    return "runtime" if label == "Observation" else "model"
"""


def wrong_cell(slug):
    """Return a cell with the first wrong answer of an exercise."""
    return (
        f"from tests.wrong_answers.{slug} import WRONG as wrong_{slug}\n\n\n"
        f"def {slug}(*args, **options):\n"
        f"    return [*wrong_{slug}][0](*args, **options)\n"
    )


def write_cells(path, *sources):
    """Write a notebook of code cells, and return its path."""
    cells = [{"cell_type": "code", "source": source} for source in sources]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"nbformat": 4, "cells": cells}), encoding="utf-8")
    return path


def rows_of(path):
    """Return the rows of a table, each as a dictionary."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [*csv.DictReader(file)]


def write_lesson(folder, lesson, *, right):
    """Write a lesson's notebook, all of it right or all of it wrong."""
    cells = []
    for slug in [s for s, each in exercises().items() if each.lesson == lesson]:
        cells += cells_with_answer(slug) if right else [wrong_cell(slug)]
    return write_cells(folder / f"{lesson}.ipynb", *cells)
