"""A machine of given parts: functions of your own where there are some, else ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from workbook.fsm.adapters import FunctionCalls, TextTurns
from workbook.fsm.handlers import Handler
from workbook.fsm.machine import Machine
from workbook.fsm.reading import Conversation
from workbook.fsm.table import CORE, State, Table
from workbook.models.base import ChatModel, TextModel
from workbook.tools.registry import ToolRegistry
from workbook.tools.threads import run_in_parallel
from workbook.tools.tool import Tool

M = TypeVar("M", bound=Machine)


def assemble(
    parts: Mapping[str, Callable[..., Any]],
    model: TextModel | ChatModel,
    tools: Iterable[Tool],
    *,
    table: Table | None = None,
    adapter: Callable[..., Conversation] | None = None,
    context: Callable[[Any], Any] | None = None,
    kind: Callable[..., M] = Machine,  # type: ignore[assignment]
    handlers: Mapping[str, Handler] | None = None,
    parallel: bool = False,
    **options: Any,
) -> M:
    """Return a machine of such parts, by their names, and of ours elsewhere.

    A `table`, an `adapter` and `handlers` go before the parts'; `context` keeps the
    prompt of one of our adapters within a limit; `parallel` lets the READ calls of a
    turn be made at once; `options` are the machine's.
    """

    def given(**places: str) -> dict[str, Any]:
        return {place: parts[slug] for place, slug in places.items() if slug in parts}

    registry = given(validate="validate_arguments", repair="repair_arguments")
    if context is not None or adapter in (None, TextTurns):
        in_text = hasattr(model, "complete") and adapter is not FunctionCalls
        text = partial(TextTurns, **given(parse="parse_turn"))
        adapter = partial(text if in_text else FunctionCalls, context=context)
    table = table or parts.get("agent_table", lambda: CORE)()
    table = table.using(**given(advance="advance", audit="audit"))
    options |= given(drive="drive") | {"adapter": adapter}
    if parallel:
        options["parallel"] = parts.get("run_in_parallel", run_in_parallel)
    work = given(**{State.THINK: "think"}) | dict(handlers or {})
    return kind(model, ToolRegistry(tools, **registry), table, handlers=work, **options)
