"""Turns, the loop that everybody writes first, and the paper's prompts.

`parsing` reads what a model wrote, `naive` is the loop of lesson 01 and `history` what
it sends. Lesson 02 is `prompting`, `text_world`, `paper_agent`, `answers` and
`self_consistency`. Nothing here knows a particular model, tool or world.
"""

from workbook.loop.answers import exact_match, f1, majority, normalize_answer
from workbook.loop.history import (
    Step,
    build_history,
    count_tokens_sent,
    endless_script,
)
from workbook.loop.naive import Emit, Fuse, FuseBlown, ignore, naive_loop
from workbook.loop.paper_agent import Attempt, run
from workbook.loop.parsing import (
    Action,
    Final,
    Label,
    Malformed,
    Turn,
    Unreadable,
    parse_turn,
    split_fields,
)
from workbook.loop.prompting import (
    METHODS,
    Exemplar,
    Method,
    PaperStep,
    act_prompt,
    cot_prompt,
    load_exemplars,
    parse_bracket_action,
    react_prompt,
    render_prompt,
    render_steps,
    standard_prompt,
)
from workbook.loop.self_consistency import (
    Order,
    Samples,
    back_off,
    run_back_off,
    run_cot_sc,
)
from workbook.loop.text_world import ToolWorld, World, cut_observation

__all__ = [
    "METHODS",
    "Action",
    "Attempt",
    "Emit",
    "Exemplar",
    "Final",
    "Fuse",
    "FuseBlown",
    "Label",
    "Malformed",
    "Method",
    "Order",
    "PaperStep",
    "Samples",
    "Step",
    "ToolWorld",
    "Turn",
    "Unreadable",
    "World",
    "act_prompt",
    "back_off",
    "build_history",
    "cot_prompt",
    "count_tokens_sent",
    "cut_observation",
    "endless_script",
    "exact_match",
    "f1",
    "ignore",
    "load_exemplars",
    "majority",
    "naive_loop",
    "normalize_answer",
    "parse_bracket_action",
    "parse_turn",
    "react_prompt",
    "render_prompt",
    "render_steps",
    "run",
    "run_back_off",
    "run_cot_sc",
    "split_fields",
    "standard_prompt",
]
