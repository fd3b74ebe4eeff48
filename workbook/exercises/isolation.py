"""A pytest run inside another program that leaves no trace in it.

The test file is imported afresh and then forgotten; the environment, pytest's globals
and hypothesis' settings are put back.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from _pytest.assertion import util as assertion_util

from workbook.exercises.catalogue import Exercise
from workbook.paths import user_cache

_ENVIRONMENT = (
    "HYPOTHESIS_STORAGE_DIRECTORY",
    "PYTEST_ADDOPTS",
    "PYTEST_CURRENT_TEST",
    "PYTEST_PLUGINS",
    "PYTEST_VERSION",
)


@contextmanager
def as_it_was(exercise: Exercise) -> Iterator[None]:
    """Import the test file afresh, and put back what pytest leaves changed."""
    environ = {name: os.environ.get(name) for name in _ENVIRONMENT}
    saved = assertion_util._reprcompare, assertion_util._config
    path = str(exercise.tests_path)
    modules = {n: m for n, m in list(sys.modules.items()) if _file(m) == path}
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    # Not into the folder of the notebook.
    cache = user_cache()
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(cache / "hypothesis")
    for name in modules:
        del sys.modules[name]
    try:
        yield
    finally:
        sys.modules.update(modules)
        assertion_util._reprcompare, assertion_util._config = saved
        for name, value in environ.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _file(module: object) -> str | None:
    return getattr(module, "__dict__", {}).get("__file__")


@contextmanager
def quick_hypothesis(exercise: Exercise) -> Iterator[None]:
    """Let property tests run without a database, the same way each time."""
    if b"hypothesis" not in exercise.tests_path.read_bytes():
        yield
        return
    from hypothesis import HealthCheck, Phase, settings

    before = settings.get_current_profile_name()
    settings.register_profile(
        "workbook-check",
        database=None,
        deadline=None,
        derandomize=True,
        max_examples=25,
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("workbook-check")
    try:
        yield
    finally:
        settings.load_profile(before)
