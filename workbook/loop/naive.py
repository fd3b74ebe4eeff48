"""The loop that everybody writes first, a limit on its calls, and a trace of its run.

Ten lines around a model. They know no budget, no error and no state: what goes wrong
with them is the subject of the other lessons, so nothing here is fixed. The second loop
fixes what a parser can. A trace is made from outside, by a model and tools that emit
what they are asked.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from workbook.runtime.model import Model, Request, Response
from workbook.runtime.turns import Action, Final, Turn, parse_turn, split_turn, to_dict

Emit = Callable[..., Any]
"""Takes a kind of event and its fields, as `Journal.emit` does."""


def build_history(
    question: str, steps: Iterable[tuple[str, str]], *, instructions: str = ""
) -> str:
    r"""Return the prompt that `naive_loop` sends after these steps, to the character.

    `steps` holds (what the model wrote, observation) for each finished turn.

    >>> build_history("1+1?", [("Action: Sum\nAction Input: 1+1", "2")])
    'Question: 1+1?\nAction: Sum\nAction Input: 1+1\nObservation: 2\n'
    """
    done = "".join(f"{text}\nObservation: {seen}\n" for text, seen in steps)
    return f"{instructions}Question: {question}\n{done}"


def count_tokens_sent(first: int, growth: int, turns: int) -> int:
    """Return how many prompt tokens `turns` calls send in all.

    The prompts have first, first + growth, first + 2·growth … tokens. Their sum grows
    with the square of the turns. A negative number raises ValueError.

    >>> count_tokens_sent(first=200, growth=50, turns=4)
    1100
    """
    if min(first, growth, turns) < 0:
        given = f"first {first}, growth {growth}, turns {turns}"
        raise ValueError(f"{given}: tokens and turns are never negative")
    return turns * first + growth * turns * (turns - 1) // 2


Tools = Mapping[str, Callable[[str], object]]


class CallLimitReached(RuntimeError):  # noqa: N818 - what happened
    """The model was asked more often than its limit allows."""


class CallLimit(Model):
    """A model that refuses to be asked more than `calls` times.

    A seat belt, not a design: the loop does not know of it, and what the loop had found
    out by then is lost.
    """

    def __init__(self, model: Model, calls: int = 12) -> None:
        self.name, self.model = model.name, model
        self.calls, self.used = calls, 0

    def respond(self, request: Request) -> Response:
        """Ask the model, or raise `CallLimitReached`."""
        if self.used >= self.calls:
            raise CallLimitReached(f"no call more: the limit is {self.calls}")
        self.used += 1
        return self.model.respond(request)


def naive_loop(
    model: Model, tools: Tools, question: str, *, instructions: str = ""
) -> str:
    """Ask, look for an answer, run a tool, append, and ask again, without end.

    What the model, a tool or an unreadable turn raises leaves the loop: that is the
    point of lesson 01.
    """
    history = f"{instructions}Question: {question}\n"
    while True:
        reply = model.complete(history).text or ""
        history += reply
        if "Final Answer:" in reply:
            return reply.split("Final Answer:", 1)[1].strip()
        step = re.search(r"Action: (.*)\nAction Input: (.*)", reply)
        tool, argument = step.groups()  # type: ignore[union-attr]
        history += f"\nObservation: {tools[tool](argument)}\n"


def reading_loop(
    model: Model,
    tools: Tools,
    question: str,
    *,
    parse: Callable[[str], Turn] = parse_turn,
    history: Callable[..., str] = build_history,
    instructions: str = "",
) -> str:
    """Run the loop with a parser; only what was read of a turn stays in the history.

    A missing tool, and one that raises, still end the run.
    """
    steps: list[tuple[str, str]] = []
    while True:
        prompt = history(question, steps, instructions=instructions)
        reply = model.complete(prompt).text or ""
        turn = parse(reply)
        if isinstance(turn, Final):
            return turn.answer
        if isinstance(turn, Action):
            seen = str(tools[turn.tool](turn.input))
        else:
            seen = f"Error: {turn.reason}. Write an Action and its Action Input."
        steps.append((split_turn(reply, turn)[0], seen))


class TracedModel(Model):
    """A model whose requests and responses are emitted."""

    def __init__(self, model: Model, emit: Emit) -> None:
        self.name, self.model, self.emit = model.name, model, emit

    def respond(self, request: Request) -> Response:
        """Ask the model."""
        self.emit("model_request", prompt=request.text)
        reply = self.model.respond(request)
        text, usage = reply.text or "", reply.usage.to_dict()
        turn = to_dict(parse_turn(text))
        self.emit("model_turn", text=text, turn=turn, usage=usage)
        return reply


class TracedTools(dict[str, Callable[[str], object]]):
    """Tools whose calls are emitted, also of a missing one, and what came of each."""

    def __init__(self, tools: Tools, emit: Emit) -> None:
        super().__init__({name: partial(self._call, name) for name in tools})
        self.tools, self.emit, self.calls = tools, emit, 0

    def __missing__(self, name: str) -> Callable[[str], object]:
        return partial(self._call, name)

    def _call(self, name: str, argument: str) -> object:
        self.calls += 1
        about = {"call_id": f"call_{self.calls}", "tool": name}
        self.emit("tool_call", **about, arguments={"input": argument})
        result = self.tools[name](argument)
        ok = getattr(result, "ok", True)
        self.emit("observation", **about, ok=ok, text=str(result))
        return result


def traced(loop: Callable[..., str], emit: Emit, engine: str = "naive") -> Any:
    """Return the loop with a trace made around it; the loop does not know of it."""

    def run(model: Model, tools: Tools, question: str, **options: Any) -> str:
        emit("run_started", engine=engine, question=question, tools=list(tools))
        seen = TracedModel(model, emit), TracedTools(tools, emit)
        answer = loop(*seen, question, **options)
        emit("run_finished", state="DONE", reason="final_answer", answer=answer)
        return answer

    return run
