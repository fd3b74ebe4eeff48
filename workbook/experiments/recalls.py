"""Lab 09's measurements: which notes a way to recall finds, and what a run is told."""

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbook.environments.search import wiki_search
from workbook.experiments.rates import interval
from workbook.grounding.grounded import citing_preamble, grounding
from workbook.grounding.memory import Memory
from workbook.grounding.recall import Note, Recall, RecallByMeaning
from workbook.paths import DATA
from workbook.runtime.guards import all_guards
from workbook.runtime.local import local_server
from workbook.runtime.machine import Machine
from workbook.runtime.script import Script, count_tokens
from workbook.runtime.trace import Trace
from workbook.wait import waiting


def _rows(name: str) -> list[dict[str, Any]]:
    path = DATA / f"lessons/09/memory_{name}.jsonl"
    return [json.loads(line) for line in path.open(encoding="utf-8")]


def notes() -> list[Note]:
    """Return the 60 notes of the lab, each as old as its number."""
    rows = enumerate(_rows("notes"))
    return [Note(n, row["kind"], row["text"], n) for n, row in rows]


def size(texts: Iterable[str]) -> int:
    """Return about how many tokens some texts are, one a line."""
    return count_tokens("\n".join(texts))


def found_by(way: Recall, k: int = 3) -> list[list[str]]:
    """Return the notes, by name, that a way to recall brings for each question."""
    names, kept, found = [row["slug"] for row in _rows("notes")], notes(), []
    asked = _rows("questions")
    with waiting("recalling notes", total=len(asked)) as tick:
        for question in asked:
            found.append([names[note.id] for note in way(question["text"], kept, k)])
            tick()
    return found


def found_by_meaning() -> list[list[str]]:
    """Return what the local model's embeddings bring for each question of the lab."""
    return found_by(RecallByMeaning(embed))


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Return a vector of length 1 for each text, of its first 500 bytes."""
    # no more than llama.cpp reads in one batch, which is 512 tokens
    cut = [text.encode()[:500].decode(errors="ignore") for text in texts]
    answer = local_server().post("/v1/embeddings", {"input": cut})
    return [row["embedding"] for row in answer["data"]]


def compared(ways: Mapping[str, Sequence[Sequence[str]]]) -> list[dict[str, Any]]:
    """Return rows: which share of the questions of a kind get a right note, by way.

    Of the kind "none", which no note answers, it is those that get a note all the same.
    """
    rows: dict[str, dict[str, Any]] = {}
    for way, found in ways.items():
        for kind, each in _met(found).items():
            row = rows.setdefault(kind, {"kind": kind, "questions": len(each)})
            row[way] = interval(each)
    return [*rows.values()]


def right(ways: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, int]:
    """Return for each way how many of all questions get what is right."""
    return {
        way: sum(is_met != (kind == "none") for kind in met for is_met in met[kind])
        for way, met in ((way, _met(found)) for way, found in ways.items())
    }


def _met(found: Sequence[Sequence[str]]) -> dict[str, list[bool]]:
    """Return by kind whether each question got a right note; of "none", any note."""
    met: dict[str, list[bool]] = {}
    for question, names in zip(_rows("questions"), found, strict=True):
        wanted = set(question["right"])
        is_met = bool(wanted & set(names) if wanted else names)
        met.setdefault(question["kind"], []).append(is_met)
    return met


def fuji_run(told: Iterable[str], parts: Mapping[str, Callable[..., Any]]) -> Trace:
    """Ask a grounded machine for a height, with these preferences in its memory.

    The scripted model goes by what it reads. `parts` are the reader's functions.
    """
    search = "Action: WikiSearch\nAction Input: height of Mount Fuji"
    feet, metres = (
        f"Final Answer: Mount Fuji is {height} high [w068]."
        for height in ("about 12,390 feet", "3,776 m")
    )
    model = Script([search, lambda seen: feet if "in feet" in seen else metres])
    tools = [wiki_search()]
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory(Path(folder, "memory.db"), recall=parts["recall"])
        for text in told:
            memory.add("preference", text)
        guards, cite = [*grounding(memory), *all_guards()], citing_preamble(tools)
        machine = Machine(model, tools, guards, parts=parts, preamble=cite)
        return machine.run("How high is Mount Fuji?").trace
