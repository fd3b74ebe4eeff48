"""Events are numbered, flushed, kept free of secrets, and read back."""

import html
import re
import subprocess
import sys
import threading
from types import MappingProxyType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbook.models.prompts import shared_items
from workbook.traces.events import TraceError, sealed, to_line
from workbook.traces.redaction import Secrets
from workbook.traces.show import to_html
from workbook.traces.trace import Trace, read_events
from workbook.traces.writer import TraceWriter


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.jsonl"


def small_run(emit):
    emit("run_started", engine="naive", question="2+2? 最終価格は？")
    emit("model_request", prompt="Question: 2+2?\n")
    emit("model_turn", text="Final Answer: 4", turn={"kind": "final"}, usage={})
    emit("run_finished", state="DONE", reason="final_answer", answer="4")


def test_events_are_numbered_without_holes_and_timed():
    """Events carry seq 0, 1, 2 … and the seconds since the start; they are heard."""
    now = iter([10.0, 10.5, 11.0, 11.5, 12.0])
    heard = []
    writer = TraceWriter(clock=lambda: next(now), listener=heard.append)
    small_run(writer)
    assert heard == writer.events
    assert [event["seq"] for event in writer.events] == [0, 1, 2, 3]
    assert [event["at_s"] for event in writer.events] == [0.5, 1.0, 1.5, 2.0]


def test_a_nested_request_is_no_step_and_disturbs_no_prompt():
    """A tool that asks the model stays within the agent's step, and its prompt too."""
    writer = TraceWriter()
    writer("model_request", prompt="agent 1")
    nested = writer("model_request", prompt="calculator", parent=0)
    last = writer("model_request", prompt="agent 12")
    assert [event["step"] for event in writer.events] == [1, 1, 2]
    assert writer.trace().prompt(nested) == "calculator"
    assert writer.trace().prompt(last) == "agent 12"


def test_the_whole_prompt_comes_back_from_its_new_parts():
    """Of a list that grows in place, changes or becomes a text, all is given back."""
    writer, messages, sent = TraceWriter(), [], []
    for role in ("user", "assistant", "tool"):
        messages.append({"role": role})
        sent.append(messages[:])
        writer("model_request", prompt=messages)
    for prompt in ("text", [{"role": "user"}], [{"role": "x"}]):
        sent.append(prompt)
        writer("model_request", prompt=prompt)
    assert [event["kept"] for event in writer.events] == [0, 1, 2, 0, 0, 0]
    assert [writer.trace().prompt(seq) for seq in range(6)] == sent


PIECES = st.lists(st.sampled_from(["a", "b: ", "top-secret", "top-secret-2"]))
EDITS = st.lists(st.tuples(PIECES, st.integers(0, 60)), min_size=1, max_size=6)


@settings(max_examples=150, deadline=None)
@given(EDITS)
def test_the_whole_prompt_comes_back_without_its_secrets(edits):
    """less its secrets a prompt is what was sent, and only what is new is written"""
    secrets, prompt, sent = ["top-secret", "top-secret-2"], "", []
    writer = TraceWriter(secrets=secrets)
    for pieces, cut in edits:
        prompt = prompt[:cut] + "\n" + "".join(pieces)
        writer("model_request", prompt=prompt)
        sent.append(Secrets(secrets).out_of(prompt))
    trace = writer.trace()
    assert [trace.prompt(seq) for seq in range(len(sent))] == sent
    for before, event, whole in zip(sent, trace.events[1:], sent[1:], strict=False):
        assert event["kept"] == shared_items(before, whole)
        assert event["prompt"] == whole[event["kept"] :]


def test_an_exception_in_the_block_ends_the_trace(path):
    """A run that dies has a last event that says of what; there is one end."""
    with pytest.raises(ConnectionError), TraceWriter(path) as emit:
        raise ConnectionError("gone")
    end, said = Trace.read(path).end, ["ERROR", "ConnectionError", "gone"]
    assert [end["state"], end["reason"], end["message"]] == said
    with pytest.raises(ConnectionError), emit:
        raise ConnectionError("once more")
    assert Trace.read(path).end == end


@settings(max_examples=60, deadline=None)
@example("half a pair \ud83d", 2**100)
@given(st.text('a"\\\n\x00é語😀\ud83d\ude00', max_size=12), st.integers())
def test_whatever_was_said_comes_back_from_the_disk(tmp_path_factory, text, number):
    """Any text and integer is read as it was written; what is no JSON is a text"""
    path = tmp_path_factory.mktemp("said") / "t.jsonl"
    said = {"turn": MappingProxyType({"a": text}), "some": {number}, "other": 1j}
    with TraceWriter(path, secrets=()) as emit:
        emit("model_turn", text=text, usage=None, **said)
    # Two halves of a pair side by side are, in JSON, the character that they make.
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    (event,) = trace = Trace.read(path)
    assert event["text"] == joined
    assert event["turn"] == {"a": joined}
    assert (event["some"], event["other"]) == ([number], "1j")
    assert Trace.read(trace.save(path.with_name("saved.jsonl"))) == trace


def test_a_file_cut_at_any_byte_is_read_up_to_there(path):
    """Wherever a process dies while writing, the whole lines before are read."""
    with TraceWriter(path) as writer:
        small_run(writer)
    whole = path.read_bytes()
    ends = [at for at, byte in enumerate(whole) if byte == ord("\n")]
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        lines = sum(end <= size for end in ends)
        assert [event["seq"] for event in Trace.read(path)] == list(range(lines))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("nonsense", "line 2: not JSON"),
        ("[" * 100_000, "line 2: not JSON"),
        ("[]", "line 2: it is not as it was written"),
        ({"kind": "x"}, "line 2: 'x' is not a kind of event"),
        ({"kind": "tool_call"}, "this tool_call has no call_id, tool, arguments"),
        ({"seq": 7}, "seq is 7, expected 1: an event is missing"),
        ({"prompt": 5}, "prompt is of type int, not str | list"),
        ({"notes": None}, "notes is of type NoneType, not list"),
        ({"trace_id": "other"}, "it is of another run, other"),
    ],
)
def test_what_is_whole_is_read_and_what_was_lost_is_said(path, damage, message):
    """A damaged file gives the events before it, and says in which line and why."""
    with TraceWriter(path) as emit:
        small_run(emit)
    if isinstance(damage, dict):
        line = sealed(to_line(emit.events[1] | damage))
    else:
        line = f"{damage}\n".encode()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], line, *lines[2:]]))
    with pytest.raises(TraceError, match=re.escape(message)):
        list(read_events(path))
    trace = Trace.read(path)
    assert trace.events == tuple(emit.events[:1])
    assert message in trace.lost
    assert trace.lost in repr(trace)
    assert trace.lost in html.unescape(to_html(trace))


def test_a_listener_whose_disk_is_full_ends_the_trace_too(path):
    """where one of the views cannot be written, the trace goes on in none"""

    def full(event):
        raise OSError(28, "No space left on device")

    emit = TraceWriter(path, listener=full)
    for _ in range(2):
        with pytest.raises(OSError, match="No space"):
            emit("run_started", engine="naive", question="q")
    assert len(Trace.read(path)) == 1


def test_a_trace_that_is_there_is_not_written_over(path):
    """a path with something in it is refused, in words that say what to do"""
    with TraceWriter(path) as emit:
        emit("run_started", engine="naive", question="q")
    before = path.read_bytes()
    with pytest.raises(TraceError, match="is there: take another path"):
        TraceWriter(path)
    with pytest.raises(FileExistsError):
        emit.trace().save(path)
    assert path.read_bytes() == before
    with TraceWriter(path, keep=True):  # the first one has let it go
        pass
    path.write_bytes(b"")
    TraceWriter(path).close()


WRITE = """
import sys, time
from workbook.traces.writer import TraceWriter
writer = TraceWriter(sys.argv[1])
writer("run_started", engine="naive", question="q")
print("ready", flush=True)
time.sleep(60)
"""


def test_a_writer_in_another_process_is_refused_until_it_is_killed(path):
    """another process's file is not taken; one that was killed holds nothing"""
    command = [sys.executable, "-c", WRITE, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline().strip() == b"ready"
        with pytest.raises(TraceError, match="another TraceWriter"):
            TraceWriter(path)
        other.kill()
    TraceWriter(path, keep=True).close()
    assert len(Trace.read(path)) == 1  # it had not to be closed


def test_each_thread_gets_numbers_of_its_own(path):
    """eight threads that write at once leave events 0, 1, 2 … in the file"""
    got, before = [], sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with TraceWriter(path) as emit:

            def write():
                event = {"engine": "naive", "question": "q" * 50}
                got.extend([emit("run_started", **event) for _ in range(200)])

            threads = [threading.Thread(target=write) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(before)
    assert sorted(got) == list(range(1600))
    assert len(Trace.read(path)) == 1600


def test_a_trace_is_one_line_in_an_error_message():
    """As text, a trace says whose it is, how long, and how it ended."""
    writer = TraceWriter()
    small_run(writer)
    *before, end = writer.events
    silent, long = ([*before, end | {"answer": a}] for a in (None, "4\n" * 40))
    assert repr(Trace(())) == "<Trace: 0 events, no end>"
    assert repr(Trace(before[:1])) == "<Trace naive: 1 event, no end>"
    assert repr(Trace(silent)) == "<Trace naive: 4 events, DONE>"
    assert repr(Trace(long)) == f"<Trace naive: 4 events, DONE: {'4 ' * 29}4…>"
