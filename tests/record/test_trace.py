"""Events are numbered, flushed, kept free of secrets, and read back."""

import json
import subprocess
import sys
import threading
import tracemalloc
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.loop.turns import Action
from workbook.record.events import TraceError, check_event, sealed
from workbook.record.redaction import redact, secrets_in
from workbook.record.trace import Trace, read_events
from workbook.record.writer import TraceWriter


def small_run(emit):
    emit("run_started", engine="naive", question="2+2?")
    emit("model_request", prompt="Question: 2+2?\n")
    emit("model_turn", text="Final Answer: 4", turn={"kind": "final"}, usage={})
    emit("run_finished", state="DONE", reason="final_answer", answer="4")


def test_events_are_numbered_without_holes_and_timed():
    """Events carry seq 0, 1, 2 … and the seconds since the start."""
    now = iter([10.0, 10.5, 11.0, 11.5, 12.0])
    writer = TraceWriter(clock=lambda: next(now))
    small_run(writer)
    assert [event["seq"] for event in writer.events] == [0, 1, 2, 3]
    assert [event["at_s"] for event in writer.events] == [0.5, 1.0, 1.5, 2.0]


def test_each_event_is_on_disk_before_the_next_one(tmp_path):
    """What has happened can be read while the run still goes on."""
    path = tmp_path / "runs" / "trace.jsonl"
    writer = TraceWriter(path)
    writer("run_started", engine="naive", question="q")
    assert len(Trace.read(path)) == 1
    writer("model_request", prompt="q")
    assert len(Trace.read(path)) == 2
    writer.close()


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
        ["a", "ab", "abc"],
        ["abcdef", "abXdef", "q"],
        ["", "x", ""],
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


def test_a_history_that_only_grows_is_written_once():
    """The file does not grow with the square of the turns."""
    writer = TraceWriter()
    prompt = ""
    for turn in range(50):
        prompt += f"turn {turn}\n"
        writer("model_request", prompt=prompt)
    written = sum(len(event["prompt"]) for event in writer.events)
    assert written == len(prompt)


def test_a_nested_prompt_does_not_disturb_the_agents_own():
    """The calculator's prompt in between changes nothing in the agent's."""
    writer = TraceWriter()
    writer("model_request", prompt="agent 1")
    nested = writer("model_request", prompt="calculator", parent=0)
    last = writer("model_request", prompt="agent 12")
    assert writer.trace().prompt(nested) == "calculator"
    assert writer.trace().prompt(last) == "agent 12"


def test_prompt_of_another_event_is_refused():
    """Only a model_request has a prompt."""
    writer = TraceWriter()
    small_run(writer)
    with pytest.raises(TraceError, match="event 0 is not a model_request"):
        writer.trace().prompt(0)


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


def dies(writer, error):
    with writer as emit:
        emit("run_started", engine="naive", question="q")
        raise error


def test_an_exception_in_the_block_ends_the_trace(tmp_path):
    """A run that dies has a last event that says of what."""
    path = tmp_path / "t.jsonl"
    with pytest.raises(ConnectionError):
        dies(TraceWriter(path), ConnectionError("gone"))
    end = Trace.read(path).end
    assert (end["state"], end["reason"], end["message"]) == (
        "ERROR",
        "ConnectionError",
        "gone",
    )


def test_a_finished_run_is_not_finished_twice():
    """An exception after the end adds no second end."""
    writer = TraceWriter()
    small_run(writer)
    with pytest.raises(ValueError, match="late"):
        dies_late(writer)
    assert [e["kind"] for e in writer.events].count("run_finished") == 1


def dies_late(writer):
    with writer:
        raise ValueError("late")


@pytest.mark.parametrize(
    "text",
    [
        "my key is topsecret-value-1",
        "Authorization: Bearer abcdefghijklmnop1234",
        "sk-proj0123456789abcdefghij",
    ],
)
def test_a_secret_never_reaches_a_trace(text, tmp_path):
    """Keys of the environment, and what is shaped like one, are replaced."""
    path = tmp_path / "t.jsonl"
    secrets = secrets_in({"OPENAI_API_KEY": "topsecret-value-1", "HOME": "/home/you"})
    writer = TraceWriter(path, secrets=secrets)
    writer("model_request", prompt=[{"role": "user", "content": text}])
    writer.close()
    assert text.split()[-1] not in path.read_text()
    assert "[secret]" in writer.events[0]["prompt"][0]["content"]


def test_a_secret_may_be_a_number(tmp_path):
    """A password of digits is found within a number, and the line stays JSON."""
    path = tmp_path / "t.jsonl"
    with TraceWriter(path, secrets=["12345678"]) as emit:
        arguments = {"n": 9123456780, "12345678": [12345678, 1.5, None, True]}
        emit("tool_call", call_id="1", tool="t", arguments=arguments)
    (event,) = Trace.read(path)
    assert event == emit.events[0]
    assert event["arguments"] == {
        "n": "9[secret]0",
        "[secret]": ["[secret]", 1.5, None, True],
    }


def test_a_short_word_is_not_taken_for_a_secret():
    """Ordinary words with dashes stay as they are."""
    writer = TraceWriter(secrets=secrets_in({"API_KEY": "short"}))
    writer("model_request", prompt="a short risk-free task-list")
    assert writer.events[0]["prompt"] == "a short risk-free task-list"


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


def test_a_secret_with_a_character_that_json_escapes_is_found(tmp_path):
    """A key with quotes, a line break or half a pair in it is replaced as well"""
    path = tmp_path / "t.jsonl"
    secret = 'top"secret\nkey\udcff'
    writer = TraceWriter(path, secrets=[secret])
    writer("run_started", engine="naive", question=f"my key is {secret}")
    writer.close()
    assert writer.events[0]["question"] == "my key is [secret]"
    assert "top" not in path.read_text()


def test_reading_gives_back_what_was_written(tmp_path):
    """A saved trace is equal to the one that was saved."""
    writer = TraceWriter()
    small_run(writer)
    path = writer.trace().save(tmp_path / "a" / "t.jsonl")
    assert Trace.read(path) == writer.trace()


def test_a_line_cut_by_a_crash_is_dropped(tmp_path):
    """The last line may be half a line: the process died while writing it."""
    path = tmp_path / "t.jsonl"
    writer = TraceWriter(path)
    small_run(writer)
    writer.close()
    path.write_text(path.read_text()[:-20])
    assert [event["seq"] for event in Trace.read(path)] == [0, 1, 2]


def test_a_line_cut_in_the_middle_of_a_character_is_dropped(tmp_path):
    """A character of three bytes may be cut as well, and what is before it is kept."""
    path = tmp_path / "t.jsonl"
    with TraceWriter(path) as writer:
        writer("run_started", engine="naive", question="最終価格は？")
        writer("run_started", engine="naive", question="最終価格は？")
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rindex("終".encode()) + 1])
    assert [event["seq"] for event in Trace.read(path)] == [0]


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


def test_a_file_that_is_no_text_names_the_line(tmp_path):
    """A damaged byte in the middle is told with its line."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'\xff{"seq": 0}\n\n')
    with pytest.raises(TraceError, match=r"line 1: not JSON"):
        Trace.read(path)


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
            '{"trace_id":"t","seq":1,"step":0,"at_s":"soon","kind":"run_started",'
            '"engine":"fsm","question":"?"}',
            "at_s is of type str",
        ),
        (
            '{"trace_id":"t","seq":1,"step":0,"at_s":0,"kind":"run_started",'
            '"engine":"fsm","question":"?","limits":[3]}',
            "limits is of type list",
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
    ("schema", "message"),
    [
        (3, "schema 3.*newer"),
        (0, "schema 0.*from 1"),
        (-1, "schema -1.*from 1"),
        ("2", "of type str"),
    ],
)
def test_a_schema_that_nobody_reads_is_told_as_it_is(schema, message):
    """Only a schema above ours is a newer workbook's; there is none below 1."""
    event = {"trace_id": "t", "seq": 0, "step": 0, "at_s": 0, "kind": "run_started"}
    with pytest.raises(TraceError, match=message):
        check_event({**event, "engine": "", "question": "", "schema": schema}, 0)


def test_check_event_accepts_what_the_writer_writes():
    """The writer's events are events."""
    writer = TraceWriter()
    small_run(writer)
    for seq, event in enumerate(writer.events):
        check_event(event, seq)


def test_frame_has_a_row_an_event():
    """As a frame, a trace has one row an event and can be filtered."""
    writer = TraceWriter()
    small_run(writer)
    frame = writer.trace().to_frame()
    assert list(frame["kind"]) == [event["kind"] for event in writer.events]
    assert frame[frame.kind == "run_finished"].answer.item() == "4"


def test_an_empty_trace_has_an_empty_frame():
    """No event, no row, and still the columns of the envelope."""
    assert list(Trace(()).to_frame().columns)[:2] == ["trace_id", "seq"]


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


def test_the_listener_hears_each_event():
    """A listener is told each event once it has been written."""
    heard = []
    writer = TraceWriter(listener=heard.append)
    small_run(writer)
    assert heard == writer.events


# Writes that fail, writers that meet, secrets in other spellings


@pytest.mark.parametrize("kind", ["model_request", "tool_call"])
def test_a_write_that_fails_once_leaves_no_trace(tmp_path, small_disk, kind):
    """a disk that is full and then freed leaves neither a torn line nor a hole"""
    path = tmp_path / "t.jsonl"
    with TraceWriter(path, secrets=()) as emit:
        emit("run_started", engine="naive", question="q")
        emit("model_request", prompt="one")
        fields = {"call_id": "1", "tool": "t", "arguments": {}, "prompt": "one" * 99}
        with small_disk(path.stat().st_size + 30), pytest.raises(OSError):  # noqa: PT011
            emit(kind, **fields)
        emit("model_request", prompt="one, two")
        emit("run_finished", state="DONE", reason="final_answer", answer="4")
    read = Trace.read(path)
    assert (read, read.lost) == (emit.trace(), "")
    assert [(e["seq"], e["step"]) for e in read] == [(0, 0), (1, 1), (2, 2), (3, 2)]
    assert read.prompt(2) == "one, two"


def test_a_disk_that_stays_full_leaves_half_a_line(tmp_path, small_disk):
    """what is whole is read, what is not is said, and the writer lets the file go"""
    path = tmp_path / "t.jsonl"
    writer = TraceWriter(path)
    writer("run_started", engine="naive", question="q")
    limit = small_disk(path.stat().st_size + 30)
    with limit, pytest.raises(OSError), writer:  # noqa: PT011
        raise ValueError("x" * 99)
    assert len(Trace.read(path)) == 1
    assert "line 2: cut short" in Trace.read(path).lost
    TraceWriter(path, keep=True).close()


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
    assert said in trace.to_html()


def test_a_second_writer_on_one_path_is_refused(tmp_path):
    """two writers never mix their lines, and the path is free once one is closed"""
    path = tmp_path / "t.jsonl"
    with TraceWriter(path) as emit:
        emit("run_started", engine="naive", question="q")
        with pytest.raises(TraceError, match="another TraceWriter"):
            TraceWriter(tmp_path / "." / "t.jsonl")
        assert len(Trace.read(path)) == 1
    TraceWriter(path, keep=True).close()


def test_a_trace_that_is_there_is_not_written_over(tmp_path):
    """a path with something in it is refused, in words that say what to do"""
    path = tmp_path / "t.jsonl"
    with TraceWriter(path) as emit:
        emit("run_started", engine="naive", question="q")
    before = path.read_bytes()
    with pytest.raises(TraceError, match="is there: take another path"):
        TraceWriter(path)
    assert path.read_bytes() == before
    with TraceWriter(path, keep=True):  # the first one has let it go
        pass
    path.write_bytes(b"")
    TraceWriter(path).close()


WRITE = """
import sys, time
from workbook.record.writer import TraceWriter
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


def test_a_long_trace_is_read_in_the_memory_of_one_event(tmp_path):
    """figures of a long run need no more memory than a few of its events"""
    path = tmp_path / "t.jsonl"
    with TraceWriter(path, secrets=()) as emit:
        for number in range(3000):
            emit("model_request", prompt=f"{number}" * 100)
    emit.events.clear()
    tracemalloc.start()
    try:
        assert sum(len(event["prompt"]) > 0 for event in read_events(path)) == 3000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < path.stat().st_size / 5


@pytest.mark.parametrize(
    "spelled",
    [
        json.dumps,
        lambda secret: json.dumps(secret, ensure_ascii=False),
        lambda secret: json.dumps(json.dumps({"k": secret})),
    ],
    ids=["json", "utf-8", "json in json"],
)
def test_a_secret_is_found_in_the_json_of_a_text(spelled):
    """a tool's text is often the JSON of its result: the secret is in both"""
    secret = 'p"ä\\ss\nword'
    writer = TraceWriter(secrets=[secret])
    text = spelled(secret)
    writer(
        "observation", call_id="1", tool="t", ok=True, text=text, result={"k": secret}
    )
    (event,) = writer.events
    assert event["result"] == {"k": "[secret]"}
    assert "word" not in event["text"]


@pytest.mark.parametrize(
    "secrets", [["abcdefgh", "abcdefgh-123"], ["abcdefgh-123", "abcdefgh"]]
)
def test_the_longer_of_two_secrets_goes_first(secrets):
    """of two secrets where one begins with the other nothing is left"""
    assert redact("my abcdefgh-123, abcdefgh", secrets) == "my [secret], [secret]"


def test_an_empty_secret_is_none():
    """a variable that is set to nothing hides nothing"""
    assert redact("abc", ["", "b"]) == "a[secret]c"


@pytest.mark.parametrize(
    "name",
    ["AWS_SECRET_ACCESS_KEY", "SECRET_KEY", "SECRET_KEY_BASE", "HF_TOKEN", "TOKEN",
     "DB_PASS", "PGPASSWORD", "MYSQL_PWD", "STRIPE_KEY", "AWS_ACCESS_KEY_ID",
     "API_KEYS", "openai_api_key", "OPENAI_APIKEY_2",
     "GOOGLE_CREDENTIALS", "GITHUB_PAT"],
)  # fmt: skip
def test_secrets_are_known_by_name(name):
    """keys, tokens and passwords of the environment, as they are often called"""
    assert secrets_in({name: " 12345678\n"}) == ("12345678",)


@pytest.mark.parametrize(
    "name", ["PWD", "OLDPWD", "HOME", "PATH", "KEYBOARD", "COMPASS", "TOKENIZERS"]
)
def test_what_is_no_secret_is_not_hidden(name):
    """folders and settings of the environment may be written"""
    assert secrets_in({name: "/home/you"}) == ()


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
        sent.append(redact(prompt, secrets))
    trace = writer.trace()
    assert [trace.prompt(seq) for seq in range(len(sent))] == sent
