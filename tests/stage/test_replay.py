"""Every scenario is replayed, a changed record is found, a killed run is resumed."""

import json
import subprocess
import sys
import textwrap
from dataclasses import replace as with_fields
from itertools import product

import pytest

from tests.stage.plays import played
from workbook.runtime.guards import all_guards
from workbook.runtime.journal import Divergence
from workbook.runtime.ledger import Ledger, Once
from workbook.runtime.machine import Machine
from workbook.runtime.permission import yes
from workbook.runtime.replay import replay, resume
from workbook.runtime.trace import ENVELOPE, Trace, TraceError, seal
from workbook.stage.scenarios import load, slugs
from workbook.worlds.payment import Payments

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


def test_a_run_without_transitions_is_not_replayed():
    """A trace of another engine differs in its first event"""
    _, machine = played("price_question", "fsm")
    with pytest.raises(Divergence) as caught:
        replay(played("price_question", "naive")[0], machine)
    assert caught.value.seq == 0


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


def wired(slug, folder, chat):
    """Return a guarded machine on a scenario whose effects stay in a folder."""
    folder.mkdir(exist_ok=True)

    def run(**arguments):
        result = tool.run(**arguments)
        with (folder / "effects.txt").open("a") as file:
            file.write(f"{tool.name}\n")
        return result

    tool, script = Payments(folder / "payments.db").tool(), load(slug).script()
    how = {"chat": chat, "make": Once(Ledger(folder / "ledger.db"))}
    tools = [with_fields(tool, run=run, timeout_s=None)]
    return Machine(script, tools, all_guards(person=yes), **how)


def effects(folder):
    path = folder / "effects.txt"
    return path.read_text() if path.exists() else ""


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from tests.stage.test_replay import load, wired
    from workbook.runtime.journal import Journal

    folder, slug, chat, events = Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:])
    for seq in range(events):

        def listen(event):
            if event["seq"] == seq:
                os.kill(os.getpid(), signal.SIGKILL)

        child = os.fork()
        if not child:
            here = folder / str(seq)
            machine = wired(slug, here, bool(chat))
            journal = Journal(here / "run.jsonl", listener=listen)
            machine.run(load(slug).question, journal=journal)
            os._exit(1)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL, status
"""


@pytest.mark.parametrize(
    ("slug", "chat"), [("payment_twice", 0), ("payment_other_call_id", 1)]
)
def test_killed_at_every_event_it_comes_to_the_same_end(slug, chat, tmp_path):
    """SIGKILL at each event, then resume: the same end, and each effect once"""
    end = wired(slug, tmp_path / "whole", bool(chat)).run(load(slug).question)
    last, done = len(end.trace) - 1, effects(tmp_path / "whole")
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path), slug]
    subprocess.run([*command, str(chat), str(last)], check=True)
    for seq in range(1, last):
        folder = tmp_path / str(seq)
        path = folder / "run.jsonl"
        kept = len(Trace.read(path))  # a transition is written with the next event
        again = resume(path, wired(slug, folder, bool(chat)))
        assert (again.state, again.answer) == (end.state, end.answer), seq
        assert effects(folder) == done, seq
        events = Trace.read(path).events
        assert (events[kept]["what"], len(events)) == ("resumed", last + 2)
