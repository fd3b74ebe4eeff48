"""Every scenario is replayed, a changed record is found, a killed run goes on."""

import copy
import json
import os
import random
import subprocess
import sys
import textwrap
from dataclasses import replace as with_fields

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

MACHINES = {"": ("fsm", "fsm_calls", "guarded", "guarded_calls")}
MACHINES["trust"] = ("grounded", "grounded_calls")
PLAYED = [(wing, engine) for wing, engines in MACHINES.items() for engine in engines]


@pytest.mark.parametrize(("wing", "engine"), PLAYED)
def test_every_scenario_is_replayed(wing, engine):
    """Each engine with transitions comes to the same end on each scenario"""
    runs = [(slug, screened) for slug in slugs(wing) for screened in (True, False)]
    for slug, screened in runs if wing else runs[::2]:
        trace, machine = played(slug, engine, screened)
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


# what somebody changed

MUTATED = [
    ("price_question", "fsm"),
    ("two_actions", "fsm_calls"),
    ("cancelled_by_user", "fsm"),
    ("payment_twice", "guarded"),
    ("tool_raises", "guarded_calls"),
]
APART = {"at_s", "elapsed_s", "started_unix_s", "schema", "wall_s"}
ASKED = ("run_started", "model_turn", "observation", "decision")


def change(items, rng, edit):
    """Return changed items, and where: one is dropped, doubled, swapped or edited."""
    items, seq = copy.deepcopy(list(items)), rng.randrange(len(items))
    match rng.randrange(4):
        case 0:
            del items[seq]
        case 1:
            items.insert(seq, copy.deepcopy(items[seq]))
            seq += 1
        case 2:
            seq = min(seq, len(items) - 2)
            items[seq : seq + 2] = items[seq + 1], items[seq]
        case 3:
            items[seq] = edit(items[seq], rng)
    return items, seq


def flip(line, rng):
    """Return a line of a file in which one bit is another one."""
    at = rng.randrange(len(line))
    return line[:at] + bytes([line[at] ^ 1 << rng.randrange(8)]) + line[at + 1 :]


def edit(event, rng):
    """Return an event in which one value is another one, also deep within it."""
    names = [name for name in event if name not in APART | {*ENVELOPE} - {"step"}]
    name, holder = rng.choice(names), event
    while isinstance(holder[name], (dict, list)) and holder[name]:
        holder = holder[name]
        keys = holder if isinstance(holder, dict) else range(len(holder))
        name = rng.choice([key for key in keys if key not in APART])
    value = holder[name]
    if isinstance(value, (int, float)):
        holder[name] = not value if isinstance(value, bool) else value + 1
    else:
        holder[name] = f"x{value}" if value else "x"
    return event


def test_a_file_that_was_changed_is_refused_where_it_was(tmp_path):
    """Of 60 changes of a file none is replayed: its line is told"""
    path = tmp_path / "t.jsonl"
    for number in range(60):
        trace, machine = played(*MUTATED[number % len(MUTATED)])
        lines = [seal(json.dumps(event).encode()) for event in trace]
        lines, seq = change(lines, random.Random(number), flip)
        path.write_bytes(b"".join(lines))
        try:
            found = Trace.read(path)
        except TraceError:
            assert seq == 0
            continue
        with pytest.raises(TraceError):
            replay(found, machine)
        assert len(found) == seq, (number, found.lost)


def test_a_record_that_was_sealed_anew_is_found_by_the_machine(tmp_path):
    """Of 100 changes with new checksums the machine finds all that it could know of.

    What a tool or a person answered nobody else knows: a record with another answer is
    another run, where everything that follows from it is changed too.
    """
    path, found = tmp_path / "t.jsonl", 0
    for number in range(100):
        trace, machine = played(*MUTATED[number % len(MUTATED)])
        events, seq = change(trace, random.Random(number), edit)
        for each, event in enumerate(events):
            event["seq"] = each
        path.write_bytes(b"".join(seal(json.dumps(each).encode()) for each in events))
        place = None
        try:
            replay(Trace.read(path), machine)
        except TraceError as error:
            place = getattr(error, "seq", seq)  # else it was refused as it was read
        is_input = events[min(seq, len(events) - 1)]["kind"] in ASKED
        assert place == seq or is_input, (place, seq, number)
        found += place == seq
    assert found > 93


# killed

CRASHES = {"payment_twice": False, "payment_other_call_id": True}  # by calls, or not


def wired(slug, folder):
    """Return a guarded machine on a scenario whose effects stay in a folder."""
    folder.mkdir(exist_ok=True)

    def run(**arguments):
        result = tool.run(**arguments)
        with (folder / "effects.txt").open("a") as file:
            file.write(f"{tool.name}\n")
        return result

    tool, script = Payments(folder / "payments.db").tool(), load(slug).script()
    how = {"chat": CRASHES[slug], "make": Once(Ledger(folder / "ledger.db"))}
    return Machine(script, [with_fields(tool, run=run)], all_guards(person=yes), **how)


def effects(folder):
    path = folder / "effects.txt"
    return path.read_text().split() if path.exists() else []


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from tests.stage.test_replay import load, wired
    from workbook.runtime.journal import Journal

    folder, slug, events = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    for seq in range(events):

        def listen(event):
            if event["seq"] == seq:
                os.kill(os.getpid(), signal.SIGKILL)

        child = os.fork()
        if not child:
            here = folder / str(seq)
            here.mkdir()
            journal = Journal(here / "run.jsonl", listener=listen)
            wired(slug, here).run(load(slug).question, journal=journal)
            os._exit(1)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL, status
"""


@pytest.mark.parametrize("slug", CRASHES)
def test_killed_at_every_event_it_comes_to_the_same_end(slug, tmp_path):
    """SIGKILL at each event, then resume: the same end, and each effect once"""
    end = wired(slug, tmp_path / "whole").run(load(slug).question)
    whole, done = end.trace, effects(tmp_path / "whole")
    command = [sys.executable, "-c", textwrap.dedent(KILLED)]
    command += [str(tmp_path), slug, str(len(whole) - 1)]
    run = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert run.returncode == 0, run.stderr
    for seq in range(1, len(whole) - 1):
        folder = tmp_path / str(seq)
        path = folder / "run.jsonl"
        kept = len(Trace.read(path))  # a transition is written with the next event
        again = resume(path, wired(slug, folder))
        assert (again.state, again.answer) == (end.state, end.answer), seq
        assert effects(folder) == done, seq
        trace = Trace.read(path).events
        assert (trace[kept]["what"], len(trace)) == ("resumed", len(whole) + 1)
