"""What LangChain's classic agent sends, as text: its prompt, scratchpad and calculator.

All of it is read from a trace or written by hand; nothing here needs LangChain. The
agents themselves are in `old_and_new_agents`, their events in `langchain_handler`.
"""

import ast
import math
import re
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise

from workbook.runtime.calls import clip
from workbook.runtime.trace import Event as TraceEvent


def render_scratchpad(steps: Sequence[tuple[str, str]]) -> str:
    """Return the text that follows the prompt's "Thought:" after these steps."""
    return "".join(f"{log}\nObservation: {seen}\nThought:" for log, seen in steps)


def context_growth(events: Iterable[TraceEvent]) -> list[tuple[int, int, int]]:
    """Return (number, input tokens, new tokens) of each of the agent's own calls."""
    rows: list[tuple[int, int, int]] = []
    before = 0
    for event in events:
        if event["kind"] == "model_turn" and "parent" not in event:
            tokens = event["usage"]["input"]
            rows.append((len(rows) + 1, tokens, tokens - before))
            before = tokens
    return rows


def sequence_diagram(trace: Iterable[TraceEvent]) -> str:
    """Return a trace as the source of a Mermaid sequence diagram."""
    events = list(trace)
    ids, lines = tool_ids(events), head(events)
    tools = {e["seq"]: ids[e["tool"]] for e in events if e["kind"] == "tool_call"}
    for event in events:
        agent = tools[event["parent"]] if "parent" in event else "Agent"
        tool = ids.get(event.get("tool", ""), "")
        arrow = {
            "run_started": f"User->>{agent}",
            "model_request": f"{agent}->>Model",
            "model_turn": f"Model-->>{agent}",
            "tool_call": f"{agent}->>{tool}",
            "observation": f"{tool}-->>{agent}",
            "run_finished": f"{agent}-->>User",
        }.get(event["kind"])
        if arrow:
            lines.append(f"    {arrow}: {label(event)}")
    return "\n".join(lines)


def tool_ids(events: Iterable[TraceEvent]) -> dict[str, str]:
    """Return the tools of a trace, in order of their first call, with Mermaid's ids."""
    kinds = ("tool_call", "observation")
    names = dict.fromkeys(e["tool"] for e in events if e["kind"] in kinds)
    return {name: f"T{number}" for number, name in enumerate(names, start=1)}


def head(events: Iterable[TraceEvent]) -> list[str]:
    """Return the first lines of the diagram: its kind and who takes part."""
    tools = [f"{id_} as {_escape(name)}" for name, id_ in tool_ids(events).items()]
    who = ["User", "Agent", "Model", *tools]
    return ["sequenceDiagram", *(f"    participant {one}" for one in who)]


def label(event: TraceEvent) -> str:
    """Return the label of an event's arrow: its text, short, escaped for Mermaid."""
    match event:
        case {"kind": "model_request", "prompt": new, "kept": kept}:
            unit = "characters" if isinstance(new, str) else "messages"
            return _escape(f"{kept:,} {unit} as before, {len(new):,} new")
        case {"kind": "tool_call", "arguments": arguments}:
            return _escape(", ".join(map(str, arguments.values())))
        case {"kind": "model_turn", "calls": calls}:
            return _escape("call " + ", ".join(str(call["name"]) for call in calls))
        case {"kind": "model_turn", "text": text}:
            step = re.search(r"(?:Action Input|Final Answer):.*", text)
            return _escape(step[0] if step else text)
    names = ("question", "text", "answer", "reason")
    return _escape(next((event[name] for name in names if event.get(name)), ""))


# `#` opens an entity in Mermaid, `;` ends a statement, `:` a name; doubled, `%` opens a
# comment and `$` a formula.
_SPECIAL = re.compile(r"[#;:<>&\"`\\{}]|%(?=[%{])|\$(?=\$)")


def _escape(text: str, most: int = 40) -> str:
    """Return text that Mermaid shows letter by letter, in one line of a diagram."""
    line = re.sub(r"[\x00-\x1f\x7f]", "\ufffd", " ".join(text.split()))
    shown = _SPECIAL.sub(lambda found: f"#{ord(found[0])};", clip(line, most))
    return shown or "(empty)"


# Lab: the prompt's six sections, and what the calculator makes of a model's reply

SECTIONS = ("instruction", "tools", "format", "question", "scratchpad", "open thought")
MARKS = ("\n\n", "Use the following format:", "\nBegin!\n", "\nQuestion:", "\nThought:")


def split_prompt(prompt: str) -> list[tuple[str, str]]:
    """Return the six sections of a classic prompt, in order, as (name, text)."""
    ends, start = [], 0
    for mark in MARKS:
        start = prompt.find(mark, start)
        if start < 0:
            raise ValueError(f"this is not a classic prompt: {mark!r} is missing")
        ends.append(start)
    blank, form, _, question, thought = ends
    last = prompt.rfind("\nThought:")
    edges = [0, blank + 2, form, question + 1, thought + 1, last + 1, len(prompt)]
    texts = [prompt[start:end] for start, end in pairwise(edges)]
    return list(zip(SECTIONS, texts, strict=True))


def evaluate_math_block(text: str) -> str:
    """Return what the calculator answers, given the model's reply."""
    import numexpr

    text = text.strip()
    if block := re.match(r"```text(.*?)```", text, re.DOTALL):
        expression, names = block[1].strip(), {"pi": math.pi, "e": math.e}
        evaluate = partial(numexpr.evaluate, global_dict={}, local_dict=names)
        try:
            evaluate(as_floats(expression))
            return f"Answer: {evaluate(expression)!s}"
        except Exception as error:  # numexpr raises many kinds
            problem = f"numexpr cannot evaluate {expression!r} ({error})"
            raise ValueError(f"{problem}: write one line of numbers") from error
    if text.startswith("Answer:"):
        return text
    if "Answer:" in text:
        return f"Answer: {text.rsplit('Answer:', 1)[1].strip()}"
    raise ValueError(f"no ```text block and no answer in {text!r}: ask again")


def as_floats(expression: str) -> str:
    """Return an expression with its whole numbers as floats, which overflow at once."""
    tree = ast.parse(expression, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            node.value = float(node.value)
    return ast.unparse(tree)


def write_math_block(prompt: str) -> str:
    """Answer the calculator's prompt as a perfect model would: the question, fenced."""
    expression = prompt.rsplit("\nQuestion: ", 1)[-1].strip()
    return f'```text\n{expression}\n```\n...numexpr.evaluate("{expression}")...\n'
