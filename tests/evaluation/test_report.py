"""What results show: the tables of agents, and a page that opens anywhere."""

import re
import time

import pytest

from workbook.evaluation.evaluate import Result, evaluate
from workbook.evaluation.report import ablation_table, report, table
from workbook.evaluation.tasks import tasks
from workbook.models.script import Script
from workbook.stage.engines import play
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
        "seconds": 12.5, "steps": 20, "wasted": 10, "doubled": 0, "wrong endings": 5,
    }  # fmt: skip
    assert frame.loc["old", ["doubled", "wrong endings"]].tolist() == [2, 0]
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


def test_the_page_needs_no_network_and_shows_traces(tmp_path):
    """Nothing is loaded; each trace is folded out, and its folder is one click away."""
    ablation_table(tasks("safety"), [expert, silent], out=tmp_path / "my agents")
    page = report(tmp_path / "my agents", tmp_path / "pages" / "page.html").read_text()
    assert not re.search(r"<script|<link|<img|src=|url\(|@import|href=.http", page)
    assert page.count("<summary>trace</summary>") == 6
    links = re.findall(r'href="([^"]*)"', page)
    assert len(links) == 12
    there = [tmp_path / "pages" / link.replace("%20", " ") for link in links]
    assert all((folder / "result.json").is_file() for folder in there)
    assert "&lt;b&gt;" in page


def test_what_was_written_is_text(tmp_path):
    """A tag in an answer, a name or an error is shown letter by letter."""
    bad = "<script>alert(1)</script>"
    hostile = a_result(bad, bad, False, answer=bad + "x" * 9000, error=bad, kind=bad)
    page = report([hostile, a_result(answer="\ud800")], tmp_path / "page.html")
    text = page.read_text()
    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 5
    assert len(text) < 20_000


def test_a_page_of_ten_thousand_results_is_made_in_three_seconds(tmp_path):
    """The wrong ones come first, and the page says how many it leaves out."""
    results = [a_result(f"task {n}", right=n % 20 > 0) for n in range(10_000)]
    began = time.perf_counter()
    page = report(results, tmp_path / "page.html")
    assert time.perf_counter() - began < 3
    assert page.stat().st_size < 1_000_000
    assert "1,000 of 10,000" in page.read_text()
    assert page.read_text().count("<td>✕</td>") == 500


def test_a_page_of_long_traces_is_no_monster(tmp_path, monkeypatch):
    """Traces that have no room are links, and the page says so."""
    monkeypatch.setattr("workbook.evaluation.report.CHARS", 20_000)
    evaluate(tasks(), expert, out=tmp_path / "out")
    text = report([tmp_path / "out"], tmp_path / "page.html").read_text()
    assert 0 < text.count("<summary>trace</summary>") < 29
    assert f"For {29 - text.count('<summary>trace</summary>')} there is" in text
    monkeypatch.setattr("workbook.evaluation.report.CHARS", 10)
    text = report([tmp_path / "out"], tmp_path / "page.html").read_text()
    assert "<summary>trace</summary>" not in text


def test_traces_of_other_engines_are_shown(tmp_path):
    """A naive run has its trace in the page, whatever it lacks."""

    def naive(task, folder):
        play("price_question", "naive").save(folder / "run_1.jsonl")
        (folder / "run_2.jsonl").write_text('{"trace_id": "damaged\n')

    evaluate(tasks("lookup"), naive, out=tmp_path / "out")
    text = report(tmp_path / "out", tmp_path / "page.html").read_text()
    assert text.count("<summary>trace</summary>") == text.count("lost:") == 4


def test_a_folder_without_an_evaluation_is_refused(tmp_path):
    """A folder that holds none is named; no results at all are no report."""
    with pytest.raises(FileNotFoundError, match=tmp_path.name):
        report(tmp_path, tmp_path / "page.html")
    with pytest.raises(ValueError, match="no results"):
        report([], tmp_path / "page.html")
