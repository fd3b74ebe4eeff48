"""The journal and its file: what is written, how it is read, and what never is."""

import itertools
import json
import re
import stat

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.runtime import playing
from tests.runtime.playing import FINAL, act, assert_replayed, call, note, noted, play
from workbook.runtime.budget import Budget, budget
from workbook.runtime.journal import Divergence, Journal, shared_items
from workbook.runtime.model import Response
from workbook.runtime.permission import Edit, permission, yes
from workbook.runtime.replay import replay, resume
from workbook.runtime.secret import HIDDEN, secrets_in
from workbook.runtime.trace import Trace, TraceError, open_to_write, seal


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.jsonl"


def small_run(journal):
    """Write four events; return them."""
    with journal:
        journal.emit("run_started", engine="naive", question="2+2? 最終価格は？")
        journal.emit("model_request", prompt="Question: 2+2?\n")
        journal.emit("model_turn", text="Final Answer: 4", usage={})
        journal.emit("run_finished", state="DONE", reason="final_answer", answer="4")
    return [*journal.trace()]


# events


def test_events_are_numbered_and_timed():
    """events have seq 0, 1, 2 …, the seconds since the start, and one trace_id"""
    now, read = itertools.count(10.0, 0.5), []
    events = small_run(Journal(listener=read.append, clock=lambda: next(now)))
    assert read == events
    assert [event["seq"] for event in events] == [0, 1, 2, 3]
    assert [event["at_s"] for event in events] == [0.5, 1.0, 1.5, 2.0]
    assert [event["step"] for event in events] == [0, 1, 1, 1]
    assert (len({event["trace_id"] for event in read}), read[0]["schema"]) == (1, 3)


PIECES = st.lists(st.sampled_from(["a", "b: ", "top-secret", "top-secret-2"]))
EDITS = st.lists(st.tuples(PIECES, st.integers(0, 60)), min_size=1, max_size=6)


@settings(max_examples=100, deadline=None)
@given(EDITS, st.booleans())
def test_each_whole_prompt_comes_back(edits, in_messages):
    """only what is new is recorded; less its secrets the whole is what was sent"""

    def shown(text):
        each = [{"content": line} for line in text.split("\n")]
        return each if in_messages else text

    journal, prompt, sent = Journal(secrets=["top-secret", "top-secret-2"]), "", []
    for pieces, at in edits:
        prompt = prompt[:at] + "\n" + "".join(pieces)
        hidden = re.sub("top-secret(-2)?", HIDDEN, prompt)
        journal.emit("model_request", prompt=shown(prompt))
        sent.append(shown(hidden))
    trace = journal.trace()
    assert [trace.prompt(seq) for seq in range(len(sent))] == sent
    for before, event, whole in zip(sent, trace.events[1:], sent[1:], strict=False):
        assert event["kept"] == shared_items(before, whole)


@settings(max_examples=60, deadline=None)
@example("half a pair \ud83d", 2**100)
@example("", 10**5000)
@given(st.text('a"\\\n\x00é語😀\ud83d\ude00\u2028', max_size=12), st.integers())
def test_what_was_written_comes_back_from_the_disk(tmp_path_factory, text, number):
    """any text and number; what is no JSON becomes a text or null

    A text can be searched for in the file, in any language.
    """
    path = tmp_path_factory.mktemp("t") / "t.jsonl"
    odd = {1: b"a", "set": {1}, "nan": float("nan"), "self": object}
    with Journal(path, secrets=()) as journal:
        journal.emit("model_request", prompt=text)
        journal.emit("model_turn", text=text, usage=None, number=number, odd=odd)
    [_, event] = trace = Trace.read(path)
    assert (trace.lost, event["text"]) == ("", text.encode("utf-8", "replace").decode())
    assert event["number"] == number or abs(number) > 10**4000
    assert Trace.read(trace.save(path.with_name("saved.jsonl"))) == trace
    assert "語" not in text or "語" in path.read_text("utf-8")


def test_a_replay_asks_nobody_after_its_record():
    """a run that goes on where its record has ended is a Divergence; nothing is live"""
    journal, asked = Journal(record=small_run(Journal())[:1]), []
    journal.receive("run_started", dict)
    with pytest.raises(Divergence):
        journal.receive("model_turn", lambda: asked.append(1))
    assert asked == []


# files


def test_a_file_is_its_owners_and_has_its_end(path):
    """nobody else can read it; what left the block is the end of its run, ERROR"""
    path = path / "in" / "folders.jsonl"
    with pytest.raises(ConnectionError), Journal(path) as journal:  # noqa: PT012
        journal.emit("run_started", engine="naive", question="?")
        raise ConnectionError("gone")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    end = Trace.read(path).end
    assert (end["reason"], end["message"]) == ("ConnectionError", "gone")


def with_other(**fields):
    return lambda line: seal(json.dumps(json.loads(line) | fields).encode())


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda line: line.replace(b"2+2", b"2+3"), "it is not as it was written"),
        (lambda line: line[:9], "cut short while it was written"),
        (with_other(seq=7), "seq is 7, not 1: one is missing"),
        (with_other(schema=2), "it has schema 2, not 3"),
    ],
)
def test_what_is_whole_is_read_and_what_is_lost_is_named(path, damage, words):
    """a damaged file gives the events before it, and says in which line and why"""
    events = small_run(Journal(path))
    first, second = path.read_bytes().splitlines(keepends=True)[:2]
    path.write_bytes(first + damage(second))
    trace = Trace.read(path)
    assert list(trace) == events[:1]
    assert f"line 2: {words}" in trace.lost
    assert trace.lost in repr(trace)


def test_a_file_that_is_no_trace(path):
    """damage in the first line is an error; half a line is a run that had no event"""
    path.write_text("Dear diary,\n")
    with pytest.raises(TraceError, match="line 1: it is not as it was written"):
        Trace.read(path)
    path.write_text("Dear di")
    assert len(Trace.read(path)) == 0


def test_what_is_no_regular_file_is_refused(tmp_path):
    """a device or a folder is no place for a trace, and is not read as one"""
    for place in (tmp_path, "/dev/full"):
        for use in (Journal, Trace.read, lambda path: resume(path, noted([]))):
            with pytest.raises(TraceError, match="is no regular file"):
                use(place)


def test_a_trace_that_is_there_is_not_written_over(path):
    """a path with something in it is refused, in words that say what to do"""
    events, before = small_run(Journal(path)), path.read_bytes()
    with pytest.raises(TraceError, match="is there: take another path") as refused:
        Journal(path)
    with pytest.raises(TraceError, match="has ended in DONE"):
        resume(path, noted([]))
    assert refused  # its traceback has the journal, which does not keep the file
    with pytest.raises(FileExistsError):
        Trace(events).save(path)
    assert path.read_bytes() == before


def test_one_writes_a_trace(path):
    """a second writer is refused, even one that resumes, until the first one is gone"""
    with Journal(path) as journal:
        journal.emit("run_started", engine="naive", question="q")
        for use in (Journal, lambda path: resume(path, noted([]))):
            with pytest.raises(TraceError, match="another process writes"):
                use(path)
    open_to_write(path).close()


class FullDisk:
    """A file with so many bytes left: it takes what fits, then has no space."""

    def __init__(self, file, left):
        self.file, self.left, self.close = file, left, file.close

    def write(self, data):
        if self.left <= 0:
            self.left = -1
            raise OSError(28, "No space left on device")
        size = self.file.write(data[: self.left])
        self.left -= size
        return size


def test_a_disk_that_is_full_at_any_byte(tmp_path):
    """ERROR, no call that is not written down; with room again, it goes on"""
    turns = [act("Note", 1), "Hm.", act("Note", 2), FINAL]
    whole = play(turns, path=tmp_path / "whole")
    for left in range(0, (tmp_path / "whole").stat().st_size, 53):
        path, made = tmp_path / f"{left}", []
        tool = note(run=lambda input, made=made: made.append(input) or {})
        journal = Journal(path)
        journal.file = disk = FullDisk(journal.file, left)
        end = noted(turns, [tool]).run("?", journal=journal)
        if disk.left >= 0:  # it was enough
            continue
        assert (end.state, "No space left" in end.message) == ("ERROR", True)
        assert 0 <= len(Trace.read(path).of("tool_call")) - len(made) <= 1
        if b"\n" in path.read_bytes():
            done = resume(path, noted(turns))
            assert (done.answer, len(done.trace)) == ("ok", len(whole.trace) + 1)
            assert_replayed(done, noted(turns), Trace.read(path))


# secrets

KNOWN = 'pa"ss\\wörd-7/語\n😀'
SECRETS = [KNOWN, "hunter2hunter2"]
SHAPED = ["sk-proj-0123456789abcdefghijkl", "Bearer abcdef0123456789=="]


def in_json(value, **options):
    return json.dumps({"key": value}, **options)


def spellings(secret):
    """Return a secret alone, and in JSON that is inside JSON again."""
    for text in (secret, in_json(secret), in_json(secret, ensure_ascii=False)):
        yield from (text, in_json(text))


def plainer(text):
    """Undo all escapes of JSON, however deep they are."""
    text = re.sub(r"\\+u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), text)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return re.sub(r"\\+n", "\n", text).replace("\\", "")


@pytest.mark.parametrize("secret", [*SECRETS, *SHAPED])
def test_a_secret_is_in_no_line(path, secret):
    """wherever it was, and however JSON spells it; the line stays a line"""
    with Journal(path, secrets=SECRETS) as journal:
        for text in spellings(secret):
            journal.emit("model_turn", text=text, extra={text: [f"\t{text},\n"]})
    assert [str(event).count(HIDDEN) for event in Trace.read(path)] == [3] * 6
    gone = secret.removeprefix("Bearer ").replace("\\", "")
    assert gone not in plainer(path.read_text())


def test_secrets_are_known_by_name():
    """keys, tokens and passwords of the environment; words that only look so stay"""
    names = "AWS_SECRET_ACCESS_KEY SECRET_KEY_BASE HF_TOKEN TOKEN DB_PASS PGPASSWORD"
    for name in f"{names} MYSQL_PWD STRIPE_KEY openai_api_key GITHUB_PAT".split():
        assert secrets_in({name: " 12345678\n", "PWD": "/home/you"}) == ["12345678"]
        assert secrets_in({name: "short"}) == []
    for name in ("OLDPWD", "HOME", "PATH", "KEYBOARD", "COMPASS", "TOKENIZERS"):
        assert secrets_in({name: "/home/you"}) == [], name
    journal = Journal(secrets=["abcdefgh", "", "abcdefgh-123"])
    plain = "C:\\desk-bcdefghijklmnopq1234, a risk-free-and-very-long-offer"
    journal.emit("decision", who="a", what=plain, why="abcdefgh-123, abcdefgh")
    [event] = journal.trace()
    assert (event["what"], event["why"]) == (plain, f"{HIDDEN}, {HIDDEN}")


KEY = "hunter2hunter2 and some more words of it"


@pytest.mark.parametrize("where", ["question", "turn", "result", "arguments", "edit"])
@pytest.mark.parametrize("chat", [False, True])
def test_a_run_with_a_secret_goes_on(path, where, chat, monkeypatch):
    """it is replayed and resumed, though its record, and so its length, is another"""
    monkeypatch.setenv("MY_API_KEY", KEY)
    result, thought = (KEY if where == at else "t" for at in ("result", "turn"))
    given = KEY if where == "arguments" else "25"
    turn = f"Thought: {thought}\nAction: Pay\nAction Input: {given}"
    if chat:
        turn = Response(thought, calls=[call("Pay", given, "a")])
    answer = (lambda request: Edit({"input": KEY})) if where == "edit" else yes
    guards = [budget(Budget(tokens=3000)), permission(answer)]

    def machine():
        tools = [note("Pay", lambda input: {"result": result}, effect="write")]
        return noted([turn, "Hm.", FINAL], tools, guards, chat=chat)

    question = f"Is it {KEY}?" if where == "question" else "?"
    assert machine().run(question, path).state == "DONE"
    lines = path.read_bytes().splitlines(keepends=True)
    for k in range(2, len(lines)):
        path.write_bytes(b"".join(lines[:k]))
        assert resume(path, machine()).state == "DONE"
        assert replay(Trace.read(path), playing.silent(machine())).state == "DONE"
        assert "hunter2" not in path.read_text()
