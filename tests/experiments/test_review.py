"""The checklist: each line shown by a run, and nothing of the reviewed machine used."""

import html
import re
import tomllib
from functools import partial

import pytest

from workbook.experiments.review import review
from workbook.fsm.adapters import FunctionCalls, TextTurns
from workbook.fsm.machine import Machine
from workbook.fsm.table import CORE, Event, State, Transition
from workbook.guardrails.budget import Budget
from workbook.guardrails.ledger import Ledger
from workbook.guardrails.machine import guarded
from workbook.guardrails.permission import PolicyRule, Verdict
from workbook.loop.turns import Final, parse_turn
from workbook.models.script import Script
from workbook.paths import DATA
from workbook.playground.engines import ENGINES
from workbook.playground.scenarios import ScenarioError, slugs
from workbook.tools.arguments import validate_arguments
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool

LINES = tomllib.loads((DATA / "checklist.toml").read_text(encoding="utf-8"))["line"]
LOOKS = [line["look"] for line in LINES]


def never(*args, **more):
    raise AssertionError("it has no part in a review")


class NeverAsked:
    """A model that must not be asked."""

    name = "never asked"
    streams = True

    def complete(self, prompt, *, stop=(), max_tokens=None):
        never()

    def chat(self, messages, *, tools=(), max_tokens=None):
        never()


def machine(**options):
    tool = Tool("Bomb", "Never called.", {}, never)
    return Machine(NeverAsked(), ToolRegistry([tool]), hook=never, **options)


def of(scenario):
    """Return the looks of the lines that name a scenario."""
    return {line["look"] for line in LINES if scenario in line["scenarios"]}


def test_the_checklist_holds_together():
    """Twelve lines or more, each a sentence, each with scenarios that there are."""
    assert len(LOOKS) == len(set(LOOKS)) >= 12
    for line in LINES:
        assert re.fullmatch(r"[A-Z].*\.", line["look"])
        assert line["scenarios"]
        assert set(line["scenarios"]) <= set(slugs())
        assert set(line) <= {"look", "scenarios", "end", "turns"}


def test_every_line_can_be_met_and_can_be_missed():
    """The guarded engine meets all; each is missed by another engine or a mutant."""
    assert review("guarded").missed == []
    missed = {look for e in ("naive", "langchain") for look in review(e).missed}
    assert set(LOOKS) - missed == of("budget_reached_exactly") | of("polling")


@pytest.mark.parametrize(
    ("engine", "met"), [("naive", 3), ("langchain", 5), ("fsm", 11), ("guarded", 16)]
)
def test_each_engine_meets_more_than_the_one_before(engine, met):
    """The naive loop meets three lines, the machine with all its guards each one."""
    seen = review(engine)
    assert len(LOOKS) - len(seen.missed) == met
    assert f"{met} of {len(LOOKS)}" in repr(seen)


def test_a_machine_is_played_as_its_engine_is():
    """A plain machine object does what the engine does, run by run."""
    assert review(machine()) == review("fsm")


def test_a_guarded_machine_is_played_as_its_engine_is(tmp_path):
    """With a ledger, a limit of tokens and of the prompt it meets every line."""
    whole = guarded(
        NeverAsked(),
        [],
        hook=never,
        ask=never,
        budget=Budget(tokens=10),
        context_tokens=10,
        pinned=["never mind"],
        ledger=Ledger(tmp_path / "ledger.db"),
    )
    assert review(whole) == review("guarded")


def test_a_guard_that_is_not_there_is_missed():
    """Without a ledger a deed is done twice, and so on for tokens and the prompt."""
    missed = set(review(guarded(NeverAsked(), [], ask=never)).missed)
    tokens = {line["look"] for line in LINES if "turns" in line}
    tokens &= of("one_turn_spends_everything")
    assert missed == of("payment_twice") | of("drift") | tokens


def test_one_that_asks_for_function_calls_is_played_in_words():
    """What is looked at are its table, its tools' registry and its guards."""
    assert review(machine(adapter=FunctionCalls)) == review("fsm")
    fitted = guarded(
        NeverAsked(), [], adapter=FunctionCalls, context_tokens=9, ask=never
    )
    assert of("drift").isdisjoint(review(fitted).missed)


def test_nothing_real_is_touched(tmp_path):
    """Not the model, a tool, the person, the hook, the ledger, the mode."""
    path = tmp_path / "ledger.db"
    real = guarded(
        NeverAsked(),
        [Tool("Bomb", "Never called.", {}, never)],
        hook=never,
        ask=never,
        clock=never,
        on_text=never,
        ledger=Ledger(path),
    )
    real.set_mode("plan")
    real.cancel()
    before, file = dict(vars(real)), path.read_bytes()
    review(real)
    assert vars(real) == before
    assert path.read_bytes() == file
    assert real.mode == "plan"
    assert real._cancelled.is_set()
    assert len(real._switches) == 1


# a bug is planted, and the line that it breaks is named


def with_row(source, event, target):
    return CORE.with_rules(Transition(source, event, target, "a bug"))


def test_a_limit_that_ends_in_done_is_named():
    """Who reaches a limit has not answered, whatever the table says."""
    table = with_row(State.THINK, Event.OUT_OF_STEPS, State.DONE)
    missed = set(review(machine(table=table)).missed) - set(review("fsm").missed)
    assert missed == {
        line["look"] for line in LINES if "(?!call_limit)" in line.get("end", "")
    }


class WithoutStop(TextTurns):
    """It does not tell the model where to stop."""

    def ask(self, **options):
        return self.model.complete(self.prompt, **options)


def believes(text):
    """Look for an answer before the first step is read."""
    label, answer = text.partition("Final Answer:")[1:]
    return Final("", answer.strip()) if label else parse_turn(text)


@pytest.mark.parametrize(
    ("parse", "named"), [(parse_turn, False), (believes, True)], ids=["ours", "bug"]
)
def test_a_parser_that_believes_the_model_is_named(parse, named):
    """Without a stop word too, an Observation that was made up is for the parser."""
    seen = review(machine(adapter=partial(WithoutStop, parse=parse)))
    (line,) = of("made_up_observation")
    assert (line in seen.missed) == named


def test_a_turn_that_ends_the_run_is_named():
    """A table in which nobody tells the model what could not be read."""
    table = with_row(State.THINK, Event.UNREADABLE_TURN, State.ERROR)
    missed = set(review(machine(table=table)).missed) - set(review("fsm").missed)
    assert missed == of("missing_action")


def test_a_validation_that_raises_is_named():
    """A machine's own way to validate and to repair is kept in the review."""

    def raises(schema, arguments):
        if problems := validate_arguments(schema, arguments):
            raise ValueError(problems)
        return []

    careless = machine()
    careless.tools = ToolRegistry([], validate=raises)
    missed = set(review(careless).missed) - set(review("fsm").missed)
    assert missed == of("array_for_one_value")


def test_a_policy_that_allows_everything_is_named():
    """The rules are the machine's own."""
    lax = guarded(NeverAsked(), [], rules=[PolicyRule(Verdict.ALLOW)])
    assert of("plan_mode_writes") <= set(review(lax).missed)


def test_a_detector_that_sees_nothing_is_named():
    """The reader's parts are played with the machine that they are in."""
    blind = guarded(NeverAsked(), [], parts={"find_cycle": lambda *a, **k: None})
    assert of("ping_pong") <= set(review(blind).missed)


def test_a_table_of_another_job_is_told_by_how_it_ends():
    """A handler that always fails ends each run in ERROR, and no line is met."""
    broken = machine(handlers={State.THINK: never})
    seen = review(broken)
    assert all("ERROR" in row.ended for row in seen.rows)
    assert seen.missed == LOOKS


@pytest.mark.parametrize("engine", [e for e in ENGINES if ENGINES[e].asks_for_calls])
def test_an_engine_that_asks_for_calls_is_refused(engine):
    """The scenarios are in text, so what it made of them would say nothing."""
    with pytest.raises(ValueError, match=engine):
        review(engine)


@pytest.mark.parametrize("agent", ["gaurded", None, 3, Script(["x"])])
def test_what_is_no_agent_is_refused(agent):
    """A slip of the hand is told with the engines that there are."""
    with pytest.raises(ScenarioError, match="guarded"):
        review(agent)


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
    assert "&lt;b&gt;$5" in page
    assert "mathjax_ignore" in page
    text = repr(seen)
    for each in seen.rows:
        assert f"{'✓' if each.met else '✕'} {each.scenario}: {each.ended}" in text
