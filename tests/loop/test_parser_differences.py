"""Ours and LangChain's two parsers, side by side, as the data file says."""

import tomllib
from functools import partial
from pathlib import Path

import pytest

from workbook.runtime.turns import Action, Final, parse_turn

DATA = Path(__file__).parents[2] / "data/lessons/01/parser_differences.toml"
ROWS = tomllib.loads(DATA.read_text(encoding="utf-8"))["difference"]


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


def readers():
    """Return what reads a text, by the column of the table."""
    from langchain_classic.agents.mrkl.output_parser import MRKLOutputParser
    from langchain_classic.agents.output_parsers import ReActSingleInputOutputParser

    return {
        "ours": ours,
        "mrkl": partial(langchains, MRKLOutputParser()),
        "react_single": partial(langchains, ReActSingleInputOutputParser()),
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["title"])
def test_each_parser_does_what_the_table_says(row):
    """On each row the parsers part, for a reason, and each does what is written."""
    read = {name: reader(row["text"]) for name, reader in readers().items()}
    assert read == {name: row[name] for name in read}
    assert row["why"]
    assert not row["ours"] == row["mrkl"] == row["react_single"]
