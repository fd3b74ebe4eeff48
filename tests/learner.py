"""A learner for tests: functions as somebody would write them, kept as parts."""

import importlib
import inspect
import re

from workbook.checks.answer import answer_in
from workbook.checks.catalogue import exercises
from workbook.checks.parts import keep
from workbook.checks.process import Worker

RAISES = "def {slug}(*args, **kwargs):\n    raise RuntimeError('not today')\n"
worker = []  # one for all, as long as it lives


def report_on(slug, text, tests=""):
    """Return what a process of its own finds of an answer; it tests the next, too."""
    if not worker or worker[0].ended:
        worker[:] = [Worker()]
    return worker[0].test(slug, text, tests)


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
    return answer_in(cells_with_answer(slug), slug)


def solve(*slugs):
    """Keep a right answer to each exercise, to all by default."""
    for slug in slugs or exercises():
        keep(slug, answer_to(slug))


def spoil(slug, body=RAISES):
    """Put in its place a function that breaks, as one that passed once may."""
    keep(slug, body.format(slug=slug))
