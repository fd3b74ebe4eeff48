"""The loop that everybody writes first, what it sends, and a trace of its runs.

Ten lines around a model: they know no budget, no error and no state, and nothing here
makes them better. They do not know that they are traced: `run_loop` gives them a model
and tools that write down what they are asked.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from workbook.runtime.calls import ToolFailure, result_text
from workbook.runtime.journal import Emit, Journal
from workbook.runtime.model import Model, Request, Response
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Kind, Trace
from workbook.runtime.turns import parse_turn, to_dict

TextTools = Mapping[str, Callable[[str], object]]
"""Tools by name, each a function of one text."""


def naive_loop(
    model: Model, tools: TextTools, question: str, *, instructions: str = ""
) -> str:
    """Ask, look for an answer, run a tool, append, and ask again, without end."""
    history = f"{instructions}Question: {question}\n"
    while True:
        reply = model.complete(history).text
        history += reply
        if "Final Answer:" in reply:
            return reply.split("Final Answer:", 1)[1].strip()
        step = re.search(r"Action: (.*)\nAction Input: (.*)", reply)
        tool, argument = step.groups()  # type: ignore[union-attr]
        history += f"\nObservation: {tools[tool](argument)}\n"


def build_history(
    question: str, steps: Iterable[tuple[str, str]], *, instructions: str = ""
) -> str:
    r"""Return the prompt that `naive_loop` sends after these steps, to the character.

    >>> build_history("1+1?", [("Action: Sum\nAction Input: 1+1", "2")])
    'Question: 1+1?\nAction: Sum\nAction Input: 1+1\nObservation: 2\n'
    """
    done = "".join(f"{text}\nObservation: {seen}\n" for text, seen in steps)
    return f"{instructions}Question: {question}\n{done}"


def count_tokens_sent(first: int, growth: int, turns: int) -> int:
    """Return the tokens of `turns` prompts: first, first + growth, first + 2·growth …

    A negative number raises ValueError.

    >>> count_tokens_sent(first=200, growth=50, turns=4)
    1100
    """
    if min(first, growth, turns) < 0:
        given = f"first {first}, growth {growth}, turns {turns}"
        raise ValueError(f"{given}: tokens and turns are never negative")
    return turns * first + growth * turns * (turns - 1) // 2


# Tools as tutorials call them: a text goes in unchecked, a text comes out.


class FailedText(str):
    """The text of a call that failed; a trace sees `ok`."""

    ok = False


def text_tools(tools: Iterable[Tool]) -> dict[str, Callable[[str], str]]:
    """Return tools by name as functions of a text that check nothing."""
    return {tool.name: partial(call_unchecked, tool) for tool in tools}


def call_unchecked(tool: Tool, text: str) -> str:
    """Return a tool's result as a text; a text that is no JSON is its first argument.

    What the tool raises leaves it, but a `ToolFailure` becomes a `FailedText`.
    """
    parameters: Any = [*tool.parameters["properties"].items(), ("input", {})]
    name, schema = parameters[0]
    kind: Any = {"integer": int, "number": float}.get(schema.get("type"), str)
    arguments = json.loads(text) if text.startswith("{") else {name: kind(text)}
    try:
        return result_text(tool.run(**arguments))
    except ToolFailure as failure:
        return FailedText(failure.error.text())


class CallLimitReached(RuntimeError):  # noqa: N818 - what happened
    """The loop asked the model more times than its limit allows."""


class _TracedModel(Model):
    """A model that writes down requests and responses, and has a call limit."""

    def __init__(self, model: Model, emit: Emit, calls: int) -> None:
        self.name, self.model, self.emit = model.name, model, emit
        self.calls, self.used = calls, 0

    def respond(self, request: Request) -> Response:
        if self.used >= self.calls:
            raise CallLimitReached(f"no call more: the limit is {self.calls}")
        self.used += 1
        self.emit(Kind.MODEL_REQUEST, prompt=request.text)
        reply = self.model.respond(request)
        turn, usage = to_dict(parse_turn(reply.text)), reply.usage.to_dict()
        self.emit(Kind.MODEL_TURN, text=reply.text, turn=turn, usage=usage)
        return reply


class _TracedTools(dict[str, Callable[[str], object]]):
    """Tools that write down their calls, even of a tool that is not there."""

    def __init__(self, tools: TextTools, emit: Emit) -> None:
        super().__init__({name: partial(self.call, name) for name in tools})
        self.tools, self.emit, self.calls = tools, emit, 0

    def __missing__(self, name: str) -> Callable[[str], object]:
        return partial(self.call, name)

    def call(self, name: str, argument: str) -> object:
        self.calls += 1
        about = {"call_id": f"call_{self.calls}", "tool": name}
        self.emit(Kind.TOOL_CALL, **about, arguments={"input": argument})
        result = self.tools[name](argument)
        ok = getattr(result, "ok", True)
        self.emit(Kind.OBSERVATION, **about, ok=ok, text=str(result))
        return result


def run_loop(
    loop: Callable[..., str],
    model: Model,
    tools: TextTools,
    question: str,
    *,
    instructions: str = "",
    calls: int = 12,
    journal: Journal | None = None,
) -> Trace:
    """Run a loop and return its trace; after `calls` the model refuses to answer.

    What the loop raises ends the run: EXHAUSTED at the limit, otherwise ERROR.
    """
    journal = journal or Journal()
    emit = stoppable(journal)
    given = {"instructions": instructions} if instructions else {}
    try:
        emit(Kind.RUN_STARTED, engine="naive", question=question, tools=list(tools))
        asked, called = _TracedModel(model, emit, calls), _TracedTools(tools, emit)
        answer = loop(asked, called, question, **given)
        emit(Kind.RUN_FINISHED, state="DONE", reason="final_answer", answer=answer)
    except (Exception, KeyboardInterrupt) as error:
        limited = isinstance(error, CallLimitReached)
        reason = "call_limit" if limited else type(error).__name__
        end = {"state": "EXHAUSTED" if limited else "ERROR", "reason": reason}
        emit(Kind.RUN_FINISHED, **end, answer=None, message=str(error))
    return journal.trace()


def stoppable(journal: Journal) -> Emit:
    """Return a journal's `emit` for a loop: when the user stops the run, it raises."""

    def emit(kind: str, /, **fields: Any) -> int:
        seq = journal.emit(kind, **fields)
        if journal.signals:
            journal.signals.clear()
            raise KeyboardInterrupt("stopped by the user")
        return seq

    return emit
