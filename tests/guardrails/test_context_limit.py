"""The adapters whose prompt is kept within a limit."""

from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbook.fsm.adapters import FunctionCalls, TextTurns
from workbook.fsm.limits import Limits
from workbook.fsm.machine import Machine
from workbook.guardrails.context import EARLIER, ContextLimit
from workbook.models.base import ToolRequest
from workbook.models.prompts import estimate
from workbook.models.script import Script
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool
from workbook.traces.events import Kind
from workbook.traces.writer import TraceWriter

WISH = "No peanuts, please."
SCHEMA = {"type": "object", "properties": {"page": {"type": "string"}}}
SIZES = [300, 10, 0, 700]  # letters that a page has
PAGE = ". ".join(["All is well"] * 200)


def book(sizes):
    """A tool whose pages have so many letters, in turn."""
    asked = []

    def read(page=""):
        asked.append(page)
        return {"result": PAGE[: sizes[len(asked) % len(sizes)]]}

    return ToolRegistry([Tool("Read", "Reads a page.", SCHEMA, read)])


def text_turns(steps):
    """Turns in text: some pages, one that is unreadable, the answer."""
    acts = [f"Thought: on\nAction: Read\nAction Input: {n}" for n in range(steps)]
    return [*acts, "Let me see.", "Final Answer: done"]


def calls(steps):
    """Turns with function calls, two at once, and words between them."""
    pages = [[ToolRequest("Read", {"page": f"{n}"})] * 2 for n in range(steps)]
    return [*pages, "Action: Read\nAction Input: 9", "done"]


BOTH = pytest.mark.parametrize(
    ("adapter", "turns"), [(TextTurns, text_turns), (FunctionCalls, calls)]
)


class Played:
    """A run with such an adapter: the model, the conversation, the prompts.

    The trace gives each prompt back.
    """

    def __init__(self, adapter, turns, sizes=(60,), **options):
        self.model, told, made = Script(turns), TraceWriter(), []
        context = partial(ContextLimit, **options)

        def make(*about):
            made.append(adapter(*about, context=context))
            return made[0]

        options = {"adapter": make, "hook": told, "limits": Limits(99, 99, 999)}
        machine = Machine(self.model, book(sizes), preamble="Read.\n", **options)
        self.end = machine.run("What does the book say?")
        (self.talk,) = made
        self.prompts = [request.prompt for request in self.model.requests]
        trace = told.trace()
        asked = [event["seq"] for event in trace.of(Kind.MODEL_REQUEST)]
        assert [trace.prompt(seq) for seq in asked] == self.prompts


def assert_together(messages):
    """After each message with calls come the observations of all of them."""
    asked = [call["id"] for m in messages for call in m.get("tool_calls", ())]
    assert asked == [m["tool_call_id"] for m in messages if m["role"] == "tool"]


@BOTH
@settings(max_examples=30, deadline=None)
@example([300], 146)
@example([300, 0], 171)
@given(st.lists(st.sampled_from(SIZES), min_size=1, max_size=9), st.integers(110, 900))
def test_no_prompt_is_above_the_limit(adapter, turns, sizes, limit):
    """whatever the tools return, the model is never asked with more than the limit"""
    played = Played(adapter, turns(9), sizes, limit=limit)
    assert played.end.answer == "done"
    assert max(map(played.model.count, played.prompts)) <= limit
    if adapter is FunctionCalls:
        for messages in played.prompts:
            assert_together(messages)


@BOTH
def test_a_long_run_is_compacted_now_and_then(adapter, turns):
    """what the user wants stays in each prompt, and in between the prompt only grows"""
    played = Played(adapter, turns(40), limit=600, pinned=[WISH])
    for prompt in played.prompts:
        text = prompt if isinstance(prompt, str) else prompt[1]["content"]
        assert f"What does the book say?\n{WISH}" in text
    for prompt in played.prompts[1:-1]:  # the newest observation is read
        is_text = isinstance(prompt, str)
        newest = prompt.splitlines()[-1] if is_text else prompt[-1]["role"]
        assert newest.startswith(("Observation: ", "tool"))
    both = zip(played.prompts, played.prompts[1:], strict=False)
    changed = [after[: len(before)] != before for before, after in both]
    news = played.talk.context.news
    assert 0 < sum(changed) == len(news) < len(changed) / 2
    for done in news:
        assert done["before"] > done["limit"] >= done["after"]
    assert EARLIER in str(played.prompts[-1])


def test_a_long_observation_is_cut_in_its_message():
    """the message of a call that gave 2,000 letters says what is missing"""
    played = Played(FunctionCalls, calls(1), [2000], limit=400)
    tools = [m for m in played.prompts[1] if m["role"] == "tool"]
    assert [m["content"].startswith("All is well. ") for m in tools] == [True] * 2
    assert all("characters were cut]" in m["content"] for m in tools)


def test_a_model_that_cannot_count_is_estimated():
    """without a count of the model's own, three bytes are a token"""

    class Uncounted:
        name = "uncounted"
        script = Script(text_turns(9))
        complete = script.complete

    adapter = partial(TextTurns, context=partial(ContextLimit, limit=400))
    machine = Machine(Uncounted(), book([60]), adapter=adapter, preamble="")
    assert machine.run("?").answer == "done"
    prompts = [request.prompt for request in Uncounted.script.requests]
    assert 200 < max(estimate(prompt).input for prompt in prompts) <= 400
