"""The house stays small: lines by room and kind, no long file, no circle of imports."""

from collections import Counter
from graphlib import TopologicalSorter

from workbook.exercises.closure import imported, modules, tree_of
from workbook.paths import ROOT

PACKAGE = ROOT / "workbook"
LIMIT = 24_689
LONGEST_FILE = 300
SUBJECT = {
    "models", "loop", "tools", "traces", "langchain_trace", "fsm", "guardrails",
    "grounding", "security", "voting", "evaluation",
}  # fmt: skip
MODULES = {n: path for n, path in modules().items() if PACKAGE in path.parents}
LINES = {n: len(path.read_text("utf-8").splitlines()) for n, path in MODULES.items()}


def room_of(path):
    """Return the folder of the package in which a file is; `root` for its own."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else "root"


def test_the_house_is_small():
    """At most so many lines, and at least half of them are the subject."""
    rooms = Counter()
    for name, path in MODULES.items():
        rooms[room_of(path)] += LINES[name]
    print("\n".join(f"{room:18}{n:7,}" for room, n in rooms.most_common()))
    assert rooms.total() <= LIMIT, f"{rooms.total():,} lines"
    assert sum(rooms[room] for room in SUBJECT) >= rooms.total() / 2


def test_no_file_is_long():
    """A long file has a second subject."""
    assert {name: n for name, n in LINES.items() if n > LONGEST_FILE} == {}


def test_no_circle_of_imports():
    """Each module can be read after those that it imports, also within a room."""
    imports = {n: {*imported(tree_of(n))} & MODULES.keys() - {n} for n in MODULES}
    TopologicalSorter(imports).prepare()
