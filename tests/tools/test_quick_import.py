"""A learner's first tool does not wait for a grammar that nobody asks for."""

import subprocess
import sys

DEFINE = """
import sys
from workbook.props.catalogue import builtin_tool
builtin_tool("Calculator")
assert "jsonschema" in sys.modules
print("rfc3987_syntax" in sys.modules)
import rfc3987_syntax
print(rfc3987_syntax.is_valid_syntax("iri", "https://example.org/é"))
"""


def test_a_tool_is_defined_without_the_grammar():
    """the first tool leaves rfc3987_syntax alone, and it can be imported afterwards"""
    said = subprocess.check_output([sys.executable, "-c", DEFINE], text=True)
    assert said.split() == ["False", "True"]
