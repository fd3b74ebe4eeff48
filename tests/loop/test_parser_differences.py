"""Ours and LangChain's two parsers, side by side, as the data file says."""

import tomllib
from functools import partial
from pathlib import Path

from workbook.loop.turns import Action, Final, parse_turn

DATA = Path(__file__).parents[2] / "data" / "parser_differences.toml"
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


def column(name):
    return {row["title"]: row[name] for row in ROWS}


def outcomes(read):
    return {row["title"]: read(row["text"]) for row in ROWS}


def test_our_outcome_is_as_the_table_says():
    """parse_turn does on each row what the table says."""
    assert outcomes(ours) == column("ours")


def test_mrkl_does_what_the_table_says():
    """LangChain's MRKLOutputParser does on each row what the table says."""
    from langchain_classic.agents.mrkl.output_parser import MRKLOutputParser

    assert outcomes(partial(langchains, MRKLOutputParser())) == column("mrkl")


def test_react_single_does_what_the_table_says():
    """LangChain's ReActSingleInputOutputParser does what the table says."""
    from langchain_classic.agents.output_parsers import ReActSingleInputOutputParser

    parser = ReActSingleInputOutputParser()
    assert outcomes(partial(langchains, parser)) == column("react_single")


def test_every_row_is_a_difference_with_a_reason():
    """A row stands in the table because the parsers part there, and says why."""
    assert all(row["why"] for row in ROWS)
    same = [r for r in ROWS if r["ours"] == r["mrkl"] == r["react_single"]]
    assert same == []
