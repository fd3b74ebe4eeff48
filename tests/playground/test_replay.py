"""Every scenario is replayed, a changed record is found, a killed run goes on."""

import copy
import os
import random
import subprocess
import sys
import textwrap
from dataclasses import replace as with_fields
from pathlib import Path

import pytest

from tests.playground.plays import played
from workbook.environments.payment import Payments
from workbook.fsm import FunctionCalls, TextTurns
from workbook.guardrails.ledger import Ledger
from workbook.guardrails.machine import guarded
from workbook.guardrails.permission import yes
from workbook.models.script import Script
from workbook.playground.scenarios import load, slugs
from workbook.traces.divergence import Divergence
from workbook.traces.events import ENVELOPE, TraceError, sealed, to_line
from workbook.traces.recording import Recorded
from workbook.traces.replay import replay
from workbook.traces.trace import Trace, read_events
from workbook.traces.writer import TraceWriter

MACHINES = {"": ("fsm", "fsm_calls", "guarded", "guarded_calls")}
MACHINES["trust"] = ("grounded", "grounded_calls")
PLAYED = [(wing, engine) for wing, engines in MACHINES.items() for engine in engines]
OLD = Path(__file__).parents[1] / "traces" / "schema_1"


@pytest.mark.parametrize(("wing", "engine"), PLAYED)
def test_every_scenario_is_replayed(wing, engine):
    """Each engine with transitions comes to the same end on each scenario"""
    runs = [(slug, screened) for slug in slugs(wing) for screened in (True, False)]
    for slug, screened in runs if wing else runs[::2]:
        trace, machine = played(slug, engine, screened)
        exit, end = replay(trace, machine), trace.end
        if end is None:  # it waits for a person
            assert (exit.state, exit.reason) == ("PENDING", "suspended"), slug
            continue
        keys = ("state", "reason", "answer", "message")
        assert {key: getattr(exit, key) for key in keys}.items() <= end.items(), slug
        assert exit.spent.usage.to_dict() == end["spent"]["usage"], slug


def test_a_trace_of_another_version_is_replayed_or_refused(tmp_path):
    """A file of schema 1 has no checksums and says no schema; a later one is unknown"""
    for path in OLD.glob("*.jsonl"):
        engine, _, slug = path.stem.partition("__")
        trace = Trace.read(path)
        assert "schema" not in trace.events[0]
        assert replay(trace, played(slug, engine)[1]).state == trace.end["state"]
    first, *rest = trace
    Trace(({**first, "schema": 3}, *rest)).save(tmp_path / "t.jsonl")
    with pytest.raises(TraceError, match="schema 3"):
        Trace.read(tmp_path / "t.jsonl")


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
        lines = [sealed(to_line(event)) for event in trace]
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
    """Of 100 changes with new checksums the machine finds all that it could have told.

    What a tool answered nobody else knows: a record with another answer is another run,
    where everything that follows from it is changed too.
    """
    path, places = tmp_path / "t.jsonl", []
    for number in range(100):
        trace, machine = played(*MUTATED[number % len(MUTATED)])
        events, seq = change(trace, random.Random(number), edit)
        for each, event in enumerate(events):
            event["seq"] = each
        path.write_bytes(b"".join(sealed(to_line(event)) for event in events))
        with pytest.raises(TraceError) as caught:
            replay(Trace.read(path), machine)
        place = getattr(caught.value, "seq", seq)  # else it was refused as it was read
        there = events[min(seq, len(events) - 1)]  # where somebody outside is asked
        is_input = there["kind"] in ASKED or there.get("event") == "cancel"
        assert place == seq or (place > seq and is_input), (place, seq, number)
        places.append(place == seq)
    assert sum(places) > 96


# killed

CRASHES = {"payment_twice": TextTurns, "payment_other_call_id": FunctionCalls}


def wired(slug, folder, turns=None, hook=None):
    """Return a guarded machine on a scenario whose effects stay in a folder."""
    folder.mkdir(exist_ok=True)

    def run(**arguments):
        result = tool.run(**arguments)
        with (folder / "effects.txt").open("a") as file:
            file.write(f"{tool.name}\n")
        return result

    tool = Payments(folder / "payments.jsonl").tool()
    model = Script(load(slug).turns if turns is None else turns)
    options = {"ledger": Ledger(folder / "ledger.db"), "adapter": CRASHES[slug]}
    options |= {"hook": hook} if hook else {}
    return guarded(model, [with_fields(tool, run=run)], ask=yes, **options)


def effects(folder):
    path = folder / "effects.txt"
    return path.read_text().split() if path.exists() else []


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from tests.playground.test_replay import load, wired
    from workbook.traces.writer import TraceWriter

    folder, slug, events = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    for seq in range(events):

        def listen(event):
            if event["seq"] == seq:
                os.kill(os.getpid(), signal.SIGKILL)

        child = os.fork()
        if not child:
            here = folder / str(seq)
            here.mkdir()
            with TraceWriter(here / "run.jsonl", listener=listen) as hook:
                wired(slug, here, hook=hook).run(load(slug).question)
            os._exit(1)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL, status
"""


def undisturbed(slug, folder):
    """Return the end of a run that nobody disturbs, its trace, and its effects."""
    with TraceWriter(folder / "run.jsonl") as hook:
        end = wired(slug, folder, hook=hook).run(load(slug).question)
    return end, Trace.read(folder / "run.jsonl"), effects(folder)


@pytest.mark.parametrize("slug", CRASHES)
def test_killed_at_every_event_it_comes_to_the_same_end(slug, tmp_path):
    """SIGKILL at each event, then resume: the same end, and each effect once"""
    (tmp_path / "whole").mkdir()
    end, whole, done = undisturbed(slug, tmp_path / "whole")
    command = [sys.executable, "-c", textwrap.dedent(KILLED)]
    command += [str(tmp_path), slug, str(len(whole) - 1)]
    run = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert run.returncode == 0, run.stderr
    for seq in range(len(whole) - 1):
        folder = tmp_path / str(seq)
        path = folder / "run.jsonl"
        said = len(Trace.read(path).of("model_turn"))
        again = wired(slug, folder, load(slug).turns[said:]).resume(path)
        assert (again.state, again.answer) == (end.state, end.answer), seq
        assert effects(folder) == done, seq
        trace = list(read_events(path))
        asked = [event for event in trace if event.get("what") == "asked again"]
        lost = whole.events[seq]["kind"] in ("model_request", "tool_call")
        assert len(asked) == lost, seq
        assert len(trace) == len(whole) + lost


@pytest.mark.parametrize("slug", CRASHES)
def test_cut_within_its_last_line(slug, tmp_path):
    """A record whose last line is half there is gone on with; a whole line counts"""
    end, whole, done = undisturbed(slug, tmp_path)
    kinds = [event["kind"] for event in whole]
    path = tmp_path / "run.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for seq in (kinds.index("model_turn"), kinds.index("observation"), len(kinds) - 1):
        size, asked = len(lines[seq]), kinds[:seq].count("model_turn")
        for cut in (0, 1, size // 2, size - 9, size - 3, size - 2):
            path.write_bytes(b"".join(lines[:seq]) + lines[seq][:cut])
            again = wired(slug, tmp_path, load(slug).turns[asked:]).resume(path)
            assert (again.state, again.answer) == (end.state, end.answer)
            assert effects(tmp_path) == done
            numbers = [event["seq"] for event in read_events(path)]
            assert numbers == list(range(len(numbers)))
        path.write_bytes(b"".join(lines[:seq]) + lines[seq][:-1])  # its end alone
        with Recorded(path) as record:
            assert len(record.recorded) == seq + 1
