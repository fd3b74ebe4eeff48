"""Economy: the same READ once, and a strong model only where it is needed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.fsm.conversations import FunctionCalls, TextTurns
from workbook.fsm.machine import Machine
from workbook.guardrails.economy import FROM_CACHE, Cached, Escalate
from workbook.models.base import Completion, ToolRequest, Usage
from workbook.models.script import Script
from workbook.tools.calculator import calculator
from workbook.tools.calls import Effect, ToolCall, ToolFailure
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool

NUMBER = {"properties": {"n": {"type": ["integer", "boolean", "number"]}}}


class Shelf:
    """A registry whose tools write down the calls that reach them."""

    def __init__(self):
        self.reached = []

        def tool(name, **about):
            def run(n=0):
                self.reached.append((name, n))
                if n == 13:
                    raise ToolFailure("unlucky", "13 is not there.", retryable=True)
                return {"result": f"{name} {n}"}

            return Tool(name, "Does it.", NUMBER, run, timeout_s=None, **about)

        self.tools = ToolRegistry([
            tool("Read", repeatable=True),
            tool("Look", repeatable=True),
            tool("Clock"),
            tool("Write", effect=Effect.WRITE, repeatable=True),
        ])  # fmt: skip
        self.cached = Cached(self.tools.run, self.tools)

    def call(self, name, n=0, call_id="c", notes=()):
        return self.cached(ToolCall(name, {"n": n}, call_id, notes))


@pytest.fixture
def shelf():
    return Shelf()


def test_the_same_read_is_made_once(shelf):
    """The second time the result comes from the cache, and a note says so."""
    first = shelf.call("Read", 1, "c1")
    second = shelf.call("Read", 1, "c2")
    assert shelf.reached == [("Read", 1)]
    assert (first.result, first.notes) == (second.result, ())
    assert (second.call_id, second.notes) == ("c2", (FROM_CACHE,))
    assert "cache" in second.text()


def test_the_notes_are_those_of_the_call(shelf):
    """What was repaired in the first call is no note of the second one."""
    shelf.call("Read", 1, "c1", ("number is called n",))
    assert shelf.call("Read", 1, "c2", ("x",)).notes == ("x", FROM_CACHE)


def test_another_call_is_made(shelf):
    """Another tool, and other arguments, 1, 1.0 and true among them, are made."""
    calls = [("Read", 1), ("Read", 1.0), ("Read", True), ("Look", 1)]
    for name, n in calls:
        shelf.call(name, n)
    assert [(name, repr(n)) for name, n in shelf.reached] == [
        (name, repr(n)) for name, n in calls
    ]


def test_only_a_repeatable_tool_is_remembered(shelf):
    """A tool that does not say so, such as a clock, is asked each time."""
    shelf.call("Clock")
    assert shelf.call("Clock").notes == ()
    assert len(shelf.reached) == 2


def test_a_failure_is_not_kept(shelf):
    """What failed is tried again."""
    assert not shelf.call("Read", 13).ok
    assert shelf.call("Read", 13).notes == ()
    assert len(shelf.reached) == 2


@pytest.mark.parametrize("n", [1, 13], ids=["that worked", "that failed"])
def test_a_write_ends_it(shelf, n):
    """After a WRITE, a failed one too, every READ is made; a WRITE is made always."""
    shelf.call("Read")
    for _ in range(2):
        shelf.call("Write", n)
        assert shelf.call("Read").notes == ()
        assert shelf.call("Read").notes == ()
    assert [name for name, _ in shelf.reached].count("Write") == 2


def test_a_write_that_never_comes_back_ends_it_too():
    """A WRITE that is given up in flight may have its effect: nothing is remembered."""
    shelf = Shelf()

    def make(call):
        if call.name == "Write":
            raise KeyboardInterrupt
        return shelf.tools.run(call)

    shelf.cached.make = make
    shelf.call("Read")
    with pytest.raises(KeyboardInterrupt):
        shelf.call("Write")
    assert shelf.call("Read").notes == ()


@given(
    st.lists(st.tuples(st.sampled_from(["Read", "Clock", "Write"]), st.integers(0, 2)))
)
@settings(max_examples=100, deadline=None)
def test_a_cached_result_is_what_the_tool_would_have_said(calls):
    """Whatever is called, what comes back is a true answer to this very call."""
    shelf = Shelf()
    for number, (name, n) in enumerate(calls):
        seen = shelf.call(name, n, f"c{number}")
        assert (seen.call_id, seen.result) == (f"c{number}", {"result": f"{name} {n}"})


# Escalate

ACT = "Thought: I calculate.\nAction: Calculator\nAction Input: 2*3"
FINAL = "Thought: I know.\nFinal Answer: 6"
BABBLE = "Well, let me see."
CALLS = ToolRequest("Calculator", {"expression": "2*3"})


def script(name, *turns, **options):
    model = Script(turns, **options)
    model.name = name
    return model


def chat_only(name, *turns):
    """Return a model that has `chat`, and no `complete`."""

    class Chat:
        def __init__(self):
            self.name, self.chat = name, Script(turns).chat

    return Chat()


def played(models, adapter=None, **options):
    model = Escalate(models, **options)
    tools = ToolRegistry([calculator()])
    return model, Machine(model, tools, adapter=adapter).run("What is 2*3?")


@pytest.mark.parametrize("adapter", [TextTurns, FunctionCalls])
def test_the_strong_model_goes_on_after_unreadable_turns(adapter):
    """After two unreadable turns in a row the next model is asked, and it is told."""
    babble = BABBLE if adapter is TextTurns else ACT  # a step in words is no call
    small, strong = script("small", babble, babble, FINAL), script("strong", FINAL)
    model, end = played([small, strong], adapter)
    assert (end.state, end.answer) == ("DONE", "6")
    assert (small.asked, strong.asked, model.name) == (2, 1, "strong")
    (told,) = model.news
    assert all(word in told for word in ("small", "strong", "2 turns"))


@pytest.mark.parametrize(
    ("adapter", "turns"),
    [
        (TextTurns, [BABBLE, ACT, BABBLE, FINAL]),
        (FunctionCalls, [ACT, CALLS, "", FINAL]),
    ],
)
def test_a_readable_turn_starts_the_count_anew(adapter, turns):
    """Unreadable turns with a readable one between them are not in a row."""
    small, strong = script("small", *turns), script("strong", FINAL)
    model, end = played([small, strong], adapter)
    assert (end.state, strong.asked, model.news) == ("DONE", 0, [])


def test_the_count_starts_anew_with_each_model():
    """The next model has as many turns as the first; the last one goes on for ever."""
    models = [script(name, BABBLE, repeat_last=True) for name in ("a", "b", "c")]
    model, end = played(models, after=3)
    assert [each.asked for each in models] == [3, 3, 9]
    assert (end.reason, len(model.news)) == ("out_of_steps", 2)


def test_a_turn_that_was_cut_is_unreadable():
    """A step that was cut at its limit counts, as it does for the conversation."""
    cut = Completion(ACT, finish_reason="length")
    small, strong = script("small", cut), script("strong", FINAL)
    played([small, strong], TextTurns, after=1)
    assert strong.asked == 1


@pytest.mark.parametrize("adapter", [TextTurns, FunctionCalls])
@pytest.mark.parametrize(
    "turn", [ACT, FINAL, BABBLE, "", '{"name": "Calculator"}', CALLS, "Action: None"]
)
def test_it_takes_for_unreadable_what_the_machine_does(adapter, turn):
    """It hands over exactly where the run has an unreadable turn."""
    tools, told = ToolRegistry([calculator()]), []
    if adapter is TextTurns and turn is CALLS:
        turn = "Action: Calculator\nAction Input: 2*3"
    small, strong = script("small", turn, FINAL), script("strong", FINAL)
    model = Escalate([small, strong], after=1)
    machine = Machine(
        model, tools, adapter=adapter, hook=lambda kind, **f: told.append((kind, f))
    )
    machine.run("What is 2*3?")
    first = next(fields["turn"] for kind, fields in told if kind == "model_turn")
    assert bool(model.news) is (first["kind"] == "malformed")


def test_what_each_model_cost_is_added_up():
    """Tokens are counted by model, so that what it saves can be counted."""
    turns = [
        Completion(BABBLE, Usage(100, 10, 5)),
        Completion(BABBLE, Usage(120, 20, 0)),
    ]
    strong = script("strong", Completion(FINAL, Usage(150, 30, 0)))
    model, end = played([script("small", *turns), strong])
    assert model.spent == {"small": Usage(220, 30, 5), "strong": Usage(150, 30, 0)}
    assert end.spent.usage == Usage(370, 60, 5)


def test_a_chat_model_is_asked_as_one():
    """Of models that only chat it is a chat model, and the machine sees that."""
    models = [chat_only("a", ACT), chat_only("b", CALLS, "6")]
    model, end = played(models, after=1)
    assert not hasattr(model, "complete")
    assert (end.state, end.answer, model.name) == ("DONE", "6", "b")


@pytest.mark.parametrize("options", [{}, {"max_tokens": 7, "on_text": print}])
def test_options_are_handed_on_only_where_they_are_given(options):
    """What the machine asks of the model reaches it as it is, and nothing besides."""
    given = []

    class Model:
        name = "m"

        def complete(self, prompt, **options):
            given.append(options)
            return Completion(FINAL)

        def chat(self, messages, **options):
            given.append(options)
            return Completion(FINAL)

    model = Escalate([Model()])
    model.complete("p", stop=["x"], **options)
    model.chat([], tools=[], **options)
    assert given == [{"stop": ["x"], **options}, {"tools": [], **options}]


def test_your_own_parser_says_what_is_unreadable():
    """With another parser, what it can read is readable."""
    from workbook.loop.turns import Final

    model = Escalate(
        [script("a", BABBLE), script("b")], 1, lambda text: Final("", text)
    )
    model.complete("p")
    assert model.name == "a"


@pytest.mark.parametrize(("models", "after"), [([], 2), ([Script(["x"])], 0)])
def test_it_needs_a_model_and_a_number(models, after):
    """No model, or no turn to wait for, is refused with what was given."""
    with pytest.raises(ValueError, match=f"{len(models)} models, after={after}"):
        Escalate(models, after)


def test_scripts_need_no_time_limit():
    """Only where all models answer at once is nobody waited for."""
    slow = chat_only("slow")
    assert Escalate([Script(["x"])]).at_once
    assert not Escalate([Script(["x"]), slow]).at_once


def test_it_takes_what_each_of_its_models_takes():
    """a cap is handed on where every model knows it, and to none otherwise"""

    class Plain:
        name = "plain"

        def complete(self, prompt, *, stop=()):
            return Completion("Final Answer: 1")

    assert Escalate([Script([]), Script([])]).streams
    assert not Escalate([Script([]), Plain()]).streams
