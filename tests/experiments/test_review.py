"""The checklist: each of its lines is shown by a run, and met or missed by one."""

import re
import tomllib

import pytest

from workbook.experiments.review import review
from workbook.paths import DATA
from workbook.runtime.ledger import Make
from workbook.runtime.machine import Machine
from workbook.runtime.model import Model
from workbook.runtime.table import CORE, Event, State, Transition
from workbook.runtime.turns import Final, parse_turn
from workbook.stage.engines import ENGINES
from workbook.stage.scenarios import ScenarioError, slugs

LINES = tomllib.loads((DATA / "checklist.toml").read_text(encoding="utf-8"))["line"]
LOOKS = [line["look"] for line in LINES]


def of(*scenarios):
    """Return the looks of the lines that name one of these scenarios."""
    return {line["look"] for line in LINES if {*scenarios} & {*line["scenarios"]}}


def missed(agent, parts=None, make=None):
    """Return what an agent misses."""
    return {look for look, *_ in review(agent, parts, make).rows if look}


def test_the_checklist_holds_together():
    """Twelve lines or more, each a sentence, each with scenarios that there are."""
    assert len(LOOKS) == len(set(LOOKS)) >= 12
    for line in LINES:
        assert re.fullmatch(r"[A-Z].*\.", line["look"])
        assert line["scenarios"]
        assert set(line["scenarios"]) <= set(slugs())
        assert set(line) <= {"look", "scenarios", "end", "turns"}


def test_each_engine_meets_more_than_the_one_before():
    """The naive loop meets three lines, the guarded engine all; most can be missed."""
    seen = {name: review(name) for name in ("naive", "langchain", "fsm", "guarded")}
    met = [f"{n} of {len(LOOKS)} lines are met." for n in (3, 5, 11, len(LOOKS))]
    assert [found.footer for found in seen.values()] == met
    both = {look for name in ("naive", "langchain") for look, *_ in seen[name].rows}
    assert {*LOOKS} - both == of("budget_reached_exactly", "polling")
    *_, last = seen["langchain"].rows
    assert last == ("", "✕", "payment_after_a_timeout", last[-1])


def test_a_part_of_yours_that_sees_nothing_misses_its_line():
    """The guarded machine is played with your parts."""
    assert of("ping_pong") == missed(
        "guarded", {"find_cycle": lambda *calls, **how: None}
    )


# a bug is planted, and the line that it breaks is named


def made(model=lambda model: model, **change):
    """Return what makes a plain machine with a bug in it."""

    def make(scenario, home):
        asked = model(scenario.script())
        return Machine(asked, scenario.tools(), make=Make(), **change)

    return make


ENDS = Transition(State.THINK, Event.UNREADABLE_TURN, State.ERROR, "a bug")


class WithoutStop(Model):
    """A model that does not know where to stop."""

    def __init__(self, model):
        self.model = model

    def respond(self, request):
        return self.model.respond(request._replace(stop=()))


def believes(text):
    """Look for an answer before the first step is read."""
    label, answer = text.partition("Final Answer:")[1:]
    return Final("", answer.strip()) if label else parse_turn(text)


@pytest.mark.parametrize(
    ("bug", "named"),
    [
        ({"table": CORE.with_rules(ENDS)}, "missing_action"),
        (
            {"model": WithoutStop, "parts": {"parse_turn": believes}},
            "made_up_observation",
        ),
    ],
    ids=["a turn ends the run", "made up"],
)
def test_a_bug_is_named_by_its_line(bug, named):
    """A line is missed with the bug, and met without it."""
    assert of(named) <= missed("fsm", make=made(**bug)) - missed("fsm", make=made())


@pytest.mark.parametrize(
    "engine", [e for e in ENGINES if e.endswith(("_calls", "create_agent"))]
)
def test_an_engine_that_asks_for_calls_is_refused(engine):
    """The scenarios are in text, so what it made of them would say nothing."""
    with pytest.raises(ValueError, match=engine):
        review(engine)


def test_what_is_no_engine_is_refused():
    """A slip of the hand is told with the engines that there are."""
    with pytest.raises(ScenarioError, match="guarded"):
        review("gaurded")
