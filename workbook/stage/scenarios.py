"""Scenarios: one question, its tools, what the model says, and how each engine ends.

A scenario is a file, `data/scenarios/<slug>.toml`; this module reads it and says what
came of a run. `workbook.stage.engines` plays it. The keys of a file:

    title, question, teaches    what is shown
    source                      the public report that it stands for, where there is one
    tools                       names of tools of the workbook
    [[tool]]                    a tool of this scenario: name, description, `returns`
                                (an answer a call, the last one repeats) or `raises` and
                                `message`; `takes_s`, `timeout_s`, `effect`
    [[turn]]                    what the model says: `text`, with `times` (and `{n}` in
                                the text), or `raises` and `message`, or `if_seen`,
                                `then`, `else`
    repeat_last_turn            the last turn is said for ever
    repeat_turns                all turns are said over and over
    window_tokens               how much of its prompt the model sees
    steps                       how many calls of the model each engine may make
    cancel_after_tool_calls     the user stops the run during that call
    [ends.<engine>]             state, reason, answer, model_turns, tool_calls; may be
                                left out in a scenario of your own
"""

from __future__ import annotations

import builtins
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.paths import DATA
from workbook.record.events import Kind
from workbook.record.trace import Trace

if TYPE_CHECKING:
    from workbook.models.script import Script

FOLDER = DATA / "scenarios"
DEFAULT_STEPS = 12

_TEXT, _COUNT = {"type": "string"}, {"type": "integer", "minimum": 1}
_SECONDS = {"type": "number", "exclusiveMinimum": 0}
_TOOL = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "description"],
    "properties": {
        "name": _TEXT,
        "description": _TEXT,
        "returns": {"type": "array", "items": _TEXT},
        "raises": {"pattern": "^[A-Z][A-Za-z]*$"},
        "message": _TEXT,
        "takes_s": _SECONDS,
        "timeout_s": _SECONDS,
        "effect": {"enum": ["read", "write"]},
    },
}
_TURN = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "text": _TEXT,
        "times": _COUNT,
        **{key: {} for key in ("calls", "if_seen", "then", "else")},
        **{key: {} for key in ("raises", "message")},
    },
}
_END = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "state": _TEXT,
        "reason": _TEXT,
        "answer": _TEXT,
        "model_turns": {"type": "integer"},
        "tool_calls": {"type": "integer"},
    },
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["title", "question", "teaches", "turn"],
    "properties": {
        "title": _TEXT,
        "question": _TEXT,
        "teaches": _TEXT,
        "source": _TEXT,
        "tools": {"type": "array", "items": _TEXT},
        "tool": {"type": "array", "items": _TOOL},
        "turn": {"type": "array", "items": _TURN},
        "repeat_last_turn": {"type": "boolean"},
        "repeat_turns": {"type": "boolean"},
        "window_tokens": _COUNT,
        "steps": _COUNT,
        "cancel_after_tool_calls": _COUNT,
        "ends": {"type": "object", "additionalProperties": _END},
    },
}
"""The file as JSON Schema; what a turn may be, `workbook.models.script` says."""


class ScenarioError(ValueError):
    """A scenario that does not exist or whose file does not hold together."""

    def _render_traceback_(self) -> list[str]:
        """Show a sentence in a notebook: what is wrong is in a file, not in code."""
        return [f"{type(self).__name__}: {self}"]


@dataclass(frozen=True)
class Scenario:
    """One scenario as its file has it. `turns` are written out, `{n}` filled in."""

    slug: str
    title: str
    question: str
    teaches: str
    tool_names: tuple[str, ...]
    scripted_tools: tuple[Mapping[str, Any], ...]
    turns: tuple[Any, ...]
    ends: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    source: str = ""
    steps: int = DEFAULT_STEPS
    repeat_last_turn: bool = False
    repeat_turns: bool = False
    window_tokens: int | None = None
    cancel_after_tool_calls: int | None = None

    def script(self) -> Script:
        """Return a fresh scripted model that plays the turns."""
        from workbook.models.script import Script

        return Script(
            self.turns,
            window_tokens=self.window_tokens,
            loop=self.repeat_turns,
            repeat_last=self.repeat_last_turn,
        )


def slugs() -> list[str]:
    """Return the names of all scenarios, in alphabetical order."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(slug: str) -> Scenario:
    """Return the scenario with this name.

    Raises:
        ScenarioError: there is none, with the nearest name; or its file is wrong.
    """
    path = FOLDER / f"{slug}.toml"
    if slug not in slugs():
        import difflib

        near = difflib.get_close_matches(str(slug), slugs(), n=1)
        guess = f"Did you mean {near[0]!r}?" if near else "slugs() names them."
        raise ScenarioError(f"there is no scenario {slug!r}. {guess}")
    return read_scenario(path)


def read_scenario(path: Path) -> Scenario:
    """Read a scenario's file, as it is now: it may be edited between two runs.

    Raises:
        ScenarioError: the file is not TOML, or not what `SCHEMA` allows.
    """
    from workbook.tools.arguments import sentences, validator_for

    validator = validator_for(SCHEMA)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path.name} is not TOML: {error}") from None
    if problems := sentences(validator, data):
        told = "; ".join(map(_in_words, problems))
        raise ScenarioError(f"{path.name} does not hold together: {told}")
    for tool in data.get("tool", ()):
        raised = getattr(builtins, tool.get("raises", "Exception"), None)
        if not (isinstance(raised, type) and issubclass(raised, Exception)):
            raise ScenarioError(
                f"{path.name}: the tool {tool['name']} raises {tool['raises']}, which "
                "is no exception of Python's own"
            )
    scenario = Scenario(
        slug=path.stem,
        tool_names=tuple(data.pop("tools", ())),
        scripted_tools=tuple(data.pop("tool", ())),
        turns=tuple(turn for each in data.pop("turn") for turn in _written_out(each)),
        **data,
    )
    try:
        scenario.script()
    except ValueError as error:
        raise ScenarioError(f"{path.name} does not hold together: {error}") from None
    return scenario


def _in_words(problem: str) -> str:
    """Say where in the file a problem is, counting tools and turns from 1."""
    where, _, what = problem.removeprefix("arguments").partition(": ")
    where = where.removeprefix(".")
    if where in ("tool", "turn") and what.endswith('"array"'):
        return f"write [[{where}]] with two brackets"
    entry = re.match(r"(tool|turn)\[(\d+)\]\.?", where)
    if entry:
        rest = where[entry.end() :]
        where = f"{entry[1]} {int(entry[2]) + 1}{', ' if rest else ''}{rest}"
    return f"{where}: {what}" if where else what


def _written_out(entry: Mapping[str, Any]) -> list[Any]:
    """Repeat a turn `times` times, with its number in place of `{n}`."""
    turn = {key: _trimmed(value) for key, value in entry.items() if key != "times"}
    if "text" not in turn:
        return [turn] * entry.get("times", 1)
    return [
        turn["text"].replace("{n}", str(n)) for n in range(1, entry.get("times", 1) + 1)
    ]


def _trimmed(value: Any) -> Any:
    return value.removeprefix("\n") if isinstance(value, str) else value


def outcome(trace: Trace) -> dict[str, Any]:
    """Say how a run ended: the keys of `[ends.<engine>]`.

    `model_turns` counts the answers that the model gave. Those that it gave to a tool
    (an event with a parent) are not the agent's and do not count.
    """
    end = trace.end or {"state": "RUNNING", "reason": None, "answer": None}
    own = [event for event in trace if "parent" not in event]
    kinds = [event["kind"] for event in own]
    return {
        "state": end["state"],
        "reason": end["reason"],
        "answer": end["answer"],
        "model_turns": kinds.count(Kind.MODEL_TURN),
        "tool_calls": kinds.count(Kind.TOOL_CALL),
    }


def differences(scenario: Scenario, engine: str, trace: Trace) -> list[str]:
    """Compare a run with how the scenario says this engine ends; empty if equal."""
    if engine not in scenario.ends:
        return [f"{scenario.slug} does not say how {engine} ends"]
    found = outcome(trace)
    return [
        f"{scenario.slug} on {engine}: {key} is {found[key]!r}, expected {expected!r}"
        for key, expected in scenario.ends[engine].items()
        if found[key] != expected
    ]
