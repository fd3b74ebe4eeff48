"""`python -m workbook trace`: look at a run, or at a folder of runs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from rich.cells import cell_len, set_cell_size

from workbook.pages import as_cell
from workbook.runtime.calls import clip
from workbook.runtime.trace import Trace, TraceError
from workbook.views.logs import (
    VIEWS,
    line_of,
    one_line,
    summary_of,
    totals,
    write_logs,
)
from workbook.views.metrics import figures

NAME_CHARS = 28  # in a table
ROW = "{:12.12} {:18.18} {:>6} {:>10} {:>10}  {}"


def trace_command(
    path: Path, *, summary: bool = False, logs: Path | None = None
) -> int:
    """Print a run, or a folder's runs; or write the logs of a run.

    Returns the exit code: 0, or 2 where no trace is whole.
    TraceError and OSError say what cannot be read or written.
    """
    if path.is_dir() and (summary or logs):
        raise TraceError("--summary and --logs take the file of one trace")
    if path.is_dir():
        return _show_folder(path)
    trace = _read(path)
    if logs:
        if path.resolve() in [(logs / name).resolve() for name in VIEWS]:
            raise TraceError(f"{path} is the trace itself: take another folder")
        print(f"{', '.join(VIEWS)} are in {write_logs(trace, logs)}.")
    else:
        _show(*(line_of(event) for event in trace if not summary))
        print(summary_of(trace))
    return 0


def _show_folder(folder: Path) -> int:
    files = sorted(f for f in folder.rglob("*.jsonl") if f.name not in VIEWS)
    if not files:
        raise TraceError(f"there is no trace (*.jsonl) in {folder}")
    print(ROW.format("state", "reason", "steps", "tokens", "seconds", "file"))
    whole = []
    for file in files:
        try:
            trace = _read(file)
        except (TraceError, OSError) as error:
            print(ROW.format("broken", "", "", "", "", one_line(str(error))))
            continue
        found, lost = totals(trace), f" (lost: {trace.lost})" if trace.lost else ""
        tokens = "?" if found["tokens"] is None else f"{found['tokens']:,}"
        spent = found["steps"], tokens, f"{found['seconds']:.3f}"
        end = one_line(found["state"]), one_line(found["reason"])
        print(ROW.format(*end, *spent, one_line(f"{file.relative_to(folder)}{lost}")))
        whole.append(file)
    if not whole:
        return 2
    import pandas as pd

    with pd.option_context("display.unicode.east_asian_width", True):
        for title, table in figures(map(Trace.read, whole)).items():
            text = table.reset_index().map(_cell).to_string(index=False, line_width=80)
            print(f"\n{title}\n{text}")
    return 0


def _cell(value: Any) -> str:
    return clip(one_line(as_cell(value)), NAME_CHARS)


def _read(path: Path) -> Trace:
    trace = Trace.read(path)
    if not trace.events:
        raise TraceError(f"{path} holds no event: {trace.lost or 'it is empty'}")
    return trace


def _show(*lines: str) -> None:
    """Print lines, each cut at the terminal's width."""
    width = shutil.get_terminal_size().columns
    for line in lines:
        print(line if cell_len(line) <= width else f"{set_cell_size(line, width - 1)}…")
