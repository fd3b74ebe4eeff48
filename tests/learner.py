"""A learner for tests: functions as somebody would write them, kept as parts."""

import importlib
import inspect
import re

from workbook.exercises.answer import answer_in
from workbook.exercises.catalogue import exercises
from workbook.exercises.your_agent import write

RAISES = "def {slug}(*args, **kwargs):\n    raise RuntimeError('not today')\n"


def cells_with_answer(slug):
    """Return cells that define the package's own answer as a learner's function."""
    function = exercises()[slug].function()
    module = importlib.import_module(function.__module__)
    source = inspect.getsource(function)
    names = {*vars(module)} & {*re.findall(r"\w+", source)} - {slug}
    borrowed = f"from {module.__name__} import {', '.join(sorted(names))}"
    return [borrowed, source] if names else [source]


def answer_to(slug):
    """Return the package's own answer as the text of a learner's."""
    return answer_in(cells_with_answer(slug), slug, exercises().keys() - {slug})


def solve(*slugs):
    """Keep a right answer to each exercise, to all by default."""
    for slug in slugs or exercises():
        write(exercises()[slug], answer_to(slug))


def spoil(slug, body=RAISES):
    """Put in its place a function that breaks, as one that passed once may."""
    write(exercises()[slug], body.format(slug=slug))
