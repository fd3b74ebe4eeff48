"""Who says stop: what a budget adds to THINK, and a repetition to OBSERVE."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from workbook.fsm.handlers import Handler
from workbook.fsm.run import Run
from workbook.guardrails.budget import NextCall, room, share_left, within_budget
from workbook.guardrails.guards import Guards, guards_of
from workbook.guardrails.stuck import Seen, find_cycle, same_search, seen
from workbook.guardrails.table import Said
from workbook.models.base import MAX_TOKENS, Usage
from workbook.models.prompts import estimate
from workbook.tools.calls import Observation

LAST_PART = 0.2  # of a budget: from there on the model is to answer
WITHDRAWN = (
    "No tool can be called any more. Write your Final Answer now, with what you know."
)


def think_within(inner: Handler) -> Handler:
    """Return a handler of THINK that asks the budget first, and caps the turn."""

    def think(run: Run) -> str:
        guards = guards_of(run)
        within = guards.part(within_budget)
        size = tokens_of(run.conversation) if guards.counts else 0
        if guards.converge and not run.forced and _converges(run, guards, size):
            size = tokens_of(run.conversation) if guards.counts else 0
        coming = run.coming()
        purse = None if coming else guards.purse
        told = (guards.purse and coming) or {}  # what the purse of then had allowed
        call = NextCall("model", size, output_tokens=1)
        if ran_out := within(run.elapsed(), guards.budget, call):
            return str(ran_out)
        if str(told.get("event")).startswith("out_of_"):
            return str(told["event"])
        caps = [
            told.get("max_tokens"),
            room(run.spent, guards.budget, size),
            purse.room(size) if purse else None,
        ]
        caps += [MAX_TOKENS] if purse else []  # the first run leaves something over
        cap = min((cap for cap in caps if cap is not None), default=None)
        if purse is not None:
            call = replace(call, output_tokens=max(cap or 0, 1))
            if ran_out := purse.reserve(call):
                return ran_out
        run.max_tokens = cap
        before = run.spent.usage
        try:
            return inner(run)
        finally:
            if purse is not None:
                asked = Usage(call.input_tokens, call.output_tokens)
                spent = run.spent.usage - before
                purse.settle(call, asked if spent == Usage() else spent)
            _tell_news(run)

    return think


def _tell_news(run: Run) -> None:
    """Tell what the model and the conversation have decided by themselves."""
    model = getattr(run.conversation, "model", None)
    for why in _taken(getattr(model, "news", None)):
        run.tell("decision", who="model", what="handed over", why=why)
    context = getattr(run.conversation, "context", None)
    for done in _taken(context and context.compactions):
        why = f"{done['before']:,} tokens, and {done['limit']:,} are allowed"
        run.tell("decision", who="context", what="compacted", why=why, **done)


def _taken(news: list[Any] | None) -> list[Any]:
    """Return a list's items, and leave it empty."""
    if not news:
        return []
    taken, news[:] = news[:], []
    return taken


def tokens_of(conversation: Any) -> int:
    """Return how many tokens the next request has, as its model counts; or more."""
    count = getattr(conversation.model, "count", lambda said: estimate(said).input)
    schemas = getattr(conversation, "schemas", ())
    return int(count(conversation.prompt)) + (
        count(json.dumps(schemas)) if schemas else 0
    )


def _converges(run: Run, guards: Guards, size: int) -> bool:
    """Withdraw the tools where this turn is the last step, or pays the last fifth."""
    spent, most = run.elapsed(), guards.budget
    if spent.steps + 1 >= most.steps:
        why = "it is the last step"
    elif spent.tool_calls + 1 > most.tool_calls:
        why = "no tool call is left"
    elif share_left(spent, most, size) <= LAST_PART:
        why = f"this prompt leaves at most {LAST_PART:.0%} of a budget"
    else:
        return False
    run.conversation.withdraw(WITHDRAWN)
    run.emit("decision", who="budget", what="tools withdrawn", why=why)
    return True


def observe_cycles(run: Run) -> str:
    """Hand over the observation; warn of a repetition, and end at the next one."""
    guards, stuck = guards_of(run), False
    if (observation := run.observation) is not None:
        guards.seen.append(_seen(run, observation))
        same = guards.part(same_search)
        cycle = guards.part(find_cycle)(tuple(guards.seen), same=same)
        if cycle is not None:
            what = "stuck" if guards.warned else "warning"
            run.emit("decision", who="stuck", what=what, why=cycle.words())
            stuck, guards.warned = guards.warned, True
            notes = (*observation.notes, f"{cycle.words()} Do something else.")
            run.observation = replace(observation, notes=notes)
    run.hand_over()
    if stuck:
        return Said.REPEATED
    if run.forced and not run.waiting:
        return Said.NOT_CONVERGED
    return Said.MORE_CALLS if run.waiting else Said.OBSERVED


def _seen(run: Run, observation: Observation) -> Seen:
    if run.call is None or not observation.call_id:  # a turn that nobody could read
        return Seen("", {"turn": run.text}, "")
    return seen(run.call, observation)
