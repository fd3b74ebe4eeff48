"""Hostile notebooks between two witnesses: what they reach, and what they leave.

All are graded in one run; then there is an assertion for each, and for the machine.
"""

import hashlib
import os
import resource
import socket
import tempfile
import threading
from multiprocessing.shared_memory import SharedMemory

import psutil
import pytest

from tests.grading.conftest import RIGHT, rows_of, write_cells
from workbook.grading.grade import grade_book, grade_command
from workbook.grading.notebooks import Book, books_in
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
    return socket.create_connection(("127.0.0.1", @PORT@), timeout=1)""",
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
    report = {"slug": "parse_turn", "outcome": "passed", "passed": 999, "total": 9}
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


def mark_of(base):
    """Return a name that no other run has: memory outlives a suite that was killed."""
    return f"{base.name}_{os.getpid()}"


class Machine:
    """What notebooks would like to reach, and who has been reached."""

    def __init__(self, base, file):
        self.folder, self.out, self.home = (base / n for n in ("class", "out", "home"))
        (self.home / ".ssh").mkdir(parents=True)
        (self.home / ".ssh" / "id_test").write_text("private")
        self.out.mkdir()
        self.called, server = [], socket.create_server(("127.0.0.1", 0))
        named, abstract = (socket.socket(socket.AF_UNIX) for _ in range(2))
        named.bind(str(base / "s"))
        abstract.bind(f"\0{mark_of(base)}")
        for line in (server, named, abstract):
            line.listen()
            threading.Thread(target=self._listen, args=(line,), daemon=True).start()
        self.known = {
            "HOME": self.home, "OUT": self.out, "CLASS": self.folder, "ROOT": ROOT,
            "MARK": mark_of(base), "KEY": f"sk-{base.name}", "PID": os.getpid(),
            "SOCKET": base / "s", "PORT": server.getsockname()[1], "FILE": file,
        }  # fmt: skip

    def _listen(self, line):
        while True:
            self.called.append(line.accept())

    def write(self, path, source):
        for name, value in self.known.items():
            source = source.replace(f"@{name}@", str(value))
        return write_cells(path, source)


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """A machine with secrets, servers and a key in its environment."""
    base = tmp_path_factory.mktemp("m")
    shared = SharedMemory(mark_of(base), create=True, size=8)
    with (
        tempfile.NamedTemporaryFile("w", dir="/tmp") as file,
        pytest.MonkeyPatch.context() as patch,
    ):
        print("private", file=file, flush=True)
        made = Machine(base, file.name)
        patch.setenv("OPENAI_API_KEY", made.known["KEY"])
        yield made
    shared.unlink()


def files(*folders):
    """Return a digest of each file, by its path."""
    paths = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in paths
        if "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def rows(machine):
    """Grade them all, once; return a row a learner, and note what has changed."""
    for name, source in {**HOSTILE, **dict.fromkeys(WITNESSES, RIGHT)}.items():
        machine.write(machine.folder / name / "00_start_here.ipynb", source)
    places = [ROOT / name for name in ("workbook", "tests", "data", "notebooks")]
    places += [machine.folder, machine.home]
    before, children = files(*places), psutil.Process().children()
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grade_command(machine.folder, machine.out, jobs=2)
    machine.held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held
    machine.changed = files(*places).items() ^ before.items()
    machine.left = [p for p in psutil.Process().children() if p not in children]
    machine.reached = list(machine.called)
    machine.written = list(machine.out.glob("was_here*"))
    return {row["learner"]: row for row in rows_of(machine.out / "results.csv")}


@pytest.mark.parametrize("name", [*WITNESSES, *PEEKS, *GRASPS])
def test_nothing_outside_is_reached(rows, name):
    """an answer that is wrong where it reaches something passes: it reached nothing"""
    assert (rows[name]["outcome"], rows[name]["met"]) == ("passed", "3")


@pytest.mark.parametrize("name", PEEKS)
def test_without_confinement_it_is_reached(machine, tmp_path, name):
    """the same answers do reach it unconfined, so the test above can fail"""
    (book,) = books_in(machine.write(tmp_path / "00_start_here.ipynb", HOSTILE[name]))
    assert grade_book(book).reports["who_writes"].passed < 3


@pytest.mark.parametrize("name", [*BOMBS, *FORGED])
def test_nobody_passes_who_is_not_right(rows, name):
    """whatever it fills, ends or pretends, it has a verdict, and did not pass"""
    assert rows[name]["outcome"] in ("your code raised", "wrong")
    assert int(rows[name]["met"]) < int(rows[name]["of"]) == 3


def test_a_class_of_ours_that_equals_everything_is_found():
    """who has the package's own classes equal everything does not pass"""
    cell = """
from workbook.runtime.turns import Action, Final, Malformed

def parse_turn(text):
    for kind in (Action, Final, Malformed):
        kind.__eq__ = lambda self, other: True
    return Action("", "", "")
"""
    report = grade_book(Book("ann", cells=(cell,), slugs=("parse_turn",))).reports
    assert report["parse_turn"].outcome == "wrong"


@pytest.mark.parametrize("name", AT_HOME)
def test_who_forges_a_mark_forges_an_own_one(rows, name):
    """a forger's row is that of the exercise, of as many tests as it has"""
    row = rows[name]
    assert (row["exercise"], row["of"]) == ("who_writes", "3")
    assert int(row["met"]) <= 3


def test_the_machine_is_unchanged(rows, machine):
    """no file has changed, no process is left, nobody was called, no memory filled"""
    assert machine.changed == set()
    assert (machine.written, machine.left, machine.reached) == ([], [], [])
    assert machine.held < 500_000  # kB
