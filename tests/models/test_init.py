"""What the room costs to enter, and what it offers."""

import subprocess
import sys

import pytest

import workbook.models


def test_everything_on_offer_is_there():
    """each name in __all__ can be imported"""
    assert [n for n in workbook.models.__all__ if not hasattr(workbook.models, n)] == []


def test_a_name_that_is_not_there_is_an_attribute_error():
    """a slip in a name is an ordinary AttributeError"""
    with pytest.raises(AttributeError, match="has no attribute 'ScriptetModel'"):
        _ = workbook.models.ScriptetModel


def test_a_script_costs_no_langchain():
    """importing and playing a script brings nothing heavy along"""
    code = (
        "import sys; from workbook.models import Script; Script(['a']).complete('p');"
        "print({'langchain_core', 'openai', 'rich', 'xllamacpp', 'pydantic', 'numpy'}"
        " & set(sys.modules))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "set()"
