"""A strong model only where it is needed."""

import pytest

from workbook.fsm.adapters import FunctionCalls, TextTurns
from workbook.fsm.machine import Machine
from workbook.guardrails.escalation import Escalate
from workbook.guardrails.machine import guarded
from workbook.models.base import Completion, ToolRequest, Usage
from workbook.models.script import Script
from workbook.tools.calculator import calculator
from workbook.tools.registry import ToolRegistry
from workbook.traces.writer import TraceWriter

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


def played(models, adapter=None, hook=lambda kind, **fields: None, **options):
    model = Escalate(models, **options)
    tools = ToolRegistry([calculator()])
    return model, Machine(model, tools, adapter=adapter, hook=hook).run("What is 2*3?")


@pytest.mark.parametrize("adapter", [TextTurns, FunctionCalls])
@pytest.mark.parametrize(
    "turn",
    [
        ACT,
        FINAL,
        BABBLE,
        "",
        '{"name": "Calculator"}',
        CALLS,
        "Action: None",
        Completion(ACT, finish_reason="length"),
    ],
)
def test_it_takes_for_unreadable_what_the_machine_does(adapter, turn):
    """it hands over exactly where the run has an unreadable turn; a cut one is one"""
    if adapter is TextTurns and turn is CALLS:
        turn = ACT
    told = TraceWriter()
    small, strong = script("small", turn, FINAL), script("strong", FINAL)
    model, end = played([small, strong], adapter, told, after=1)
    [first, *_] = told.trace().of("model_turn")
    assert bool(model.news) is (first["turn"]["kind"] == "malformed")
    assert end.state == "DONE"


def test_the_trace_says_who_goes_on():
    """a guarded machine tells the hand-over as a decision of the model's"""
    told, small = TraceWriter(), script("small", BABBLE, BABBLE)
    model = Escalate([small, script("strong", FINAL)])
    end = guarded(model, [calculator()], hook=told).run("What is 2*3?")
    assert (end.answer, small.asked, model.name) == ("6", 2, "strong")
    [decision] = told.trace().of("decision")
    assert (decision["who"], decision["what"]) == ("model", "handed over")
    assert all(word in decision["why"] for word in ("small", "strong", "2 in a row"))


@pytest.mark.parametrize(
    ("adapter", "turns"),
    [
        (TextTurns, [BABBLE, ACT, BABBLE, FINAL]),
        (FunctionCalls, [ACT, CALLS, "", FINAL]),
    ],
)
def test_a_readable_turn_starts_the_count_anew(adapter, turns):
    """unreadable turns with a readable one between them are not in a row"""
    small, strong = script("small", *turns), script("strong", FINAL)
    model, end = played([small, strong], adapter)
    assert (end.state, strong.asked, model.news) == ("DONE", 0, [])


def test_what_each_model_cost_is_added_up():
    """tokens are counted by model, so that what it saves can be counted"""
    turns = [
        Completion(BABBLE, Usage(100, 10, 5)),
        Completion(BABBLE, Usage(120, 20, 0)),
    ]
    strong = script("strong", Completion(FINAL, Usage(150, 30, 0)))
    model, end = played([script("small", *turns), strong])
    assert model.spent == {"small": Usage(220, 30, 5), "strong": Usage(150, 30, 0)}
    assert end.spent.usage == Usage(370, 60, 5)


def test_a_chat_model_is_asked_as_one():
    """of models that only chat it is a chat model, and the machine sees that"""
    models = [chat_only("a", ACT), chat_only("b", CALLS, "6")]
    model, end = played(models, after=1)
    assert not hasattr(model, "complete")
    assert (end.state, end.answer, model.name) == ("DONE", "6", "b")


@pytest.mark.parametrize(("models", "after"), [([], 2), ([Script(["x"])], 0)])
def test_it_needs_a_model_and_a_number(models, after):
    """no model, or no turn to wait for, is refused with what was given"""
    with pytest.raises(ValueError, match=f"{len(models)} models, after={after}"):
        Escalate(models, after)
