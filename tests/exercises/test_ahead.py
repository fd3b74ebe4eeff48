"""A copy that goes first: what never comes back takes nothing with it."""

import os
import signal
import tempfile
import threading
import time
from dataclasses import replace

import pytest

from tests.exercise_rules import wrong_answers
from workbook.exercises import ahead, grade
from workbook.exercises.catalogue import find
from workbook.exercises.report import Outcome

CHECK = "who_writes = check(who_writes)"
CELL = "def who_writes(label):\n    {body}\n    return 'model'\n"
RIGHT = CELL.format(body="if label == 'Observation': return 'runtime'") + CHECK
LOOP = "sum(range(10**13))"
HERE = os.getpid()


@pytest.mark.in_ci
def test_a_step_that_cannot_be_interrupted_ends_in_words(kernel):
    """what hears no alarm is told in ten seconds, with its line; variables stay"""
    kernel("kept = [1]")
    kernel(RIGHT)
    started = time.monotonic()
    shown = kernel(CELL.format(body=LOOP) + CHECK)
    assert time.monotonic() - started < 10
    assert "who_writes · your code raised · 0 of 3" in shown
    assert f"  at        line 2: {LOOP}" in shown
    assert ahead.MANY in shown
    assert kernel("kept") == "[1]"
    assert kernel(RIGHT) == "who_writes · passed · 3 of 3"


@pytest.fixture
def quick(kernel):
    """Return the kernel, with an ear that gives up after a second."""
    names = "from workbook.exercises import ahead, grade"
    kernel(f"{names}; ahead.SILENT_S, grade.TIME_LIMIT_S = 2.0, 0.3")
    yield kernel
    kernel(f"{names}; ahead.SILENT_S, grade.TIME_LIMIT_S = 7.5, 2.0")


def test_a_thread_that_cannot_be_interrupted_is_told_too(quick):
    """what a thread of the function computes, it answers for"""
    body = f"import threading; t = threading.Thread(target=lambda: {LOOP})"
    body += "; t.start(); t.join()"
    assert ahead.MANY in quick(CELL.format(body=body) + CHECK)


def test_stop_ends_it(kernel):
    """the stop button ends the copy at once, and the check says so"""
    stop = "import os, signal, threading\n"
    stop += "stop = lambda: os.killpg(0, signal.SIGINT)\n"
    stop += "threading.Timer(0.5, stop).start()\n"
    started = time.monotonic()
    shown = kernel(stop + CELL.format(body=LOOP) + CHECK)
    assert "Stopped, as you asked." in shown
    assert "KeyboardInterrupt" in shown
    assert time.monotonic() - started < 5
    assert "ChildProcessError" in kernel("os.waitpid(-1, os.WNOHANG)")
    assert kernel(RIGHT) == "who_writes · passed · 3 of 3"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("import os; os._exit(3)", "exit code 3"),
        ("import os; os.kill(os.getpid(), 9)", ahead.WHY["SIGKILL"]),
        ("import ctypes; ctypes.string_at(0)", ahead.WHY["SIGSEGV"]),
    ],
)
def test_what_ends_its_process_does_not_end_the_kernel(kernel, body, words):
    """a function that ends Python ends a copy of it, and is told how"""
    kernel("marker = 2")
    shown = kernel(CELL.format(body=body) + CHECK)
    assert "it ended the Python that ran it" in shown
    assert words in shown
    assert kernel("marker") == "2"


def test_nothing_is_seen_twice(kernel):
    """what a function does to variables is there, and what it shows is there once"""
    body = "seen.append(label); display('shown'); os.write(1, b'raw ')"
    shown = kernel("import os; seen = []\n" + CELL.format(body=body) + CHECK)
    assert kernel("len(seen)") == "5"
    assert shown.count("'shown'") == 5
    assert kernel("1").count("raw") + shown.count("raw") <= 5


def without_addresses(report):
    failures = [replace(failure, traceback="") for failure in report.failures]
    return replace(report, failures=failures)


@pytest.mark.parametrize("slug", ["who_writes", "count_tokens_sent", "advance"])
def test_the_copy_finds_what_the_kernel_would(monkeypatch, slug):
    """the report of a copy is the one that is made here, for every wrong answer"""
    exercise = find(slug)
    monkeypatch.setattr(ahead, "LONG_S", -1.0)  # so that the copy's is taken
    for wrong in wrong_answers(exercise):
        here, there = (
            grade.grade(exercise, wrong, ahead=where) for where in (False, True)
        )
        assert without_addresses(there) == without_addresses(here)


def waits_in_a_copy(label):
    if os.getpid() != HERE:
        threading.Event().wait()
    return "runtime" if label == "Observation" else "model"


def waits_deaf_in_a_copy(label):
    if os.getpid() != HERE:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    return waits_in_a_copy(label)


@pytest.mark.parametrize("function", [waits_in_a_copy, waits_deaf_in_a_copy])
def test_a_copy_that_waits_for_another_thread_is_not_the_functions_fault(
    monkeypatch, function
):
    """what a copy alone waits for in vain counts for nothing"""
    monkeypatch.setattr(ahead, "SILENT_S", 1.5)
    monkeypatch.setattr(grade, "TIME_LIMIT_S", 0.2)
    report = grade.grade(find("who_writes"), function, ahead=True)
    assert report.outcome is Outcome.PASSED


def test_a_copy_leaves_nothing(monkeypatch, tmp_path):
    """temporary files of a copy go with it, and it is waited for"""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def who_writes(label):
        tempfile.mkstemp()
        os._exit(1)

    copies, fork = [], os.fork
    monkeypatch.setattr(os, "fork", lambda: copies.append(fork()) or copies[0])
    report = grade.grade(find("who_writes"), who_writes, ahead=True)
    assert ("stopped", ahead.GONE.format("exit code 1")) in report.failures[0].evidence
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(copies[0], 0)


@pytest.mark.parametrize("lack", ["no fork", "another thread"])
def test_without_a_copy_it_is_graded_here(monkeypatch, lack):
    """where no copy can be made, a check works as it does without one"""
    calls, reports = [], []

    def who_writes(label):
        calls.append(os.getpid())
        return "model"

    def check():
        reports.append(grade.grade(find("who_writes"), who_writes, ahead=True))

    if lack == "no fork":
        monkeypatch.delattr(os, "fork")
        monkeypatch.setattr("sys.platform", "darwin")
        check()
    else:
        thread = threading.Thread(target=check)
        thread.start()
        thread.join()
    assert reports[0].outcome is Outcome.WRONG
    assert set(calls) == {HERE}
