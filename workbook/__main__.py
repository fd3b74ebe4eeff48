"""`python -m workbook`: what a person mistypes ends in a sentence and exit code 2."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    about = "The workbook's commands. COMMAND --help says what one of them takes."
    parser = argparse.ArgumentParser(prog="python -m workbook", description=about)
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    for name, (_, text) in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        if name == "reset":
            command.add_argument("slug", nargs="?", help="one exercise: parse_turn")
            command.add_argument("--yes", action="store_true", help="do not ask")
        elif name == "collect":
            command.add_argument(
                "path", nargs="?", type=Path, help="a notebook or a folder"
            )
        elif name == "export":
            words = "a new or empty folder; with --update, an exported agent"
            command.add_argument("folder", type=Path, help=words)
            words = "renew the parts and the runtime of the agent that is there"
            command.add_argument("--update", action="store_true", help=words)
        elif name == "handout":
            command.add_argument("folder", type=Path, help="a new or empty folder")
            words = "only these, by the beginnings of their names: 02 05"
            command.add_argument("--only", nargs="+", default=[], help=words)
            command.add_argument("--solved", action="store_true", help="with answers")
        elif name == "texts":
            add = partial(command.add_argument, type=Path)
            add("--out", metavar="FILE.po", help="write all texts into a new file")
            add("--in", metavar="FILE.po", dest="source", help="a translated file")
            add("--to", metavar="FOLDER", help="with --in: the course with its texts")
        elif name == "fetch-model":
            add = partial(command.add_argument, type=Path, dest="source")
            add(
                "--from",
                metavar="FOLDER",
                help="take it from a folder of wheels, not from the network",
            )
        elif name == "record":
            command.add_argument("name", help="what the lessons call the model")
            words = "only these, by the beginnings of their names: 02 05"
            command.add_argument("--only", nargs="+", default=[], help=words)
        elif name == "serve-model":
            words = "where it listens; by default 8765"
            command.add_argument("--port", type=_port, default=8765, help=words)
        elif name == "grade":
            add = partial(command.add_argument, type=Path)
            add("folder", help="has a subfolder for each learner; or a single notebook")
            add(
                "out",
                nargs="?",
                help="a new folder for tables and pages (FOLDER_graded)",
            )
            words = "notebooks at once; by default as many as there are cores"
            command.add_argument("--jobs", type=int, metavar="N", help=words)
            words = "a command that confines, in place of bubblewrap: 'docker run …'"
            command.add_argument("--wrapper", default="", metavar="COMMAND", help=words)
            words = "confine nothing, where you trust the authors"
            command.add_argument("--unconfined", action="store_true", help=words)
        elif name == "trace":
            add = partial(command.add_argument, type=Path)
            add("path", help="the file of a trace, or a folder of them")
            add(
                "--logs", metavar="FOLDER", help="write its three logs for people there"
            )
            words = "hand its spans to the exporter that OTEL_TRACES_EXPORTER names"
            command.add_argument("--otel", action="store_true", help=words)
            command.add_argument(
                "--summary", action="store_true", help="show only how it ended"
            )
    options = parser.parse_args(arguments)
    from workbook.exercises.catalogue import CourseError

    try:
        code = COMMANDS[options.command][0](options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # `… | head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    except (KeyboardInterrupt, EOFError):  # nobody answers, or not any more
        print("\nstopped", file=sys.stderr)
        return 130


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 2**16:
        raise argparse.ArgumentTypeError(f"{text} is no port: use 1 to 65535")
    return int(text)


def _doctor(options: argparse.Namespace) -> int:
    from workbook.diagnosis import doctor

    print(diagnosis := doctor(whole=True))
    return 0 if diagnosis.well else 1


def _fetch_model(options: argparse.Namespace) -> int:
    from workbook.models.weights import WeightsError, fetch_weights

    if options.source and not options.source.is_dir():
        print(f"There is no folder {options.source}.", file=sys.stderr)
        return 2
    try:
        print(f"The model is here: {fetch_weights(source=options.source)}")
    except WeightsError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _progress(options: argparse.Namespace) -> int:
    from workbook.exercises.diagram import your_agent
    from workbook.exercises.progress import progress

    print(progress(), your_agent(), sep="\n\n")
    return 0


def _reset(options: argparse.Namespace) -> int:
    from workbook.exercises.progress import reset

    reset(options.slug, yes=options.yes)
    return 0


def _collect(options: argparse.Namespace) -> int:
    from workbook.grading.collect import collect
    from workbook.paths import ROOT

    print(collected := collect(options.path or ROOT / "notebooks"))
    well = {"kept", "not attempted"}
    return 0 if well.issuperset(row[2] for row in collected.rows) else 1


def _export(options: argparse.Namespace) -> int:
    from workbook.exercises.export import export

    print(export(options.folder, options.update))
    return 0


def _handout(options: argparse.Namespace) -> int:
    from workbook.grading.handout import handout

    print(handout(options.folder, solved=options.solved, only=options.only))
    return 0


def _texts(options: argparse.Namespace) -> int:
    from workbook.texts import put_in, take_out

    out, source, target = options.out, options.source, options.to
    if out and not source and not target:
        print(take_out(out))
    elif source and target and not out:
        print(put_in(source, target))
    else:
        print("Say --out FILE.po, or --in FILE.po --to FOLDER.", file=sys.stderr)
        return 2
    return 0


def _record(options: argparse.Namespace) -> int:
    from workbook.playground.record import record

    for line in record(options.name, options.only):
        print(line, flush=True)
    return 0


def _serve_model(options: argparse.Namespace) -> int:
    from workbook.models.local import SHARED, LocalModelError, LocalServer
    from workbook.models.weights import WeightsError, fetch_weights

    try:
        server = LocalServer(str(fetch_weights()), options.port)
    except (WeightsError, LocalModelError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{SHARED}={server.url.removesuffix('/v1')}", flush=True)
    try:
        threading.Event().wait()
    finally:
        server.close()
    return 0


def _grade(options: argparse.Namespace) -> int:
    from workbook.grading.grade import grade_command

    asked = {name: each for name, each in vars(options).items() if name != "command"}
    return grade_command(**asked)


def _trace(options: argparse.Namespace) -> int:
    from workbook.traces.command import trace_command
    from workbook.traces.events import TraceError

    asked = {name: each for name, each in vars(options).items() if name != "command"}
    try:
        return trace_command(**asked)
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"{error.filename or 'the output'}: {error.strerror}", file=sys.stderr)
    except TraceError as error:
        print(error, file=sys.stderr)
    return 2


COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], int], str]] = {
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
    "texts": (_texts, "take all prose out for translators (gettext), or put it back"),
    "record": (
        _record,
        "run the lessons' experiments on a hosted model, and keep them",
    ),
    "serve-model": (_serve_model, "one local model for all learners of a machine"),
    "trace": (_trace, "look at a run, at two, or at a folder of runs"),
    "reset": (_reset, "forget your progress in one exercise, or in all"),
}

if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):  # what a terminal cannot show is a "?"
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.exit(main())
