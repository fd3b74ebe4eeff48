"""What results show: a table of agents, an ablation in pairs, one page of HTML."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from workbook.evaluation.evaluate import OWNER, evaluate, file_name, identity
from workbook.evaluation.grading import paired_difference, wilson_interval
from workbook.evaluation.results import RESULT, AnyAgent, Result, read_result
from workbook.evaluation.tasks import Task
from workbook.pages import template
from workbook.traces.metrics import Run, each_run, whole_events
from workbook.traces.show import to_html
from workbook.traces.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

ROWS = 1_000  # tasks that a page shows, the wrong ones first
CHARS = 5_000_000  # of traces that a page holds


def table(results: Iterable[Result]) -> pd.DataFrame:
    """Return one row an agent, in the order in which they come first.

    Columns: `right` of `of` tasks with the 95 % Wilson interval in percent; the sums of
    `tokens`, `seconds`, `steps` (model calls), `wasted` steps and `doubled` effects;
    `wrong endings` are DONE with something that is not right. No results: ValueError.
    """
    import pandas as pd

    if not (rows := _rows((result.agent, result) for result in results)):
        raise ValueError("there are no results to show")
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("agent")


def ablation_table(
    tasks: Iterable[Task],
    agents: Sequence[AnyAgent],
    *,
    out: Path | str,
    **options: Any,
) -> pd.DataFrame:
    """Evaluate agents on the same tasks; `table`, and each beside the first one.

    Each agent has a folder of its name in `out`; `executor` and `progress` are those of
    `evaluate`. `won` are tasks that only this agent has right, `lost` those that only
    the first one has; `p` is McNemar's, of `paired_difference`. ValueError: no agents,
    or two of one name.
    """
    tasks, found = list(tasks), list[list[Result]]()
    folders = [Path(out) / file_name(identity(agent)[0]) for agent in agents]
    if len({str(folder).casefold() for folder in folders}) < len(folders):
        names = ", ".join(folder.name for folder in folders)
        raise ValueError(f"each agent needs a name of its own, these are {names}")
    for agent, folder in zip(agents, folders, strict=True):
        found.append(evaluate(tasks, agent, out=folder, **options))
    frame = table(chain.from_iterable(found))
    right = [[result.right for result in results] for results in found]
    pairs = [paired_difference(zip(right[0], each, strict=True)) for each in right]
    for name in ("won", "lost", "p"):
        frame[name] = [getattr(pair, name) for pair in pairs]
    return frame


def report(
    results: Iterable[Result | Path | str] | Path | str, path: Path | str
) -> Path:
    """Write results as one HTML file that needs no network, and return its path.

    `results` are results, or folders: an evaluation's `out`, or one that holds several.
    Of folders it shows the traces too, as many as have room. FileNotFoundError: a
    folder holds no evaluation. ValueError: no results.
    """
    some = [results] if isinstance(results, (str, Path)) else results
    found = [pair for each in some for pair in _found(each)]
    if not found:
        raise ValueError("there are no results to report")
    path, room, left_out = Path(path), CHARS, 0
    shown: list[tuple[Result, str, str]] = []
    for result, folder in sorted(found, key=lambda pair: pair[0].right)[:ROWS]:
        traces, link = "", ""
        if folder:
            link = quote(Path(os.path.relpath(folder, path.parent)).as_posix())
            runs = list(each_run(folder))
            if room > 0:
                traces = "".join(map(_trace, runs))
                room -= len(traces)
            left_out += bool(runs) and room <= 0
        shown.append((result, link, traces if room > 0 else ""))
    by_class = sorted((result for result, _ in found), key=lambda result: result.kind)
    groups = {
        "agent": _rows((result.agent, result) for result, _ in found),
        "kind, agent": _rows((f"{r.kind}, {r.agent}", r) for r in by_class),
    }
    known = {"groups": groups, "shown": shown, "of": len(found), "left_out": left_out}
    page = template("report.html").render(known)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8", errors="backslashreplace")
    return path


def _trace(run: Run) -> str:
    lost: list[str] = []
    return to_html(Trace(tuple(whole_events(run, lost)), "; ".join(lost)))


def _found(source: Result | Path | str) -> Iterator[tuple[Result, Path | None]]:
    """Yield a result, or those of a folder, each with the folder of its task."""
    if isinstance(source, Result):
        yield source, None
        return
    source = Path(source)
    outs = [
        each for each in (source, *sorted(source.glob("*"))) if (each / OWNER).exists()
    ]
    if not outs:
        raise FileNotFoundError(f"{source} holds no evaluation: give evaluate's out")
    for file in (file for each in outs for file in sorted(each.glob(f"*/{RESULT}"))):
        if result := read_result(file.parent):
            yield result, file.parent


def _rows(results: Iterable[tuple[str, Result]]) -> dict[str, dict[str, Any]]:
    groups: dict[str, list[Result]] = {}
    for name, result in results:
        groups.setdefault(name, []).append(result)
    return {name: _row(group) for name, group in groups.items()}


def _row(results: list[Result]) -> dict[str, Any]:
    right = sum(result.right for result in results)
    low, high = wilson_interval(right, len(results))
    return {
        "right": right,
        "of": len(results),
        "low %": round(100 * low),
        "high %": round(100 * high),
        "tokens": sum(result.tokens for result in results),
        "seconds": round(sum(result.seconds for result in results), 1),
        "steps": sum(result.model_calls for result in results),
        "wasted": sum(result.wasted for result in results),
        "doubled": sum(result.doubled for result in results),
        "wrong endings": sum(r.state == "DONE" and not r.right for r in results),
    }
