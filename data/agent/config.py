"""Reads config.toml: every value is checked, and what is missing has a default."""

import difflib
import fnmatch
import json
import math
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workbook.runtime.budget import Budget, Prices
from workbook.runtime.permission import POLICY, PolicyRule, Verdict

DEFAULTS: dict[str, dict[str, Any]] = {
    "model": {
        "name": "",
        "url": "",
        "calls": "auto",
        "turn_tokens": 4096,
        "seconds": 120,
        "options": {},
    },
    "limits": {
        "steps": 30,
        "tool_calls": 60,
        "seconds": 600,
        "tokens": 200_000,
        "context": 32_000,
        "money": math.inf,
    },
    "prices": {"currency": "", "date": "", "input": 0, "output": 0, "cached": 0},
    "approval": {"mode": "build", "writes": "ask", "allow": [], "deny": []},
    "files": {"state": "state"},
    "folder": {"tests": ["python", "-m", "unittest", "discover"], "seconds": 60},
    "mcp": {"servers": {}},
}
KINDS = {str: "a text", list: "a list", dict: "a table"}
CHOICES = {
    "calls": ("auto", "functions", "text"),
    "mode": ("build", "plan"),
    "writes": ("ask", "later", "yes"),
}


FOLDER_TOOLS = ("list_files", "read_file", "run_tests", "write_file", "edit_file")
OTHERWISE = {
    "name": "name",
    "model": "name",
    "base_url": "url",
    "api_key": "the variable OPENAI_API_KEY",
    "max_tokens": "turn_tokens",
    "max_completion_tokens": "turn_tokens",
    "timeout_s": "seconds",
}
"""What `options` may not hold, and what sets it."""


class UsageError(Exception):
    """The agent was asked wrongly; the message says what to do."""


class ConfigError(UsageError):
    """Something in config.toml is wrong; the message says what and where."""


class Config(dict[str, dict[str, Any]]):
    """The tables of config.toml: `config["limits"]["steps"]`."""

    @property
    def budget(self) -> Budget:
        """The most that one question may cost."""
        limits, prices = self["limits"], self["prices"]
        priced = prices["currency"] and (prices["input"] or prices["output"])
        if limits["money"] < math.inf and not priced:
            raise ConfigError(
                "config.toml, [limits]: money needs a table [prices] with a currency"
                " and what a million input and output tokens cost."
            )
        try:
            return Budget(
                steps=limits["steps"],
                tool_calls=limits["tool_calls"],
                wall_s=limits["seconds"],
                tokens=limits["tokens"],
                money=limits["money"],
                prices=Prices(**prices) if prices["currency"] else None,
            )
        except ValueError as error:
            raise ConfigError(f"config.toml, [limits] or [prices]: {error}") from None

    @property
    def rules(self) -> tuple[PolicyRule, ...]:
        """The policy: what is denied, what is allowed, and then the usual rules."""
        said = self["approval"]
        rows = [
            PolicyRule(Verdict.DENY, tool=name, why="config.toml denies it")
            for name in said["deny"]
        ]
        allowed = [*said["allow"], *(["*"] if said["writes"] == "yes" else [])]
        rows += [
            PolicyRule(Verdict.ALLOW, "build", tool=name, why="config.toml allows it")
            for name in allowed
        ]
        return (*rows, *POLICY)

    def check_names(self, tools: Iterable[str]) -> None:
        """Raise ConfigError where `allow` or `deny` names what is no tool."""
        names = {name.casefold(): "" for name in (*tools, *FOLDER_TOOLS)}
        for said in ("allow", "deny"):
            for pattern in self["approval"][said]:
                if not fnmatch.filter(names, pattern.casefold()):
                    _known(pattern, names, f"config.toml, [approval] {said}")


def read_config(path: Path) -> Config:
    """Read the file; ConfigError where a name or a value is wrong."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise ConfigError(f"{path.name} is no TOML: {error}.") from None
    config = Config({table: dict(usual) for table, usual in DEFAULTS.items()})
    for table, values in found.items():
        _known(table, DEFAULTS, path.name)
        if not isinstance(values, dict):
            raise ConfigError(f"{path.name}: {table} is a table: write [{table}]")
        for name, value in values.items():
            where = f"{path.name}, [{table}]"
            _known(name, DEFAULTS[table], where)
            config[table][name] = _checked(name, value, DEFAULTS[table][name], where)
    return config


def _known(name: str, names: dict[str, Any], where: str) -> None:
    if name in names:
        return
    near = difflib.get_close_matches(name, names, 1)
    guess = f"Did you mean {near[0]}?" if near else f"It knows {', '.join(names)}."
    raise ConfigError(f"{where}: there is no {name}. {guess}")


def _checked(name: str, value: Any, usual: Any, where: str) -> Any:
    if name == "date":  # TOML has dates of its own
        return str(value)
    if name in CHOICES and value not in CHOICES[name]:
        known = ", ".join(f'"{each}"' for each in CHOICES[name])
        raise ConfigError(f"{where}: {name} is {value!r}; use one of {known}.")
    number = isinstance(usual, int | float)
    kinds = (int, float) if number else type(usual)
    if not isinstance(value, kinds) or isinstance(value, bool):
        kind = "a number" if number else KINDS[type(usual)]
        raise ConfigError(f"{where}: {name} is {value!r}; use {kind}.")
    if isinstance(value, list) and not all(isinstance(each, str) for each in value):
        raise ConfigError(f"{where}: {name} is {value!r}; use texts.")
    if name == "tests" and not value:
        raise ConfigError(f"{where}: tests is empty; use the words of a command.")
    if name == "options":
        _check_options(value, where)
    if number and value <= 0 and where.endswith(("[limits]", "[model]", "[folder]")):
        raise ConfigError(f"{where}: {name} is {value!r}; use more than 0.")
    return value


def _check_options(options: dict[str, Any], where: str) -> None:
    for key in OTHERWISE.keys() & options:
        raise ConfigError(f"{where}: options has {key}; set it by {OTHERWISE[key]}.")
    for key in ("messages", "tools", "stop", "stream") & options.keys():
        raise ConfigError(f"{where}: options has {key}, which the agent sets itself.")
    retries = options.get("retries", 0)
    if not isinstance(retries, int) or retries < 0:
        raise ConfigError(f"{where}: retries is {retries!r}; use a number from 0.")
    try:
        json.dumps(options)
    except TypeError as error:
        raise ConfigError(f"{where}: options cannot be sent: {error}.") from None
