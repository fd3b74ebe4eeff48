"""Signs in one answer's text: whose function it calls, and what it pries into.

Python's own tree of the text is read, so that a word in a comment is no sign. Only what
is written out is seen: a name that is put together of pieces is not.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice

from workbook.classroom.sameness import MOST_CHARACTERS, UNREADABLE
from workbook.exercises.report import clip
from workbook.exercises.source import to_python

Origins = dict[str, str]  # by name: the dotted name of what it was imported from
# What gives the package's functions, or shows them.
GIVERS = re.compile(
    r"workbook\.(exercises|classroom|yours|your_parts|your_agent|solution)\b"
)
MODULES = {
    "gc", "ctypes", "signal", "inspect", "atexit", "faulthandler", "unittest", "mock",
    "pytest", "_pytest", "hypothesis", "multiprocessing", "subprocess", "socket",
    "tracemalloc", "linecache", "pkgutil", "importlib", "runpy", "resource", "mmap",
}  # fmt: skip
WORDS = {
    "_getframe", "_current_frames", "_exit", "abort", "settrace", "setprofile", "fork",
    "addaudithook", "setrecursionlimit", "f_back", "f_locals", "f_globals", "tb_frame",
    "__code__", "__globals__", "__closure__", "__subclasses__", "__builtins__",
    "setsid", "__loader__", "__reduce__", "__eq__", "__del__", "__class__",
    "execv", "__import__", "get_objects", "get_referrers", "kill", "killpg", "modules",
    "meta_path", "exec", "eval", "breakpoint",
}  # fmt: skip
CHANGED = {"workbook", "builtins", "json", "pickle", "sys", "os", "time", "typing"}
IN_TEXT = re.compile(
    r"\bworkbook[./]|\btests?[/\\]|\btest_\w+\.py|exercises\.toml|/proc/|conftest"
    r"|\b_?pytest\b|results\.(csv|jsonl)|\.ipynb\b|_getframe|\bgc\.|\bctypes\b"
    r"|__builtins__|__subclasses__|os\._exit|\bsolution\("
)


def borrowed(slug: str, origins: Origins, *texts: str) -> Iterator[str]:
    """Yield signs that an answer calls the package's own function."""
    for tree in filter(None, map(_tree, texts)):
        own = max((n.lineno for n in tree.body if _named(n) == slug), default=0)
        others = {  # yours("an earlier exercise"), as lessons have it
            id(node.func)
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and node.args
            if isinstance(node.args[0], ast.Constant) and node.args[0].value != slug
        }
        for node in ast.walk(tree):
            whose = "" if id(node) in others else _origin(node, origins)
            if isinstance(node, ast.ImportFrom):
                taken = [a for a in node.names if a.name == slug and _ours(node.module)]
                # A def below it takes the name: nothing of ours is left.
                is_gone = node in tree.body and node.lineno < own
                if any(not is_gone or (a.asname or slug) != slug for a in taken):
                    yield _sign("takes the package's own function", node)
            elif _ours(whose) and isinstance(node, ast.Attribute) and node.attr == slug:
                yield _sign("takes the package's own function", node)
            elif GIVERS.match(whose) and isinstance(node, ast.Name | ast.Attribute):
                yield _sign("asks the course for a function", node)
            elif isinstance(node, ast.Call) and node.args:
                called = _named(node.func)
                inside = called in ("getattr", "vars", "dir")
                if inside and _ours(_origin(node.args[0], origins)):
                    yield _sign("looks into the package by name", node)
        for node in tree.body:  # ours = parse_turn, above the def
            if not isinstance(node, ast.Assign) or node.lineno > own:
                continue
            if slug in map(_named, ast.walk(node.value)):
                yield _sign("keeps another function of that name", node)


def pried(origins: Origins, *texts: str) -> Iterator[str]:
    """Yield signs that a text looks at what is not its own, or changes it."""
    for text in texts:
        if len(text) > MOST_CHARACTERS:
            yield f"too long to look through: a cell of {len(text):,} characters"
    for tree in filter(None, map(_tree, texts)):
        said = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            targets = getattr(node, "targets", [getattr(node, "target", None)])
            if isinstance(node, ast.Call) and _named(node.func) == "setattr":
                targets = [ast.Attribute(node.args[0], "x")] if node.args else []
            for target in targets:
                inside = isinstance(target, ast.Attribute | ast.Subscript)
                if inside and _origin(target, origins).partition(".")[0] in CHANGED:
                    yield _sign("changes what others use", node)
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names]
                names = [getattr(node, "module", None) or name for name in names]
                if MODULES & {name.partition(".")[0] for name in names}:
                    yield _sign("uses the interpreter's tools", node)
            elif _named(node) in WORDS:
                yield _sign("uses the interpreter's tools", node)
            elif isinstance(node, ast.Constant) and node not in said:
                for found in islice(IN_TEXT.finditer(str(node.value)), 1):
                    yield f"names what is the grader's: {found[0]!r} in a text"


def origins_in(texts: Iterable[str]) -> Origins:
    """Return where each imported name is from: `{"Turn": "workbook.loop.Turn"}`."""
    found = {}
    for node in (n for tree in map(_tree, texts) if tree for n in ast.walk(tree)):
        if isinstance(node, ast.Import):
            for each in node.names:
                name = each.name if each.asname else each.name.partition(".")[0]
                found[each.asname or name] = name
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                found[each.asname or each.name] = f"{node.module}.{each.name}"
    return found


@lru_cache(maxsize=512)
def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(to_python(text)) if len(text) <= MOST_CHARACTERS else None
    except UNREADABLE:
        return None


def _sign(what: str, node: ast.AST) -> str:
    shown = ast.unparse(node).splitlines()[0]
    return f"{what}: `{clip(shown, 100)}`"


def _named(node: ast.AST) -> str:
    """Return the name that a node is, has, or defines."""
    words = (getattr(node, field, None) for field in ("id", "attr", "name"))
    return next((word for word in words if isinstance(word, str)), "")


def _ours(origin: str | None) -> bool:
    return (origin or "").partition(".")[0] == "workbook"


def _origin(node: ast.AST, origins: Origins) -> str:
    """Return the dotted name of what a chain of attributes leads to, "" if unknown."""
    rest = ""
    while isinstance(node, ast.Attribute | ast.Subscript):
        rest = f".{getattr(node, 'attr', '[]')}{rest}"
        node = node.value
    root = origins.get(node.id, "") if isinstance(node, ast.Name) else ""
    return f"{root}{rest}" if root else ""
