"""What the instructor's guide shows works as it stands."""

import re
import tomllib
from pathlib import Path

import pytest

from workbook.stage import player
from workbook.stage.engines import play
from workbook.stage.scenarios import outcome, read_scenario, slugs

ROOT = Path(__file__).resolve().parents[1]
GUIDE = (ROOT / "notebooks" / "instructor_guide.md").read_text(encoding="utf-8")


ENGINES = ("naive", "langchain", "fsm")


def blocks(language):
    """Return the code blocks of the guide in one language."""
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


@pytest.fixture(scope="module")
def namespace():
    """The guide's cells, run one after the other."""
    names = {}
    for cell in blocks("python"):
        exec(cell, names)
    return names


def test_the_cells_run(namespace):
    """the cells run in the order in which they stand, on every engine"""
    answers = {engine: namespace["ends"](engine)["answer"] for engine in ENGINES}
    assert answers["fsm"] == "88"


def test_the_faults_of_the_model_are_met(namespace):
    """of the three turns two are answered with an error, and the last ends the run"""
    trace = play("price_question", "fsm", model=namespace["faulty"])
    assert [event["ok"] for event in trace.of("observation")] == [False, False]
    assert trace.end["state"] == "ERROR"
    assert "the provider did not answer" in trace.end["message"]


def test_the_scenario_plays(tmp_path, monkeypatch):
    """the scenario's file holds together, and ends as the guide says"""
    (text,) = blocks("toml")
    monkeypatch.setattr("workbook.stage.scenarios.FOLDER", tmp_path)
    path = tmp_path / "out_of_order.toml"
    path.write_text(text, encoding="utf-8")
    assert read_scenario(path).title == tomllib.loads(text)["title"]
    assert outcome(play("out_of_order", "fsm"))["answer"] == "You will have to walk."


def test_the_slow_tool_is_given_up_by_the_machine_alone(tmp_path, monkeypatch):
    """with the guide's two keys the machine tells a timeout, and the loop waits"""
    assert "`takes_s = 2` and `timeout_s = 0.2`" in GUIDE
    (text,) = blocks("toml")
    slow = 'takes_s = 0.4\ntimeout_s = 0.1\nreturns = ["12"]'
    monkeypatch.setattr("workbook.stage.scenarios.FOLDER", tmp_path)
    text = re.sub(r"raises = .*\nmessage = .*", slow, text)
    (tmp_path / "out_of_order.toml").write_text(text, encoding="utf-8")
    seen = {e: play("out_of_order", e).of("observation")[0]["text"] for e in ENGINES}
    assert "timeout" in seen.pop("fsm")
    assert seen == {"naive": "12", "langchain": "12"}


@pytest.mark.parametrize(
    "slug", sorted(set(re.findall(r'(?:player|compare|play)\("(\w+)"', GUIDE)))
)
def test_what_is_named_is_there(slug):
    """every scenario that the guide names can be shown"""
    if slug != "out_of_order":
        assert slug in slugs() + slugs("trust")
        assert player(slug) is not None


def row_of(slug):
    """Return the last column of the table's row that opens with this scenario."""
    (row,) = [line for line in GUIDE.splitlines() if f'| `player("{slug}"' in line]
    return row.split("|")[-2]


def test_what_comes_is_what_the_made_up_observation_says():
    """the naive loop answers with what the model made up, and calls no tool"""
    trace = play("made_up_observation", "naive")
    assert trace.end["answer"] in row_of("made_up_observation")
    assert trace.of("tool_call") == []


def test_what_comes_of_the_crash_is_an_exception():
    """44 pages are read, and there is no answer"""
    trace = play("crash_at_step_45", "naive")
    assert "an exception; 44 pages are read" in row_of("crash_at_step_45")
    assert (len(trace.of("observation")), trace.end["answer"]) == (44, None)
    assert trace.end["state"] == "ERROR"


def test_the_price_question_takes_nine_calls():
    """five are the agent's, four its calculator's"""
    asked = play("price_question", "langchain").of("model_request")
    assert "nine: its calculator asks the model four times" in row_of("price_question")
    assert (len(asked), sum("parent" in event for event in asked)) == (9, 4)


def test_three_numbers_bring_an_error_and_then_one_call_each():
    """the first call is refused, the three after it are answered"""
    trace = play("array_for_one_value", "fsm")
    assert [e["ok"] for e in trace.of("observation")] == [False, True, True, True]


def test_the_budget_of_steps_ends_the_endless_call():
    """EXHAUSTED, since no step is left"""
    end = play("same_call_forever", "fsm").end
    assert end["state"] in row_of("same_call_forever")
    assert end["reason"] == "out_of_steps"


def test_the_machine_pays_twice_as_yet():
    """the trap in the guide's table is one: no engine of these pays only once"""
    for engine in ENGINES:
        calls = [
            event
            for event in play("payment_twice", engine).of("tool_call")
            if event["tool"] == "Pay"
        ]
        assert len(calls) == 2, engine


def test_a_rule_ends_the_ping_pong():
    """a warning at the third pair, STUCK at the next call"""
    trace = play("ping_pong", "guarded")
    said = [event["what"] for event in trace.of("decision")]
    assert (said, trace.end["state"]) == (["warning", "stuck"], "STUCK")
    assert len(trace.of("tool_call")) == 3 * 2 + 1
    assert "STUCK" in row_of("ping_pong")


def test_three_times_yes_is_one_payment():
    """each call is asked about, and the money is sent once"""
    trace = play("payment_other_call_id", "guarded")
    asked = [event for event in trace.of("decision") if event["what"] == "ask"]
    paid = {event["result"]["payment_id"] for event in trace.of("observation")}
    assert (len(asked), len(paid)) == (3, 1)
    assert "once" in row_of("payment_other_call_id")
