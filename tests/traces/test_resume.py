"""A run of the plain machine goes on from its trace, as a guarded one does."""

import json

import pytest

from workbook.fsm import Limits, Machine
from workbook.models.script import Script
from workbook.tools.calls import Effect
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool
from workbook.traces.divergence import Divergence
from workbook.traces.events import TraceError, sealed, to_line
from workbook.traces.replay import replay, resume
from workbook.traces.trace import Trace
from workbook.traces.writer import LineFile, TraceWriter

NEW = ("schema", "started_unix_s", "crc")  # since schema 2
ACT = "Action: Note\nAction Input: {}"
TURNS = [ACT.format("one"), "Hm.", ACT.format("two"), "Final Answer: two notes"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.jsonl"


def machine(turns, notes, effect=Effect.READ, **options):
    schema = {"properties": {"text": {"type": "string"}}, "required": ["text"]}

    def note(text):
        notes.append(text)
        return {"result": len(notes)}

    tool = Tool("Note", "Keeps a note.", schema, note, effect)
    return Machine(Script(turns), ToolRegistry([tool]), **options)


def a_record(path, turns=TURNS, effect=Effect.READ, secrets=None, **options):
    """Write the trace of a run and return its lines."""
    with TraceWriter(path, secrets=secrets) as hook:
        machine(turns, [], effect, hook=hook, **options).run("Note this.")
    return path.read_bytes().splitlines(keepends=True)


def goes_on(path, lines, notes=None):
    """Resume what is left of a record, its script where it is, and return the end."""
    path.write_bytes(b"".join(lines))
    said = len(Trace.read(path).of("model_turn"))
    return resume(path, machine(TURNS[said:], [] if notes is None else notes))


def test_cut_at_every_event_it_comes_to_the_same_end(path):
    """Whatever is behind the cut is done, and nothing before it."""
    lines = a_record(path)
    whole = Trace.read(path)
    for cut in range(1, len(lines)):
        notes = []
        end = goes_on(path, lines[:cut], notes)
        assert (end.state, end.answer) == ("DONE", "two notes")
        made = [e for e in whole.of("observation") if e["call_id"] and e["seq"] < cut]
        assert len(notes) == 2 - len(made)
        told = [e["kind"] for e in Trace.read(path) if e.get("what") != "asked again"]
        assert told == [e["kind"] for e in whole]


def test_what_was_asked_again_is_said_and_replayed(path):
    """A lost turn is asked for again; the trace says so, and can be replayed."""
    lines = a_record(path)[:2]  # the first request has no answer
    for _ in range(2):  # it dies there once more
        goes_on(path, lines)
        trace = Trace.read(path)
        said = trace.of("decision")
        assert {event["what"] for event in said} == {"asked again"}
        assert "event 1" in said[-1]["why"]
        assert replay(trace, machine([], [])).answer == "two notes"
        lines = path.read_bytes().splitlines(keepends=True)[: 2 + len(said)]


@pytest.mark.parametrize("asks", [False, True])
def test_a_write_in_flight_is_not_made_again(path, asks):
    """Without a ledger nobody knows whether a WRITE was done: a person is needed.

    So it is where the tool was asking a model as the run died.
    """
    lines = a_record(path, effect=Effect.WRITE)
    events = [*Trace.read(path)]
    call = [e["kind"] for e in events].index("tool_call")
    about = {"kind": "model_request", "prompt": "?", "kept": 0, "parent": call}
    inside = events[call] | about | {"seq": call + 1}
    more = [sealed(to_line(inside))] if asks else []
    path.write_bytes(b"".join(lines[: call + 1] + more))
    notes = []
    resume(path, machine(TURNS[1:], notes, Effect.WRITE))
    assert notes == ["two"]
    assert Trace.read(path).of("observation")[0]["error"]["kind"] == "needs_person"


def test_a_file_that_is_not_there_is_not_made(path):
    """A mistyped name is told, and no trace begins under it."""
    with pytest.raises(FileNotFoundError, match="there is no trace"):
        resume(path, machine([], []))
    assert not path.exists()


def test_a_run_that_has_ended_is_refused(path):
    """What has its end is not gone on with."""
    with pytest.raises(TraceError, match="has ended in DONE") as caught:
        goes_on(path, a_record(path))
    assert not isinstance(caught.value, Divergence)


@pytest.mark.parametrize(
    "damaged",
    [
        lambda lines: [*lines[:5], *lines[6:]],
        lambda lines: [*lines[:5], lines[5][:20], *lines[5:]],
        lambda lines: [*lines[:5], lines[5].replace(b"{", b'{"k":1,')],
    ],
    ids=["a hole", "a torn line", "twice a key"],
)
def test_a_file_that_somebody_put_together_is_left_alone(path, damaged):
    """What is not as it was written is told by its line; nothing is added behind it."""
    lines = damaged(a_record(path))
    with pytest.raises(TraceError, match="line 6: ") as caught:
        goes_on(path, lines)
    assert path.read_bytes() == b"".join(lines)
    TraceWriter(path, keep=True).close()  # it is open to others, while this is read:
    assert str(path) in str(caught.value)


def test_a_file_from_another_system_goes_on(path):
    """Lines that end as on Windows are whole, and so is a file of schema 1 before."""
    lines = [line.replace(b"\n", b"\r\n") for line in a_record(path)[:6]]
    events = [json.loads(line) for line in lines]
    old = [to_line({n: e[n] for n in e if n not in NEW}) for e in events]
    for cut in (lines, old):
        assert goes_on(path, cut).answer == "two notes"
        assert replay(Trace.read(path), machine([], [])).answer == "two notes"


def test_cancelled_while_it_goes_on(path):
    """A cancel behind the record's end ends the run, and the trace is whole."""
    path.write_bytes(b"".join(a_record(path)[:8]))
    again = machine([], [])
    again.cancel()
    assert resume(path, again).state == "CANCELLED"
    assert Trace.read(path).end["state"] == "CANCELLED"
    assert replay(Trace.read(path), machine([], [])).state == "CANCELLED"
    assert again.run("Another?").state == "ERROR"  # it was said of that run alone


def test_time_goes_on_where_the_record_ends(path):
    """What passes before the run goes on is not the run's; what passes then is."""
    lines, now = a_record(path)[:6], iter([1000.0] * 3)
    path.write_bytes(b"".join(lines))
    said = len(Trace.read(path).of("model_turn"))
    clock = {"clock": lambda: next(now, 1100.0), "limits": Limits(wall_s=50.0)}
    end = resume(path, machine(TURNS[said:], [], **clock))
    assert (end.state, end.reason) == ("EXHAUSTED", "out_of_time")
    assert 100 <= end.spent.wall_s < 200


def test_what_raised_is_not_known_where_the_record_broke_off(path):
    """Between a failure and its end: the run ends in ERROR, and can be replayed."""
    path.write_bytes(b"".join(a_record(path, [ValueError("it rains")])[:-1]))
    end = resume(path, machine([], []))
    assert (end.state, "broke off" in end.message) == ("ERROR", True)
    assert replay(Trace.read(path), machine([], [])).message == end.message


SECRET = "sesame-0123456789"


def test_a_secret_stays_one(path):
    """Resumed by a machine whose hook knows it, the file does not hold it either."""
    options = {"preamble": f"The word is {SECRET}.\n"}
    lines = a_record(path, secrets=[SECRET], **options)
    options["hook"] = TraceWriter(secrets=[SECRET])
    assert replay(Trace.read(path), machine([], [], **options)).state == "DONE"
    path.write_bytes(b"".join(lines[:6]))
    again = machine([ACT.format(SECRET), "Final Answer: noted"], [], **options)
    assert again.resume(path).answer == "noted"
    assert SECRET not in path.read_text()


def test_a_call_is_not_made_with_a_hidden_argument(path):
    """Where the record hides a secret in a call that got no answer, nobody makes it."""
    notes, turns = [], [ACT.format(SECRET), "Final Answer: noted"]
    lines = a_record(path, turns, secrets=[SECRET])
    path.write_bytes(b"".join(lines[:5]))
    resume(path, machine(turns[1:], notes))
    assert notes == []
    trace = Trace.read(path)
    assert trace.of("observation")[0]["error"]["kind"] == "needs_person"
    assert replay(trace, machine([], [])).answer == "noted"


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
        again = goes_on(path, [path.read_bytes()], notes)
        assert (again.state, again.answer) == ("DONE", "two notes")
        trace = Trace.read(path)
        told = [event for event in trace if event.get("what") != "asked again"]
        assert (len(told), trace.lost) == (whole, "")
        assert replay(trace, machine([], [])).answer == "two notes"
