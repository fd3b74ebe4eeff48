"""The words of the course go to translators and come back; nothing else changes."""

import ast
import json
import os
import re
import tomllib

import nbformat
import pytest
from babel.messages.pofile import read_po, write_po
from hypothesis import given
from hypothesis import strategies as st
from nbclient import NotebookClient

from workbook import texts
from workbook.exercises.catalogue import CourseError
from workbook.paths import ROOT

KEPT = re.compile(r"(`[^`]*`|\{[^{}]*\}|\]\([^)]*\)|<[^>]*>|https?://\S+)")
ACCENTS = str.maketrans("aceinosuyAEO", "åçéïñöšûýÅÉÖ")


def pseudo(text):
    """Return a text as of another language, readable; what must stay stays."""
    parts = KEPT.split(text)
    parts[::2] = [part.translate(ACCENTS) for part in parts[::2]]
    return "".join(parts)


def same(path, one, other):
    """Whether two texts of a file say the same to who reads it."""
    read = {".py": lambda text: ast.dump(ast.parse(text)), ".toml": tomllib.loads}
    read[".ipynb"] = json.loads
    return read[path.suffix](one) == read[path.suffix](other)


def taken_out(rewritten, source, translated):
    """Return a text with its texts translated, and those texts."""
    found = []
    other = rewritten(source, lambda text: found.append(text) or translated(text))
    return other, found


def test_what_is_taken_out_comes_back():
    """A file whose texts stay is as it was; a pseudo-translation can be read."""
    for path, rewritten in texts._files():
        source = path.read_text(encoding="utf-8")
        assert same(path, taken_out(rewritten, source, str)[0], source), path
        other, found = taken_out(rewritten, source, pseudo)
        assert taken_out(rewritten, other, str)[1] == [*map(pseudo, found)], path


def test_code_cells_are_untouched():
    """Of a notebook only the prose changes, and of that no fenced code."""
    lesson = ROOT / "notebooks" / "01_naive_loop.ipynb"
    source = lesson.read_text(encoding="utf-8")
    cells = json.loads(source)["cells"]
    others = json.loads(texts.in_notebook(source, str.upper))["cells"]
    for one, other in zip(cells, others, strict=True):
        kept = one["cell_type"] != "markdown"
        assert (one == other) is kept, one["id"]
    fenced = "Look:\n```\nsome code here\n```\nand on"
    assert texts.in_markdown(fenced, str.upper) == fenced.replace("and on", "AND ON")


@given(
    st.lists(st.sampled_from(["", " ", "two words", "# A title", "- a list", "```"]))
)
def test_markdown_keeps_its_lines(lines):
    """Whatever the order of blank lines, lists and fences, nothing is lost."""
    source = "\n".join(lines)
    assert texts.in_markdown(source, lambda text: text) == source


MODULE = '''
"""A docstring that stays."""
import re
HOW = re.compile(r"two words")
def told(n, name):
    """Another one that stays."""
    if name == "no such name":
        raise ValueError("it is " "not there")
    return f"{name!r} was called {n:,} times" + {"two words": "a value"}["two words"]
'''


def test_messages_keep_what_is_computed():
    """The words of an f-string change; what it computes may change its place."""
    said = {
        "{name!r} was called {n:,} times": "{n:,} Aufrufe von {name!r}",
        "it is not there": "gibt's nicht",
    }
    changed = texts.in_messages(MODULE, lambda text: said.get(text, text))
    here: dict = {}
    exec(changed, here)
    assert here["told"](1234, "f").startswith("1,234 Aufrufe von 'f'")
    with pytest.raises(ValueError, match="gibt's nicht"):
        here["told"](1, "no such name")
    with pytest.raises(CourseError, match=r"has lost \{n:,\}"):
        texts.in_messages(MODULE, lambda text: text.replace("{n:,}", "some"))


def test_files_that_are_none_are_told(tmp_path):
    """A file that is there, is no PO file or cannot be read is named in a sentence."""
    there = tmp_path / "there.po"
    there.write_bytes(b"\xff\xfe no catalogue")
    with pytest.raises(CourseError, match=r"there\.po is there already"):
        texts.take_out(there)
    with pytest.raises(CourseError, match="no PO file"):
        texts.put_in(there, tmp_path / "new")
    with pytest.raises(CourseError, match=r"none\.po cannot be read"):
        texts.put_in(tmp_path / "none.po", tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.fixture(scope="module")
def edition(tmp_path_factory):
    """The course in pseudo: every text has a translation, but one that is fuzzy."""
    folder = tmp_path_factory.mktemp("edition")
    texts.take_out(folder / "texts.po")
    with (folder / "texts.po").open("rb") as file:
        catalog = read_po(file)
    for message in catalog:
        message.string = pseudo(message.id) if message.id else message.string
    catalog["After this lesson you can"].flags.add("fuzzy")
    with (folder / "pseudo.po").open("wb") as file:
        write_po(file, catalog)
    said = texts.put_in(folder / "pseudo.po", folder / "edition")
    assert re.search(r"[\d]+ texts translated, 15 stay English", said), said
    return folder / "edition"


WRONG = """
from workbook import check
def naive_loop(model, tools, question, *, instructions=""):
    return "Paris"
check(naive_loop)
"""


def test_the_first_lesson_runs_and_checks_in_pseudo(edition, tmp_path):
    """Lesson 01 of the edition runs to its end, and a check says its rule in pseudo."""
    notebook = nbformat.read(edition / "notebooks" / "01_naive_loop.ipynb", 4)
    assert notebook.cells[0].source.startswith("# Whåt ïš wröñg wïth `while True`?")
    notebook.cells.append(nbformat.v4.new_code_cell(WRONG))
    old = {k: os.environ.get(k) for k in ("PYTHONPATH", "WORKBOOK_DATA")}
    os.environ.update(PYTHONPATH=str(edition), WORKBOOK_DATA=str(tmp_path))
    try:
        where = {"metadata": {"path": str(edition / "notebooks")}}
        NotebookClient(notebook, timeout=120, resources=where).execute()
    finally:
        for key, value in old.items():
            os.environ.pop(key) if value is None else os.environ.update({key: value})
    shown = json.dumps(notebook.cells[-1].outputs, ensure_ascii=False)
    rules = re.findall(
        r'"""(.+?)[.\n"]', (edition / "tests/loop/test_naive.py").read_text()
    )
    assert any(rule in shown for rule in rules[1:]), shown
