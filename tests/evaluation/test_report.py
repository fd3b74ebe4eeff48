"""What results show: a row an agent, and each beside the first one."""

import pytest

from workbook.evaluation.report import ablation_table, table
from workbook.evaluation.runner import Result
from workbook.evaluation.tasks import tasks
from workbook.models.script import Script
from workbook.traces.writer import TraceWriter


def a_result(task="a", agent="new", right=True, **fields):
    usual = {
        "kind": "lookup", "state": "DONE", "answer": "14", "seconds": 1.25,
        "tokens": 100, "model_calls": 2, "tool_calls": 1, "wasted": 1, "doubled": 0,
        "failure": "none" if right else "wrong answer", "error": "",
    }  # fmt: skip
    return Result(task=task, agent=agent, right=right, **{**usual, **fields})


def expert(task, folder):
    """Write a trace without a machine, and answer as the script does."""
    with TraceWriter(folder / "run_1.jsonl") as told:
        told("run_started", engine="expert", question=task.question)
        prompt = f"<b>{task.question}</b>"
        told("model_request", prompt=prompt)
        said = Script(list(task.expert[-1:])).complete(prompt)
        told("model_turn", text=said.text, turn=None, usage=said.usage.to_dict())
        told("run_finished", state="DONE", reason="final_answer", answer=said.text)
    return said.text.partition("Final Answer: ")[2]


def silent(task, folder):
    return None


def test_a_table_has_a_row_an_agent():
    """A row says how many were right, within which interval, and what it cost."""
    results = [a_result(str(n), right=n < 5) for n in range(10)]
    results += [a_result("0", "old", False, state="EXHAUSTED", doubled=2)]
    frame = table(results)
    assert list(frame.index) == ["new", "old"]
    assert dict(frame.loc["new"]) == {
        "right": 5, "of": 10, "low %": 24, "high %": 76, "tokens": 1000,
        "seconds": 12.5, "steps": 20, "wasted": 10, "doubled": 0, "wrong answers": 5,
    }  # fmt: skip
    assert frame.loc["old", ["doubled", "wrong answers"]].tolist() == [2, 0]
    with pytest.raises(ValueError, match="no results"):
        table([])


def test_an_ablation_compares_each_agent_with_the_first(tmp_path):
    """Won and lost are counted task by task, and p says what luck alone does."""
    frame = ablation_table(tasks(), [silent, expert], out=tmp_path)
    assert frame["right"].tolist() == [0, 29]
    assert frame["won"].tolist() == [0, 29]
    assert frame["lost"].tolist() == [0, 0]
    assert frame["p"].tolist() == [1.0, pytest.approx(2 / 2**29)]
    again = ablation_table(tasks(), [expert, silent], out=tmp_path)
    assert again["lost"].tolist() == [0, 29]
    with pytest.raises(ValueError, match="silent, silent"):
        ablation_table(tasks(), [silent, silent], out=tmp_path)
    with pytest.raises(ValueError, match="no results"):
        ablation_table(tasks(), [], out=tmp_path)
