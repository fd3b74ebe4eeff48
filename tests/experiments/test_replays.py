"""What lesson 08 shows: replays over the gallery, a run killed anywhere, four files."""

import pytest

from workbook.experiments import replays
from workbook.runtime.calculator import calculator
from workbook.runtime.guards import all_guards
from workbook.runtime.machine import Machine
from workbook.runtime.replay import replay
from workbook.runtime.script import Script
from workbook.stage.scenarios import load
from workbook.views.logs import VIEWS

PRICE = load("price_question")


def machine(turns):
    """Return a machine that can answer the price question."""
    return Machine(Script(turns), [calculator()], all_guards())


def test_a_replay_that_fails_has_its_row(monkeypatch):
    """a row says where it diverged; what comes to the recorded end has none"""
    monkeypatch.setattr(replays, "slugs", lambda: ["price_question", "drift"])

    def but_not_of_lunch(trace, machine):
        if "lunch" in trace.events[0]["question"]:
            raise LookupError
        return replay(trace, machine)

    table = replays.over_the_gallery(but_not_of_lunch)
    assert [row[2] for row in table.rows] == ["LookupError"] * 2
    assert table.footer.startswith("2 of 4")


def test_a_killed_run_asks_only_for_what_was_not_answered(tmp_path):
    """after a request the model, after a call the tool, else nobody"""
    trace = replays.told(machine(PRICE.turns), PRICE.question, tmp_path)
    assert all((tmp_path / name).is_file() for name in VIEWS)
    table = replays.killed_anywhere(trace, PRICE.turns, machine)
    asked = {row[0]: row[-1] for row in table.rows}
    assert asked.pop("model_request") == "the model"
    assert asked.pop("tool_call") == "the tool"
    assert set(asked.values()) == {"nobody"}
    assert {row[2] for row in table.rows} == {"DONE 88"}


@pytest.mark.parametrize(("fails", "calls"), [(-1, 0), (0, 1), (2, 3)])
def test_a_busy_tool_is_asked_until_it_answers(fails, calls):
    """the last call is the one that goes well"""
    trace = replays.told(replays.weather(fails), "Oslo?")
    assert [e["ok"] for e in trace.of("observation")] == [False] * (calls - 1) + [
        True
    ] * (calls > 0)
    assert trace.end["state"] == "DONE"
