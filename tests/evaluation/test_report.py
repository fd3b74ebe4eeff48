"""What results show: a row an agent."""

from workbook.evaluation.report import table
from workbook.evaluation.runner import Result


def a_result(task="a", agent="new", right=True, **fields):
    usual = {
        "kind": "lookup", "state": "DONE", "answer": "14", "seconds": 1.251,
        "tokens": 100, "model_calls": 2, "tool_calls": 1, "wasted": 1, "doubled": 0,
        "error": "",
    }  # fmt: skip
    return Result(task=task, agent=agent, right=right, **{**usual, **fields})


def test_a_table_has_a_row_an_agent():
    """A row says how many were right, within which interval, and what it cost."""
    results = [a_result(str(n), right=n < 4) for n in range(10)]
    results += [a_result("0", "old", False, state="EXHAUSTED", doubled=2)]
    frame = table(results)
    assert list(frame.index) == ["new", "old"]
    assert dict(frame.loc["new"]) == {
        "right": 4, "of": 10, "low %": 17, "high %": 69, "tokens": 1000,
        "seconds": 12.5, "steps": 20, "wasted": 10, "doubled": 0, "wrong answers": 6,
    }  # fmt: skip
    assert frame.loc["old", ["doubled", "wrong answers"]].tolist() == [2, 0]
