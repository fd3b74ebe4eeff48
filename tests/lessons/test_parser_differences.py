"""`parse_turn` and LangChain's two parsers, side by side, as the data file says."""

import tomllib

import pytest
from langchain_classic.agents.mrkl.output_parser import MRKLOutputParser
from langchain_classic.agents.output_parsers import ReActSingleInputOutputParser
from langchain_core.exceptions import OutputParserException

from workbook.paths import DATA
from workbook.runtime.turns import Action, Final, parse_turn


def ours(text):
    turn = parse_turn(text)
    if isinstance(turn, Action):
        return {"tool": turn.tool, "input": turn.input}
    if isinstance(turn, Final):
        return {"answer": turn.answer}
    return {"malformed": turn.reason}


def theirs(parser, text):
    try:
        step = parser.parse(text)
    except OutputParserException:
        return {"raises": "OutputParserException"}
    if found := getattr(step, "return_values", None):
        return {"answer": found["output"]}
    return {"tool": step.tool, "input": step.tool_input}


TABLE = DATA / "lessons/03/parser_differences.toml"
ROWS = tomllib.loads(TABLE.read_text(encoding="utf-8"))["difference"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["title"])
def test_each_parser_does_what_the_table_says(row):
    """On each row ours and LangChain's two part, for a reason"""
    text, single = row["text"], ReActSingleInputOutputParser()
    assert ours(text) == row["ours"]
    assert theirs(MRKLOutputParser(), text) == row["mrkl"]
    assert theirs(single, text) == row["react_single"]
    assert row["why"]
    assert not row["ours"] == row["mrkl"] == row["react_single"]
