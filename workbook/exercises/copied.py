"""What an exported agent has of the workbook: copies of files, with names of their own.

The room `runtime` needs nothing else, so all of it is copied.
"""

import re
from collections.abc import Iterable

from workbook.exercises.answer import PART_IMPORT
from workbook.exercises.catalogue import exercises
from workbook.paths import ROOT

NAME = __name__.partition(".")[0]
COPY, SERVERS = "runtime", "servers"
"""What the agent calls its runtime, and what it needs for the tools of MCP servers."""

FILES = {
    f"{SERVERS}/mcp.py": f"{NAME}/security/mcp.py",
    f"{SERVERS}/strangers.py": f"{NAME}/security/strangers.py",
    "weights.py": f"{NAME}/weights.py",
}
"""Copies beside the runtime, for what is optional in an agent."""

READ = {
    "tests.doubles": "tests/doubles.py",
    "tests.runtime.playing": "tests/runtime/playing.py",
    "calculator_attacks": "data/lessons/04/calculator_attacks.toml",
}
"""What the tests of parts read, by the word with which they ask for it."""

RENAMED = {
    f"python -m {NAME} fetch-model": "python agent.py --model local",
    f"python -m {NAME} serve-model": "its own command",
    "pip install mcp": "pip install -e '.[mcp]'",
    "; the scripted model needs neither": "",
    "WORKBOOK_": "AGENT_",
    f"from .{COPY} ": f"from {COPY} ",
    f"{NAME}.{COPY}": COPY,
    f"{NAME}.security": SERVERS,
    NAME: "agent",
}
"""What copies speak of that an agent has not, and what takes its place, in order."""

OUTSIDE = re.compile(rf"^\s*(?:from|import) ({NAME}\b(?!\.{COPY}\b)[.\w]*)", re.M)
"""An import of what an agent has not."""


def rewritten(text: str) -> str:
    """Return a text in which the package's names are those of its copies."""
    for name, place in RENAMED.items():
        text = text.replace(name, place)
    return text


def text_of(name: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def copies() -> dict[str, str]:
    """Return the runtime, and what is beside it, by place."""
    room = sorted((ROOT / NAME / COPY).glob("*.py"))
    files = {f"{COPY}/{path.name}": path.relative_to(ROOT).as_posix() for path in room}
    return {place: text_of(name) for place, name in {**files, **FILES}.items()}


def tests_of(parts: Iterable[str]) -> dict[str, str]:
    """Return the tests of parts, by place, but those that need more than a runtime."""
    names = [exercises()[slug].tests for slug in parts if slug in exercises()]
    files = {name: text_of(name) for name in names}
    tests = {name: text for name, text in files.items() if not OUTSIDE.search(text)}
    asked = [READ[word] for word in READ if word in "".join(tests.values())]
    return tests | {name: text_of(name) for name in asked}


def part_text(text: str, own: Iterable[str]) -> str:
    """Return an answer that finds the other parts beside it, or in the package.

    Args:
        text: as it is kept.
        own: the exercises that are exported as parts.
    """

    def home(match: re.Match[str]) -> str:
        slug = match[1]
        module, _, name = exercises()[slug].target.partition(":")
        return f"from {f'parts.{slug}' if slug in own else module} import {name}"

    lines = [line for line in text.splitlines() if line != PART_IMPORT]
    slugs = "|".join(map(re.escape, exercises()))
    call = re.compile(rf'^(?:{slugs}) = part\("({slugs})"\)$')
    return "\n".join(call.sub(home, line) for line in lines) + "\n"
