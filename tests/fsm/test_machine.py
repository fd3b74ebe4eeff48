"""The machine: a model and tools behind the table, from question to exit."""

import threading

import pytest

from workbook.fsm import (
    CORE,
    Event,
    FunctionCalls,
    Limits,
    Machine,
    State,
    TextTurns,
    Transition,
    exits,
)
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.tools.calls import Effect, ToolError
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool
from workbook.traces import TraceWriter

ECHO = "Thought: ask\nAction: Echo\nAction Input: {}"
ANSWER = "Thought: done\nFinal Answer: 88"


def call(text, call_id):
    return ToolRequest("Echo", {"text": text}, call_id)


def echo_tools(run=lambda text: {"result": text}, **options):
    text = {"type": "object", "properties": {"text": {"type": "string"}}}
    tool = Tool("Echo", "Says it again.", text, run, timeout_s=None, **options)
    return ToolRegistry([tool])


def play(turns, tools=None, **options):
    """Run a script; return the exit and the trace."""
    writer = options.pop("hook", None) or TraceWriter()
    model = turns if hasattr(turns, "name") else Script(turns)
    machine = Machine(model, tools or echo_tools(), hook=writer, **options)
    return machine.run("What is it?"), writer.trace()


def path(trace):
    """Return the states that a run went through."""
    rows = trace.of("transition")
    return [row["source"] for row in rows] + [rows[-1]["target"]]


def raising(error):
    def run(text):
        raise error

    return run


class Clock:
    """A clock that stands still unless it is told."""

    now = 0.0

    def __call__(self):
        return self.now


# a run that goes well


@pytest.mark.parametrize(
    ("adapter", "turns"),
    [(TextTurns, [ECHO.format(1), ANSWER]), (FunctionCalls, [[call("1", "a")], "88"])],
)
def test_a_run_is_told_from_its_question_to_its_answer(adapter, turns):
    """a step is: request, turn, transition, call, observation, two transitions"""
    end, trace = play(turns, adapter=adapter)
    assert (end.state, end.reason, end.answer) == ("DONE", "final_answer", "88")
    assert (end.spent.steps, end.spent.tool_calls) == (2, 1)
    assert path(trace) == ["THINK", "EXECUTE_TOOL", "OBSERVE", "THINK", "DONE"]
    step = ["model_request", "model_turn", "transition"]
    tool = ["tool_call", "observation", "transition", "transition"]
    kinds = [event["kind"] for event in trace]
    assert kinds == ["run_started", *step, *tool, *step, "run_finished"]


@pytest.mark.parametrize("event", ["out_of_steps", "cancel"])
def test_a_transition_names_the_call_that_it_is_about(event):
    """until the model's turn has come again, and then none is named any more"""

    def hook(kind, **fields):
        writer(kind, **fields)
        if event == "cancel" and fields.get("event") == "observed":
            machine.cancel()

    writer = TraceWriter()
    model = Script([ECHO.format(1)], repeat_last=True)
    machine = Machine(model, echo_tools(), hook=hook, limits=Limits(steps=1))
    assert machine.run("What is it?").reason == event
    rows = writer.trace().of("transition")
    ids = [row.get("call_id") for row in rows]
    assert ids == ["call_1", "call_1", "call_1", None]
    assert all(row["elapsed_s"] >= 0 for row in rows)


def test_the_requests_put_together_are_the_prompt():
    """the trace holds only what is new, and gives the whole prompt back"""
    model = Script([ECHO.format(1), ANSWER])
    _, trace = play(model)
    for event, request in zip(trace.of("model_request"), model.requests, strict=True):
        assert trace.prompt(event["seq"]) == request.prompt


def test_several_calls_are_made_in_order():
    """several calls in one message are made in order, then the model reads"""
    said = []
    tools = echo_tools(lambda text: said.append(text) or {"result": text})
    turns = [[call("a", "1"), call("b", "2"), call("c", "3")], "88"]
    end, trace = play(turns, tools, adapter=FunctionCalls)
    assert said == ["a", "b", "c"]
    assert path(trace)[1:7] == ["EXECUTE_TOOL", "OBSERVE"] * 3
    ids = [row.get("call_id") for row in trace.of("transition")]
    assert ids == ["1", "1", "2", "2", "3", "3", "3", None]
    assert (end.spent.steps, end.spent.tool_calls) == (2, 3)


# what goes wrong and is an observation


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        ("hm", "unreadable_turn"),
        ("Action: Nope\nAction Input: 1", "unknown_tool"),
        ('Action: Echo\nAction Input: {"words": 1}', "invalid_arguments"),
        (ECHO.format(1), "tool_raised"),
    ],
)
def test_what_went_wrong_is_told_to_the_model(turn, kind):
    """no step, no such tool, wrong arguments, a tool that raises: the run goes on"""
    model = Script([turn, ANSWER])
    end, trace = play(model, echo_tools(raising(ZeroDivisionError("by zero"))))
    assert end.state == State.DONE
    (observation,) = trace.of("observation")
    assert (observation["ok"], observation["error"]["kind"]) == (False, kind)
    assert observation["text"] in model.requests[1].prompt


# limits


@pytest.mark.parametrize(
    ("steps", "state", "reason"),
    [(2, "DONE", "final_answer"), (1, "EXHAUSTED", "out_of_steps")],
)
def test_steps_run_out(steps, state, reason):
    """an answer on the last step counts; without one the run says what ran out"""
    model = Script([ECHO.format(1), ANSWER])
    end, trace = play(model, limits=Limits(steps=steps))
    assert (end.state, end.reason, trace.end["state"]) == (state, reason, state)
    assert model.asked == end.spent.steps == steps


def test_tool_calls_run_out_in_the_middle_of_a_message():
    """calls beyond the budget are not made, and each has an observation that says so"""
    said = []
    tools = echo_tools(lambda text: said.append(text) or {"result": text})
    turns = [[call("a", "1"), call("b", "2"), call("c", "3")]]
    options = {"adapter": FunctionCalls, "limits": Limits(tool_calls=1)}
    end, trace = play(turns, tools, **options)
    assert said == ["a"]
    assert (end.state, end.reason) == ("EXHAUSTED", "out_of_tool_calls")
    errors = [o.get("error", {}).get("kind") for o in trace.of("observation")]
    assert errors == [None, "budget", "budget"]
    assert all("not made" in o["text"] for o in trace.of("observation")[1:])


@pytest.mark.parametrize(("cost_s", "state"), [(9.9, "DONE"), (10.0, "EXHAUSTED")])
def test_time_runs_out(cost_s, state):
    """no model call begins once the time is used up"""
    clock = Clock()

    def run(text):
        clock.now += cost_s
        return {"result": text}

    turns, limits = [ECHO.format(1), ANSWER], Limits(wall_s=10)
    end, _ = play(turns, echo_tools(run), clock=clock, limits=limits)
    assert (end.state, end.spent.wall_s) == (state, cost_s)


@pytest.mark.parametrize(
    ("turn", "state"), [(ANSWER, "DONE"), (ECHO.format(1), "EXHAUSTED")]
)
def test_a_turn_that_came_late(turn, state):
    """an answer that is there is not thrown away; a call is not begun any more"""
    clock, ran = Clock(), []

    def late(seen):
        clock.now += 100
        return turn

    tools = echo_tools(lambda text: ran.append(text) or {"result": text})
    end, trace = play([late], tools, clock=clock, limits=Limits(wall_s=10))
    assert (end.state, ran) == (state, [])
    assert end.spent.wall_s == trace.end["spent"]["wall_s"] == 100


# cancel


def test_a_cancel_before_the_run_and_a_run_after_it():
    """a cancel ends one run, also one that has not begun, and not the next"""
    model = Script([ANSWER])
    machine = Machine(model, echo_tools())
    machine.cancel()
    assert machine.run("What is it?").state == State.CANCELLED
    assert model.asked == 0
    assert machine.run("What is it?").state == State.DONE


@pytest.mark.parametrize("number", range(12))
def test_a_cancel_at_any_moment(number):
    """whatever is being told when the user says stop, that run ends and no other"""
    told, ran = [], []

    def hook(kind, **fields):
        told.append(kind)
        if len(told) == number + 1:
            thread = threading.Thread(target=machine.cancel)
            thread.start()
            thread.join()

    tools = echo_tools(lambda text: ran.append(text) or {"result": text})
    machine = Machine(Script([ECHO.format(1), ANSWER]), tools, hook=hook)
    end = machine.run("What is it?")
    over = number >= 10  # told that it is DONE
    assert end.state == (State.DONE if over else State.CANCELLED)
    assert ran == ["1"] * (number > 4)  # its tool_call was told before
    assert told[-1] == "run_finished"
    assert told.count("tool_call") == told.count("observation")
    machine.model = Script([ANSWER])
    assert machine.run("What is it?").state == State.DONE


@pytest.mark.parametrize("where", ["model", "tool"])
def test_ctrl_c_ends_the_run_and_not_the_notebook(where):
    """KeyboardInterrupt gives an exit in CANCELLED and a complete trace"""
    turns = [KeyboardInterrupt()] if where == "model" else [ECHO.format(1)]
    tools = echo_tools(raising(KeyboardInterrupt()), effect=Effect.WRITE)
    end, trace = play(turns, tools)
    assert (end.state, end.reason) == ("CANCELLED", "cancel")
    assert trace.end["state"] == "CANCELLED"
    if where == "tool":
        (observation,) = trace.of("observation")
        assert "may have had its effect" in observation["text"]


@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("again", [False, True])
def test_ctrl_c_while_the_hook_writes(number, again):
    """pressed once or again and again: an exit, and each call has its observation"""
    told = []

    def hook(kind, **fields):
        told.append((kind, fields.get("call_id")))
        if len(told) == number + 1 or (again and len(told) > number):
            raise KeyboardInterrupt

    turns = [[call("a", "1"), call("b", "2")], "88"]
    machine = Machine(Script(turns), echo_tools(), hook=hook, adapter=FunctionCalls)
    assert machine.run("What is it?").state == State.CANCELLED
    calls = [call_id for kind, call_id in told if kind == "tool_call"]
    assert calls == [call_id for kind, call_id in told if kind == "observation"]
    assert told[-1][0] == "run_finished"


# errors of the machine's surroundings


class NastyError(Exception):
    def __str__(self):
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionError("no network"), "ConnectionError: no network"),
        (NastyError(), ""),
    ],
)
def test_a_model_that_raises_is_an_error_with_a_reason(error, words):
    """an exception of the model ends in ERROR, in words also where it has no text"""
    end, trace = play([ECHO.format(1), error])
    assert (end.state, end.reason, end.answer) == ("ERROR", "failed", None)
    assert words in end.message
    assert type(error).__name__ in end.message
    assert trace.end["message"] == end.message
    assert path(trace)[-2:] == ["THINK", "ERROR"]


@pytest.mark.parametrize("for_ever", [False, True])
@pytest.mark.parametrize("number", range(16))
def test_a_hook_that_fails_ends_the_run(number, for_ever):
    """a hook that raises, once or for ever, ends the run in ERROR, told to the end"""
    written, error = [], (OSError, SystemExit, BaseException)[number % 3]

    def hook(kind, **fields):
        written.append((kind, fields))
        if len(written) == number + 1 or (for_ever and len(written) > number):
            raise error(f"disk full at event {len(written) - 1}")

    turns = [[call("a", "1"), call("b", "2")], "88"]
    machine = Machine(Script(turns), echo_tools(), hook=hook, adapter=FunctionCalls)
    end = machine.run("What is it?")
    last = 15  # as many events has the run when nothing fails
    over = number >= last - 1  # told of the end: an end that is reached stays
    assert end.state == (State.DONE if over else State.ERROR)
    assert f"disk full at event {number}" in end.message
    assert written[-1][0] == "run_finished"
    assert len(written) <= last + 3
    calls = [f["call_id"] for kind, f in written if kind == "tool_call"]
    seen = [f["call_id"] for kind, f in written if kind == "observation"]
    assert calls == seen
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("turn", [ECHO.format(1), "Action: Nope\nAction Input: 1"])
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_call_that_cannot_be_written_down_is_not_made(turn, error):
    """the call is told before it is made; where that fails, the model is told so"""
    seen, ran = [], []

    def hook(kind, **fields):
        if kind == "tool_call":
            raise error
        if kind == "observation":
            seen.append(fields["text"])

    tools = echo_tools(lambda text: ran.append(text) or {"result": text})
    Machine(Script([turn]), tools, hook=hook).run("What is it?")
    (text,) = seen
    assert text.endswith("it was not made")
    assert ran == []


def test_the_model_is_never_told_the_same_thing_twice():
    """OBSERVE without a new observation is an error, not the old one once more"""

    def forgetful(run):
        run.waiting.clear()
        return Event.TOOL_RETURNED

    end, _ = play(["hm", ECHO.format(1)], handlers={State.EXECUTE_TOOL: forgetful})
    assert end.state == State.ERROR
    assert "nothing to observe" in end.message


# more states: rows and handlers, no other driver


def test_a_new_state_is_rows_and_a_handler():
    """a POLICY state is four rows and one handler; nothing else changes"""
    rows = (
        Transition(State.THINK, Event.TOOL_REQUESTED, "POLICY", "may it?"),
        Transition(State.OBSERVE, Event.MORE_CALLS, "POLICY", "may it?"),
        Transition("POLICY", "allowed", State.EXECUTE_TOOL, "it may"),
        Transition("POLICY", "denied", State.OBSERVE, "it may not"),
        *exits("POLICY"),
    )

    def policy(run):
        if run.waiting[0].call.arguments["text"] != "secret":
            return "allowed"
        run.refuse(ToolError("denied", "secrets stay here"))
        return "denied"

    said = []
    tools = echo_tools(lambda text: said.append(text) or {"result": text})
    turns = [[call("a", "1"), call("secret", "2"), call("b", "3")], "88"]
    table, handlers = CORE.with_rules(*rows), {"POLICY": policy}
    options = {"table": table, "handlers": handlers, "adapter": FunctionCalls}
    end, trace = play(turns, tools, **options)
    assert (end.state, said) == ("DONE", ["a", "b"])
    errors = [o.get("error", {}).get("kind") for o in trace.of("observation")]
    assert errors == [None, "denied", None]
    allowed, denied = ["POLICY", "EXECUTE_TOOL", "OBSERVE"], ["POLICY", "OBSERVE"]
    assert path(trace) == ["THINK", *allowed, *denied, *allowed, "THINK", "DONE"]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (
            CORE.with_rules(Transition(State.DONE, Event.OBSERVED, State.THINK, "")),
            "DONE is an end",
        ),
        (
            CORE.with_rules(
                Transition(State.THINK, "x", "VERIFY", ""), *exits("VERIFY")
            ),
            "VERIFY has no handler",
        ),
        (
            CORE.with_rules(
                Transition(State.THINK, Event.FAILED, State.OBSERVE, "go on")
            ),
            "THINK needs a row for failed that leads to an end",
        ),
        (CORE.with_rules(start=State.DONE), "it starts in DONE, which is an end"),
    ],
)
def test_a_table_that_cannot_be_run_is_refused(table, words):
    """a table that is not honest, or lacks a handler or an exit, is refused at once"""
    with pytest.raises(ValueError, match=words):
        Machine(Script([]), echo_tools(), table)


@pytest.mark.parametrize("model", [None, "gpt", object(), Script])
def test_what_is_no_model_is_refused_when_the_machine_is_made(model):
    """a machine without a model is an error at once, and not in the run"""
    with pytest.raises(TypeError, match="is no model"):
        Machine(model, ToolRegistry())
