"""Reads config.toml: every value is checked, and what is missing has a default."""

import difflib
import fnmatch
import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from .runtime.budget import Budget, Prices
from .runtime.permission import POLICY, PolicyRule, Verdict

DEFAULTS: dict[str, dict[str, Any]] = {
    "model": {
        "name": "",
        "url": "",
        "calls": "auto",
        "instructions": "",
        "turn_tokens": 4096,
        "seconds": 120,
        "options": {},
    },
    "limits": {
        "steps": 100,
        "tool_calls": 200,
        "seconds": 3600,
        "tokens": 2_000_000,
        "context": 100_000,
        "money": math.inf,
    },
    "prices": {"currency": "", "date": "", "input": 0, "output": 0, "cached": 0},
    "approval": {
        "mode": "build",
        "writes": "ask",
        "allow": [],
        "deny": [],
        "commands": [],
    },
    "guards": {"grounding": "off", "untrusted": "off"},
    "files": {"state": "state"},
    "folder": {"tests": ["python", "-m", "unittest", "discover"], "seconds": 120},
    "mcp": {"servers": {}},
}
SERVER: dict[str, Any] = {"command": [], "reads": [], "env": {}, "seconds": 10}
"""One of [mcp.servers.NAME]."""
KINDS = {str: "a text", list: "a list", dict: "a table", int: "a whole number"}
KINDS |= {(int, float): "a number"}
WHOLE = ("turn_tokens", "steps", "tool_calls", "tokens", "context")
CHOICES = {
    "grounding": ("off", "on"),
    "untrusted": ("off", "on"),
    "calls": ("auto", "functions", "text"),
    "mode": ("build", "plan"),
    "writes": ("ask", "later", "yes"),
}
OTHERWISE = {
    "model": "name",
    "base_url": "url",
    "api_key": "the variable OPENAI_API_KEY",
    "max_tokens": "turn_tokens",
    "max_completion_tokens": "turn_tokens",
    "timeout_s": "seconds",
} | dict.fromkeys(("messages", "tools", "stop", "stream"), "nothing: the agent does it")
"""What `options` may not hold, and what sets it."""


class UsageError(Exception):
    """The agent was asked wrongly; the message says what to do."""


class ConfigError(UsageError):
    """Something in config.toml is wrong; the message says what and where."""


class Config(dict[str, dict[str, Any]]):
    """The tables of config.toml: `config["limits"]["steps"]`."""

    home = Path()  # what its paths are relative to

    @classmethod
    def read(cls, given: Path | str | Mapping[str, Any]) -> Self:
        """Read a file, or tables; ConfigError where a name or a value is wrong."""
        config = cls({table: dict(usual) for table, usual in DEFAULTS.items()})
        found = {} if isinstance(given, str | Path) else given
        if isinstance(given, str | Path):
            config.home = Path(given).resolve().parent
            try:
                found = tomllib.loads(Path(given).read_text("utf-8-sig"))
            except OSError as error:
                words = f"{given} cannot be read: {error.strerror}."
                raise ConfigError(words) from None
            except ValueError as error:
                raise ConfigError(f"{given} is no TOML: {error}.") from None
        for table, values in found.items():
            _known(table, DEFAULTS, "config.toml")
            config[table] = _read(table, values, DEFAULTS[table])
        servers = config["mcp"]["servers"]
        for name, values in servers.items():
            servers[name] = _read(f"mcp.servers.{name}", values, SERVER)
        prices = config["prices"]
        if not prices["currency"] and any(prices[n] for n in ("input", "output")):
            raise ConfigError("config.toml, [prices]: name the currency, such as USD.")
        return config

    @property
    def state(self) -> Path:
        """Where traces and the ledger are kept, for their owner alone."""
        folder = (self.home / self["files"]["state"]).resolve()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    @property
    def budget(self) -> Budget:
        """The most that one question may cost."""
        limits, prices = self["limits"], self["prices"]
        if limits["money"] < math.inf and not (prices["input"] or prices["output"]):
            raise ConfigError(
                "config.toml, [limits]: money needs a table [prices] with a currency"
                " and what a million input and output tokens cost."
            )
        about = {n: limits[n] for n in ("steps", "tool_calls", "tokens", "money")}
        try:
            priced = Prices(**prices) if prices["currency"] else None
            return Budget(wall_s=limits["seconds"], prices=priced, **about)
        except ValueError as error:
            raise ConfigError(f"config.toml, [limits] or [prices]: {error}") from None

    @property
    def rules(self) -> tuple[PolicyRule, ...]:
        """The policy: what is denied, what is allowed, and then the usual rules."""
        given = self["approval"]
        allowed = [*given["allow"], *(["*"] if given["writes"] == "yes" else [])]
        rules = [(Verdict.DENY, "*", name, "denies") for name in given["deny"]]
        rules += [(Verdict.ALLOW, "build", name, "allows") for name in allowed]
        rows = [
            PolicyRule(verdict, mode, tool=name, why=f"config.toml {what} it")
            for verdict, mode, name, what in rules
        ]
        return (*rows, *POLICY)

    def allows(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether a call is a command that [approval] commands allows."""
        command = str(arguments.get("command", ""))
        simple = not any(sign in command for sign in ";&|<>$`\n")
        patterns = self["approval"]["commands"] if tool == "run_command" else ()
        return simple and any(fnmatch.fnmatchcase(command, each) for each in patterns)

    def check_names(self, tools: Iterable[str]) -> None:
        """Raise ConfigError where `allow` or `deny` names what is no tool."""
        names = {name.casefold(): "" for name in tools}
        for which in ("allow", "deny"):
            for pattern in self["approval"][which]:
                if not fnmatch.filter(names, pattern.casefold()):
                    _known(pattern, names, f"config.toml, [approval] {which}")


def _known(name: str, names: Mapping[str, Any], where: str) -> None:
    if name not in names:
        near = difflib.get_close_matches(name, names, 1)
        guess = f"Did you mean {near[0]}?" if near else f"It knows {', '.join(names)}."
        raise ConfigError(f"{where}: there is no {name}. {guess}")


def _read(table: str, values: Any, usual: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with what it leaves out; ConfigError: something in it is wrong."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"config.toml: {table} is a table: write [{table}]")
    where = f"config.toml, [{table}]"
    for name in values:
        _known(name, usual, where)
    if "command" in usual and "command" not in values:
        raise ConfigError(f"{where}: give its command, as a list of words.")
    read = {name: _checked(name, values[name], usual[name], where) for name in values}
    return {**usual, **read}


def _checked(name: str, value: Any, usual: Any, where: str) -> Any:
    if name == "date":  # TOML has dates of its own
        return str(value)
    number, problem = isinstance(usual, int | float), ""
    kinds = int if name in WHOLE else (int, float) if number else type(usual)
    if name in CHOICES and value not in CHOICES[name]:
        problem = f"use one of {', '.join(CHOICES[name])}"
    elif not isinstance(value, kinds) or isinstance(value, bool):
        problem = f"use {KINDS[kinds]}"
    elif not all(isinstance(each, str) for each in _texts(name, value)):
        problem = "use texts"
    elif name in ("tests", "command") and not value:
        problem = "use the words of a command"
    elif number and not (value > 0 or value == usual):  # only a price is 0 as a rule
        problem = f"use {'more than 0' if usual else '0 or more'}"
    if problem:
        raise ConfigError(f"{where}: {name} is {value!r}; {problem}.")
    for key in value if name == "options" else ():
        if key == "retries" and not (type(value[key]) is int and value[key] >= 0):
            raise ConfigError(f"{where}: retries is {value[key]!r}; use 0 or more.")
        if key in OTHERWISE:
            raise ConfigError(f"{where}: options has {key}; set {OTHERWISE[key]}.")
        try:
            json.dumps(value[key], allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"{where}: {key} cannot be sent: {error}.") from None
    return value


def _texts(name: str, value: Any) -> Iterable[Any]:
    """Return what of a value has to be texts."""
    return value.values() if name == "env" else value if isinstance(value, list) else ()
