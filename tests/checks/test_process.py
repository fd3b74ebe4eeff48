"""The process beside the kernel: whatever an answer does, a check comes back."""

import os
import subprocess
import sys
import time

import psutil
import pytest

from tests import learner
from tests.learner import report_on
from workbook.checks import process
from workbook.checks.catalogue import CourseError

COMPUTING, WAITING = "seconds of computing", "not finished after 1 seconds"
RIGHT = 'return "runtime" if label == "Observation" else "model"'
ENDED, MEMORY = "it ended the Python that ran it", "GB of memory"
REPR = "class Odd:\n        def __repr__(self):\n            {}\n    return Odd()"
SWALLOWS = """while True:
        try:
            while True: pass
        except BaseException: pass"""
FORGES = "for n in range(3, 50):\n        try: os.write(n, {} + b'\\n')\n        "
FORGES += "except OSError: pass\n    os._exit(0)"


def verdict(body, above=""):
    """Return what is found of an answer whose function has this body."""
    head = "import ctypes, os, re, signal, sys, threading, time\n"
    text = f"{head}{above}\n\ndef who_writes(label):\n    {body}\n"
    report = report_on("who_writes", text)
    return report, dict(report["failures"][0]["evidence"] if report["failures"] else [])


@pytest.fixture
def limits(monkeypatch, right):
    """Return a function that sets limits of a process, once it is warm."""

    def small(**seconds):
        assert report_on("who_writes", right)["outcome"] == "passed"
        for name, limit in seconds.items():
            monkeypatch.setattr(process, name, limit)

    yield small
    monkeypatch.undo()
    assert report_on("who_writes", right)["outcome"] == "passed"  # the next check works


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("while True: pass", 2, COMPUTING),
        (SWALLOWS, 4, COMPUTING),
        ("return re.match('(a+)+$', 'a' * 40 + 'b')", None, COMPUTING),
        (REPR.format("while True: pass"), None, COMPUTING),
        ("if not os.fork():\n        while True: pass\n    os.wait()", 4, COMPUTING),
        ("time.sleep(10**6)", 2, WAITING),
        ("x = [0]\n    while True: x = x + x", 3, MEMORY),
        ("os._exit(3)", None, f"{ENDED}: exit code 3"),
        ("ctypes.string_at(0)", 2, f"{ENDED}: SIGSEGV"),
        ("os.closerange(0, 100); return 'x'", None, "it "),  # closed it, or ended it
        (FORGES.format('b\'{"found": {"outcome": "passed"}}\''), None, ""),
        ("while True: os.write(2, b'x' * 2**16)", None, COMPUTING),
    ],
)
def test_what_never_comes_back_is_a_verdict(limits, body, line, words):
    """whatever loops, waits or ends Python is reported, with its call and its line"""
    few = {"COMPUTING_S": 99, "MEMORY_B": 2**28} if words == MEMORY else {}
    few |= {"PLACE_S": 60.0 if line else 0.3, "END_S": 60.0 if ENDED in words else 0.3}
    limits(**{"COMPUTING_S": 0.4, "WAITING_S": 1.0, **few})
    report, evidence = verdict(body)
    found = report["outcome"], report["met"], report["of"]
    assert found == ("your code raised", 0, 3)
    assert words in evidence["stopped"]
    assert evidence["called"] == "who_writes('Thought')"
    assert not line or evidence["at"].startswith(f"line {line} of ")
    assert report["failures"][0]["test"].startswith("test_the_model_writes")
    assert report["note"] == "2 of 3 tests were not run."


def test_who_wants_a_core_does_not_wait(limits):
    """on a loaded machine a right answer is right, however long it takes"""
    spin = "def spin():\n    while time.process_time() < ENDS: pass\n"
    text = f"t = threading.Thread(target=spin); t.start(); t.join()\n    {RIGHT}"
    limits(WAITING_S=0.3, COMPUTING_S=99)
    if sys.platform == "linux":  # the machine says so if none of it was computed yet
        limits(IDLE_S=99)
    report, evidence = verdict(text, f"ENDS = time.process_time() + 1\n{spin}")
    assert (report["outcome"], evidence) == ("passed", {})


@pytest.mark.parametrize(
    ("body", "label", "words"),
    [
        ("return input()", "raised", "InputAsked: input() waits for a person"),
        ("return sys.stdin.read()", "returned", "''"),
        ("raise KeyboardInterrupt", "raised", "KeyboardInterrupt"),
        (REPR.format("exit()"), "returned", "<an Odd whose repr raised SystemExit>"),
    ],
)
def test_what_only_looks_like_the_end_loses_nothing(right, body, label, words):
    """what Python can go on after is a failure like others, in the same process"""
    report_on("who_writes", right)
    (worker,) = learner.worker
    report, evidence = verdict(body)
    assert words in evidence[label]
    assert (report["met"], report["of"], report["note"]) == (0, 3, "")
    assert learner.worker == [worker]
    assert not worker.ended


@pytest.mark.parametrize(
    ("above", "label", "words", "line"),
    [
        ("while True: pass", "stopped", COMPUTING, "while True: pass"),
        ("x = 3\ny = x.z", "raised", "AttributeError: 'int' object", "y = x.z"),
        ("@vars", "raised", "TypeError: who_writes is a dict", None),
    ],
)
def test_what_stands_above_the_function_has_its_verdict(
    limits, above, label, words, line
):
    """a cell that cannot be run to its end has a verdict, with its line"""
    limits(COMPUTING_S=0.4, PLACE_S=60.0)
    report, evidence = verdict("return 1", above)
    assert report["failures"][0]["rule"] == "its cell can be run"
    assert (report["met"], report["of"]) == (0, 3)
    assert words in evidence[label]
    assert evidence.get("at") == line


def test_nothing_that_an_answer_prints_or_writes_reaches_us(capfd):
    """an answer's output is not seen, and its files are in a folder of its own"""
    body = "print('py', file=sys.stderr); os.write(1, b'fd'); return os.getcwd()"
    _, evidence = verdict(body, "print('top'); os.system('echo sh')")
    assert evidence["printed"] == "'py\\n'"
    assert evidence["returned"] != repr(os.getcwd())
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def spares(monkeypatch):
    """Begin with no process that is ready, and leave none."""
    monkeypatch.setattr(process, "_spare", spares := [])
    yield spares
    while spares:
        spares.pop().close()


def test_a_check_runs_the_tests_once_in_a_fresh_process(tmp_path, spares, right):
    """no answer sees the process of another; all that it began ends with it"""
    seen = tmp_path / "seen"
    note = "import os\nif not (pid := os.fork()): os.execlp('sleep', 'sleep', '999')\n"
    note += f"open({str(seen)!r}, 'a').write(f'{{os.getpid()}} {{pid}} ')\n"
    for _ in range(3):
        assert process.tested("who_writes", note + right)["outcome"] == "passed"
        assert [spare.ended for spare in spares] == [False]
        if len(seen.read_text().split()) == 4:  # a spare one that died is replaced
            spares[0]._process.kill()
            spares[0]._process.wait()
    pids = seen.read_text().split()
    assert len(set(pids)) == 6
    until = time.monotonic() + 60
    while running := [pid for pid in map(int, pids) if is_alive(pid)]:
        assert time.monotonic() < until, running
        time.sleep(0.01)


def is_alive(pid):
    """Whether a process runs; one that has ended may not have been taken note of."""
    try:
        return psutil.Process(pid).status() != "zombie"
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("import no_such_module", "No module named 'no_such_module'"),
        ("def test_it(): pass", "no test in .* takes who_writes"),
        ("def test_it(who_writes, nothing): pass", "'nothing'"),
    ],
)
def test_tests_that_cannot_run_are_nobodys_pass(tmp_path, right, content, words):
    """broken tests are an error of the course, and no verdict on an answer"""
    (tmp_path / "test_it.py").write_text(content)
    with pytest.raises(CourseError, match=words):
        report_on("who_writes", right, str(tmp_path / "test_it.py"))


@pytest.mark.parametrize(("idle_s", "closes"), [(0.1, False), (600, True)])
def test_it_ends_when_nobody_asks_or_its_kernel_has_gone(idle_s, closes):
    """a process that waits too long for a check, or for nobody, ends by itself"""
    run = f"from workbook.checks import tester as t; t.IDLE_S = {idle_s}; t.main('')"
    command = [sys.executable, "-c", run]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as running:
        if closes:
            running.stdin.close()
        running.wait(timeout=60)
