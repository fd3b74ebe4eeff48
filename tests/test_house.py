"""The house stays small: lines by room and kind, no long file, no circle of imports."""

import ast
from collections import Counter
from graphlib import TopologicalSorter

from workbook.paths import ROOT

PACKAGE = ROOT / "workbook"
LIMIT = 27_887
LONGEST_FILE = 300
SUBJECT = {
    "models", "loop", "tools", "traces", "langchain_trace", "fsm", "guardrails",
    "grounding", "security", "voting", "evaluation",
}  # fmt: skip
ENVIRONMENTS = {"environments"}
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(
        ".__init__"
    ): path
    for path in PACKAGE.rglob("*.py")
}


def lines(path):
    """Return how many lines a file has, blank ones with them."""
    return len(path.read_text(encoding="utf-8").splitlines())


def room_of(path):
    """Return the folder of the package in which a file is; `root` for its own."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else "root"


def kind_of(room):
    """Return what a room holds: what people read, what is acted on, or machinery."""
    return (
        "subject"
        if room in SUBJECT
        else "environments"
        if room in ENVIRONMENTS
        else "machinery"
    )


def imports_of(path):
    """Return the modules of the package that a file imports, wherever it does so."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name for name in names if name in MODULES}
    return found


def test_the_house_is_small():
    """At most so many lines, and at least half of them are the subject."""
    rooms = Counter()
    for path in MODULES.values():
        rooms[room_of(path)] += lines(path)
    kinds = Counter()
    for room, number in rooms.items():
        kinds[kind_of(room)] += number
    table = [f"{kind_of(room):10}{room:18}{n:7,}" for room, n in rooms.most_common()]
    table += [f"{kind:28}{n:7,}" for kind, n in kinds.most_common()]
    print("\n".join(sorted(table)))
    assert rooms.total() <= LIMIT, f"{rooms.total():,} lines"
    assert kinds["subject"] >= rooms.total() / 2, dict(kinds)


def test_no_file_is_long():
    """A long file has a second subject."""
    long = {
        path.name: n for path in MODULES.values() if (n := lines(path)) > LONGEST_FILE
    }
    assert long == {}


def test_no_circle_of_imports():
    """Each module can be read after those that it imports, also within a room."""
    imports = {name: imports_of(path) - {name} for name, path in MODULES.items()}
    TopologicalSorter(imports).prepare()
