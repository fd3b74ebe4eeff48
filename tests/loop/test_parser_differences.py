"""Ours and LangChain's two parsers, side by side, as the data file says."""

import tomllib
from pathlib import Path

import pytest

from workbook.loop.turns import Action, Final, parse_turn

DATA = Path(__file__).parents[2] / "data" / "parser_differences.toml"
ROWS = tomllib.loads(DATA.read_text(encoding="utf-8"))["difference"]
each_row = pytest.mark.parametrize("row", ROWS, ids=[row["title"] for row in ROWS])


def ours(text):
    turn = parse_turn(text)
    if isinstance(turn, Action):
        return {"tool": turn.tool, "input": turn.input}
    if isinstance(turn, Final):
        return {"answer": turn.answer}
    return {"malformed": turn.reason}


def langchains(parser, text):
    from langchain_core.agents import AgentFinish
    from langchain_core.exceptions import OutputParserException

    try:
        step = parser.parse(text)
    except OutputParserException:
        return {"raises": "OutputParserException"}
    if isinstance(step, AgentFinish):
        return {"answer": step.return_values["output"]}
    return {"tool": step.tool, "input": step.tool_input}


@each_row
def test_our_outcome_is_as_the_table_says(row):
    """parse_turn does on each row what the table says."""
    assert ours(row["text"]) == row["ours"]


@each_row
def test_mrkl_does_what_the_table_says(row):
    """LangChain's MRKLOutputParser does on each row what the table says."""
    from langchain_classic.agents.mrkl.output_parser import MRKLOutputParser

    assert langchains(MRKLOutputParser(), row["text"]) == row["mrkl"]


@each_row
def test_react_single_does_what_the_table_says(row):
    """LangChain's ReActSingleInputOutputParser does what the table says."""
    from langchain_classic.agents.output_parsers import ReActSingleInputOutputParser

    parser = ReActSingleInputOutputParser()
    assert langchains(parser, row["text"]) == row["react_single"]


@each_row
def test_every_row_is_a_difference_with_a_reason(row):
    """A row stands in the table because the parsers part there, and says why."""
    assert row["why"]
    assert row["ours"] != row["mrkl"] or row["ours"] != row["react_single"]
