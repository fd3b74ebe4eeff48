"""What LangChain says to the model, made visible.

A callback handler writes any LangChain run as trace events; what is in a prompt, how it
grows and who spoke to whom are then read from the trace. LangChain is imported when one
of its agents is run, not before.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbook.langchain_trace.anatomy import (
        ColoredPrompt,
        color_prompt,
        prompt_anatomy,
        split_prompt,
    )
    from workbook.langchain_trace.caching import caching_experiment, plot_caching
    from workbook.langchain_trace.capture import TraceHandler
    from workbook.langchain_trace.columns import SideBySide, side_by_side
    from workbook.langchain_trace.debug_log import capture_debug_log, fold_debug_log
    from workbook.langchain_trace.diagram import draw_sequence, sequence_diagram
    from workbook.langchain_trace.engine import (
        classic_agent,
        graph_agent,
        llm_math_tool,
        math_script,
        run_classic,
        run_graph,
    )
    from workbook.langchain_trace.examples import few_shot
    from workbook.langchain_trace.function_calls import as_function_calls
    from workbook.langchain_trace.growth import (
        context_growth,
        growth_frame,
        plot_growth,
    )
    from workbook.langchain_trace.imports import IMPORTS, imports_frame
    from workbook.langchain_trace.llm_math import evaluate_math_block
    from workbook.langchain_trace.models import WithoutStop, text_llm
    from workbook.langchain_trace.scratchpad import render_scratchpad

_ROOM = {
    "anatomy": ("ColoredPrompt", "color_prompt", "prompt_anatomy", "split_prompt"),
    "caching": ("caching_experiment", "plot_caching"),
    "capture": ("TraceHandler",),
    "debug_log": ("capture_debug_log", "fold_debug_log"),
    "diagram": ("draw_sequence", "sequence_diagram"),
    "engine": (
        "classic_agent",
        "graph_agent",
        "llm_math_tool",
        "math_script",
        "run_classic",
        "run_graph",
    ),
    "examples": ("few_shot",),
    "function_calls": ("as_function_calls",),
    "growth": ("context_growth", "growth_frame", "plot_growth"),
    "imports": ("IMPORTS", "imports_frame"),
    "llm_math": ("evaluate_math_block",),
    "models": ("WithoutStop", "text_llm"),
    "scratchpad": ("render_scratchpad",),
    "columns": ("SideBySide", "side_by_side"),
}
_HOMES = {name: home for home, names in _ROOM.items() for name in names}

__all__ = [
    "IMPORTS",
    "ColoredPrompt",
    "SideBySide",
    "TraceHandler",
    "WithoutStop",
    "as_function_calls",
    "caching_experiment",
    "capture_debug_log",
    "classic_agent",
    "color_prompt",
    "context_growth",
    "draw_sequence",
    "evaluate_math_block",
    "few_shot",
    "fold_debug_log",
    "graph_agent",
    "growth_frame",
    "imports_frame",
    "llm_math_tool",
    "math_script",
    "plot_caching",
    "plot_growth",
    "prompt_anatomy",
    "render_scratchpad",
    "run_classic",
    "run_graph",
    "sequence_diagram",
    "side_by_side",
    "split_prompt",
    "text_llm",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
