"""Wrappers: a tool in, a tool out that does more; and the calls of a turn at once."""

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby
from typing import Any

from .arguments import problems_with, repair_arguments
from .calls import Effect, Observation, ToolCall, ToolError, ToolFailure, to_json
from .tools import Bound, Tool, ToolRegistry, Wait, failed

AT_ONCE = 8  # calls, the most
BUSY = (408, 425, 429, 500, 502, 503, 504)  # statuses of HTTP that pass
Repair = Callable[[dict[str, Any], str], dict[str, Any]]  # of arguments, by an error
QUESTION = {"properties": {"question": {"type": "string"}}, "required": ["question"]}


def with_backoff(tool: Tool, attempts: int = 4, sleep: Any = time.sleep) -> Tool:
    """Return a tool that tries again after what can pass; each pause doubles."""
    _refuse_unless_repeatable(tool)
    pauses = [2.0 ** (n - 1) for n in range(attempts - 1)]

    def run(**arguments: Any) -> Any:
        for pause in pauses:
            try:
                return tool.run(**arguments)
            except Exception as error:
                if not _can_pass(error):
                    raise
            sleep(pause)
        return tool.run(**arguments)

    limit_s = tool.timeout_s and tool.timeout_s + sum(pauses)
    return replace(tool, run=run, timeout_s=limit_s)


def with_recovery(tool: Tool, attempts: int = 3, repair: Repair | None = None) -> Tool:
    """Return a tool that repairs its arguments after an error, or asks for a person."""
    _refuse_unless_repeatable(tool)

    def by_schema(arguments: dict[str, Any], error: str) -> dict[str, Any]:
        return repair_arguments(tool.parameters, arguments, tool.all_aliases)[0]

    def run(**arguments: Any) -> Any:
        tried = []
        for _ in range(attempts):
            try:
                if problems := problems_with(tool.validator, arguments):
                    raise ToolFailure("invalid_arguments", "; ".join(problems))
                return tool.run(**arguments)
            except Exception as error:
                tried.append(f"{to_json(arguments)}: {error}".rstrip("."))
                better = (repair or by_schema)(arguments, str(error))
                if better == arguments and not _can_pass(error):
                    break
            arguments = better
        message = f"{tool.name} failed. Tried: {'; '.join(tried)}."
        raise ToolFailure("needs_person", message, hint="A person has to look at it.")

    return replace(tool, run=run)


def _refuse_unless_repeatable(tool: Tool) -> None:
    if tool.effect is Effect.WRITE and not tool.repeatable:
        raise ValueError(f"{tool.name} writes: a second attempt may do it twice")


def _can_pass(error: Exception) -> bool:
    # The tool says that a later call can succeed, or it is the network.
    if isinstance(error, ToolFailure):
        return error.error.retryable
    status = getattr(getattr(error, "response", error), "status_code", None)
    return status in BUSY or isinstance(error, ConnectionError | TimeoutError)


def cached(
    tool: Tool, path: Any = None, max_age_s: float | None = None, clock: Any = time.time
) -> Tool:
    """Return a READ that keeps its results, also in a file. ValueError: a WRITE."""
    if tool.effect is Effect.WRITE:
        raise ValueError(f"{tool.name} writes: a result that is kept does nothing")
    import sqlite3

    kept = sqlite3.connect(path or ":memory:", timeout=30, check_same_thread=False)
    kept.isolation_level = None  # each statement is a transaction
    kept.execute("CREATE TABLE IF NOT EXISTS results (call PRIMARY KEY, text, at_s)")

    def run(**arguments: Any) -> Any:
        call = json.dumps([tool.name, arguments], sort_keys=True)
        find = "SELECT text, at_s FROM results WHERE call = ?"
        text, at_s = kept.execute(find, [call]).fetchone() or ("", 0)
        if text and (max_age_s is None or clock() - at_s <= max_age_s):
            return json.loads(text)
        result = tool.run(**arguments)
        row = (call, to_json(result), clock())
        kept.execute("REPLACE INTO results VALUES (?, ?, ?)", row)
        return result

    return replace(tool, run=run)


def logged(tool: Tool, log: Callable[[str], object] = print) -> Tool:
    """Return a tool that logs its start with its arguments, and its result or error."""

    def run(**arguments: Any) -> Any:
        log(f"{tool.name} starts: {arguments}")
        try:
            result = tool.run(**arguments)
        except BaseException as error:
            log(f"{tool.name} failed: {error!r}")
            raise
        log(f"{tool.name} returned: {result}")
        return result

    return replace(tool, run=run)


class step_by_step(ToolRegistry):  # noqa: N801 - called as a function
    """A registry that shows what its checks find in a call, and waits before it."""

    def __init__(self, registry: ToolRegistry, ask: Any = input) -> None:
        given: Any = {"validate": registry.validate, "repair": registry.repair}
        super().__init__(registry, strict=registry.strict, **given)
        self.ask, self.outcomes = ask, list[tuple[str, str]]()

    def bind_call(
        self, name: str, arguments: Any, call_id: str, is_text: bool = False
    ) -> Bound:
        """Return the call that is meant; show one that is refused, and wait."""
        bound = super().bind_call(name, arguments, call_id, is_text)
        if isinstance(bound, ToolError):
            self.ask(f"{name}({arguments}) is refused: {bound.message} [Enter]")
            self.outcomes.append((name, bound.kind))
        return bound

    def run(self, call: ToolCall, wait: Wait | None = None) -> Observation:
        """Show a call and what was repaired in it, wait, and make it."""
        checked = "; ".join(call.notes) or "valid"
        self.ask(f"{call.name}({call.arguments}): {checked} [Enter]")
        seen = super().run(call, wait)
        self.outcomes.append((call.name, seen.error.kind if seen.error else "ok"))
        return seen

    def summary(self) -> str:
        """Return a line for all calls, and one for each."""
        good = sum(outcome == "ok" for _, outcome in self.outcomes)
        lines = [f"{n}. {name}: {o}" for n, (name, o) in enumerate(self.outcomes, 1)]
        return "\n".join([f"{len(lines)} calls, {good} ok", *lines])


def as_tool(machine: Any, name: str, description: str) -> Tool:
    """Return an agent as a tool of another; no answer is a ToolFailure."""

    def run(question: str) -> dict[str, Any]:
        end = machine.run(question)
        if end.state != "DONE":
            message = f"{name} ended in {end.state} ({end.reason}): {end.message}."
            raise ToolFailure("no_answer", message, hint="Ask otherwise, or go on.")
        return {"answer": end.answer}

    writes = any(tool.effect is Effect.WRITE for tool in machine.tools)
    effect = Effect.WRITE if writes else Effect.READ
    return Tool(name, description, QUESTION, run, effect, timeout_s=None)


def run_in_parallel(
    calls: Sequence[ToolCall],
    run: Callable[[ToolCall], Observation],
    is_read: Callable[[ToolCall], bool],
    at_once: int = AT_ONCE,
) -> list[Observation]:
    """Run neighbouring READs at once and a WRITE alone; return what came of each."""

    def one(call: ToolCall) -> Observation:
        try:
            return run(call)
        except Exception as error:
            return failed(call, error)

    seen: list[Observation] = []
    for reads, group in groupby(calls, is_read):
        pool = ThreadPoolExecutor(at_once if reads else 1)
        try:
            seen += pool.map(one, group)
        finally:  # an interrupt waits for no call, and no other one begins
            pool.shutdown(wait=False, cancel_futures=True)
    return seen
