"""Cells of a learner's, and one process that tests them all until it is lost."""

import linecache

import pytest

from tests.learner import report_on


@pytest.fixture
def one_worker(monkeypatch):
    """Let every check use one process: a new one for each takes half a second."""
    monkeypatch.setattr("workbook.checks.check.tested", report_on)


@pytest.fixture
def right():
    """The text of a right answer to `who_writes`."""
    body = 'return "runtime" if label == "Observation" else "model"'
    return f"def who_writes(label):\n    {body}\n"


@pytest.fixture
def cell():
    """Return a function that runs a cell, and returns the last function in it."""

    def run(text):
        name = f"<cell {len(linecache.cache)}>"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        exec(compile(text, name, "exec"), space := {})
        return [each for each in space.values() if callable(each)][-1]

    return run
