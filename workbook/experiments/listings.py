"""Two public listings, rebuilt in our own words with the same branches, for lesson 13.

They are kept as their authors meant them: what they do not catch, these do not either.
"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Arguments = dict[str, Any]


class Reply(NamedTuple):
    """One turn of the model: a final text, a call of a tool, or neither."""

    final_text: str | None = None
    call: tuple[str, Arguments] | None = None


def controlled_machine(
    model: Callable[[list[str]], Reply],
    tools: Mapping[str, Callable[..., Any]],
    hook: Callable[[str], None],
    steps: int = 20,
    calls: int = 10,
    seconds: float = 60,
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """Run a ReAct loop of five states; `hook` receives each state that is entered.

    Rebuilt from xushun, "Effective AI Agent", item 6 (2026-01-05, Chinese).
    """
    state, step, called, began = "THINK", 0, 0, clock()
    observed: list[str] = []
    while True:
        if clock() - began > seconds:
            return "[stopped] out of time"
        if step >= steps:
            return "[stopped] out of steps"
        if state == "THINK":
            reply = model(observed)
            if reply.final_text is not None:
                hook("DONE")
                return reply.final_text
            if reply.call is None:
                hook("ERROR")
                return "[error] neither text nor call"
            if called >= calls:
                return "[stopped] out of tool calls"
            state = "EXECUTE_TOOL"
        elif state == "EXECUTE_TOOL" and reply.call:
            called += 1
            name, arguments = reply.call
            try:
                result = {"ok": True, "result": tools[name](**arguments)}
            except Exception as error:
                result = {"ok": False, "error": f"{type(error).__name__}: {error}"}
            state = "OBSERVE"
        else:
            observed.append(json.dumps(result))
            state = "THINK"
            step += 1
        hook(state)


def ending(
    model: Callable[[list[str]], Reply],
    tools: Mapping[str, Callable[..., Any]],
    **limits: Any,
) -> tuple[str, str]:
    """Return the last state that the machine's hook heard of, and what it returned."""
    entered = ["THINK"]
    text = controlled_machine(model, tools, entered.append, **limits)
    return entered[-1], text


def repaired(arguments: Arguments) -> Arguments:
    """Take `n` out of a list `numbers` of one, or from one of three wrong names."""
    better = dict(arguments)
    if isinstance(better.get("numbers"), list) and len(better["numbers"]) == 1:
        better["n"] = better.pop("numbers")[0]
    for alias in ("number", "num", "value"):
        if alias in better and "n" not in better:
            better["n"] = better.pop(alias)
    return better


def recover(
    tool: Callable[..., Any], arguments: Arguments, attempts: int = 3
) -> Arguments | None:
    """Call a tool; after a failure repair its arguments and try again, or hand over.

    Rebuilt from "LangChain tool recognition: technical details and measures"
    (Japanese, no author given).
    """
    for attempt in range(1, attempts + 1):
        try:
            return {"ok": True, "result": tool(**arguments)}
        except Exception as error:
            if (better := repaired(arguments)) != arguments:
                arguments = better
                continue
            if attempt == attempts:
                return {"ok": False, "hand_over": str(error), "arguments": arguments}
    return None
