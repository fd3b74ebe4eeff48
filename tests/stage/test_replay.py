"""Every scenario is replayed, and a changed record is found."""

import json
from itertools import product

import pytest

from tests.stage.plays import played
from workbook.runtime.replay import replay
from workbook.runtime.trace import ENVELOPE, Trace, TraceError, seal
from workbook.stage.scenarios import slugs

PLAYED = [*product([""], ("fsm", "fsm_calls", "guarded", "guarded_calls"))]
PLAYED += product(["trust"], ("grounded", "grounded_calls"))


@pytest.mark.parametrize(("wing", "engine"), PLAYED)
def test_every_scenario_is_replayed(wing, engine):
    """Each engine with transitions comes to the same end on each scenario"""
    for slug in slugs(wing):
        trace, machine = played(slug, engine)
        exit, end = replay(trace, machine), trace.end
        if end is None:  # it waits for a person
            assert (exit.state, exit.reason) == ("SUSPENDED", "suspended"), slug
            continue
        keys = ("state", "reason", "answer", "message")
        assert {key: getattr(exit, key) for key in keys}.items() <= end.items(), slug
        assert exit.spent.usage.to_dict() == end["spent"]["usage"], slug


APART = {"at_s", "elapsed_s", "started_unix_s", "schema", "wall_s", *ENVELOPE}
ASKED = ("run_started", "model_turn", "observation", "decision")


def changed(events):
    """Yield where, and the events with one of them dropped, doubled or edited."""
    for seq, event in enumerate(events):
        before, after = events[:seq], events[seq + 1 :]
        yield seq, [*before, *after]
        yield seq + 1, [*before, event, event, *after]
        for name in sorted(event.keys() - APART):
            yield seq, [*before, event | {name: f"x{event[name]}"}, *after]


@pytest.mark.parametrize(
    ("slug", "engine"), [("price_question", "fsm"), ("tool_raises", "guarded_calls")]
)
def test_a_changed_record_is_found_by_the_machine(slug, engine, tmp_path):
    """With new checksums, too; but what a model, tool or person answered, it believes

    A record with another answer is another run, which the machine follows or leaves.
    """
    trace, machine = played(slug, engine)
    path = tmp_path / "t.jsonl"
    for seq, events in changed(trace.events):
        lines = [json.dumps(e | {"seq": n}).encode() for n, e in enumerate(events)]
        path.write_bytes(b"".join(map(seal, lines)))
        place = None
        try:
            replay(Trace.read(path), machine)
        except TraceError as error:
            place = getattr(error, "seq", seq)  # else it was refused as it was read
        is_input = events[min(seq, len(events) - 1)]["kind"] in ASKED
        assert place == seq or is_input, (place, seq)
