"""Lab 04a's measurements: which tool a model chooses, and what its first call is.

A menu is the text of three tools, by the name that it shows. It may be spoiled: beside
a name stands the text of the next tool.
"""

import tomllib
from collections.abc import Mapping
from typing import Any

from workbook.paths import DATA
from workbook.runtime.calls import ToolCall
from workbook.runtime.model import Model
from workbook.runtime.tools import Tool, ToolRegistry
from workbook.runtime.turns import Action
from workbook.wait import waiting

TOOLS = {
    "Calculator": ("expression: string, arithmetic", "Calculates numbers."),
    "WikiSearch": ("query: string, a topic", "Finds facts about places and people."),
    "Voltmeter": ("channel: integer, the channel", "Measures a voltage."),
}
NAMES = [*TOOLS]
NEXT = dict(zip(NAMES, [*NAMES[1:], NAMES[0]], strict=True))


def lab_data(name: str) -> dict[str, Any]:
    """Read one of the files of lesson 04 and its labs."""
    path = DATA / "lessons" / "04" / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def menus() -> dict[str, dict[str, str]]:
    """Return four menus by title, each a line a tool by the name that it shows."""

    def line(shown: str, arguments_of: str, description_of: str) -> str:
        return f"{shown}({TOOLS[arguments_of][0]}): {TOOLS[description_of][1]}"

    letters = dict(zip(NAMES, ("ToolA", "ToolB", "ToolC"), strict=True))
    return {
        "as it should be": {n: line(n, n, n) for n in NAMES},
        "descriptions swapped": {n: line(n, n, NEXT[n]) for n in NAMES},
        "all but the names swapped": {n: line(n, NEXT[n], NEXT[n]) for n in NAMES},
        "names that say nothing": {a: line(a, n, n) for n, a in letters.items()},
    }


def one_of(menu: Mapping[str, str]) -> str:
    """Return a grammar that lets a model write one of the menu's names, no other."""
    return "root ::= " + " | ".join(f'" {name}"' for name in menu)


def choose(model: Model, menu: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return for each question the tool that fits it, and the one that was chosen.

    A small model prefers a place in the list: each tool is in each place equally often.
    """
    shown, questions, found = [*menu], lab_data("which_tool"), []
    with waiting("choosing a tool", total=sum(map(len, questions.values()))) as tick:
        for turn in range(len(shown)):
            lines = [menu[name] for name in shown[turn:] + shown[:turn]]
            for right in NAMES:
                for question in questions[right][turn :: len(shown)]:
                    asked = f'The best tool for the question "{question}" is'
                    prompt = "\n".join(["Tools:", *lines, "", asked])
                    chosen = (model.complete(prompt).text or "").strip()
                    found.append((right, NAMES[shown.index(chosen)]))
                    tick()
    return found


def first_call(tool: Tool, text: str) -> tuple[ToolCall | None, str]:
    """Bind and run what a model wrote after `Action Input:`.

    Returns the call, None where the schema refuses it, and what the model reads.
    """
    registry = ToolRegistry([tool])
    bound = registry.bind(Action("", tool.name, text))
    if isinstance(bound, ToolCall):
        return bound, registry.run(bound).text()
    return None, bound.text()
