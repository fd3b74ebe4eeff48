"""The audit of an answer, measured: on labelled sentences, and on a model's answers.

An audit is a function such as `audit_answer`: of an answer and of evidence it returns
verdicts. On labelled sentences both of its errors can be counted.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import httpx

from workbook.environments.search import bundled_search
from workbook.environments.web_search import web_search
from workbook.environments.wiki import load_articles, wiki_tasks
from workbook.experiments.rates import interval
from workbook.grounding.calibration import Cost
from workbook.grounding.claims import find_citations
from workbook.grounding.evidence import Document, Support, Verdict, evidence_of
from workbook.grounding.grounded import HOW_TO_CITE
from workbook.paths import DATA
from workbook.runtime.model import Model
from workbook.runtime.replay import as_observation
from workbook.runtime.script import Script
from workbook.runtime.trace import Trace
from workbook.views.plots import BLUE, GREY, RED, on_any_page
from workbook.wait import waiting

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

Audit = Callable[..., Iterable[Verdict]]
Row = Mapping[str, Any]
COUNTED = "cites", "supported"
FOLDER = DATA / "lessons/09"
EXAMPLES = (FOLDER / "cite_example.txt").read_text("utf-8")
"""Two solved questions, each with its document and an answer that cites it."""
TOLD = f"{HOW_TO_CITE}\n\n"


def insisting(query: str, answer: str) -> Script:
    """Return a scripted model that searches once, and then repeats its answer."""
    search = f"Thought: I look it up.\nAction: WikiSearch\nAction Input: {query}"
    return Script([search, f"Final Answer: {answer}"], repeat_last=True)


def audited(trace: Trace, audit: Audit) -> list[Verdict]:
    """Return the verdicts on the answer of a run, by what its searches showed."""
    seen = evidence_of(map(as_observation, trace.of("observation")))
    return list(audit(trace.end["answer"], seen)) if trace.end else []


def attempts(trace: Trace) -> list[dict[str, Any]]:
    """Return a row for each answer of a run: the answer, its audit; then the end."""
    rows: list[dict[str, Any]] = []
    for event in trace.of("model_turn", "decision"):
        if answer := event.get("text", "").partition("Final Answer:")[2].strip():
            rows.append({"the model answers": answer})
        if event.get("who") == "audit":
            failed = [v for v in event["verdicts"] if v["kind"] != Support.SUPPORTED]
            why = [event["what"], *(each["why"] for each in failed)]
            rows[-1]["the audit"] = " · ".join(why)
    return [*rows[:-1], {**rows[-1], "ends": trace}]


def search_offline(query: str) -> dict[str, Any]:
    """Return what WebSearch finds where Wikipedia cannot be reached."""

    def no_network(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no route to host")

    client = httpx.Client(transport=httpx.MockTransport(no_network))
    return web_search(client).run(query=query, k=1)


def labelled(audit: Audit) -> list[dict[str, Any]]:
    """Return claims of people who had not seen the audit, and whether it refused them.

    A row has the claim, the doc_id of its article, a label, a form, and what it `is`,
    "supported" or "unsupported". It cites its article, and the article is the evidence.
    """
    rows = [json.loads(line) for line in (FOLDER / "held_out.jsonl").open("rb")]
    for row in rows:
        verdicts = audit(f"{row['claim']} [{row['doc_id']}]", [article_of(row)])
        row["refused"] = any(each.kind != Support.SUPPORTED for each in verdicts)
    return rows


def article_of(row: Row) -> Document:
    """Return the article of a labelled claim as evidence."""
    [page] = [each for each in load_articles() if each.doc_id == row["doc_id"]]
    return Document(page.doc_id, page.title, 1.0, page.text)


def rates(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the four rates of a check as rows, each with its interval.

    >>> rows = [{"is": "supported", "refused": False}]
    >>> for row in rates([*rows, {"is": "unsupported", "refused": True}]):
    ...     print(row["rate"], row["of"], row["share"][1])
    recall 1 1.0
    false acceptance 1 0.0
    false refusal 1 0.0
    precision 1 1.0
    """
    said = [(row["is"] == "unsupported", row["refused"]) for row in rows]
    of_wrong = [is_out for is_wrong, is_out in said if is_wrong]
    counts = {
        "recall": of_wrong,
        "false acceptance": [not is_out for is_out in of_wrong],
        "false refusal": [is_out for is_wrong, is_out in said if not is_wrong],
        "precision": [is_wrong for is_wrong, is_out in said if is_out],
    }
    return [  # where none was refused, there is no precision
        {"rate": name, "of": len(each), "share": interval(each)}
        for name, each in counts.items()
        if each
    ]


def refused(rows: Iterable[Row], by: str) -> list[dict[str, Any]]:
    """Return a row for each kind of claims: the share of it that the audit refuses."""
    groups: dict[str, list[bool]] = {}
    for row in rows:
        groups.setdefault(row[by], []).append(row["refused"])
    return [
        {"claims": kind, "of": len(each), "refused": interval(each)}
        for kind, each in groups.items()
    ]


def best_documents() -> "DataFrame":
    """Return the best document of each question about the articles, and its score.

    `is right` says whether an answer to the question is in that article.
    """
    import pandas as pd

    texts = {article.doc_id: article.text for article in load_articles()}
    rows = []
    for task in wiki_tasks():
        best = bundled_search().search(task.text)[0]
        is_right = any(answer in texts[best.doc_id] for answer in task.answers)
        rows.append((task.text, best.title, best.score, is_right))
    columns = ["question", "best document", "score", "is right"]
    return pd.DataFrame(rows, columns=columns)


def cost_at(costs: Iterable[Cost], threshold: float) -> Cost:
    """Return what a threshold costs: as much as the next score that occurs."""
    return next(cost for cost in costs if cost.threshold >= threshold)


@on_any_page
def errors_at(costs: Sequence[Cost], *thresholds: float) -> "Figure":
    """Print both errors of some thresholds, and draw them: the last one is chosen."""
    import pandas as pd
    from matplotlib import pyplot as plt

    for threshold in thresholds:
        _, refused, accepted = cost_at(costs, threshold)
        print(f"{threshold:g}: {refused:.0%} of the right documents refused,", end=" ")
        print(f"{accepted:.0%} of the wrong ones accepted")
    shares = 100 * pd.DataFrame(costs[:-1]).set_index("threshold")  # without ∞
    shares.columns = pd.Index(["right ones refused", "wrong ones accepted"])
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    shares.plot(ax=axes, color=[BLUE, RED], style=["o-", "o--"], drawstyle="steps-pre")
    axes.axvline(threshold, color=GREY, ls=":", label=f"chosen: {threshold:g}")
    axes.set(xlabel="threshold of the score", ylabel="% of the right, of the wrong")
    axes.set_title("A higher threshold trades one error for the other")
    axes.legend()
    plt.close(figure)  # a notebook shows what is returned, and an open one once more
    return figure


def answers(
    model: Model, before: str, audit: Audit, number: int = 10
) -> list[dict[str, Any]]:
    """Ask a model questions, each with the best document, and audit what it answers.

    A row has the question, the answer, whether it cites, and whether all of it is
    supported by that document. `before` is the beginning of each prompt.
    """
    tasks = [t for t in wiki_tasks() if t.lang == "en" and t.hops == 1][:number]
    rows: list[dict[str, Any]] = []
    with waiting("asking the model", total=number) as tick:
        for task in tasks:
            [best] = bundled_search().search(task.text, 1)
            page = Document(best.doc_id, best.title, best.score, best.text)
            asked = f"[{page.doc_id}] {page.text}\nQuestion: {task.text}\nAnswer:"
            reply = model.complete(f"{before}{asked}", stop=("\n",))
            said = (reply.text or "").strip()
            kinds = {verdict.kind for verdict in audit(said, [page])}
            is_shown = kinds == {Support.SUPPORTED}
            cites = find_citations(said) != []
            rows.append({"question": task.text, "answer": said, "cites": cites})
            rows[-1]["supported"] = is_shown
            tick()
    return rows


def counted(rows: Iterable[Row]) -> dict[str, tuple[float, float, float]]:
    """Return which share of some `answers` cites, and which is supported."""
    return {what: interval(row[what] for row in rows) for what in COUNTED}
