"""Four files from one stream: what each holds, and that nothing in it breaks them."""

import json
import os
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from workbook.fsm.machine import Machine
from workbook.guardrails.machine import guarded
from workbook.guardrails.permission import yes
from workbook.models.script import Script
from workbook.stage.engines import play
from workbook.tools.calculator import calculator
from workbook.tools.calls import Effect, ToolFailure
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool
from workbook.traces.events import TraceError
from workbook.traces.trace import Trace
from workbook.traces.views import VIEWS, as_episode, line_of, logged, totals, write_logs
from workbook.traces.writer import TraceWriter

WRITE = Effect.WRITE
RUNS = [
    ("price_question", "naive"),
    ("price_question", "langchain"),
    ("tool_raises", "fsm"),
    ("two_actions", "fsm_calls"),
    ("payment_after_a_timeout", "guarded"),
    ("made_up_observation", "reading"),
]


def contents(folder):
    """Return what the three views hold, by name."""
    return {name: (folder / name).read_text(encoding="utf-8") for name in VIEWS}


def lines_of(path):
    """Return the lines of a file of JSON lines, read."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def told(hook, *events):
    """Tell a hook of events, each (kind, fields)."""
    for kind, fields in events:
        hook(kind, **fields)


STARTED = ("run_started", {"engine": "fsm", "question": "2+2?"})
ASKED = ("model_request", {"prompt": "Question: 2+2?\n"})
CALLED = ("tool_call", {"call_id": "1", "tool": "Sum", "arguments": {"a": "2+2"}})
SEEN = ("observation", {"call_id": "1", "tool": "Sum", "ok": True, "text": "4"})
ENDED = ("run_finished", {"state": "DONE", "reason": "final_answer", "answer": "4"})

MOVED = (
    "transition",
    {"source": "OBSERVE", "event": "observed", "target": "THINK", "why": "its turn",
     "elapsed_s": 0.0},
)  # fmt: skip


def failing():
    """Return a tool that is late twice, in its own words."""

    def run(input: str) -> dict[str, str]:
        raise ToolFailure("late", f"no answer about {input}", retryable=True)

    schema = {"properties": {"input": {"type": "string"}}, "required": ["input"]}
    return Tool("Slow", "It is slow.", schema, run)


def turn(tool, text):
    """Return a text turn that calls a tool."""
    return f"Thought: I try.\nAction: {tool}\nAction Input: {text}"


def test_a_run_writes_all_four_files_at_once(tmp_path):
    """a machine with this hook leaves trace.jsonl, run.log, chat.md and chat.jsonl"""
    turns = [turn("Slow", "x"), turn("Slow", "x"), turn("Nope", "y"), "Final Answer: 4"]
    with logged(tmp_path) as hook:
        machine = Machine(Script(turns), ToolRegistry([failing()]), hook=hook)
        machine.run("2+2?")
    assert sorted(os.listdir(tmp_path)) == sorted([*VIEWS, "trace.jsonl"])
    *events, blank, state, reason, spent, forced, errors = (
        (tmp_path / "run.log").read_text("utf-8").splitlines()
    )
    assert len(events) == len(Trace.read(tmp_path / "trace.jsonl"))
    assert (blank, state.split()) == ("", ["state", "DONE"])
    assert "final_answer" in reason
    assert all(words in spent for words in ("steps 4", "tool calls 3", "tokens "))
    assert forced.split() == ["forced", "no"]
    assert errors == "errors  late 2, unknown_tool 1"


@pytest.mark.parametrize(("slug", "engine"), RUNS)
def test_the_views_can_be_made_again_from_the_trace(slug, engine, tmp_path):
    """what was written as the run went on is what its trace gives, letter for letter"""
    trace = play(slug, engine)
    with logged(tmp_path / "live", clock=lambda: 0.0, secrets=()) as hook:
        hook.step = 0
        for event in trace:
            own = ("trace_id", "seq", "step", "at_s", "kind", "started_unix_s")
            hook(event["kind"], **{n: v for n, v in event.items() if n not in own})
    again = write_logs(Trace.read(tmp_path / "live" / "trace.jsonl"), tmp_path / "new")
    assert contents(again) == contents(tmp_path / "live")


def test_an_engine_may_tell_of_objects_of_its_own(tmp_path):
    """what is no JSON is in the views as the trace has it"""
    with logged(tmp_path) as hook:
        hook(CALLED[0], **CALLED[1] | {"arguments": {"a": {1}, "b": (2, 3j)}})
    live = contents(tmp_path)
    assert '"arguments":{"a":[1],"b":[2,"3j"]}' in live["chat.jsonl"]
    assert contents(write_logs(Trace.read(tmp_path / "trace.jsonl"), tmp_path)) == live


def test_a_run_that_waited_has_its_end_in_the_logs(tmp_path):
    """views say PENDING while a person is waited for; after the resume they say all"""
    turns = [turn("Pay", "5"), "Final Answer: paid"]

    def machine(turns, **options):
        schema = {"properties": {"input": {"type": "string"}}, "required": ["input"]}
        pay = Tool("Pay", "It pays.", schema, lambda input: {"result": input}, WRITE)
        return guarded(Script(turns), [pay], **options)

    with logged(tmp_path) as hook:
        assert machine(turns, hook=hook).run("Pay 5").state == "PENDING"
    assert "state   PENDING" in (tmp_path / "run.log").read_text()
    machine(turns[1:], ask=yes).resume(tmp_path / "trace.jsonl")
    write_logs(Trace.read(tmp_path / "trace.jsonl"), tmp_path)
    assert "state   DONE" in (tmp_path / "run.log").read_text()
    assert "forced  no" in (tmp_path / "run.log").read_text()
    kinds = [row["type"] for row in lines_of(tmp_path / "chat.jsonl")]
    assert kinds.count("decision") == 2
    assert kinds[-1] == "final"


@pytest.mark.parametrize(("slug", "engine"), RUNS)
def test_chat_jsonl_has_a_message_a_line(slug, engine, tmp_path):
    """each line says step, role, type and content; calls and observations whose"""
    trace = play(slug, engine)
    rows = lines_of(write_logs(trace, tmp_path) / "chat.jsonl")
    assert (rows[0]["role"], rows[0]["type"]) == ("user", "question")
    for row in rows:
        assert row["role"] in ("user", "assistant", "tool", "runtime")
        assert isinstance(row["step"], int)
        assert isinstance(row["content"], str)
        if row["type"] in ("action", "observation"):
            assert {"tool", "call_id"} <= set(row)
    seen = [row for row in rows if row["type"] == "observation"]
    assert [row["ok"] for row in seen] == [e["ok"] for e in trace.of("observation")]
    made = [row["arguments"] for row in rows if row["type"] == "action"]
    assert made == [event["arguments"] for event in trace.of("tool_call")]


def test_what_a_person_decided_is_in_the_chat(tmp_path):
    """a decision of a guard or a person is a message, with who and why"""
    with logged(tmp_path) as hook:
        said = {"who": "Ada", "what": "reject", "why": "too much", "tool": "Pay"}
        hook("decision", **said, answer={"kind": "reject"})
    (row,) = lines_of(tmp_path / "chat.jsonl")
    assert row["type"] == "decision"
    assert all(word in row["content"] for word in ("Ada", "Pay", "too much"))


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ({"state": "DONE", "reason": "final_answer", "answer": "4"}, "4"),
        ({"state": "DONE", "reason": "final_answer", "answer": ""}, ""),
        (
            {"state": "EXHAUSTED", "reason": "out_of_steps", "answer": None},
            "EXHAUSTED: no answer",
        ),
        (
            {"state": "ERROR", "reason": "x", "answer": None, "message": "gone"},
            "ERROR: gone",
        ),
    ],
)
def test_how_a_run_ended_is_its_last_message(last, words, tmp_path):
    """the answer where there is one, and otherwise the state and why"""
    writer = TraceWriter()
    told(writer, STARTED, ("run_finished", last))
    final = as_episode(writer.trace())[-1]
    assert (final["type"], final["content"]) == ("final", words)
    assert (final["state"], final["reason"]) == (last["state"], last["reason"])


TEXT = st.text(
    st.sampled_from("`~#<>&*_[]()!|\\-=+ \n\r\t\x0b\x1b\u2028\u202e1.:/ab語")
)
PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")


@settings(max_examples=200, deadline=None)
@given(TEXT, TEXT)
@example("```\n# mine\n````", "<script>`x`")
@example("~~~\n</div>", "a`\n# b")
def test_nothing_breaks_the_markdown(tmp_path_factory, text, tool):
    """fences, HTML and headings of a model or a tool stay what they are: text"""
    folder = tmp_path_factory.mktemp("chat")
    about = {"call_id": "1", "tool": tool}
    with logged(folder, secrets=()) as hook:
        told(
            hook,
            ("run_started", {"engine": "fsm", "question": text}),
            ("model_turn", {"text": text, "turn": None, "usage": None}),
            ("tool_call", {**about, "arguments": {text: text}}),
            ("observation", {**about, "ok": False, "text": text}),
        )
    tokens = PARSER.parse((folder / "chat.md").read_text("utf-8"))
    blocks = [t.type for t in tokens if t.level == 0 and not t.type.endswith("_close")]
    number = 4 if text else 3  # a turn without words is no message
    assert blocks == ["heading_open", "fence"] * number
    said = [token.content for token in tokens if token.type == "fence"]
    shown = re.sub("[\x1b\u202e]", "\N{REPLACEMENT CHARACTER}", text)
    assert said[0] == ("\n".join(shown.splitlines()) or "(empty)") + "\n"
    titles = [token.content for token in tokens if token.type == "inline"]
    assert all(re.fullmatch(r"[\w .:,`?()-]+", title) for title in titles)


def test_a_huge_observation_is_cut_for_people_alone(tmp_path):
    """chat.md and run.log show its beginning, chat.jsonl has all of it"""
    about = {"call_id": "1", "tool": "Read", "ok": True}
    with logged(tmp_path) as hook:
        hook("observation", **about, text="many words " * 50_000)
    assert (tmp_path / "chat.md").stat().st_size < 3_000
    assert "548,000 more" in (tmp_path / "chat.md").read_text()
    line = (tmp_path / "run.log").read_text().splitlines()[0]
    assert len(line) <= 200
    (row,) = lines_of(tmp_path / "chat.jsonl")
    assert len(row["content"]) == 550_000


@pytest.mark.parametrize(
    "text", ["half a pair \ud83d", "\x00\x1b[2J\x07", "a\r\nb\x85c"]
)
def test_what_a_terminal_would_obey_is_shown(text, tmp_path, capsys):
    """no escape sequence of a tool reaches a terminal, from no file and no print"""
    about = {"call_id": "1", "tool": text, "ok": True}
    with logged(tmp_path, debug=True) as hook:
        hook("observation", **about, text=text, result={"result": text})
    shown = "".join(contents(tmp_path).values()) + capsys.readouterr().out
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)
    assert len((tmp_path / "run.log").read_text().splitlines()) == 1 + 1 + 5
    assert lines_of(tmp_path / "chat.jsonl")[0]["content"] == text


def test_debug_prints_each_observation_as_it_comes(tmp_path, capsys):
    """with debug an observation is on the screen before the next event, else never"""
    with logged(tmp_path / "silent") as hook:
        told(hook, STARTED, ASKED, CALLED, SEEN, ENDED)
    with logged(tmp_path, debug=True) as hook:
        told(hook, STARTED, ASKED, CALLED)
        assert capsys.readouterr().out == ""
        told(hook, SEEN)
        assert capsys.readouterr().out == "[step 1] 4\n"
        told(hook, ENDED)
    assert capsys.readouterr().out == ""


def test_a_run_that_raises_says_so_in_all_files(tmp_path):
    """an exception in the block is the end of the run, in each of the four files"""
    with pytest.raises(ConnectionError), logged(tmp_path):
        raise ConnectionError("the line is dead")
    for name in ("trace.jsonl", *VIEWS):
        assert "the line is dead" in (tmp_path / name).read_text("utf-8")


def test_the_folder_of_a_run_is_its_own(tmp_path):
    """a second run in the folder of one that goes on is refused; each line is there"""
    with logged(tmp_path) as hook:
        told(hook, STARTED, ASKED)
        before = contents(tmp_path)
        assert [len(text.splitlines()) for text in before.values()] == [2, 6, 1]
        with pytest.raises(TraceError, match="another TraceWriter"), logged(tmp_path):
            pass
        assert contents(tmp_path) == before
    TraceWriter(tmp_path / "trace.jsonl", keep=True).close()


def test_a_folder_that_takes_no_logs_stays_free(tmp_path):
    """where a view cannot be written, the run does not begin, and nothing is locked"""
    (tmp_path / "chat.md").mkdir()
    with pytest.raises(OSError, match=r"chat\.md") as raised, logged(tmp_path):
        pass
    TraceWriter(tmp_path / "trace.jsonl").close()
    assert raised.value.filename == str(tmp_path / "chat.md")


def test_what_is_lost_of_a_trace_is_said(tmp_path):
    """logs made of a damaged file end with what could not be read"""
    path = tmp_path / "trace.jsonl"
    with TraceWriter(path) as emit:
        told(emit, STARTED, ASKED, CALLED)
    path.write_bytes(path.read_bytes()[:-10])
    log = (write_logs(Trace.read(path), tmp_path) / "run.log").read_text("utf-8")
    assert "line 3: cut short" in log
    assert "no end" in log


@pytest.mark.parametrize("engine", ["fsm", "naive", "langchain"])
def test_an_episode_is_what_reports_print(engine):
    """thought, action, observation, again and again, and the final answer"""
    steps = ["thought", "action", "observation"] * 4
    episode = as_episode(play("price_question", engine))
    assert [each["type"] for each in episode] == [*steps, "thought", "final"]
    assert (episode[0]["content"], episode[-1]["content"]) == (
        "First I need 20% of 100.",
        "88",
    )
    assert "100*0.2" in episode[1]["content"]


def test_an_unreadable_turn_is_in_the_episode():
    """a turn in which no step was found stands there whole, and is marked"""
    writer = TraceWriter()
    turns = Script(["I wonder.", "Thought: so\nFinal Answer: 4"])
    Machine(turns, ToolRegistry([calculator()]), hook=writer).run("?")
    unread, notice, *_ = as_episode(writer.trace())
    assert (unread["content"], unread["unread"]) == ("I wonder.", True)
    assert (notice["type"], notice["ok"], notice["call_id"]) == (
        "observation",
        False,
        None,
    )


def test_what_happened_inside_a_tool_is_not_the_agents_episode(tmp_path):
    """llm-math's own turns are in the chat, marked, and not in the episode"""
    trace = play("price_question", "langchain")
    rows = lines_of(write_logs(trace, tmp_path) / "chat.jsonl")
    inside = [row for row in rows if "parent" in row]
    assert [row["type"] for row in inside] == ["thought"] * 4
    assert not any("parent" in each for each in as_episode(trace))


def test_what_was_dropped_is_in_the_chat_alone(tmp_path):
    """a question that the model made up is shown to people as dropped"""
    writer = TraceWriter()
    made_up = "Thought: a\nFinal Answer: 4\nQuestion: and 5?"
    Machine(Script([made_up]), ToolRegistry([calculator()]), hook=writer).run("?")
    rows = lines_of(write_logs(writer.trace(), tmp_path) / "chat.jsonl")
    dropped = [row["content"] for row in rows if row["type"] == "dropped"]
    assert dropped == ["Question: and 5?"]
    assert "and 5?" not in str(as_episode(writer.trace()))


@pytest.mark.parametrize(
    ("events", "state", "reason"),
    [
        ([], "no end", "after no event"),
        ([STARTED, ASKED], "no end", "after model_request"),
        ([STARTED, MOVED], "no end", "after observed"),
        ([STARTED, ENDED], "DONE", "final_answer"),
    ],
)
def test_how_a_run_stands(events, state, reason):
    """a run that was cut short is not taken for one that has ended"""
    writer = TraceWriter()
    told(writer, *events)
    found = totals(writer.trace())
    assert (found["state"], found["reason"]) == (state, reason)
    assert (found["tokens"], found["errors"]) == (None, {})


@pytest.mark.parametrize("engine", ["naive", "langchain"])
def test_what_was_spent_is_counted_on_each_engine(engine):
    """steps and calls are the agent's own, tokens are those of all models"""
    trace = play("price_question", engine)
    found = totals(trace)
    assert (found["steps"], found["tool_calls"]) == (5, 4)
    used = [event["usage"] for event in trace.of("model_turn")]
    assert found["tokens"] == sum(each["input"] + each["output"] for each in used)
    assert found["seconds"] == trace.events[-1]["at_s"] - trace.events[0]["at_s"]


def test_a_model_that_tells_half_of_its_tokens_is_counted_so_far():
    """tokens that are not told are not added, and break nothing"""
    writer = TraceWriter()
    for usage in ({"input": 5, "output": None}, {}, None, {"output": 2}):
        writer("model_turn", text="", turn=None, usage=usage)
    told(writer, CALLED, (CALLED[0], {**CALLED[1], "parent": 4}))
    assert totals(writer.trace())["tokens"] == 7
    assert totals(writer.trace())["tool_calls"] == 1


@pytest.mark.parametrize(("slug", "engine"), RUNS)
def test_each_event_is_one_line(slug, engine):
    """whatever an event holds, run.log says it on one line of at most 200 characters"""
    for event in play(slug, engine):
        line = line_of(event)
        assert len(line.splitlines()) == 1
        assert len(line) <= 200
