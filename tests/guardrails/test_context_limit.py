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


def book(sizes=(60,)):
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
    """A run with such an adapter: the model, the trace, the conversation."""

    def __init__(self, adapter, turns, sizes=(60,), preamble="Read.\n", **options):
        self.model, self.told, made = Script(turns), TraceWriter(), []

        if options:
            options = {"context": partial(ContextLimit, **options)}

        def make(*about):
            made.append(adapter(*about, **options))
            return made[0]

        limits = Limits(99, 99, 999)
        machine = Machine(
            self.model,
            book(sizes),
            adapter=make,
            hook=self.told,
            limits=limits,
            preamble=preamble,
        )
        self.end = machine.run("What does the book say?")
        (self.talk,) = made
        self.prompts = [request.prompt for request in self.model.requests]

    def from_the_trace(self):
        """Every prompt as the trace gives it back."""
        trace = self.told.trace()
        return [trace.prompt(event["seq"]) for event in trace.of(Kind.MODEL_REQUEST)]


@BOTH
def test_below_the_limit_nothing_changes(adapter, turns):
    """as long as all fits, each prompt is to the letter what it was without a limit"""
    fitted = Played(adapter, turns(3), limit=10_000)
    assert fitted.prompts == Played(adapter, turns(3)).prompts
    assert fitted.end.answer == "done"
    assert fitted.talk.context.news == []


@BOTH
@settings(max_examples=30, deadline=None)
@example([300], 146)
@example([300, 0], 171)
@given(st.lists(st.sampled_from(SIZES), min_size=1, max_size=9), st.integers(110, 900))
def test_no_prompt_is_above_the_limit(adapter, turns, sizes, limit):
    """whatever the tools return, the model is never asked with more than the limit"""
    played = Played(adapter, turns(9), sizes, limit=limit)
    assert played.end.answer == "done"
    assert max(Script([]).count(prompt) for prompt in played.prompts) <= limit
    assert played.from_the_trace() == played.prompts


@BOTH
def test_a_long_run_is_compacted_now_and_then(adapter, turns):
    """what the user wants stays in each prompt, and in between the prompt only grows"""
    played = Played(adapter, turns(40), limit=600, pinned=[WISH])
    assert played.from_the_trace() == played.prompts
    for prompt in played.prompts:
        text = prompt if isinstance(prompt, str) else prompt[1]["content"]
        assert f"What does the book say?\n{WISH}" in text
    both = zip(played.prompts, played.prompts[1:], strict=False)
    changed = [after[: len(before)] != before for before, after in both]
    news = played.talk.context.news
    assert 0 < sum(changed) == len(news) < len(changed) / 2
    for done in news:
        assert done["before"] > done["limit"] >= done["after"]


def test_no_call_is_parted_from_its_observations():
    """after each message with calls come the observations of all of them"""
    played = Played(FunctionCalls, calls(40), limit=600)
    for messages in played.prompts:
        asked = [call["id"] for m in messages for call in m.get("tool_calls", ())]
        answered = [m["tool_call_id"] for m in messages if m["role"] == "tool"]
        assert asked == answered
    assert EARLIER in str(played.prompts[-1])


def test_a_long_observation_is_cut_in_its_message():
    """the message of a call that gave 2,000 letters says what is missing"""
    played = Played(FunctionCalls, calls(1), [2000], limit=400)
    tools = [m for m in played.prompts[1] if m["role"] == "tool"]
    assert [m["content"].startswith("All is well. ") for m in tools] == [True] * 2
    assert all("characters were cut]" in m["content"] for m in tools)


@BOTH
def test_pins_that_do_not_fit_end_the_run_in_words(adapter, turns):
    """more pinned than there is room for is an error that says what to do"""
    played = Played(adapter, turns(2), limit=100, pinned=[WISH * 90])
    assert played.end.state == "ERROR"
    assert "raise the limit" in played.end.message


class Uncounted:
    """A model that cannot count, as most hosted ones."""

    name = "uncounted"

    def __init__(self, turns):
        self.script = Script(turns)

    def complete(self, prompt, *, stop=()):
        return self.script.complete(prompt, stop=stop)


def test_a_model_that_cannot_count_is_estimated():
    """without a count of the model's own, three bytes are a token"""
    model = Uncounted(text_turns(9))
    context = partial(ContextLimit, limit=400)
    adapter = partial(TextTurns, context=context)
    machine = Machine(model, book(), adapter=adapter, preamble="")
    assert machine.run("?").answer == "done"
    prompts = [request.prompt for request in model.script.requests]
    assert 200 < max(estimate(prompt).input for prompt in prompts) <= 400
