"""The functions under test, as pytest fixtures: one per exercise, of the same name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import Any

import pytest

from workbook.exercises.catalogue import exercises


def fixtures(subjects: Mapping[str, Callable[..., Any]]) -> ModuleType:
    """Return a pytest plugin with one fixture per exercise.

    Args:
        subjects: slug to function; the package's function where there is none.
    """
    plugin = ModuleType("workbook_subjects")
    for slug, exercise in exercises().items():
        if slug not in subjects:
            setattr(plugin, f"subject_{slug}", _fixture(slug, exercise.function))
    for slug, function in subjects.items():
        setattr(plugin, f"subject_{slug}", _fixture(slug, partial(_same, function)))
    return plugin


def _same(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _fixture(slug: str, subject: Callable[[], Callable[..., Any]]) -> Any:
    # A session's: hypothesis refuses the fixtures of a single test.
    @pytest.fixture(scope="session", name=slug)
    def function_under_test() -> Any:
        return subject()

    return function_under_test
