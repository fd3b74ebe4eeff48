"""Each scenario is played once on an engine, for all tests that look at it."""

from functools import cache

from workbook.stage.engines import LOOPS, play
from workbook.stage.machines import machine_for


@cache
def played(slug, engine, screened=True):
    """Return the trace of a scenario, and the machine that played it, if one did."""
    if engine in LOOPS:
        return play(slug, engine), None
    made, how = [], {} if screened else {"screened": False}

    def make(scenario, home):
        made.append(machine_for(scenario, home, engine, **how))
        return made[0]

    return play(slug, engine, make=make), made[0]


def calls_and_answer(trace):
    """Return the calls of a run and its answer, in which engines are to agree.

    They call a tool's only argument as they like, and write 20 as 20.0.
    """
    own = [event for event in trace if "parent" not in event]
    seen = {e["call_id"]: e["text"] for e in own if e["kind"] == "observation"}
    calls = [e for e in own if e["kind"] == "tool_call"]
    texts = [(e["tool"], *e["arguments"].values(), seen[e["call_id"]]) for e in calls]
    return [[_plain(part) for part in call] for call in texts], _plain(
        trace.end["answer"]
    )


def _plain(value):
    text = str(value).removeprefix("Answer:").strip().casefold()
    try:
        return float(text)
    except ValueError:
        return text
