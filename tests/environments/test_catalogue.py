"""All tools of the workbook together."""

import pytest

from workbook.environments.catalogue import builtin_tool, builtin_tools, makers
from workbook.runtime.calls import Effect, ToolCall
from workbook.runtime.tools import ToolRegistry
from workbook.runtime.turns import Action

ASKED = {
    "Calculator": ("2*3", "6"),
    "Percent": ('{"amount": 100, "percent": -20}', "80"),
    "Factorial": ("5", "120"),
    "PrimeFactors": ("91", '{"n": 91, "factors": [7, 13]}'),
    "WikiSearch": ("Marie Curie", '"title": "Marie Curie"'),
    "Plan": ("What is 1+1?", '"do": "calculate"'),
    "ReadLog": ("last night", "the disk of db-3 was full"),
    "Pay": ('{"payee": "Ada", "amount": 5}', '"paid": "5.00 EUR"'),
    "PaySlowly": ('{"payee": "Ada", "amount": 5}', "Error (timeout)"),
    "list_files": ("{}", '["price.py", "test_price.py"]'),
    "read_file": ("price.py", '"path": "price.py", "text":'),
    "write_file": ('{"path": "a.txt", "text": "b"}', '"written": "a.txt"'),
    "run_tests": ("{}", '"passed": false'),
}
"""One call of each tool that needs no network, and a part of what it answers."""
WRITES = ("Pay", "PaySlowly", "write_file")


def test_each_tool_is_found_under_its_name():
    """what a module of tools offers is found by its name; no other name is"""
    assert [builtin_tool(name).name for name in makers()] == list(makers())
    asked = {*ASKED, "WebSearch"}
    assert set(makers()) == asked, "add one call of the new tool to ASKED above"
    with pytest.raises(KeyError, match=r"'Abacus'; use .*Factorial"):
        builtin_tool("Abacus")


@pytest.mark.parametrize("name", ASKED)
def test_each_tool_answers_a_text_turn(name):
    """each tool answers when a model asks for it in text"""
    registry = ToolRegistry([builtin_tool(name)])
    text, part = ASKED[name]

    call = registry.bind(Action("", name, text))

    assert isinstance(call, ToolCall)
    assert part in registry.run(call).text()
    writes = builtin_tool(name).effect is Effect.WRITE
    assert writes == (name in WRITES), 'effect="write" is for the tools in WRITES above'


def test_tools_that_are_made_together_share_a_state():
    """what one tool of a workspace writes, another one reads; a new set is new"""
    for before in range(2):
        write, read = builtin_tools(["write_file", "read_file"])
        assert write.preview("note.txt", "hello").startswith("--- (no file)"), before
        write.run(path="note.txt", text="hello")
        assert read.run(path="note.txt")["text"] == "hello"
