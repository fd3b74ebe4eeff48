"""Hostile notebooks between two witnesses: what they reach, and what they leave.

All are graded in one run; then there is an assertion for each, and for the machine.
"""

import os
import resource
import socket
import sys
import threading
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import psutil
import pytest

from tests.checks.classroom import LESSON, RIGHT, rows_of, write_cells
from workbook.checks.grade import complete, grade
from workbook.checks.handed_in import handed_in
from workbook.paths import ROOT

pytestmark = pytest.mark.in_ci

# A right answer, unless what it looks for is found.
LOOKS = """
import ctypes, os, socket, sys
from pathlib import Path

def found():
    {}

def who_writes(label):
    try:
        if found():
            return "found"
    except OSError:
        pass
    return "runtime" if label == "Observation" else "model"
"""
PEEKS = {
    "reads a key in the home": 'return Path("@HOME@/.ssh/id_test").read_text()',
    "reads a temporary file": 'return Path("@FILE@").read_text()',
    "reads another's notebook": "return os.listdir('@CLASS@/a witness')",
    "lists what runs here": 'return os.listdir("/run")',
    "connects to a UNIX socket": """
    line = socket.socket(socket.AF_UNIX)
    return line.connect("@SOCKET@") is None""",
    "connects to an abstract socket": """
    line = socket.socket(socket.AF_UNIX)
    return line.connect("\\0@MARK@") is None""",
    "connects to a server here": """
    return socket.create_connection(("127.0.0.1", @PORT@), timeout=60)""",
    "attaches shared memory": """
    from multiprocessing.shared_memory import SharedMemory
    return bytes(SharedMemory("@MARK@").buf)""",
    "looks for other processes": """
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
    return any(b"pytest" in line for line in lines)""",
    "writes beside the marks": 'return Path("@OUT@/was_here").write_text("100")',
}
# As above, and not tried without confinement.
GRASPS = {
    "reads the environment": """
    known = [str(os.environ)]
    for path in Path("/proc").glob("[0-9]*/environ"):
        if os.access(path, os.R_OK):
            known.append(path.read_text(errors="replace"))
    return "@KEY@" in "".join(known)""",
    "writes into the package": """
    for place in ("@ROOT@/workbook", "@ROOT@/tests", "@ROOT@/data", sys.prefix, "/"):
        if os.access(place, os.W_OK):
            return Path(place, "was_here.py").write_text("")""",
    "makes shared memory": """
    from multiprocessing.shared_memory import SharedMemory
    return SharedMemory(create=True, size=2**20)""",
    "becomes root": "return os.setuid(0) is None",
    "makes a user namespace": "return ctypes.CDLL(None).unshare(0x10000000) == 0",
    "mounts": 'return ctypes.CDLL(None).mount(b"x", b"/tmp", b"tmpfs", 0, 0) == 0',
    "traces the grader": "return ctypes.CDLL(None).ptrace(16, @PID@, 0, 0) == 0",
}
# What they fill, end or never end; each is an answer that does not pass.
BOMBS = {
    "forks for ever": "while True: os.fork()",
    "takes all memory": "return [bytearray(2**28) for _ in range(999)]",
    "fills the disk": """
    for number in range(9999):
        Path(f"/tmp/{number}").write_bytes(bytes(2**20))""",
    "writes one large file": 'return Path("/tmp/large").write_bytes(bytes(2**25))',
    "never ends": "while True: pass",
    "waits for ever": "import time; time.sleep(999)",
    "catches everything": """
    while True:
        try: return who_writes(label)
        except BaseException: pass""",
    "writes for ever wherever it can": """
    while True:
        for number in range(1, 12):
            try: os.write(number, b"x" * 2**16)
            except OSError: pass""",
    "says nonsense": """
    for number in range(3, 12):
        try: os.write(number, b'{"found": {"slug": 5}}\\n' + b"[" * 99999 + b"\\n")
        except OSError: pass""",
    "exits": "os._exit(0)",
    "kills all it can": "os.kill(-1, 9); os._exit(1)",
    "closes its lines": "os.closerange(3, 99)",
    "calls itself for ever": "sys.setrecursionlimit(10**9); return who_writes(label)",
}
# Wrong answers that want to be taken for right ones, and must not be.
FORGED = {
    "equals everything": """
class Any:
    __eq__ = lambda self, other: True
    __hash__ = lambda self: 0

def who_writes(label):
    return Any()""",
    "equals everything, as text": """
class Text(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__

def who_writes(label):
    return Text("model")""",
    "the library's ANY": """
from unittest.mock import ANY

def who_writes(label):
    return ANY""",
    "lies about its class": """
class Odd:
    __class__ = str
    __repr__ = lambda self: "'model'"

def who_writes(label):
    return Odd()""",
    "functions that say yes": """
def who_writes(label):
    import builtins
    builtins.isinstance = builtins.all = builtins.any = lambda *_: True
    return "model" """,
}
# They are at home where the tests run, so their own marks are theirs; nobody else's.
AT_HOME = {
    "a report of its own": """
import json, os

def who_writes(label):
    report = {"slug": "parse_turn", "outcome": "passed", "met": 999, "of": 9}
    line = json.dumps({"found": {**report, "failures": [], "note": ""}}) + "\\n"
    for number in range(3, 12):
        try: os.write(number, line.encode())
        except OSError: pass""",
}
BODY = "import os, sys\nfrom pathlib import Path\n\ndef who_writes(label):\n    {}"
HOSTILE = {name: LOOKS.format(text) for name, text in {**PEEKS, **GRASPS}.items()}
HOSTILE |= {name: BODY.replace("{}", text) for name, text in BOMBS.items()}
HOSTILE |= {**FORGED, **AT_HOME}
WITNESSES = ("a witness", "z witness")


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """Secrets, servers, memory and a key, by the names that the notebooks have."""
    base = tmp_path_factory.mktemp("m")
    (base / "home" / ".ssh").mkdir(parents=True)
    (base / "out").mkdir()
    for file in (base / "home" / ".ssh" / "id_test", base / "file"):
        file.write_text("private")
    mark = f"{base.name}_{os.getpid()}"  # memory outlives a suite that was killed
    memory, called = SharedMemory(mark, create=True, size=8), []
    kinds = socket.AF_INET, socket.AF_UNIX, socket.AF_UNIX
    lines = [socket.socket(kind) for kind in kinds]
    places = ("127.0.0.1", 0), str(base / "s"), f"\0{mark}"
    for line, place in zip(lines, places, strict=True):
        line.bind(place)
        line.listen()
        threading.Thread(target=answer, args=(line, called), daemon=True).start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", f"sk-{base.name}")
        yield {
            "HOME": base / "home", "OUT": base / "out", "CLASS": base / "class",
            "ROOT": ROOT, "MARK": mark, "KEY": f"sk-{base.name}", "PID": os.getpid(),
            "SOCKET": base / "s", "PORT": lines[0].getsockname()[1],
            "FILE": base / "file", "called": called,
        }  # fmt: skip
    memory.unlink()


def answer(line, called):
    called.append(line.accept())


def write(folder, source, known):
    for name, value in known.items():
        source = source.replace(f"@{name}@", str(value))
    return write_cells(folder / f"{LESSON}.ipynb", source)


@pytest.fixture(scope="module")
def graded(known):
    """Grade them all, once; return a row a learner, and what has changed."""
    for name, source in {**HOSTILE, **dict.fromkeys(WITNESSES, RIGHT)}.items():
        write(known["CLASS"] / name, source, known)
    children = psutil.Process().children()
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grade(known["CLASS"], known["OUT"], jobs=2)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held
    left = [each for each in psutil.Process().children() if each not in children]
    places = [ROOT / name for name in ("workbook", "tests", "data")]
    for place in [*places, known["OUT"], Path(sys.prefix)]:
        left += place.glob("**/was_here*")
    rows = rows_of(known["OUT"] / "results.csv")
    return {row["learner"]: row for row in rows}, [*left, *known["called"]], held


@pytest.mark.parametrize("name", [*WITNESSES, *PEEKS, *GRASPS])
def test_nothing_outside_is_reached(graded, name):
    """an answer that is wrong where it reaches something passes: it reached nothing"""
    assert (graded[0][name]["outcome"], graded[0][name]["met"]) == ("passed", "3")


@pytest.mark.parametrize("name", PEEKS)
def test_without_confinement_it_is_reached(known, tmp_path, name):
    """the same answers do reach it unconfined, so the test above can fail"""
    (row,) = complete(handed_in(write(tmp_path, HOSTILE[name], known)))
    assert row["met"] < 3


@pytest.mark.parametrize("name", [*BOMBS, *FORGED, *AT_HOME])
def test_nobody_passes_who_is_not_right(graded, name):
    """whatever it fills, ends or pretends, it has a verdict, and did not pass"""
    row = graded[0][name]
    assert (row["exercise"], row["of"]) == ("who_writes", "3")
    assert row["outcome"] in ("your code raised", "wrong")
    assert int(row["met"]) < 3


def test_the_machine_is_unchanged(graded):
    """no file is left, and no process; nobody was called, no memory filled"""
    _, left, held_kb = graded
    assert not left
    assert held_kb < 500_000
