"""The machine: a model and tools behind the table, from question to exit."""

import threading

import pytest

from workbook.fsm import (
    CORE,
    Event,
    FunctionCalls,
    Limits,
    Machine,
    Rule,
    State,
    TextTurns,
    exits,
)
from workbook.models.base import Completion, ToolRequest, Usage
from workbook.models.script import Script
from workbook.record import TraceWriter
from workbook.tools.calls import Effect, ToolError
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool

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


def kinds(trace):
    return [event["kind"] for event in trace]


class Clock:
    """A clock that stands still unless it is told."""

    now = 0.0

    def __call__(self):
        return self.now


# a run that goes well


def test_a_text_run_ends_with_the_answer():
    """action, observation, answer: DONE, with what the model said and what it cost"""
    end, trace = play([ECHO.format(1), ANSWER])
    assert (end.state, end.reason, end.answer) == ("DONE", "final_answer", "88")
    assert (end.spent.steps, end.spent.tool_calls) == (2, 1)
    assert path(trace) == ["THINK", "EXECUTE_TOOL", "OBSERVE", "THINK", "DONE"]


def test_both_adapters_take_the_same_way():
    """text turns and function calls lead through the same states to the same end"""
    text, text_trace = play([ECHO.format(1), ANSWER], adapter=TextTurns)
    chat, chat_trace = play([[call("1", "a")], "88"], adapter=FunctionCalls)
    assert path(text_trace) == path(chat_trace)
    assert kinds(text_trace) == kinds(chat_trace)
    assert (text.state, text.reason, text.answer) == (
        chat.state,
        chat.reason,
        chat.answer,
    )


def test_the_trace_tells_everything_in_order():
    """a step is: request, turn, transition, call, observation, two transitions"""
    _, trace = play([ECHO.format(1), ANSWER])
    step = ["model_request", "model_turn", "transition"]
    tool = ["tool_call", "observation", "transition", "transition"]
    assert kinds(trace) == ["run_started", *step, *tool, *step, "run_finished"]


def test_a_transition_names_the_call_that_it_is_about():
    """transitions around a call carry its tool and call_id; the last one has none"""
    _, trace = play([ECHO.format(1), ANSWER])
    ids = [row.get("call_id") for row in trace.of("transition")]
    assert ids == ["call_1", "call_1", "call_1", None]
    assert all(row["elapsed_s"] >= 0 for row in trace.of("transition"))


@pytest.mark.parametrize("event", ["out_of_steps", "cancel"])
def test_a_call_that_is_over_is_not_named_any_more(event):
    """once the model's turn has come again, no transition carries the call before it"""

    def hook(kind, **fields):
        writer(kind, **fields)
        if event == "cancel" and fields.get("event") == "observed":
            machine.cancel()

    writer = TraceWriter()
    model = Script([ECHO.format(1)], repeat_last=True)
    machine = Machine(model, echo_tools(), hook=hook, limits=Limits(steps=1))
    assert machine.run("What is it?").reason == event
    ids = [row.get("call_id") for row in writer.trace().of("transition")]
    assert ids == ["call_1", "call_1", "call_1", None]


def test_the_requests_put_together_are_the_prompt():
    """the trace holds only what is new, and gives the whole prompt back"""
    model = Script([ECHO.format(1), ANSWER])
    _, trace = play(model)
    for event, request in zip(trace.of("model_request"), model.requests, strict=True):
        assert trace.prompt(event["seq"]) == request.prompt


def test_several_calls_are_made_in_order():
    """several calls in one message are made in order, then the model reads"""
    said = []

    def run(text):
        said.append(text)
        return {"result": text}

    turns = [[call("a", "1"), call("b", "2"), call("c", "3")], "88"]
    end, trace = play(turns, echo_tools(run), adapter=FunctionCalls)
    assert said == ["a", "b", "c"]
    assert path(trace)[1:7] == ["EXECUTE_TOOL", "OBSERVE"] * 3
    ids = [row.get("call_id") for row in trace.of("transition")]
    assert ids == ["1", "1", "2", "2", "3", "3", "3", None]
    assert (end.spent.steps, end.spent.tool_calls) == (2, 3)


def test_usage_is_added_up():
    """tokens are the sum over all calls"""
    turns = [
        Completion(ECHO.format(1), Usage(10, 2, 0)),
        Completion(ANSWER, Usage(20, 3, 8)),
    ]
    end, trace = play(turns)
    assert end.spent.usage == Usage(30, 5, 8)
    assert trace.end["spent"]["usage"] == {"input": 30, "output": 5, "cached": 8}


def test_the_exit_has_the_traces_id():
    """an exit can be found in the traces by its trace_id"""
    end, _ = play([ANSWER], hook=TraceWriter(trace_id="abc"))
    assert end.trace_id == "abc"


def test_no_hook_is_needed():
    """a machine without a hook runs as well, and its exit has an id of its own"""
    end = Machine(Script([ANSWER]), echo_tools()).run("What is it?")
    assert end.state == State.DONE
    assert end.trace_id


# what goes wrong and is an observation


def test_an_unreadable_turn_is_an_observation():
    """the model is told that its turn could not be read, and may try again"""
    model = Script(["hm", ANSWER])
    end, trace = play(model)
    assert end.state == State.DONE
    assert path(trace) == ["THINK", "OBSERVE", "THINK", "DONE"]
    assert "unreadable_turn" in model.requests[1].prompt
    (observation,) = trace.of("observation")
    assert (observation["ok"], observation["call_id"]) == (False, None)


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        ("Action: Nope\nAction Input: 1", "unknown_tool"),
        ('Action: Echo\nAction Input: {"words": 1}', "invalid_arguments"),
    ],
)
def test_a_call_that_cannot_be_made_is_an_observation(turn, kind):
    """an unknown tool or wrong arguments are told to the model, and the run goes on"""
    end, trace = play([turn, ANSWER])
    assert end.state == State.DONE
    (observation,) = trace.of("observation")
    assert observation["error"]["kind"] == kind


def test_a_tool_that_raises_is_an_observation():
    """an exception in a tool does not end the run"""

    def run(text):
        raise ZeroDivisionError("by zero")

    end, trace = play([ECHO.format(1), ANSWER], echo_tools(run))
    assert end.state == State.DONE
    assert "ZeroDivisionError" in trace.of("observation")[0]["text"]


# limits


def test_an_answer_on_the_last_step_counts():
    """a budget that is reached exactly, with an answer, is DONE"""
    end, _ = play([ECHO.format(1), ANSWER], limits=Limits(steps=2))
    assert (end.state, end.answer) == ("DONE", "88")


def test_steps_run_out():
    """with steps=3 the model is asked three times, and the run says what ran out"""
    model = Script([ECHO.format(1)], repeat_last=True)
    end, trace = play(model, limits=Limits(steps=3))
    assert (end.state, end.reason, end.answer) == ("EXHAUSTED", "out_of_steps", None)
    assert model.asked == end.spent.steps == 3
    assert trace.end["state"] == "EXHAUSTED"


def test_tool_calls_run_out_in_the_middle_of_a_message():
    """calls beyond the budget are not made, and each has an observation that says so"""
    said = []

    def run(text):
        said.append(text)
        return {"result": text}

    turns = [[call("a", "1"), call("b", "2"), call("c", "3")]]
    options = {"adapter": FunctionCalls, "limits": Limits(tool_calls=1)}
    end, trace = play(turns, echo_tools(run), **options)
    assert said == ["a"]
    assert (end.state, end.reason) == ("EXHAUSTED", "out_of_tool_calls")
    errors = [o.get("error", {}).get("kind") for o in trace.of("observation")]
    assert errors == [None, "budget", "budget"]
    assert all("not made" in o["text"] for o in trace.of("observation")[1:])


@pytest.mark.parametrize(
    ("cost_s", "state"), [(9.9, "DONE"), (10.0, "EXHAUSTED"), (11.0, "EXHAUSTED")]
)
def test_time_runs_out(cost_s, state):
    """no model call begins once the time is used up"""
    clock = Clock()

    def run(text):
        clock.now += cost_s
        return {"result": text}

    end, _ = play(
        [ECHO.format(1), ANSWER],
        echo_tools(run),
        clock=clock,
        limits=Limits(wall_s=10),
    )
    assert (end.state, end.spent.wall_s) == (state, cost_s)


def test_an_answer_that_came_late_is_kept():
    """a limit is asked before something is spent, so that an answer is not lost"""
    clock = Clock()

    class Slow:
        name = "slow"

        def complete(self, prompt, *, stop=()):
            clock.now += 100
            return Completion(ANSWER)

    end, trace = play(Slow(), clock=clock, limits=Limits(wall_s=10))
    assert (end.state, end.answer) == ("DONE", "88")
    assert end.spent.wall_s == trace.end["spent"]["wall_s"] == 100


def test_a_tool_call_that_comes_too_late_is_not_made():
    """no tool call begins once the time is used up: EXHAUSTED, and nothing was done"""
    clock, ran = Clock(), []

    def late(seen):
        clock.now += 10
        return ECHO.format(1)

    tools = echo_tools(lambda text: ran.append(text) or {"result": text})
    end, trace = play([late], tools, clock=clock, limits=Limits(wall_s=10))
    assert (end.state, end.reason, ran) == ("EXHAUSTED", "out_of_time", [])
    assert path(trace) == ["THINK", "EXECUTE_TOOL", "EXHAUSTED"]


# cancel


def test_a_cancel_from_another_thread():
    """cancel from another thread takes effect at the next transition"""

    def run(text):
        thread = threading.Thread(target=machine.cancel)
        thread.start()
        thread.join()
        return {"result": text}

    writer = TraceWriter()
    model = Script([ECHO.format(1)], repeat_last=True)
    machine = Machine(model, echo_tools(run), hook=writer)
    end = machine.run("What is it?")
    assert (end.state, end.reason) == ("CANCELLED", "cancel")
    assert path(writer.trace()) == ["THINK", "EXECUTE_TOOL", "CANCELLED"]
    assert writer.trace().of("observation")[0]["ok"]


def test_a_cancel_between_two_calls():
    """calls that were not made when the user said stop have an observation each"""

    def run(text):
        machine.cancel()
        return {"result": text}

    writer = TraceWriter()
    model = Script([[call("a", "1"), call("b", "2"), call("c", "3")]])
    machine = Machine(model, echo_tools(run), hook=writer, adapter=FunctionCalls)
    assert machine.run("What is it?").state == State.CANCELLED
    seen = writer.trace().of("observation")
    assert [o["call_id"] for o in seen] == ["1", "2", "3"]
    errors = [o.get("error", {}).get("kind") for o in seen]
    assert errors == [None, "cancelled", "cancelled"]


def test_a_cancel_while_the_model_writes_its_answer():
    """who says stop means it: an answer that comes in the same moment is not taken"""

    class Stopped:
        name = "stopped"

        def complete(self, prompt, *, stop=()):
            machine.cancel()
            return Completion(ANSWER)

    machine = Machine(Stopped(), echo_tools())
    end = machine.run("What is it?")
    assert (end.state, end.answer) == ("CANCELLED", None)


def test_a_cancel_before_the_run_and_a_run_after_it():
    """a cancel ends one run, also one that has not begun, and not the next"""
    model = Script([ANSWER])
    machine = Machine(model, echo_tools())
    machine.cancel()
    assert machine.run("What is it?").state == State.CANCELLED
    assert model.asked == 0
    assert machine.run("What is it?").state == State.DONE


def test_a_cancel_from_the_hook_comes_before_the_tool_runs():
    """a cancel while a transition is told keeps the next handler from working"""
    ran = []

    def hook(kind, **fields):
        if fields.get("target") == "EXECUTE_TOOL":
            machine.cancel()

    tools = echo_tools(lambda text: ran.append(text) or {"result": text})
    machine = Machine(Script([ECHO.format(1)]), tools, hook=hook)
    assert machine.run("What is it?").state == State.CANCELLED
    assert ran == []


@pytest.mark.parametrize("number", range(12))
def test_a_cancel_at_any_moment(number):
    """whatever is being told when the user says stop, that run ends and no other"""
    told = []

    def hook(kind, **fields):
        told.append(kind)
        if len(told) == number + 1:
            thread = threading.Thread(target=machine.cancel)
            thread.start()
            thread.join()

    machine = Machine(Script([ECHO.format(1), ANSWER]), echo_tools(), hook=hook)
    end = machine.run("What is it?")
    over = number >= 10  # told that it is DONE
    assert end.state == (State.DONE if over else State.CANCELLED)
    assert told[-1] == "run_finished"
    assert told.count("tool_call") == told.count("observation")
    machine.model = Script([ANSWER])
    assert machine.run("What is it?").state == State.DONE


@pytest.mark.parametrize("where", ["model", "tool"])
def test_ctrl_c_ends_the_run_and_not_the_notebook(where):
    """KeyboardInterrupt gives an exit in CANCELLED and a complete trace"""

    def run(text):
        raise KeyboardInterrupt

    turns = [KeyboardInterrupt()] if where == "model" else [ECHO.format(1)]
    end, trace = play(turns, echo_tools(run, effect=Effect.WRITE))
    assert (end.state, end.reason) == ("CANCELLED", "cancel")
    assert trace.end["state"] == "CANCELLED"
    if where == "tool":
        (observation,) = trace.of("observation")
        assert "may have had its effect" in observation["text"]


def test_ctrl_c_while_the_hook_writes():
    """KeyboardInterrupt in the hook is a cancel as well, whatever was being written"""
    for number in range(10):
        told = []

        def hook(kind, told=told, number=number, **fields):
            told.append(kind)
            if len(told) == number + 1:
                raise KeyboardInterrupt

        machine = Machine(Script([ECHO.format(1), "hm"]), echo_tools(), hook=hook)
        assert machine.run("What is it?").state == State.CANCELLED
        assert told[-1] == "run_finished"


@pytest.mark.parametrize("number", range(10))
def test_ctrl_c_again_and_again(number):
    """an impatient user gets an exit, and each call has its one observation"""
    told = []

    def hook(kind, **fields):
        told.append((kind, fields.get("call_id")))
        if len(told) > number:
            raise KeyboardInterrupt

    turns = [[call("a", "1"), call("b", "2")], "88"]
    machine = Machine(Script(turns), echo_tools(), hook=hook, adapter=FunctionCalls)
    assert machine.run("What is it?").state == State.CANCELLED
    calls = [call_id for kind, call_id in told if kind == "tool_call"]
    assert calls == [call_id for kind, call_id in told if kind == "observation"]
    assert told[-1][0] == "run_finished"


# errors of the machine's surroundings


def test_a_model_that_raises_is_an_error_with_a_reason():
    """an exception of the model ends in ERROR, with what was raised in words"""
    end, trace = play([ECHO.format(1), ConnectionError("no network")])
    assert (end.state, end.reason, end.answer) == ("ERROR", "failed", None)
    assert "ConnectionError: no network" in end.message
    assert trace.end["message"] == end.message
    assert path(trace)[-2:] == ["THINK", "ERROR"]


def test_an_exception_that_cannot_be_printed():
    """even an exception whose text raises becomes a reason"""

    class BrokenError(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    end, _ = play([BrokenError()])
    assert end.state == State.ERROR
    assert "BrokenError" in end.message


def test_a_registry_that_raises_leaves_no_call_without_an_observation():
    """when the registry itself fails, the call that was begun has its observation"""

    class BadRegistry(ToolRegistry):
        def run(self, call):
            raise OSError("no threads left")

    end, trace = play([ECHO.format(1)], BadRegistry(echo_tools()))
    assert (end.state, "no threads left" in end.message) == ("ERROR", True)
    (observation,) = trace.of("observation")
    assert observation["error"]["kind"] == "run_ended"


TWO_CALLS = [[call("a", "1"), call("b", "2")], "88"]


@pytest.mark.parametrize(
    ("number", "for_ever", "error"),
    [
        (0, False, OSError),  # run_started
        (1, True, OSError),
        (3, False, SystemExit),  # a transition
        (4, False, OSError),  # tool_call
        (5, True, BaseException),  # observation
        (8, True, OSError),  # the second tool_call
        (14, False, OSError),  # the transition to DONE
        (15, True, SystemExit),  # run_finished
    ],
)
def test_a_hook_that_fails_ends_the_run(number, for_ever, error):
    """a hook that raises, once or for ever, ends the run in ERROR, told to the end"""
    written = []

    def hook(kind, **fields):
        written.append((kind, fields))
        if len(written) == number + 1 or (for_ever and len(written) > number):
            raise error(f"disk full at event {len(written) - 1}")

    machine = Machine(Script(TWO_CALLS), echo_tools(), hook=hook, adapter=FunctionCalls)
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


def test_a_hook_that_fails_after_the_end_is_told_of():
    """an end that is reached stays, and its message says what could not be written"""

    def hook(kind, **fields):
        if kind == "tool_call":
            machine.cancel()
        if "error" in fields:
            raise OSError("disk full")

    turns = [[call("a", "1"), call("b", "2")]]
    machine = Machine(Script(turns), echo_tools(), hook=hook, adapter=FunctionCalls)
    end = machine.run("What is it?")
    assert (end.state, end.message) == (State.CANCELLED, "OSError: disk full")


def test_a_call_that_cannot_be_written_down_is_not_made():
    """the call is told before it is made: when that fails, nothing has happened"""
    ran = []

    def hook(kind, **fields):
        if kind == "tool_call":
            raise OSError("disk full")

    tools = echo_tools(lambda text: ran.append(text) or {"result": text})
    end = Machine(Script([ECHO.format(1)]), tools, hook=hook).run("What is it?")
    assert end.state == State.ERROR
    assert ran == []


@pytest.mark.parametrize("turn", [ECHO.format(1), "Action: Nope\nAction Input: 1"])
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_call_that_was_not_made_is_said_not_to_have_been(turn, error):
    """a call whose line could not be written had no effect, and nobody doubts it"""
    seen = []

    def hook(kind, **fields):
        if kind == "tool_call":
            raise error
        if kind == "observation":
            seen.append(fields["text"])

    Machine(Script([turn]), echo_tools(), hook=hook).run("What is it?")
    (text,) = seen
    assert text.endswith("it was not made")


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
        Rule(State.THINK, Event.TOOL_REQUESTED, "POLICY", "may it?"),
        Rule(State.OBSERVE, Event.MORE_CALLS, "POLICY", "may it?"),
        Rule("POLICY", "allowed", State.EXECUTE_TOOL, "it may"),
        Rule("POLICY", "denied", State.OBSERVE, "it may not"),
        *exits("POLICY"),
    )

    def policy(run):
        if run.waiting[0].call.arguments["text"] != "secret":
            return "allowed"
        run.refuse(ToolError("denied", "secrets stay here"))
        return "denied"

    said = []
    tools = echo_tools(lambda text: said.append(text) or {"result": text})
    end, trace = play(
        [[call("a", "1"), call("secret", "2"), call("b", "3")], "88"],
        tools,
        table=CORE.with_rules(*rows),
        handlers={"POLICY": policy},
        adapter=FunctionCalls,
    )
    assert (end.state, said) == ("DONE", ["a", "b"])
    errors = [o.get("error", {}).get("kind") for o in trace.of("observation")]
    assert errors == [None, "denied", None]
    allowed, denied = ["POLICY", "EXECUTE_TOOL", "OBSERVE"], ["POLICY", "OBSERVE"]
    assert path(trace) == ["THINK", *allowed, *denied, *allowed, "THINK", "DONE"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([Rule(State.DONE, Event.OBSERVED, State.THINK, "")], "DONE is an end"),
        (
            [Rule(State.THINK, "drafted", "VERIFY", ""), *exits("VERIFY")],
            "VERIFY has no handler",
        ),
        (
            [Rule(State.THINK, Event.FAILED, State.OBSERVE, "go on")],
            "THINK needs a row for failed that leads to an end",
        ),
    ],
)
def test_a_table_that_cannot_be_run_is_refused(rows, words):
    """a table that is not honest, or lacks a handler or an exit, is refused at once"""
    with pytest.raises(ValueError, match=words):
        Machine(Script([]), echo_tools(), CORE.with_rules(*rows))


@pytest.mark.parametrize("model", [None, "gpt", object(), Script])
def test_what_is_no_model_is_refused_when_the_machine_is_made(model):
    """a machine without a model is an error at once, and not in the run"""
    with pytest.raises(TypeError, match="is no model"):
        Machine(model() if model is object else model, ToolRegistry())


def test_a_table_that_starts_in_an_end_is_refused():
    """a run that would be over before it began is a mistake"""
    with pytest.raises(ValueError, match="it starts in DONE, which is an end"):
        Machine(Script([]), echo_tools(), CORE.with_rules(start=State.DONE))
