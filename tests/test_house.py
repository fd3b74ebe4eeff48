"""The house stays small: lines by room and kind, no long file, no circle of imports."""

import ast
from collections import Counter
from graphlib import TopologicalSorter

from workbook.paths import ROOT

PACKAGE = ROOT / "workbook"
LIMIT = 15_389
ROOMS = {
    "runtime": 4_953, "checks": 2_224, "worlds": 1_147, "lessons": 3_793,
    "stage": 1_822, "measures": 902, "root": 548,
}  # fmt: skip
"""What each room has; its goals are 3,600, 1,500, 750, 3,300, 1,400, 800 and 350."""
LONGEST_FILE = 350
SUBJECT = {"runtime", "lessons", "worlds", "measures"}
ASKED_FOR = {("workbook.runtime.local", "workbook.weights")}
"""What a module imports only as it is used, and goes without where it is not there."""


def room_of(path):
    """Return the folder of the package in which a file is; `root` for its own."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else "root"


def name_of(path):
    """Return the name of a module."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


MODULES = {name_of(path): path for path in PACKAGE.rglob("*.py")}
LINES = {n: len(path.read_text("utf-8").splitlines()) for n, path in MODULES.items()}


def imported(tree, name=""):
    """Yield what the module of that name may import; without one, from others alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and (name or not node.level):
            around = name.split(".")[: -node.level] if node.level else []
            room = ".".join([*around, *filter(None, [node.module])])
            yield room
            yield from (f"{room}.{each.name}" for each in node.names)


def lines_by_room():
    """Return how many lines each room has."""
    rooms = Counter()
    for name, path in MODULES.items():
        rooms[room_of(path)] += LINES[name]
    return rooms


def test_the_house_is_small():
    """At most so many lines, and at least half of them are the subject."""
    rooms = lines_by_room()
    print("\n".join(f"{room:18}{n:7,}" for room, n in rooms.most_common()))
    assert rooms.total() <= LIMIT, f"{rooms.total():,} lines"
    assert sum(rooms[room] for room in SUBJECT) >= rooms.total() / 2


def test_each_new_room_is_small():
    """What was written anew does not grow again."""
    rooms = lines_by_room()
    over = {room: n for room, n in rooms.items() if n > ROOMS.get(room, n)}
    assert not over, f"{over}: shorten it, or raise ROOMS and LIMIT with the reason"


def test_no_file_is_long():
    """A long file has a second subject."""
    assert {name: n for name, n in LINES.items() if n > LONGEST_FILE} == {}


def test_no_circle_of_imports():
    """Each module can be read after those that it imports, also within a room."""
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in MODULES.items()}
    imports = {n: {*imported(trees[n], n)} & MODULES.keys() - {n} for n in MODULES}
    for module, other in ASKED_FOR:
        imports[module].remove(other)
    TopologicalSorter(imports).prepare()
