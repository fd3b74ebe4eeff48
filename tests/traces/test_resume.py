"""A run of the plain machine goes on from its trace, as a guarded one does."""

import json

import pytest

from workbook.fsm import Machine
from workbook.guardrails.escalation import Escalate
from workbook.models.script import Script
from workbook.tools.calls import Effect
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool
from workbook.traces.divergence import Divergence
from workbook.traces.events import TraceError, to_line
from workbook.traces.replay import replay, resume
from workbook.traces.trace import Trace
from workbook.traces.writer import LineFile, TraceWriter

NEW = ("schema", "started_unix_s", "crc")  # since schema 2
ACT = "Action: Note\nAction Input: {}"
TURNS = [ACT.format("one"), "Hm.", ACT.format("two"), "Final Answer: two notes"]


def machine(turns, notes, effect=Effect.READ, **options):
    schema = {"properties": {"text": {"type": "string"}}, "required": ["text"]}

    def note(text):
        notes.append(text)
        return {"result": len(notes)}

    tool = Tool("Note", "Keeps a note.", schema, note, effect)
    return Machine(Script(turns), ToolRegistry([tool]), **options)


def a_record(path, effect=Effect.READ):
    with TraceWriter(path) as hook:
        machine(TURNS, [], effect, hook=hook).run("Note this.")
    return path.read_bytes().splitlines(keepends=True)


def test_cut_at_every_event_it_comes_to_the_same_end(tmp_path):
    """Whatever is behind the cut is done, and nothing before it."""
    path = tmp_path / "t.jsonl"
    lines = a_record(path)
    whole = Trace.read(path)
    for cut in range(1, len(lines)):
        path.write_bytes(b"".join(lines[:cut]))
        before, notes = Trace.read(path), []
        said = len(before.of("model_turn"))
        end = resume(path, machine(TURNS[said:], notes))
        assert (end.state, end.answer) == ("DONE", "two notes")
        made = [event for event in before.of("observation") if event["call_id"]]
        assert len(notes) == 2 - len(made)
        trace = Trace.read(path)
        told = [e["kind"] for e in trace if e.get("what") != "asked again"]
        assert told == [e["kind"] for e in whole]


def test_what_was_asked_again_is_said_and_replayed(tmp_path):
    """A lost turn is asked for again; the trace says so, and can be replayed."""
    path = tmp_path / "t.jsonl"
    lines = a_record(path)
    path.write_bytes(b"".join(lines[:2]))  # the first request has no answer
    for _ in range(2):  # it dies there once more
        resume(path, machine(TURNS, []))
        trace = Trace.read(path)
        said = trace.of("decision")
        assert {event["what"] for event in said} == {"asked again"}
        assert "event 1" in said[-1]["why"]
        assert replay(trace, machine([], [])).answer == "two notes"
        kept = path.read_bytes().splitlines(keepends=True)[: 2 + len(said)]
        path.write_bytes(b"".join(kept))


def test_a_write_in_flight_is_not_made_again(tmp_path):
    """Without a ledger nobody knows whether a WRITE was done: a person is needed."""
    path = tmp_path / "t.jsonl"
    lines = a_record(path, Effect.WRITE)
    call = [e["kind"] for e in Trace.read(path)].index("tool_call")
    path.write_bytes(b"".join(lines[: call + 1]))
    notes = []
    resume(path, machine(TURNS[1:], notes, Effect.WRITE))
    assert notes == ["two"]
    assert Trace.read(path).of("observation")[0]["error"]["kind"] == "needs_person"


def test_a_run_that_has_ended_is_refused(tmp_path):
    """What has its end is not gone on with."""
    path = tmp_path / "t.jsonl"
    a_record(path)
    with pytest.raises(TraceError, match="has ended in DONE") as caught:
        resume(path, machine(TURNS, []))
    assert not isinstance(caught.value, Divergence)


@pytest.mark.parametrize(
    ("damaged", "line"),
    [
        (lambda lines, others: [*lines[:5], *others], 6),
        (lambda lines, others: [*lines[:5], *lines[6:]], 6),
        (lambda lines, others: [*lines[:5], lines[5][:20], *lines[5:]], 6),
        (lambda lines, others: [*lines[:5], lines[5].replace(b"{", b'{"k":1,')], 6),
    ],
    ids=["two runs", "a hole", "a torn line", "twice a key"],
)
def test_a_file_that_somebody_put_together_is_left_alone(tmp_path, damaged, line):
    """What is not as it was written is told by its line; nothing is added behind it."""
    one, other = a_record(tmp_path / "t.jsonl"), a_record(tmp_path / "u.jsonl")
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join(damaged(one, other)))
    before = path.read_bytes()
    with pytest.raises(TraceError, match=f"line {line}: "):
        resume(path, machine(TURNS, []))
    assert path.read_bytes() == before
    TraceWriter(path, keep=True).close()  # it is open to others


def test_a_file_from_another_system_goes_on(tmp_path):
    """Lines that end as on Windows are whole, and so is a file of schema 1 before."""
    path = tmp_path / "t.jsonl"
    lines = [line.replace(b"\n", b"\r\n") for line in a_record(path)[:6]]
    old = [
        to_line({k: v for k, v in json.loads(line).items() if k not in NEW})
        for line in lines
    ]
    for cut in (lines, old):
        path.write_bytes(b"".join(cut))
        said = len(Trace.read(path).of("model_turn"))
        assert resume(path, machine(TURNS[said:], [])).answer == "two notes"
        assert replay(Trace.read(path), machine([], [])).answer == "two notes"


def test_cancelled_while_it_goes_on(tmp_path):
    """A cancel behind the record's end ends the run, and the trace is whole."""
    path = tmp_path / "t.jsonl"
    lines = a_record(path)
    path.write_bytes(b"".join(lines[:8]))
    again = machine([], [])
    again.cancel()
    assert resume(path, again).state == "CANCELLED"
    assert Trace.read(path).end["state"] == "CANCELLED"
    assert replay(Trace.read(path), machine([], [])).state == "CANCELLED"


def test_what_raised_is_not_known_where_the_record_broke_off(tmp_path):
    """Between a failure and its end: the run ends in ERROR, and can be replayed."""
    path = tmp_path / "t.jsonl"
    with TraceWriter(path) as hook:
        machine([ValueError("it rains")], [], hook=hook).run("Note this.")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    end = resume(path, machine([], []))
    assert (end.state, "broke off" in end.message) == ("ERROR", True)
    assert replay(Trace.read(path), machine([], [])).message == end.message


SECRET = "sesame-0123456789"


def test_a_secret_stays_one(tmp_path):
    """Resumed by a machine whose hook knows it, the file does not hold it either."""
    path = tmp_path / "t.jsonl"
    options = {"preamble": f"The word is {SECRET}.\n"}
    with TraceWriter(path, secrets=[SECRET]) as hook:
        machine(TURNS, [], hook=hook, **options).run("Note this.")
    options["hook"] = TraceWriter(secrets=[SECRET])
    assert replay(Trace.read(path), machine([], [], **options)).state == "DONE"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:6]))
    again = machine([ACT.format(SECRET), "Final Answer: noted"], [], **options)
    assert again.resume(path).answer == "noted"
    assert SECRET not in path.read_text()


def test_a_call_is_not_made_with_a_hidden_argument(tmp_path):
    """Where the record hides a secret in a call that got no answer, nobody makes it."""
    path, notes = tmp_path / "t.jsonl", []
    with TraceWriter(path, secrets=[SECRET]) as hook:
        turns = [ACT.format(SECRET), "Final Answer: noted"]
        machine(turns, [], hook=hook).run("Note this.")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:5]))
    resume(path, machine(["Final Answer: noted"], notes))
    assert notes == []
    trace = Trace.read(path)
    assert trace.of("observation")[0]["error"]["kind"] == "needs_person"
    assert replay(trace, machine([], [])).answer == "noted"


def test_the_model_that_spoke_last_goes_on(tmp_path):
    """A plain machine with two models goes on with the one that had taken over."""
    path = tmp_path / "t.jsonl"

    def agent(small, strong, **options):
        model = Escalate([Script(small), Script(strong)])
        return Machine(model, ToolRegistry([]), **options)

    with TraceWriter(path) as hook:
        agent(["Hm.", "Hm."], ["Final Answer: old"], hook=hook).run("Who?")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-3]))  # the last turn is lost
    again = agent(["Final Answer: small"], ["Final Answer: strong"])
    assert resume(path, again).answer == "strong"


@pytest.mark.parametrize("stays_full", [False, True])
def test_a_run_that_ended_on_a_full_disk_goes_on(tmp_path, monkeypatch, stays_full):
    """Full at any write, a run ends in ERROR; with room again it comes to its end."""
    append, whole = LineFile.append, len(a_record(tmp_path / "whole.jsonl"))
    for full_at in range(1, whole):
        path, lines, notes = tmp_path / f"{full_at}.jsonl", [], []

        def fill(file, line, lines=lines, full_at=full_at):
            lines.append(line)
            if len(lines) == full_at + 1 or (stays_full and len(lines) > full_at):
                append(file, line[:9])
                raise OSError(28, "No space left on device")
            append(file, line)

        monkeypatch.setattr(LineFile, "append", fill)
        with TraceWriter(path) as hook:
            end = machine(TURNS, notes, hook=hook).run("Note this.")
        monkeypatch.setattr(LineFile, "append", append)
        assert "No space left" in end.message
        assert end.state == ("DONE" if full_at >= whole - 2 else "ERROR")
        said = len(Trace.read(path).of("model_turn"))
        again = resume(path, machine(TURNS[said:], notes))
        assert (again.state, again.answer) == ("DONE", "two notes")
        trace = Trace.read(path)
        told = [event for event in trace if event.get("what") != "asked again"]
        assert (len(told), trace.lost) == (whole, "")
        assert replay(trace, machine([], [])).answer == "two notes"
