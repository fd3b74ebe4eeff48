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
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from workbook.exercises.answer import run_text
from workbook.exercises.catalogue import CourseError, find
from workbook.exercises.report import (
    Failure,
    Outcome,
    Report,
    describe_error,
    error_place,
)
from workbook.exercises.run_tests import run_tests
from workbook.exercises.watch import InputAsked

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

    def end_after(seconds: float) -> None:
        faulthandler.dump_traceback_later(seconds, exit=True, file=places)

    with contextlib.suppress(Exception):  # of a room there is nothing to be told yet
        find(room).function()
    end_after(IDLE_S)
    while line := jobs.readline():
        end_after(ORPHAN_S)
        try:
            say(found=asdict(_tested(say=say, **json.loads(line))))
        except CourseError as error:
            say(refused=str(error))
        end_after(IDLE_S)


def _tested(slug: str, text: str, tests: str, say: Callable[..., None]) -> Report:
    """Return what is found of an answer: whether it can be loaded, and its tests."""
    exercise = find(slug)
    exercise = replace(exercise, tests=tests or exercise.tests)
    total = len(exercise.requirements())
    failure, file = Failure("its cell can be run", raised=True), f"<{slug}>"
    unready = Report(slug, Outcome.RAISED, total=total, failures=(failure,))
    say(begun=asdict(unready))
    try:
        function = run_text(slug, text, file)
    except BaseException as error:
        evidence = [("raised", describe_error(error))]
        if place := error_place(error, file):
            evidence.append(("at", place))
        failure = replace(failure, evidence=tuple(evidence))
        return replace(unready, failures=(failure,))
    return run_tests(
        exercise,
        function,
        tell=lambda found: say(begun=asdict(found)),
        begin=lambda call: say(call=call),
    )


def _refuse(*_: object) -> str:
    raise InputAsked("input() waits for a person; use the function's arguments")


if __name__ == "__main__":
    main(sys.argv[1])
