"""What lesson 09 and its lab measure: labelled claims, answers of a model, audits."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from workbook.lessons.evaluation import interval
from workbook.lessons.grounding import Document, Support, Verdict, find_citations
from workbook.paths import DATA
from workbook.runtime.model import Model
from workbook.runtime.script import Script
from workbook.runtime.trace import Trace
from workbook.stage.machines import Given, machine_for
from workbook.stage.scenarios import Guarding, load
from workbook.wait import waiting
from workbook.worlds.search import bundled_search
from workbook.worlds.wiki import load_articles, wiki_tasks

Audit = Callable[..., Iterable[Verdict]]
Row = dict[str, Any]
FOLDER, SETS = DATA / "lessons/09", ("held_out", "blind")
EXAMPLES = (FOLDER / "cite_example.txt").read_text("utf-8")
"""Two solved questions, each with its document and an answer that cites it."""
ARTICLES = {a.doc_id: Document(a.doc_id, a.title, 1.0, a.text) for a in load_articles()}


def labelled(audit: Audit, name: str) -> Iterator[Row]:
    """Yield the claims of a set, each with whether the audit refuses it."""
    for row in map(json.loads, (FOLDER / f"{name}.jsonl").open("rb")):
        doc_id = row["doc_id"]
        verdicts = audit(f"{row['claim']} [{doc_id}]", [ARTICLES[doc_id]])
        yield row | {"refused": any(v.kind != Support.SUPPORTED for v in verdicts)}


def shares(rows: Iterable[Row], what: str, *by: str) -> Iterator[Row]:
    """Yield, for each group of rows, the share for which `what` is true."""
    groups: dict[tuple[Any, ...], list[bool]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(row[what])
    for names, each in groups.items():
        about = dict(zip(by, names, strict=True))
        yield about | {"of": len(each), what: interval(each)}


def best_documents() -> Iterator[Row]:
    """Yield the best document of each question, and whether it has an answer."""
    for task in wiki_tasks():
        [best] = bundled_search().search(task.text, 1)
        row = {"question": task.text, "best document": best.title, "score": best.score}
        text = ARTICLES[best.doc_id].text
        yield row | {"is right": any(answer in text for answer in task.answers)}


def answers(model: Model, before: str, audit: Audit, number: int = 10) -> Iterator[Row]:
    """Yield what a model answers, each time with the best document, and its audit."""
    tasks = [t for t in wiki_tasks() if t.lang == "en" and t.hops == 1][:number]
    with waiting("asking the model", total=number) as tick:
        for task in tasks:
            [best] = bundled_search().search(task.text, 1)
            page = Document(best.doc_id, best.title, best.score, best.text)
            asked = f"[{page.doc_id}] {page.text}\nQuestion: {task.text}\nAnswer:"
            answer = model.complete(f"{before}{asked}", stop=("\n",)).text.strip()
            kinds = {verdict.kind for verdict in audit(answer, [page])}
            row: Row = {"question": task.text, "answer": answer}
            row["cites"] = bool(find_citations(answer))
            yield row | {"supported": kinds == {Support.SUPPORTED}}
            tick()


def insisting(query: str, answer: str) -> Script:
    """Return a scripted model that searches once, and then repeats its answer."""
    search = f"Thought: I look it up.\nAction: WikiSearch\nAction Input: {query}"
    return Script([search, f"Final Answer: {answer}"], repeat_last=True)


def attempts(trace: Trace) -> list[Row]:
    """Return a row for each answer of a run, with its audit; then how the run ends."""
    rows: list[Row] = []
    for event in trace.of("model_turn", "decision"):
        if answer := event.get("text", "").partition("Final Answer:")[2].strip():
            rows.append({"the model answers": answer})
        if event.get("who") == "audit":
            failed = [v for v in event["verdicts"] if v["kind"] != Support.SUPPORTED]
            why = [event["what"], *(each["why"] for each in failed)]
            rows[-1]["the audit"] = " · ".join(why)
    rows[-1]["ends"] = trace
    return rows


def fuji_run(notes: Iterable[str], parts: Given) -> Trace:
    """Ask for a height, with preferences in a memory; `parts` are the reader's."""
    search = "Action: WikiSearch\nAction Input: height of Mount Fuji"
    heights = "about 12,390 feet", "3,776 m"
    feet, metres = (f"Final Answer: Mount Fuji is {h} high [w068]." for h in heights)
    model = Script([search, lambda prompt: feet if "in feet" in prompt else metres])
    source = {"kind": "preference", "source": "user"}
    known = Guarding(memory=[{"text": text, **source} for text in notes])
    scenario = load("good_sources").model_copy(update={"guards": known})
    with TemporaryDirectory() as folder:
        about: Any = {"model": model, "parts": parts, "tainted": False}
        machine = machine_for(scenario, Path(folder), "grounded", **about)
        return machine.run("How high is Mount Fuji?").trace
