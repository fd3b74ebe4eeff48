"""Three open claims: a verdict counts with evidence from which it follows."""

from decimal import Decimal

from workbook.lessons.read_the_claims import (
    ClaimVerdict,
    Reply,
    claims,
    ending,
    right_if,
    roundings,
)


def goes_on(tool):
    """Whether the listing's run goes on after it has called this tool."""
    replies = iter([Reply(call=("tool", {})), Reply(final_text="done")])
    try:
        ending(lambda _: next(replies), {"tool": tool})
    except (Exception, SystemExit, KeyboardInterrupt):
        return False
    return True


def test_each_open_claim_is_judged(my_verdicts):
    """own_gain, ablation and tool_errors, no other, are a `Cited(verdict, evidence)`"""
    found = my_verdicts()
    assert sorted(found) == ["ablation", "own_gain", "tool_errors"]
    assert all(cited.verdict in [*ClaimVerdict] for cited in found.values())


def test_the_two_figures_of_the_gain(my_verdicts):
    """own_gain cites (row, column) of the two figures in the review that it is about"""
    cited = my_verdicts()["own_gain"]
    places = {tuple(place) for place in cited.evidence}
    assert places == {("ReAct", "ALFWorld"), ("imitation", "ALFWorld")}


def test_the_verdict_on_the_gain(my_verdicts):
    """own_gain is RIGHT if its figures give 34, in points or per cent, else WRONG"""
    cited = my_verdicts()["own_gain"]
    figures = claims()["source"]["review"]["figures"]
    low, high = sorted(Decimal(figures[row][column]) for row, column in cited.evidence)
    claimed = Decimal(figures["ReAct above imitation"]["ALFWorld"])
    gains = {high - low, 100 * (high - low) / low}  # in points, and in per cent
    follows = right_if(any(claimed in roundings(each, 0) for each in gains))
    assert cited.verdict == follows


def test_the_rows_of_the_ablation(my_verdicts):
    """ablation cites all rows without some tool; the row K = 1 may be with them"""
    figures = claims()["source"]["report"]["figures"]
    without = {row for row, columns in figures.items() if "off" in columns}
    cited = {*my_verdicts()["ablation"].evidence}
    assert cited - {"Qwen-Turbo, K = 1"} == without


def test_the_verdict_on_the_ablation(my_verdicts):
    """ablation's verdict is NOT_REPORTED if no row switches a guardrail off"""
    cited, report = my_verdicts()["ablation"], claims()["source"]["report"]
    off = {report["figures"][row].get("off") for row in cited.evidence}
    is_there = off & {*report["guardrails"]}
    follows = right_if(True) if is_there else ClaimVerdict.NOT_REPORTED
    assert cited.verdict == follows


def test_the_tools_that_were_tried(my_verdicts):
    """if any tool can make the run break off, tool_errors cites such a tool"""
    tools = my_verdicts()["tool_errors"].evidence
    broken = [tool for tool in tools if not goes_on(tool)]
    assert broken, "the run goes on after each of them"


def test_the_verdict_on_tool_errors(my_verdicts):
    """tool_errors' verdict is RIGHT if the run goes on after each tool, else WRONG"""
    cited = my_verdicts()["tool_errors"]
    assert cited.verdict == right_if(all(goes_on(tool) for tool in cited.evidence))
