"""The process beside the kernel: whatever an answer does, a check comes back."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace

import psutil
import pytest

from tests import exercise_rules as rules
from workbook.exercises import worker
from workbook.exercises.catalogue import CourseError, find
from workbook.exercises.report import Outcome

WHO = find("who_writes")
COMPUTING, WAITING = "seconds of computing", "seconds of waiting"
ENDED, MEMORY = "it ended the Python that ran it", "GB of memory"
THREAD = "t = threading.Thread(target=time.sleep, args=(99,)); t.start(); t.join()"
REPR = "class Odd:\n        def __repr__(self):\n            {}\n    return Odd()"
SWALLOWS = "while True:\n        try:\n            {}\n        except{}: pass"
RUBBISH = "for n in range(3, 50):\n        try: os.write(n, {} + b'\\n')\n        "
RUBBISH += "except OSError: pass\n    os._exit(0)"
FORK = "pid = os.fork()\n    if not pid: time.sleep(99)\n    {}"


def verdict(body, above=""):
    """Return what is found of an answer whose function has this body."""
    head = "import ctypes, os, re, signal, sys, tempfile, threading, time\n"
    text = f"{head}{above}\n\ndef who_writes(label):\n    {body}\n"
    report = rules.tested(WHO, text)
    return report, dict(report.failures[0].evidence)


@pytest.fixture
def limits(monkeypatch, right):
    """Return a function that makes the limits of a process small, once it is warm."""

    def small(computing_s=0.4, waiting_s=10.0, memory_b=2**33):
        assert rules.tested(WHO, right).outcome is Outcome.PASSED
        monkeypatch.setattr(worker, "COMPUTING_S", computing_s)
        monkeypatch.setattr(worker, "WAITING_S", waiting_s)
        monkeypatch.setattr(worker, "MEMORY_B", memory_b)

    yield small
    monkeypatch.undo()
    assert rules.tested(WHO, right).outcome is Outcome.PASSED  # the next check works


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("while True: pass", 2, COMPUTING),
        (SWALLOWS.format("x = 1 / 0", " Exception"), None, COMPUTING),
        (SWALLOWS.format("while True: pass", " BaseException"), 4, COMPUTING),
        ("return re.match('(a+)+$', 'a' * 40 + 'b')", 2, COMPUTING),
        ("sys.setrecursionlimit(10**9); return who_writes(label)", 2, COMPUTING),
        (REPR.format("while True: pass"), 2, COMPUTING),
        ("if not os.fork():\n        while True: pass\n    os.wait()", None, COMPUTING),
        ("time.sleep(10**6)", 2, WAITING),
        (SWALLOWS.format("time.sleep(0.001)", ""), None, WAITING),
        (THREAD, 2, WAITING),
        ("x = [0]\n    while True: x = x + x", 3, MEMORY),
        ("os._exit(3)", None, f"{ENDED}, with exit code 3"),
        ("os.kill(os.getpid(), signal.SIGKILL)", None, f"{ENDED}: SIGKILL"),
        ("ctypes.string_at(0)", 2, f"{ENDED}: SIGSEGV"),
        ("os.closerange(0, 100); return 'x'", None, ENDED),
        (RUBBISH.format("b'x'"), None, ""),
        (RUBBISH.format("b'[' * 10**5"), None, ""),
        (RUBBISH.format("b'{\"begun\": {}}'"), None, ""),
        (RUBBISH.format('b\'{"found": {"slug": 1}}\''), None, ""),
    ],
)
def test_what_never_comes_back_is_a_verdict(limits, body, line, words):
    """whatever loops, waits or ends Python is told, with its call and its line"""
    asked = {WAITING: {"waiting_s": 1.0}, MEMORY: {"computing_s": 9, "memory_b": 2**28}}
    limits(**asked.get(words, {}))
    began = time.monotonic()
    report, evidence = verdict(body)
    assert time.monotonic() - began < 30
    assert (report.outcome, report.passed, report.total) == (Outcome.RAISED, 0, 3)
    assert words in evidence["stopped"]
    assert evidence["called"] == "who_writes('Thought')"
    assert not line or evidence["at"].startswith(f"line {line} of ")
    assert report.note == "2 of 3 tests were not run."


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
    rules.tested(WHO, right)
    (process,) = rules._worker
    report, evidence = verdict(body)
    assert words in evidence[label]
    assert (report.passed, report.total, report.note) == (0, 3, "")
    assert rules._worker == [process]
    assert not process.ended


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
    """a cell that cannot be run to its end is told like a function, with its line"""
    limits()
    report, evidence = verdict("return 1", above)
    assert report.failures[0].requirement == "its cell can be run"
    assert (report.passed, report.total) == (0, 3)
    assert words in evidence[label]
    assert evidence.get("at") == line


def test_nothing_that_an_answer_prints_or_writes_reaches_us(capfd):
    """an answer's output is not seen, and its files are in a folder of its own"""
    body = "print('py', file=sys.stderr); os.write(1, b'fd'); return os.getcwd()"
    _, evidence = verdict(body, "print('top'); os.system('echo sh')")
    assert evidence["printed"] == "'py\\n'"
    assert evidence["returned"] != repr(os.getcwd())
    assert capfd.readouterr() == ("", "")


def test_a_slow_start_is_not_the_answers_fault(monkeypatch, right):
    """a process that takes long to begin has its whole time for the answer"""
    monkeypatch.setattr(worker, "COMPUTING_S", 0.3)
    burn = "import os, sys, time\nwhile time.process_time() < 0.5: pass\n"
    command = sys.executable, "-c", f"{burn}os.execv(sys.argv[1], sys.argv[1:])"
    slow = worker.Worker(command)
    assert slow.test("who_writes", right).outcome is Outcome.PASSED
    slow.close()


@pytest.fixture
def spares(monkeypatch):
    """Begin with no process that is ready, and leave none."""
    monkeypatch.setattr(worker, "_spare", spares := [])
    yield spares
    while spares:
        spares.pop().close()


def test_a_check_runs_the_tests_once_in_a_fresh_process(tmp_path, spares, right):
    """no answer sees the process of another; broken tests are the course's error"""
    seen, tests = tmp_path / "seen", tmp_path / "test_it.py"
    note = f"open({str(seen)!r}, 'a').write(f'{{os.getpid()}} ')"
    tests.write_text(f"import os\ndef test_it(who_writes):\n    {note}\n", "utf-8")
    for _ in range(2):
        report = worker.tested(replace(WHO, tests=str(tests)), right)
        assert (report.outcome, report.total) == (Outcome.PASSED, 1)
    one, other = seen.read_text().split()
    assert one != other
    assert not psutil.pid_exists(int(one))
    assert [spare.ended for spare in spares] == [False]
    tests.write_text("import no_such_module")
    with pytest.raises(CourseError, match="No module named 'no_such_module'"):
        worker.tested(replace(WHO, tests=str(tests)), right)


def test_a_spare_process_that_has_gone_is_replaced(monkeypatch, spares, right):
    """the next check works when the process that was kept for it has died"""
    worker.tested(WHO, right)
    spares[0]._process.kill()
    spares[0]._process.wait()
    monkeypatch.setenv("WORKBOOK_SHARED", "1")
    assert worker.tested(WHO, right).outcome is Outcome.PASSED
    assert spares == []  # none is begun ahead where many share a machine


@pytest.mark.parametrize(("idle_s", "code"), [(0.1, 1), (600, 0)])
def test_it_ends_when_nobody_asks_or_its_kernel_has_gone(idle_s, code):
    """a process that waits too long for a check, or for nobody, ends by itself"""
    run = f"from workbook.exercises import tester as t; t.IDLE_S = {idle_s}; t.main('')"
    with subprocess.Popen(
        [sys.executable, "-c", run], stdin=subprocess.PIPE
    ) as process:
        if code == 0:
            process.stdin.close()
        assert process.wait(timeout=20) == code


def test_without_a_kernel_an_answer_ends_too():
    """what computes on while nobody looks is ended, minutes later"""
    code = "from workbook.exercises import tester as t; t.ORPHAN_S = 0.3; t.main('')"
    text = "def who_writes(label):\n    while True: pass\n"
    job = json.dumps({"slug": "who_writes", "text": text, "tests": ""})
    command, options = [sys.executable, "-c", code], {"timeout": 60, "text": True}
    ended = subprocess.run(command, input=job, capture_output=True, **options)
    assert ended.returncode == 1
    assert '"found"' not in ended.stdout


@pytest.mark.parametrize("then", ["return pid", "while True: time.sleep(1)"])
def test_what_it_has_begun_ends_with_it(monkeypatch, tmp_path, spares, then):
    """a child of an answer and its files are gone, whether the answer came back"""
    monkeypatch.setattr(worker, "WAITING_S", 1.0)
    noted = tmp_path / "noted"
    note = f"open({str(noted)!r}, 'w').write(f'{{pid}} {{os.getcwd()}}')\n    {then}"
    text = f"import os, time\n\ndef who_writes(label):\n    {FORK.format(note)}\n"
    worker.tested(WHO, text)
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
