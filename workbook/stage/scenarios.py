"""Scenarios: one question, its tools, the model's turns, and how each engine ends.

A scenario is a file, `data/scenarios/<slug>.toml`, with the keys in the README there.
"""

import builtins
import difflib
import itertools
import math
import re
import time
import tomllib
from collections.abc import Mapping
from typing import Annotated, Any

import pydantic
from pydantic import Field
from pydantic import PositiveFloat as Seconds
from pydantic import PositiveInt as Count

from workbook.paths import DATA
from workbook.runtime.calls import Effect, ToolFailure
from workbook.runtime.model import Response, ToolRequest
from workbook.runtime.permission import SUSPENDED
from workbook.runtime.script import Script
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Kind, Trace
from workbook.worlds.catalogue import builtin_tools

FOLDER = DATA / "scenarios"
SHAPES = (
    "is no turn. A turn has text or calls (a list of name, arguments and id) or both,"
    " with times; or raises and message; or if_seen, then and else"
)
KEYS = ("text", "calls", "raises", "if_seen", "then", "else")
KINDS = ("text", "calls", "text calls", "raises", "if_seen then else")  # of a turn


class ScenarioError(ValueError):
    """A scenario that does not exist, or whose file has a mistake."""

    def _render_traceback_(self) -> list[str]:
        """Show a sentence in a notebook: the mistake is in a file, not in code."""
        return [f"{type(self).__name__}: {self}"]


class _Entry(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", strict=True, frozen=True)


def _exception(name: Any) -> type[Exception]:
    found = getattr(builtins, str(name), None)
    if isinstance(found, type) and issubclass(found, Exception):
        return found
    raise ValueError(f"{name!r} is not a built-in exception")


Raised = Annotated[Any, pydantic.AfterValidator(_exception)]


class Call(_Entry):
    """A call of a function that the model asks for."""

    name: str
    arguments: dict[str, Any]
    id: str = ""


class Turn(_Entry):
    """A turn of the model, played `times` times with its number in place of `{n}`."""

    text: str | None = None
    calls: list[Call] = []
    times: Annotated[int, Field(ge=0)] = 1
    raises: Raised = None
    message: str = ""
    if_seen: str | None = None
    then: "Turn | None" = None
    otherwise: "Turn | None" = Field(None, alias="else")

    @pydantic.model_validator(mode="before")
    @classmethod
    def _kind(cls, table: Any) -> Any:
        """Take a text for a turn; refuse one without content, or of two kinds."""
        table = {"text": table} if isinstance(table, str) else table
        is_table = isinstance(table, dict)
        if not is_table or " ".join(key for key in KEYS if key in table) not in KINDS:
            raise ValueError(f"{str(table)[:80]} {SHAPES}")
        return table

    def play(self, number: int = 1) -> Any:
        """Return it as a `Script` plays it."""
        if self.if_seen is not None and self.then and self.otherwise:
            part, then, other = self.if_seen, self.then.play(), self.otherwise.play()
            return lambda seen: then if part in seen else other
        if self.raises:
            return self.raises(self.message)
        text = (self.text or "").replace("{n}", str(number))
        calls = [ToolRequest(c.name, c.arguments, c.id) for c in self.calls]
        return Response(text, calls=calls, finish="tool_calls") if calls else text


class Refusal(_Entry):
    """The error that a tool returns; see `ToolFailure`."""

    kind: str
    message: str
    retryable: bool = False
    hint: str = ""


class ScriptedTool(_Entry):
    """A tool of one scenario."""

    name: str
    description: str
    returns: list[str | dict[str, Any]] = []
    fails: Refusal | None = None
    raises: Raised = None
    message: str = ""
    takes_s: Seconds = 0.0
    timeout_s: Seconds | None = None
    effect: Effect = Field(Effect.READ, strict=False)  # the file has its word
    outside: bool = True
    agreed: str | None = None  # the description that a person has agreed to

    def tool(self) -> Tool:
        """Return it as new: one answer a call, the last one repeats."""
        last = self.returns[-1] if self.returns else ""
        answers = itertools.chain(self.returns, itertools.repeat(last))

        def run(input: str) -> dict[str, Any]:
            time.sleep(self.takes_s)
            if self.fails:
                raise ToolFailure(**self.fails.model_dump())
            if self.raises:
                raise self.raises(self.message)
            answer = next(answers)
            return answer if isinstance(answer, dict) else {"result": answer}

        schema = {"properties": {"input": {"type": "string"}}, "required": ["input"]}
        about: Any = {"effect": self.effect, "timeout_s": self.timeout_s}
        about |= {"outside": self.outside}
        return Tool(self.name, self.description, schema, run, **about)


class Guarding(_Entry):
    """What a scenario gives to the guards of a machine."""

    mode: str = "build"
    answers: list[str] = []  # of a person, one a question: approve, later, reject: why
    tokens: float = math.inf
    context_tokens: Count | None = None
    memory: list[dict[str, str]] = []  # notes: kind, text, source
    allow_all: bool = False  # the user's rules allow everything
    private: list[str] = []  # tools whose text is secret


class Punchline(_Entry):
    """What stays in view in the player once it has happened; `{n}` counts it."""

    label: Annotated[str, Field(min_length=1)]
    kind: Kind = Field(strict=False)  # the file has its word
    fields: dict[str, str | int | float | bool] = {}  # that the event has
    says: re.Pattern[str] | None = None  # found in its text; its first group is shown
    latest: bool = False  # only the last of them stays
    nested: bool = False  # those that a tool caused, and not the agent


class End(_Entry):
    """How a run ends; what is left out may be anything."""

    state: str | None = None
    reason: str | None = None
    answer: str | None = None
    model_turns: int | None = None
    tool_calls: int | None = None


class Scenario(_Entry):
    """One scenario as its file has it."""

    slug: str
    title: str
    question: str
    teaches: str
    written: list[Turn] = Field(alias="turn")
    source: str = ""
    group: str = ""
    right: str = ""
    right_if: re.Pattern[str] | None = None
    tool_names: list[str] = Field([], alias="tools")
    scripted_tools: list[ScriptedTool] = Field([], alias="tool")
    repeat_last_turn: bool = False
    repeat_turns: bool = False
    window_tokens: Count | None = None
    steps: Count = 12
    cancel_after_tool_calls: Count | None = None
    guards: Guarding = Guarding()
    ends: dict[str, End] = {}
    punchline: list[Punchline] = []

    def is_right(self, end: Mapping[str, Any]) -> bool:
        """Return whether an `outcome` is right: its answer, or else its state."""
        given = str(end["answer"] if end["state"] == "DONE" else end["state"])
        return bool(self.right_if and self.right_if.fullmatch(" ".join(given.split())))

    @property
    def turns(self) -> list[Any]:
        """The model's turns, as a `Script` takes them."""
        return [t.play(n) for t in self.written for n in range(1, t.times + 1)]

    def script(self) -> Script:
        """Return a fresh scripted model that plays the turns."""
        again = {"loop": self.repeat_turns, "repeat_last": self.repeat_last_turn}
        return Script(self.turns, window_tokens=self.window_tokens, **again)

    def tools(self) -> list[Tool]:
        """Return fresh tools for one run: real ones, and ones that follow a script."""
        try:
            tools = builtin_tools(self.tool_names)
        except KeyError as error:
            raise ScenarioError(f"{self.slug}: {error.args[0]}") from None
        return tools + [entry.tool() for entry in self.scripted_tools]


def slugs(wing: str = "") -> list[str]:
    """Return the names of the scenarios in a folder, sorted; "trust" is a folder."""
    return sorted(path.stem for path in (FOLDER / wing).glob("*.toml"))


def load(slug: str) -> Scenario:
    """Return a scenario as its file is now.

    ScenarioError: there is none, or all mistakes in its file, each by its place.
    """
    paths = {path.stem: path for path in FOLDER.rglob("*.toml")}
    if slug not in paths:
        near = difflib.get_close_matches(str(slug), paths, n=1)
        guess = f"Did you mean {near[0]!r}?" if near else "slugs() names them."
        raise ScenarioError(f"there is no scenario {slug!r}. {guess}")
    path = paths[slug]
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        return Scenario.model_validate({**data, "slug": path.stem})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path.name} is not TOML: {error}") from None
    except pydantic.ValidationError as error:
        found = "; ".join(_in_words(**problem) for problem in error.errors())
        raise ScenarioError(f"{path.name} does not hold together: {found}") from None


def _in_words(type: str, loc: tuple[Any, ...], msg: str, **more: Any) -> str:
    """Return where in the file a mistake is, counting tools and turns from 1."""
    if type == "list_type" and loc[-1] in ("tool", "turn", "punchline"):
        return f"write [[{loc[-1]}]] with two brackets"
    where = " ".join(str(part + 1 if isinstance(part, int) else part) for part in loc)
    if type == "value_error":
        return f"{where}: {more['ctx']['error']}"
    found = f"{where} is {more['input']!r}: {msg[0].lower()}{msg[1:]}"
    short = {"missing": " is missing", "extra_forbidden": ": there is no such key"}
    return where + short[type] if type in short else found


def outcome(trace: Trace) -> dict[str, Any]:
    """Return how a run ended, by the keys of `[ends.<engine>]`; no nested calls."""
    end = trace.end or {"state": "RUNNING", "reason": None, "answer": None}
    moved = trace.of(Kind.TRANSITION)
    if trace.end is None and moved and moved[-1]["target"] == SUSPENDED:
        end |= {"state": SUSPENDED, "reason": moved[-1]["event"]}
    kinds = [event["kind"] for event in trace if "parent" not in event]
    return {key: end[key] for key in ("state", "reason", "answer")} | {
        "model_turns": kinds.count(Kind.MODEL_TURN),
        "tool_calls": kinds.count(Kind.TOOL_CALL),
    }
