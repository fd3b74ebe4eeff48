"""The process beside the kernel: whatever an answer does, a check comes back."""

import os
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest

from tests import learner
from tests.learner import report_on
from workbook.checks import process
from workbook.checks.catalogue import CourseError

COMPUTING, WAITING = "seconds of computing", "not finished after 1 seconds"
ENDED, MEMORY = "it ended the Python that ran it", "GB of memory"
THREAD = "t = threading.Thread(target=time.sleep, args=(99,)); t.start(); t.join()"
REPR = "class Odd:\n        def __repr__(self):\n            {}\n    return Odd()"
SWALLOWS = "while True:\n        try:\n            {}\n        except{}: pass"
WRITES = "for n in range(3, 50):\n        try: os.write(n, {} + b'\\n')\n        "
WRITES += "except OSError: pass\n    os._exit(0)"
FORK = "pid = os.fork()\n    if not pid: time.sleep(99)\n    {}"


def verdict(body, above=""):
    """Return what is found of an answer whose function has this body."""
    head = "import ctypes, os, re, signal, sys, tempfile, threading, time\n"
    text = f"{head}{above}\n\ndef who_writes(label):\n    {body}\n"
    report = report_on("who_writes", text)
    return report, dict(report["failures"][0]["evidence"])


@pytest.fixture
def limits(monkeypatch, right):
    """Return a function that makes the limits of a process small, once it is warm."""

    def small(computing_s=0.4, waiting_s=10.0, memory_b=2**33):
        assert report_on("who_writes", right)["outcome"] == "passed"
        monkeypatch.setattr(process, "COMPUTING_S", computing_s)
        monkeypatch.setattr(process, "WAITING_S", waiting_s)
        monkeypatch.setattr(process, "MEMORY_B", memory_b)

    yield small
    monkeypatch.undo()
    assert report_on("who_writes", right)["outcome"] == "passed"  # the next check works


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("while True: pass", 2, COMPUTING),
        (SWALLOWS.format("x = 1 / 0", " Exception"), None, COMPUTING),
        (SWALLOWS.format("while True: pass", " BaseException"), 4, COMPUTING),
        ("return re.match('(a+)+$', 'a' * 40 + 'b')", None, COMPUTING),
        ("sys.setrecursionlimit(10**9); return who_writes(label)", None, ""),
        (REPR.format("while True: pass"), None, COMPUTING),
        ("if not os.fork():\n        while True: pass\n    os.wait()", 4, COMPUTING),
        ("time.sleep(10**6)", 2, WAITING),
        (SWALLOWS.format("time.sleep(0.001)", ""), None, WAITING),
        (THREAD, 2, WAITING),
        ("sys.stdin.close(); threading.Event().wait()", 2, WAITING),
        ("x = [0]\n    while True: x = x + x", 3, MEMORY),
        ("os._exit(3)", None, f"{ENDED}: exit code 3"),
        ("os.kill(os.getpid(), signal.SIGKILL)", None, f"{ENDED}: SIGKILL"),
        ("ctypes.string_at(0)", 2, f"{ENDED}: SIGSEGV"),
        ("os.closerange(0, 100); return 'x'", None, ""),
        (WRITES.format("b'x'"), None, ""),
        (WRITES.format("b'[' * 10**5"), None, ""),
        (WRITES.format("b'{\"begun\": {}}'"), None, ""),
        (WRITES.format('b\'{"found": {"outcome": "passed"}}\''), None, ""),
        ("while True: os.write(2, b'x' * 2**16)", None, COMPUTING),
        ("while True: print('x' * 2**16)", None, COMPUTING),
    ],
)
def test_what_never_comes_back_is_a_verdict(limits, body, line, words):
    """whatever loops, waits or ends Python is reported, with its call and its line"""
    asked = {WAITING: {"waiting_s": 1.0}, MEMORY: {"computing_s": 9, "memory_b": 2**28}}
    limits(**asked.get(words, {}))
    began = time.monotonic()
    report, evidence = verdict(body)
    assert time.monotonic() - began < 30
    found = report["outcome"], report["met"], report["of"]
    assert found == ("your code raised", 0, 3)
    assert words in evidence["stopped"]
    assert evidence["called"] == "who_writes('Thought')"
    assert not line or evidence["at"].startswith(f"line {line} of ")
    assert report["failures"][0]["test"].startswith("test_the_model_writes")
    assert report["note"] == "2 of 3 tests were not run."


@pytest.mark.parametrize(
    ("body", "label", "words"),
    [
        ("return input()", "raised", "InputAsked: input() waits for a person"),
        ("return sys.stdin.read()", "returned", "''"),
        ("exit(1)", "raised", "SystemExit: 1"),
        ("raise GeneratorExit", "raised", "GeneratorExit"),
        ("raise KeyboardInterrupt", "raised", "KeyboardInterrupt"),
        ("return who_writes(label)", "raised", "RecursionError: maximum recursion"),
        ("return bytearray(10**13)", "raised", "MemoryError"),
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
        ("def oops(:", "raised", "SyntaxError: invalid syntax", None),
        ("@vars", "raised", "TypeError: who_writes is a dict", None),
    ],
)
def test_what_stands_above_the_function_has_its_verdict(
    limits, above, label, words, line
):
    """a cell that cannot be run to its end has a verdict, with its line"""
    limits()
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
    """no answer sees the process of another; a spare one that has died is replaced"""
    seen = tmp_path / "seen"
    note = f"import os\nopen({str(seen)!r}, 'a').write(f'{{os.getpid()}} ')\n"
    for _ in range(3):
        assert process.tested("who_writes", note + right)["outcome"] == "passed"
        assert [spare.ended for spare in spares] == [False]
        if len(seen.read_text().split()) == 2:
            spares[0]._process.kill()
            spares[0]._process.wait()
    pids = seen.read_text().split()
    assert len(set(pids)) == 3
    assert not any(psutil.pid_exists(int(pid)) for pid in pids)


def test_tests_that_cannot_run_are_nobodys_pass(tmp_path, right):
    """broken tests are an error of the course, and no verdict on an answer"""
    path = tmp_path / "test_it.py"
    for content, words in (
        ("import no_such_module", "No module named 'no_such_module'"),
        ("def test_it(): pass", "no test in .* takes who_writes"),
        ("def test_it(who_writes, nothing): pass", "'nothing'"),
    ):
        path.write_text(content)
        with pytest.raises(CourseError, match=words):
            report_on("who_writes", right, str(path))


@pytest.mark.parametrize(("idle_s", "closes"), [(0.1, False), (600, True)])
def test_it_ends_when_nobody_asks_or_its_kernel_has_gone(idle_s, closes):
    """a process that waits too long for a check, or for nobody, ends by itself"""
    run = f"from workbook.checks import tester as t; t.IDLE_S = {idle_s}; t.main('')"
    command = [sys.executable, "-c", run]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as running:
        if closes:
            running.stdin.close()
        running.wait(timeout=20)


@pytest.mark.parametrize("then", ["return pid", "while True: time.sleep(1)"])
def test_what_it_has_begun_ends_with_it(monkeypatch, tmp_path, spares, then):
    """a child of an answer and its files are gone, whether the answer came back"""
    monkeypatch.setattr(process, "WAITING_S", 1.0)
    noted = tmp_path / "noted"
    note = f"open({str(noted)!r}, 'w').write(f'{{pid}} {{os.getcwd()}}')\n    {then}"
    text = f"import os, time\n\ndef who_writes(label):\n    {FORK.format(note)}\n"
    process.tested("who_writes", text)
    pid, home = noted.read_text().split()
    for _ in range(100):
        if not alive(int(pid)):
            break
        time.sleep(0.01)
    assert not alive(int(pid))
    assert not os.path.exists(home)


def alive(pid):
    """Whether a process runs; one that has ended may not have been taken note of."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != "zombie"
    return False
