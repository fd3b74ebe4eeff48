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
    "reads the environment": 'return "@KEY@" in str(os.environ)',
    "reads another's notebook": "return os.listdir('@CLASS@/a witness')",
    "lists what runs here": 'return os.listdir("/run")',
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
    "writes for ever wherever it can": """
    while True:
        for number in range(1, 12):
            try: os.write(number, b"x" * 2**16)
            except OSError: pass""",
    "says nonsense": """
    for number in range(3, 12):
        try: os.write(number, b'{"found": {"slug": 5}}\\n' + b"[" * 99999 + b"\\n")
        except OSError: pass""",
    "kills all it can": "os.kill(-1, 9); os._exit(1)",
}
# Wrong answers that want to be taken for right ones, and must not be.
FORGED = {
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
BODY = "import os, sys\nfrom pathlib import Path\n\ndef who_writes(label):\n    {}"
HOSTILE = {name: LOOKS.format(text) for name, text in {**PEEKS, **GRASPS}.items()}
HOSTILE |= {name: BODY.replace("{}", text) for name, text in BOMBS.items()}
HOSTILE |= FORGED
WITNESSES = ("a witness", "z witness")


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """A server, memory and a key, by the names that the notebooks have."""
    base, called = tmp_path_factory.mktemp("m"), []
    (base / "out").mkdir()
    mark = f"{base.name}_{os.getpid()}"  # memory outlives a suite that was killed
    memory, line = SharedMemory(mark, create=True, size=8), socket.socket()
    line.bind(("127.0.0.1", 0))
    line.listen()
    answer = threading.Thread(target=lambda: called.append(line.accept()), daemon=True)
    answer.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", f"sk-{base.name}")
        yield {
            "OUT": base / "out", "CLASS": base / "class", "ROOT": ROOT, "MARK": mark,
            "KEY": f"sk-{base.name}", "PID": os.getpid(),
            "PORT": line.getsockname()[1], "called": called,
        }  # fmt: skip
    memory.unlink()


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


@pytest.mark.parametrize("name", [*BOMBS, *FORGED])
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
