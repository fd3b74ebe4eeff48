"""The process that `Worker` talks to: `python -m workbook.exercises.tester`.

It takes answers from stdin, a line of JSON each, and says on stdout what is found:
before each test what holds if it is never heard of again, before each call what is
called. What an answer prints goes nowhere, and nobody answers what it asks.
"""

import builtins
import contextlib
import faulthandler
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import IO, Any

import hypothesis  # noqa: F401 - imported while nobody waits
import pytest  # noqa: F401

from workbook.exercises.answer import run_text
from workbook.exercises.catalogue import CourseError, find
from workbook.exercises.report import Report, describe_error, error_place
from workbook.exercises.run_tests import run_tests
from workbook.exercises.watch import InputAsked
from workbook.exercises.worker import unready

IDLE_S = 600.0  # after which a process that nobody asks ends
ORPHAN_S = 300.0  # after which it ends in the middle of an answer: its kernel has gone


def main(room: str) -> None:
    """Test answers until stdin ends; first import the room of an exercise."""
    jobs, told, places = os.fdopen(os.dup(0), "rb"), os.dup(1), os.dup(2)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    builtins.input = _refuse
    faulthandler.enable(places)  # a crash says its line

    def say(**what: Any) -> None:
        line = json.dumps(what).encode() + b"\n"
        while line:
            line = line[os.write(told, line) :]

    with contextlib.suppress(Exception):  # of a room there is nothing to be told yet
        find(room).function()
    while line := _next_line(jobs):
        faulthandler.dump_traceback_later(ORPHAN_S, exit=True, file=places)
        try:
            say(found=_tested(json.loads(line), say).as_dict())
        except CourseError as error:
            say(refused=str(error))
        except KeyboardInterrupt:  # nobody is there to ask for it
            say(lost="it raised KeyboardInterrupt, which ends the whole program")
        faulthandler.cancel_dump_traceback_later()


def _next_line(jobs: IO[bytes]) -> bytes:
    """Return the next line; who waits too long for one ends."""
    idle = threading.Timer(IDLE_S, os._exit, [0])
    idle.daemon = True
    idle.start()
    try:
        return jobs.readline()
    finally:
        idle.cancel()


def _tested(job: Mapping[str, str], say: Callable[..., None]) -> Report:
    """Return what is found of an answer: whether it can be loaded, and its tests."""
    exercise = find(job["slug"])
    exercise = replace(exercise, tests=job["tests"] or exercise.tests)
    report, file = unready(exercise.slug), f"<{exercise.slug}>"
    say(begun=report.as_dict())
    try:
        function = run_text(exercise.slug, job["text"], file)
    except BaseException as error:
        evidence = [("raised", describe_error(error))]
        if place := error_place(error, file):
            evidence.append(("at", place))
        failure = replace(report.failures[0], evidence=tuple(evidence))
        return replace(report, failures=(failure,))
    return run_tests(
        exercise,
        function,
        tell=lambda found: say(begun=found.as_dict()),
        begin=lambda call: say(call=call),
    )


def _refuse(*_: object) -> str:
    raise InputAsked("input() waits for a person; use the function's arguments")


if __name__ == "__main__":
    main(sys.argv[1])
