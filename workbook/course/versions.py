"""The line with which every lesson begins: what runs here, and on which model."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version


def about(*packages: str) -> str:
    """Return the versions of Python, the workbook and `packages`, and the model.

    >>> about().startswith("Python 3")
    True
    """
    from workbook.models import describe_model

    parts = [f"Python {platform.python_version()}"]
    parts += [f"{name} {_version(name)}" for name in ("react-workbook", *packages)]
    return " · ".join([*parts, describe_model()])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
