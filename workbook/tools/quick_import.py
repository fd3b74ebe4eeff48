"""Import jsonschema without the second that it does not need.

rfc3987_syntax, which JupyterLab brings along, compiles a grammar as it is imported, and
jsonschema imports it for "format": "iri" alone. Formats are not checked here, and a
learner's first tool would wait ten times as long.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

GRAMMAR = "rfc3987_syntax"


def import_jsonschema() -> ModuleType:
    """Return the module; the grammar stays importable for others."""
    absent = GRAMMAR not in sys.modules
    if absent:
        sys.modules[GRAMMAR] = None  # type: ignore[assignment]
    try:
        return importlib.import_module("jsonschema")
    finally:
        if absent:
            del sys.modules[GRAMMAR]
