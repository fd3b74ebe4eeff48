"""The words of the course, taken out for translators and put back: gettext's PO files.

A file is rewritten with a function that is given each text and returns what takes its
place. The one that notes a text and returns it as it is takes the texts out; the one
that looks a text up puts a translation in. So both see the same texts.

Taken out are the prose of the notebooks, a paragraph each; titles, goals and hints of
the exercises; the rules, which are the first lines of their tests; and the messages of
the room `exercises`. Code cells stay as they are, and so does what a model is sent.
"""

import ast
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import metadata
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.exercises.catalogue import CourseError, exercises
from workbook.exercises.export import whole_folder
from workbook.paths import ROOT

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

Say = Callable[[str], str]
"""What a text becomes."""

EDITION = ["notebooks", "workbook", "data", "tests", "README.md", "LICENSE"]
EDITION += ["pyproject.toml", "requirements.txt"]
VERSION = metadata.version("react-workbook")
PROSE_KEYS = ("title", "goal", "role")
HINTS = 2  # a pointer and a plan; the third hint is code
PROSE = re.compile(r"[^\W\d_]{2,}.*\s.*[^\W\d_]{2,}", re.DOTALL)
FENCE = re.compile(r"^\s*(```|~~~)")
WRITE_CODE = ("copied",)  # its texts are lines of Python
PATTERNS = ("compile", "match", "search", "sub")


def take_out(target: Path) -> str:
    """Write every text of the course into a PO file, with the places where it stands.

    CourseError: the file is there already, or cannot be written.
    """
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import write_po

    if target.exists():
        raise CourseError(f"{target} is there already: name a new file.")
    whose: dict[str, Any] = {"project": "react-workbook", "fuzzy": False}
    catalog = Catalog(copyright_holder="its translators", version=VERSION, **whose)
    for path, rewritten in _files():
        place = path.relative_to(ROOT).as_posix()

        def note(text: str, place: str = place) -> str:
            catalog.add(text, locations=[(place, 0)])
            return text

        rewritten(path.read_text(encoding="utf-8"), note)
    try:
        with target.open("wb") as file:
            write_po(file, catalog, width=0, include_lineno=False)
    except OSError as error:
        raise CourseError(f"{target} cannot be written: {error.strerror}") from None
    return f"{target}: {len(catalog)} texts"


def put_in(source: Path, target: Path) -> str:
    """Write the course with the texts of a PO file into a new or empty folder.

    A text without a translation, or with one that is marked fuzzy, stays English.
    CourseError: the file is no PO file, a translation has lost a `{placeholder}`, or
    the folder holds something.
    """
    catalog = _read(source)
    found: Counter[str] = Counter()

    def translated(text: str) -> str:
        message = catalog.get(text)
        done = message is not None and bool(message.string) and not message.fuzzy
        found["translated" if done else "English"] += 1
        return str(message.string) if message is not None and done else text

    with whole_folder(target) as whole:
        for name in EDITION:
            _copy(ROOT / name, whole / name)
        for path, rewritten in _files():
            copy = whole / path.relative_to(ROOT)
            text = rewritten(path.read_text(encoding="utf-8"), translated)
            copy.write_text(text, encoding="utf-8")
    done, left = found["translated"], found["English"]
    return f"{target}: {done} texts translated, {left} stay English."


def _read(source: Path) -> "Catalog":
    from babel.messages.pofile import PoFileError, read_po

    try:
        with source.open("rb") as file:
            return read_po(file, abort_invalid=True)
    except OSError as error:
        raise CourseError(f"{source} cannot be read: {error.strerror}") from None
    except (PoFileError, UnicodeDecodeError, ValueError) as error:
        raise CourseError(f"{source} is no PO file in UTF-8: {error}") from None


def _copy(source: Path, target: Path) -> None:
    hidden = shutil.ignore_patterns(".*", "__pycache__")
    if source.is_dir():
        shutil.copytree(source, target, ignore=hidden)
    else:
        shutil.copyfile(source, target)


def _files() -> Iterator[tuple[Path, Callable[[str, Say], str]]]:
    """Yield each file that has texts, with the function that rewrites it."""
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        if not path.parent.name.startswith("."):
            yield path, in_notebook
    for path in sorted((ROOT / "data" / "exercises").glob("*.toml")):
        yield path, in_catalogue
    for path in sorted({each.tests_path for each in exercises().values()}):
        yield path, in_tests
    for path in sorted((ROOT / "workbook" / "exercises").glob("*.py")):
        if path.stem not in WRITE_CODE:
            yield path, in_messages


def in_notebook(source: str, say: Say) -> str:
    """Return a notebook with other prose; code, fenced code and tags stay."""
    notebook = json.loads(source)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            text = in_markdown("".join(cell["source"]), say)
            cell["source"] = text.splitlines(keepends=True)
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def in_markdown(source: str, say: Say) -> str:
    """Return Markdown with other paragraphs; a table or a list is one of them."""
    lines: list[tuple[bool, str]] = []  # whether it is of a paragraph
    fenced = False
    for line in source.split("\n"):
        fence = bool(FENCE.match(line))
        lines.append((bool(line.strip()) and not fence and not fenced, line))
        fenced ^= fence
    out = []
    for is_paragraph, group in groupby(lines, key=itemgetter(0)):
        text = "\n".join(line for _, line in group)
        out.append(say(text) if is_paragraph and PROSE.search(text) else text)
    return "\n".join(out)


def in_catalogue(source: str, say: Say) -> str:
    """Return a file of exercises with other titles, goals and hints."""
    import tomlkit

    document = tomlkit.parse(source)
    for row in [*document.get("lesson", []), *document.get("exercise", [])]:
        hints = row.get("hints", [])
        places: list[tuple[Any, Any]] = [(row, k) for k in PROSE_KEYS if k in row]
        places += [(hints, n) for n in range(min(HINTS, len(hints)))]
        for holder, key in places:
            text = str(holder[key])
            if (said := say(text)) != text:
                holder[key] = said
    return tomlkit.dumps(document)


def in_tests(source: str, say: Say) -> str:
    """Return a file of tests with other rules: the first lines of their docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            first, *rest = (ast.get_docstring(node) or "").split("\n\n")
            rule = " ".join(first.split())
            if rule and (said := say(rule)) != rule:
                node.body[0] = ast.Expr(ast.Constant("\n\n".join([said, *rest])))
    return ast.unparse(tree)


def in_messages(source: str, say: Say) -> str:
    """Return a module with other messages; what an f-string computes stays."""
    return ast.unparse(_Messages(say).visit(ast.parse(source)))


class _Messages(ast.NodeTransformer):
    """Puts other texts in; what is compared, looked up or matched is no message."""

    def __init__(self, say: Say) -> None:
        self.say = say

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        text = node.value
        return ast.Constant(self._said(text) if isinstance(text, str) else text)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        text = "".join(map(_piece, node.values))
        said = self._said(text)
        return node if said == text else _filled(node, text, said)

    def _said(self, text: str) -> str:
        words = re.sub(r"\{[^}]*\}", "", text)
        return self.say(text) if PROSE.search(words) else text

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        is_docstring = isinstance(node.value, ast.Constant)
        return node if is_docstring else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return node if name in PATTERNS else self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node.value = self.visit(node.value)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        return node


def _piece(part: ast.expr) -> str:
    """Return a part of an f-string as a translator sees it: `{…}` is computed."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    return ast.unparse(ast.JoinedStr([part]))[2:-1]


def _filled(node: ast.JoinedStr, text: str, said: str) -> ast.JoinedStr:
    """Return an f-string with another text.

    CourseError: it has not the same `{…}` as the English one.
    """
    computed = {_piece(p): p for p in node.values if isinstance(p, ast.FormattedValue)}
    pieces = re.split("(" + "|".join(map(re.escape, computed)) + ")", said)
    if lost := computed.keys() - set(pieces):
        raise CourseError(f"The translation of {text!r} has lost {', '.join(lost)}.")
    return ast.JoinedStr(
        [computed.get(piece) or ast.Constant(piece) for piece in pieces if piece]
    )
