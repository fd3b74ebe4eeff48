"""A scenario played live: the same trace as ever, and somebody may stop it."""

import threading

import pytest

from workbook.models.script import Script
from workbook.record.equivalence import first_difference
from workbook.stage.engines import ENGINES, play
from workbook.stage.live_run import LiveRun, Stoppable
from workbook.stage.scenarios import ScenarioError, outcome


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("slug", ["price_question", "endless_retry", "two_actions"])
def test_a_live_run_is_the_run_that_play_plays(slug, engine):
    """What can be stopped runs as what cannot"""
    live, plain = LiveRun(slug, engine).play(), play(slug, engine)
    assert outcome(live) == outcome(plain)
    assert first_difference(live, plain) is None
    prompts = [
        [t.prompt(e["seq"]) for e in t.of("model_request")] for t in (live, plain)
    ]
    assert prompts[0] == prompts[1]


@pytest.mark.parametrize("engine", ENGINES)
def test_cancel_ends_the_run_and_says_so(engine):
    """A stop during the third turn ends the run there; no further turn is asked for"""
    turns = []

    def stop_at_third(event):
        if event["kind"] == "model_turn" and "parent" not in event:
            turns.append(event)
            if len(turns) == 3:
                run.cancel()

    run = LiveRun("endless_retry", engine, listener=stop_at_third)
    trace = run.play()
    assert len(turns) == 3
    expected = (
        ("CANCELLED", "cancel") if engine == "fsm" else ("ERROR", "KeyboardInterrupt")
    )
    assert (trace.end["state"], trace.end["reason"]) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cancel_before_the_start_ends_the_run_at_once(engine):
    """Who stops a run before it began gets a run without a turn"""
    run = LiveRun("price_question", engine)
    run.cancel()
    trace = run.play()
    assert trace.of("model_turn") == []
    assert trace.end["state"] in ("CANCELLED", "ERROR")


def test_a_pause_ends_when_the_user_says_stop():
    """Nobody waits for a pause of an hour once the run is stopped"""
    stopped, told = threading.Event(), []
    stopped.set()
    model = Stoppable(Script(["a"]), stopped, lambda: told.append("stop"), pause_s=3600)
    assert model.complete("x").text == "a"
    assert told == ["stop"]


def test_a_model_can_be_given():
    """A model in place of the script answers the scenario's question"""
    script = Script(["Thought: easy\nFinal Answer: 88"])
    assert LiveRun("price_question", "fsm", script).play().end["answer"] == "88"


def test_a_wrong_engine_is_refused():
    """The message names the engines that there are"""
    with pytest.raises(ScenarioError, match="no engine 'dfa'; there is naive"):
        LiveRun("price_question", "dfa")
