"""What scenarios come to on engines: each is played once for all who look at it."""

from dataclasses import replace
from functools import cache, partial

from workbook.playground.engines import ENGINES, play
from workbook.playground.machines import ByScript, suspicious
from workbook.playground.scenarios import load


@cache
def played(slug, engine, screened=True):
    """Return the trace of a scenario, and the machine that played it, if one did."""
    chosen, person = ENGINES[engine], ByScript(load(slug).guards.answers)
    if chosen.table is None:
        return play(slug, engine), None
    if not screened:
        make = partial(suspicious, screened=False)
        chosen = replace(chosen, play=partial(chosen.play, make=make))
    return play(slug, chosen, person=person), person.machine


def as_told(trace):
    """Return the calls of a run and its answer, in which engines are to agree.

    They call a tool's only argument as they like, and write 20 as 20.0.
    """
    own = [event for event in trace if "parent" not in event]
    seen = {e["call_id"]: e["text"] for e in own if e["kind"] == "observation"}
    calls = [e for e in own if e["kind"] == "tool_call"]
    told = [(e["tool"], *e["arguments"].values(), seen[e["call_id"]]) for e in calls]
    return [[_plain(part) for part in call] for call in told], _plain(
        trace.end["answer"]
    )


def _plain(value):
    text = str(value).removeprefix("Answer:").strip().casefold()
    try:
        return float(text)
    except ValueError:
        return text
