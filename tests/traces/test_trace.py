"""Events are numbered, flushed, kept free of secrets, and read back."""

import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.fsm.machine import Machine
from workbook.loop.turns import Action
from workbook.models.script import Script
from workbook.tools.calculator import calculator
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool
from workbook.traces.events import TraceError, sealed
from workbook.traces.redaction import Secrets
from workbook.traces.show import to_html
from workbook.traces.trace import Trace, read_events
from workbook.traces.writer import LineFile, TraceWriter


def small_run(emit):
    emit("run_started", engine="naive", question="2+2?")
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


def test_a_nested_request_does_not_begin_a_step():
    """A tool that asks the model again stays within the agent's step."""
    writer = TraceWriter()
    writer("model_request", prompt="a")
    call = writer("tool_call", call_id="1", tool="Calculator", arguments={})
    writer("model_request", prompt="b", parent=call)
    writer("model_request", prompt="ab")
    assert [event["step"] for event in writer.events] == [1, 1, 1, 2]


@pytest.mark.parametrize(
    "prompts",
    [
        [[{"role": "user"}], [{"role": "user"}, {"role": "tool"}], [{"role": "x"}]],
        ["text", [{"role": "user"}], "text"],
    ],
)
def test_the_whole_prompt_comes_back_from_its_new_parts(prompts):
    """A trace holds only what is new in a prompt and gives back all of it."""
    writer = TraceWriter()
    for prompt in prompts:
        writer("model_request", prompt=prompt)
    trace = writer.trace()
    assert [trace.prompt(seq) for seq in range(len(prompts))] == prompts


def test_an_engine_may_go_on_with_the_list_that_it_gave():
    """A list of messages that grows in place is written message by message."""
    writer, messages = TraceWriter(), []
    for role in ("user", "assistant", "tool"):
        messages.append({"role": role})
        writer("model_request", prompt=messages)
    assert [event["kept"] for event in writer.events] == [0, 1, 2]
    assert writer.trace().prompt(1) == messages[:2]


def test_a_nested_prompt_does_not_disturb_the_agents_own():
    """The calculator's prompt in between changes nothing in the agent's."""
    writer = TraceWriter()
    writer("model_request", prompt="agent 1")
    nested = writer("model_request", prompt="calculator", parent=0)
    last = writer("model_request", prompt="agent 12")
    assert writer.trace().prompt(nested) == "calculator"
    assert writer.trace().prompt(last) == "agent 12"


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=60, deadline=None)
def test_only_what_is_new_is_written(start, left, right):
    """Of a prompt, what it shares with the one before is not written again."""
    writer = TraceWriter(secrets=())
    writer("model_request", prompt=start + left)
    writer("model_request", prompt=start + right)
    kept = writer.events[1]["kept"]
    assert kept >= len(start)
    assert writer.events[1]["prompt"] == (start + right)[kept:]
    assert writer.trace().prompt(1) == start + right


def test_an_exception_in_the_block_ends_the_trace(tmp_path):
    """A run that dies has a last event that says of what; there is one end."""
    path = tmp_path / "t.jsonl"
    with pytest.raises(ConnectionError), TraceWriter(path) as emit:
        raise ConnectionError("gone")
    end, said = Trace.read(path).end, ["ERROR", "ConnectionError", "gone"]
    assert [end["state"], end["reason"], end["message"]] == said
    with pytest.raises(ConnectionError), emit:
        raise ConnectionError("once more")
    assert Trace.read(path).end == end


def test_what_is_no_json_is_written_as_text(tmp_path):
    """Dataclasses become objects, everything unknown becomes its text."""
    path = tmp_path / "t.jsonl"
    with TraceWriter(path) as emit:
        turn = Action("", "Sum", "1+1")
        emit("model_turn", text="t", turn=turn, usage=None, some={1}, other=1j)
    (event,) = Trace.read(path)
    assert event["turn"] == {"thought": "", "tool": "Sum", "input": "1+1"}
    assert (event["some"], event["other"]) == ([1], "1j")


@pytest.mark.parametrize(
    "value",
    ["half a pair \ud83d", "\udc00", 2**100, -(2**70), {"nested": ["\ud83d", 2**64]}],
)
def test_no_value_is_lost_on_the_way_to_the_disk(value, tmp_path):
    """Half a surrogate pair and an integer of any size are written and read back"""
    path = tmp_path / "t.jsonl"
    writer = TraceWriter(path)
    writer("tool_call", call_id="1", tool="t", arguments={"a": value})
    writer("run_finished", state="DONE", reason="final_answer", answer="a")
    writer.close()
    assert Trace.read(path) == writer.trace()
    assert Trace.read(writer.trace().save(tmp_path / "saved.jsonl")) == writer.trace()


@settings(max_examples=60, deadline=None)
@given(st.text('a"\\\n\x00é語😀\ud83d\ude00', max_size=12))
def test_any_text_comes_back_from_the_disk(tmp_path_factory, text):
    """Whatever a model or a tool says is read back as it was said"""
    path = tmp_path_factory.mktemp("text") / "t.jsonl"
    with TraceWriter(path, secrets=()) as emit:
        emit("run_started", engine="naive", question=text)
    # Two halves of a pair side by side are, in JSON, the character that they make.
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assert Trace.read(path).events[0]["question"] == joined


def test_a_file_cut_at_any_byte_is_read_up_to_there(tmp_path):
    """Wherever a process dies while writing, the whole lines before are read."""
    path = tmp_path / "t.jsonl"
    with TraceWriter(path) as writer:
        writer("run_started", engine="naive", question="最終価格は？")
        small_run(writer)
    whole = path.read_bytes()
    ends = [at for at, byte in enumerate(whole) if byte == ord("\n")]
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        lines = sum(end <= size for end in ends)
        assert [event["seq"] for event in Trace.read(path)] == list(range(lines))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "line 2: not JSON"),
        ("[" * 100_000, "line 2: not JSON"),
        ("[]", "line 2: it is not as it was written"),
        ('{"seq": 1}', "None is not a kind of event"),
        (
            '{"trace_id":"t","seq":1,"step":0,"at_s":0,"kind":"x"}',
            "'x' is not a kind of event",
        ),
        (
            '{"trace_id":"t","seq":1,"step":0,"at_s":0,"kind":"tool_call"}',
            "this tool_call has no call_id",
        ),
        (
            '{"trace_id":"t","seq":7,"step":0,"at_s":0,"kind":"model_request",'
            '"prompt":"","kept":0}',
            "seq is 7, expected 1: an event is missing",
        ),
        (
            '{"trace_id":"t","seq":1,"step":0,"at_s":0,"kind":"model_turn",'
            '"text":"x","turn":"final","usage":null}',
            "turn is of type str",
        ),
        (
            '{"trace_id":"t","seq":1,"step":0,"at_s":0,"kind":"observation",'
            '"call_id":"1","tool":"t","ok":true,"text":"2","notes":null}',
            "notes is of type NoneType, not list",
        ),
    ],
)
def test_a_damaged_trace_names_the_line(tmp_path, line, message):
    """A file that is no trace says in which line and why."""
    path = tmp_path / "t.jsonl"
    writer = TraceWriter(path)
    writer("run_started", engine="naive", question="q")
    writer.close()
    line = (
        sealed(f"{line}\n".encode()) if line.startswith("{") else f"{line}\n".encode()
    )
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(TraceError, match=message.replace("[", r"\[")):
        list(read_events(path))
    assert message in Trace.read(path).lost


@pytest.mark.parametrize(
    ("events", "answer", "shown"),
    [
        (0, None, "<Trace: 0 events, no end>"),
        (1, None, "<Trace naive: 1 event, no end>"),
        (4, "4", "<Trace naive: 4 events, DONE: 4>"),
        (4, None, "<Trace naive: 4 events, DONE>"),
        (4, "4\n" * 40, f"<Trace naive: 4 events, DONE: {'4 ' * 29}4…>"),
    ],
)
def test_a_trace_is_one_line_in_an_error_message(events, answer, shown):
    """As text, a trace says whose it is, how long, and how it ended."""
    writer = TraceWriter()
    small_run(writer)
    *before, end = writer.events
    trace = Trace((*before, {**end, "answer": answer})[:events])
    assert repr(trace) == shown


@pytest.fixture
def small_disk():
    """Allow files of so many bytes for a while: more raises, as a full disk does."""
    resource = pytest.importorskip("resource")

    @contextmanager
    def limited(size):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


def test_a_disk_that_was_full_leaves_what_a_kill_leaves(tmp_path, small_disk):
    """after a write that failed nothing is written, so that the run can be resumed"""
    path = tmp_path / "t.jsonl"
    emit = TraceWriter(path, secrets=())
    emit("run_started", engine="naive", question="q")
    with small_disk(path.stat().st_size + 30), pytest.raises(OSError):  # noqa: PT011
        emit("model_request", prompt="one" * 99)
    with pytest.raises(OSError), emit:  # noqa: PT011 - the disk has room again
        raise ValueError("no end is written for it")
    assert [event["kind"] for event in Trace.read(path)] == ["run_started"]
    assert "line 2: cut short" in Trace.read(path).lost
    with TraceWriter(path, keep=True) as emit:
        emit.events.extend(Trace.read(path))
        emit.trace_id = emit.events[0]["trace_id"]
        emit("model_request", prompt="one")
    assert [event["seq"] for event in Trace.read(path)] == [0, 1]


def test_a_call_is_in_the_file_before_it_is_made(tmp_path):
    """What can have an effect is on the disk before the effect."""
    path, seen = tmp_path / "t.jsonl", []

    def look():
        seen.extend(Trace.read(path))
        return {"result": 1}

    tools = ToolRegistry([Tool("Look", "Looks.", {}, look)])
    script = Script(["Action: Look\nAction Input: {}", "Final Answer: 1"])
    with TraceWriter(path) as hook:
        Machine(script, tools, hook=hook).run("?")
    assert (seen[-1]["kind"], seen[-1]["tool"]) == ("tool_call", "Look")


TURNS = ["Action: Calculator\nAction Input: 2+2", "Final Answer: 4"]


@pytest.mark.parametrize("number", range(1, 12))
def test_a_run_whose_disk_was_full_can_be_resumed(tmp_path, monkeypatch, number):
    """whichever event could not be written, the run goes on as one that was killed"""
    path, append = tmp_path / "t.jsonl", LineFile.append

    def full(file, line):
        if f'"seq":{number},'.encode() in line:
            append(file, line[:20])
            raise OSError(28, "No space left on device")
        append(file, line)

    with monkeypatch.context() as disk, TraceWriter(path) as hook:
        disk.setattr(LineFile, "append", full)
        end = Machine(Script(TURNS), ToolRegistry([calculator()]), hook=hook).run("?")
    assert "No space left" in end.message
    said = len(Trace.read(path).of("model_turn"))
    again = Machine(Script(TURNS[said:]), ToolRegistry([calculator()]))
    assert again.resume(path).answer == "4"
    assert Trace.read(path).end["state"] == "DONE"


def test_a_listener_whose_disk_is_full_ends_the_trace_too(tmp_path):
    """where one of the views cannot be written, the trace goes on in none"""

    def full(event):
        raise OSError(28, "No space left on device")

    emit = TraceWriter(tmp_path / "t.jsonl", listener=full)
    for _ in range(2):
        with pytest.raises(OSError, match="No space"):
            emit("run_started", engine="naive", question="q")
    assert len(Trace.read(tmp_path / "t.jsonl")) == 1


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda lines: [*lines[:2], lines[2][:9] + lines[3]], "line 3: not JSON"),
        (lambda lines: [*lines[:2], lines[2][:9] + "\n", lines[3]], "line 3: not JSON"),
        (lambda lines: [*lines[:2], lines[3]], "line 3: seq is 3, expected 2"),
        (lambda lines: [*lines[:2], lines[2][:9]], "line 3: cut short"),
    ],
    ids=["joined", "torn", "hole", "cut"],
)
def test_what_is_whole_is_read_and_what_was_lost_is_said(tmp_path, damage, said):
    """a damaged file gives the events before the damage, and says what is lost"""
    path = tmp_path / "t.jsonl"
    with TraceWriter(path) as emit:
        small_run(emit)
    lines = damage(path.read_text().splitlines(keepends=True))
    path.write_text("".join(lines))
    trace = Trace.read(path)
    assert trace.events == tuple(emit.events[:2])
    assert said in trace.lost
    assert said in repr(trace)
    assert said in to_html(trace)


def test_a_trace_that_is_there_is_not_written_over(tmp_path):
    """a path with something in it is refused, in words that say what to do"""
    path = tmp_path / "t.jsonl"
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


def test_a_writer_in_another_process_is_refused_until_it_is_killed(tmp_path):
    """another process's file is not taken; one that was killed holds nothing"""
    path = tmp_path / "t.jsonl"
    command = [sys.executable, "-c", WRITE, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline().strip() == b"ready"
        with pytest.raises(TraceError, match="another TraceWriter"):
            TraceWriter(path)
        other.kill()
    TraceWriter(path, keep=True).close()


def test_each_thread_gets_numbers_of_its_own(tmp_path):
    """eight threads that write at once leave events 0, 1, 2 … in the file"""
    path = tmp_path / "t.jsonl"
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


PIECES = st.lists(st.sampled_from(["a", "b: ", "top-secret", "top-secret-2"]))
EDITS = st.lists(st.tuples(PIECES, st.integers(0, 60)), min_size=1, max_size=6)


@settings(max_examples=150, deadline=None)
@given(EDITS)
def test_the_whole_prompt_comes_back_without_its_secrets(edits):
    """after each cut and each addition a prompt is what was sent, less its secrets"""
    secrets, prompt, sent = ["top-secret", "top-secret-2"], "", []
    writer = TraceWriter(secrets=secrets)
    for pieces, cut in edits:
        prompt = prompt[:cut] + "\n" + "".join(pieces)
        writer("model_request", prompt=prompt)
        sent.append(Secrets(secrets).out_of(prompt))
    trace = writer.trace()
    assert [trace.prompt(seq) for seq in range(len(sent))] == sent
