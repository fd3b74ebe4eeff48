"""What a confined process cannot do: tried in one, each attempt for itself."""

import json
import subprocess
import sys
import textwrap

import pytest

from workbook.paths import ROOT

ATTEMPTS = {
    "fork": "os._exit(0) if os.fork() == 0 else None",
    "spawn": "subprocess.run(['true'])",
    "shell": "1 / (os.system('true') == 0)",  # it raises nothing
    "signal to the parent": "os.kill(os.getppid(), 0)",
    "signal to the group": "os.killpg(0, 0)",
    "connect": "socket.create_connection(('127.0.0.1', PORT), 1)",
    "write outside": "open(OUTSIDE, 'w')",
    "append outside": "open(OUTSIDE, 'a')",
    "remove outside": "os.remove(OUTSIDE)",
    "rename outside": "os.rename(OUTSIDE, 'mine')",
    "write into the package": "open(PACKAGE, 'a')",
    "make a folder outside": "os.mkdir(OUTSIDE + '.d')",
}
IN_THE_KERNEL = {
    "read a test": "open(TESTS)",
    "list the tests": "os.listdir(os.path.dirname(TESTS))",
    "read the parent's environment": "open(f'/proc/{os.getppid()}/environ').read()",
    "read the parent's memory": "open(f'/proc/{os.getppid()}/mem', 'rb')",
    "fork behind Python's back": "1 / (ctypes.CDLL(None).fork() + 1)",
    "write behind Python's back": "check(ctypes.CDLL(None).creat(OUTSIDE.encode(), 0))",
    "much memory": "bytearray(6 * 2**30)",
    "a large file": "open('large', 'wb').write(bytes(2**25))",
}
ALLOWED = {
    "write inside": "open('mine.txt', 'w').write('x')",
    "read the package": "open(PACKAGE).read()",
    "a thread": "threading.Thread(target=int).start()",
    "a signal to oneself": "os.kill(os.getpid(), 0)",
    "import": "import sqlite3, decimal",
}
SCRIPT = """
    import ctypes, json, os, socket, subprocess, sys, threading
    from pathlib import Path
    from workbook.classroom import sandbox

    if {python_only}:
        sandbox._landlock = sandbox._seccomp = lambda *given: False
    PORT, OUTSIDE, TESTS, PACKAGE = json.loads(sys.argv[1])

    def check(code):
        if code < 0:
            raise OSError

    limits = sandbox.confine(Path.cwd())
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    came = {{}}
    for name, code in json.loads(sys.argv[2]).items():
        try:
            exec(code)
            came[name] = "done"
        except (OSError, MemoryError, ZeroDivisionError) as error:
            came[name] = type(error).__name__
    print(json.dumps([limits, came]))
"""


def attempted(folder, attempts, python_only=False):
    """Return what the sandbox says of itself, and what came of each attempt."""
    import socket

    inside, outside = folder / "inside", folder / "outside.txt"
    inside.mkdir()
    outside.write_text("as it was")
    with socket.create_server(("127.0.0.1", 0)) as server:
        places = [server.getsockname()[1], str(outside), str(ROOT / "tests/learner.py")]
        places.append(str(ROOT / "workbook/paths.py"))
        script = textwrap.dedent(SCRIPT.format(python_only=python_only))
        done = subprocess.run(
            [sys.executable, "-c", script, json.dumps(places), json.dumps(attempts)],
            cwd=inside,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=60,
            start_new_session=True,
        )
    assert outside.read_text() == "as it was"
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def confined(tmp_path_factory):
    attempts = {**ATTEMPTS, **IN_THE_KERNEL, **ALLOWED}
    return attempted(tmp_path_factory.mktemp("kernel"), attempts)


@pytest.fixture(scope="module")
def hooked(tmp_path_factory):
    attempts = {**ATTEMPTS, **ALLOWED}
    return attempted(tmp_path_factory.mktemp("hook"), attempts, python_only=True)


@pytest.mark.parametrize("name", [*ATTEMPTS, *IN_THE_KERNEL])
def test_a_confined_process_cannot(name, confined):
    """no process, no signal, no connection, no file of others, no more than a share"""
    assert confined[1][name] != "done"


@pytest.mark.parametrize("name", ATTEMPTS)
def test_python_alone_stops_plain_code(name, hooked):
    """where the system offers nothing, Python's audit hook stops the same plain code"""
    assert hooked[1][name] != "done"


@pytest.mark.parametrize("name", ALLOWED)
def test_what_an_answer_needs_is_allowed(name, confined, hooked):
    """an answer writes into its folder, imports, and has threads"""
    assert (confined[1][name], hooked[1][name]) == ("done", "done")


def test_it_says_what_holds(confined, hooked):
    """the report names what the system gave, and what is Python's word only"""
    held, python = "\n".join(confined[0]), "\n".join(hooked[0])
    assert "Landlock" in held
    assert "seccomp" in held
    assert python.count("audit hook") >= 2
