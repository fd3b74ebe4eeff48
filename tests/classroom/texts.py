"""Notebooks as text: many small ones in one file that a person can read.

A notebook begins with `=== name`, then one line that says what it is, then lines
`key: value` if need be. Its cells begin with `---` and their tags. Where the first is
not tagged setup, the usual one stands before it. `␀` stands for the NUL character; a
line `[right]`, `[wrong]` or `[stub]` for such an answer to who_writes, and its check.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

SETUP = ("from workbook import check, hint", ["setup"])
LESSON = "00_start_here"
BODIES = {
    "right": 'return "runtime" if label == "Observation" else "model"',
    "wrong": 'return "model"',
    "stub": "raise NotImplementedError",
}


@dataclass
class Notebook:
    """What one is, what is known of it, and its cells: (source, tags)."""

    name: str
    about: str
    known: dict[str, str] = field(default_factory=dict)
    cells: list[tuple[str, list[str]]] = field(default_factory=list)

    @property
    def file_name(self) -> str:
        return f"{self.known.get('in', LESSON)}.ipynb"

    def as_json(self) -> str:
        """Return the text of the .ipynb file."""
        rows = [
            {
                "cell_type": "code",
                "id": f"cell-{number}",
                "metadata": {"tags": tags},
                "source": source,
                "outputs": [],
                "execution_count": None,
            }
            for number, (source, tags) in enumerate(self.cells)
        ]
        content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": rows}
        return json.dumps(content)


def read(folder: Path) -> dict[str, Notebook]:
    """Return the notebooks in the text files of a folder, by name."""
    found: dict[str, Notebook] = {}
    for path in sorted(folder.glob("*.txt")):
        for text in path.read_text(encoding="utf-8").split("\n=== ")[1:]:
            notebook = _read(text)
            assert notebook.name not in found, notebook.name
            found[notebook.name] = notebook
    return found


def _read(text: str) -> Notebook:
    text = f"\n{text}".replace("␀", "\0")
    for name, body in BODIES.items():
        answer = f"def who_writes(label):\n    {body}\n\nwho_writes = check(who_writes)"
        text = text.replace(f"\n[{name}]", f"\n{answer}")
    head, *cells = text.split("\n---")
    name, about, *known = head.strip().splitlines()
    notebook = Notebook(name, about, dict(line.split(": ", 1) for line in known))
    for cell in cells:
        tags, _, source = cell.partition("\n")
        notebook.cells.append((source.strip("\n"), tags.split()))
    if "setup" not in notebook.cells[0][1]:
        notebook.cells.insert(0, SETUP)
    return notebook
