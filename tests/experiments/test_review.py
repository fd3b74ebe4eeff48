"""The checklist: each of its lines is shown by a run, and met or missed by one."""

import html
import re
import tomllib
from functools import partial

import pytest

from workbook.experiments.replays import careful
from workbook.experiments.review import review
from workbook.fsm.adapters import TextTurns
from workbook.fsm.machine import Machine
from workbook.fsm.table import CORE, Event, State, Transition
from workbook.loop.turns import Final, parse_turn
from workbook.paths import DATA
from workbook.playground.engines import ENGINES, Engine
from workbook.playground.scenarios import ScenarioError, slugs
from workbook.tools.arguments import validate_arguments
from workbook.tools.registry import ToolRegistry

LINES = tomllib.loads((DATA / "checklist.toml").read_text(encoding="utf-8"))["line"]
LOOKS = [line["look"] for line in LINES]


def of(*scenarios):
    """Return the looks of the lines that name one of these scenarios."""
    return {line["look"] for line in LINES if {*scenarios} & {*line["scenarios"]}}


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
    met = {name: len(LOOKS) - len(found.missed) for name, found in seen.items()}
    assert [*met.values()] == [3, 5, 11, len(LOOKS)]
    assert all(f"{met[n]} of {len(LOOKS)}" in repr(seen[n]) for n in met)
    missed = {*seen["naive"].missed, *seen["langchain"].missed}
    assert set(LOOKS) - missed == of("budget_reached_exactly", "polling")


def test_your_machine_without_a_ledger_pays_twice():
    """All other lines are met, and a part that sees nothing misses its own."""
    assert {*review(careful({})).missed} == of("payment_twice")
    blind = careful({"find_cycle": lambda *calls, **how: None})
    assert of("ping_pong") < {*review(blind).missed}


# a bug is planted, and the line that it breaks is named


def made(**change):
    """Return the engine of a plain machine with a bug in it."""

    def play(spec):
        tools = ToolRegistry(spec.tools, **change.get("tools", {}))
        options = {k: v for k, v in change.items() if k != "tools"}
        machine = Machine(spec.model, tools, hook=spec.emit, **options)
        machine.run(spec.scenario.question)

    return Engine(play)


def table(source, event, target):
    rule = Transition(source, event, target, "a bug")
    return {"table": CORE.with_rules(rule)}


class WithoutStop(TextTurns):
    """It does not tell the model where to stop."""

    def ask(self, **options):
        return self.model.complete(self.prompt, **options)


def believes(text):
    """Look for an answer before the first step is read."""
    label, answer = text.partition("Final Answer:")[1:]
    return Final("", answer.strip()) if label else parse_turn(text)


def raises(schema, arguments):
    if problems := validate_arguments(schema, arguments):
        raise ValueError(problems)
    return []


@pytest.mark.parametrize(
    ("bug", "named"),
    [
        (table(State.THINK, Event.UNREADABLE_TURN, State.ERROR), "missing_action"),
        ({"adapter": partial(WithoutStop, parse=believes)}, "made_up_observation"),
        ({"tools": {"validate": raises}}, "array_for_one_value"),
        (table(State.THINK, Event.OUT_OF_STEPS, State.DONE), "endless_retry"),
    ],
    ids=["a turn ends the run", "made up", "it raises", "a limit is no answer"],
)
def test_a_bug_is_named_by_its_line(bug, named):
    """A line is missed with the bug, and met without it."""
    assert of(named) <= {*review(made(**bug)).missed} - {*review(made()).missed}


@pytest.mark.parametrize("engine", [e for e in ENGINES if ENGINES[e].asks_for_calls])
def test_an_engine_that_asks_for_calls_is_refused(engine):
    """The scenarios are in text, so what it made of them would say nothing."""
    with pytest.raises(ValueError, match=engine):
        review(engine)


def test_what_is_no_engine_is_refused():
    """A slip of the hand is told with the engines that there are."""
    with pytest.raises(ScenarioError, match="guarded"):
        review("gaurded")


def test_a_notebook_shows_every_run():
    """A table with each line once, each scenario, a mark and how it ended; no tags."""
    seen = review("naive")
    row = seen.rows[0]._replace(ended="DONE after 1 turn: <b>$5 or $6</b>")
    page = seen._replace(rows=(row, *seen.rows[1:]))._repr_html_()
    assert [html.unescape(page).count(look) for look in LOOKS] == [1] * len(LOOKS)
    assert page.count("<tr") == len(seen.rows) + 2  # a table each, of what is missed
    missed, met = page.split("<details>")
    assert all(look in html.unescape(missed) for look in seen.missed)
    assert "✕" not in met
    assert "&lt;b&gt;" in page
    assert "$" not in page  # which would begin a formula
    text = repr(seen)
    for each in seen.rows:
        assert f"{'✓' if each.met else '✕'} {each.scenario}: {each.ended}" in text
