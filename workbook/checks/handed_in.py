"""What a class handed in, as rows: an exercise of a notebook each, with its answer.

A row is a report that nothing is known for yet, with `learner`, `notebook`, `text` and
`problem`. Nothing is run. Parsing belongs into the main thread: in Python 3.11 two
threads that parse at once can fail.
"""

import ast
import json
import re
from collections import Counter, namedtuple
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbook.checks import catalogue
from workbook.checks.answer import answer_in, statements
from workbook.checks.catalogue import CourseError, exercises

Row = dict[str, Any]
Cell = namedtuple("Cell", "number source tags")  # counted among all cells, from 1
ONLINE = "_assignsubmission_onlinetext"  # Moodle's folder for what was typed there
HIDDEN = re.compile(rf"[/\\](\.\w|__MACOSX|[^/\\]*{ONLINE})")
MOODLE = re.compile(r"_\d+_assignsubmission_file.*")
LARGEST_B = 20_000_000
NOTHING = "none of the exercises is in it"


def read_cells(path: Path) -> list[Cell]:
    """Return the code cells of a notebook; a CourseError says why it has none."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8-sig"))["cells"]
        code = [(n, c) for n, c in enumerate(cells, 1) if c["cell_type"] == "code"]
        tags = [cell.get("metadata", {}).get("tags", []) for _, cell in code]
        texts = ["".join(cell["source"]) for _, cell in code]
        return [*map(Cell, (number for number, _ in code), texts, tags)]
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise CourseError(f"{path.name} cannot be read as a notebook: {why}") from None


def handed_in(folder: Path, chosen: Sequence[str] = ()) -> list[Row]:
    """Return the rows of all notebooks, the oldest first; CourseError: there is none.

    Where lessons are `chosen`, only they count, each of them for each learner.
    """
    known = catalogue.lessons()
    numbers = {slug[:2]: slug for slug, each in known.items() if not each.lab}
    if unknown := [word for word in chosen if word not in {*known, *numbers}]:
        why = f"--lessons: {unknown[0]} is none. Use its number, or its name."
        raise CourseError(why)
    chosen = [numbers.get(word, word) for word in chosen]
    home = folder if folder.is_dir() else folder.parent
    found = [*folder.rglob("*.ipynb")] if folder == home else [folder]
    found += [path for path in home.iterdir() if path.is_dir() and folder == home]
    paths = [p for p in found if not HIDDEN.search(f"/{p.relative_to(home)}")]
    if not any(path.suffix == ".ipynb" for path in paths):
        raise CourseError(f"{folder} holds no notebook. Give a notebook or a folder.")
    folders = {path.relative_to(home).parts[0] for path in paths}
    times = Counter(MOODLE.sub("", name) for name in folders)  # two may have one name
    names = {f: n if times[n := MOODLE.sub("", f)] == 1 else f for f in folders}
    rows, seen = list[Row](), dict[str, str]()  # learners by their folder
    paths.sort(key=lambda path: (path.suffix != ".ipynb", path.lstat().st_mtime, path))
    for path in paths:
        first, *below = path.relative_to(home).parts
        if below or first not in seen:  # a folder comes last: nothing was in it
            seen[first] = names[first].removesuffix("" if below else ".ipynb")
            name = "/".join(below) or ("" if path.is_dir() else first)
            own = _rows_of(path, home / first, chosen)
            rows += [{"learner": seen[first], "notebook": name, **row} for row in own]
    have = {(row["learner"], row["slug"]) for row in rows}
    return rows + [
        {"learner": learner, "notebook": "", **_row(slug, note="not handed in")}
        for learner in dict.fromkeys(seen.values())
        for slug, exercise in exercises().items()
        if exercise.lesson in chosen and (learner, slug) not in have
    ]


def _row(slug: str = "", problem: str = "", note: str = "") -> Row:
    exercise = exercises().get(slug)
    row: Row = {"slug": slug, "outcome": "not attempted", "met": 0, "failures": []}
    row["lesson"] = exercise.lesson if exercise else None
    row["of"] = len(exercise.rules()) if exercise else 0
    return {**row, "note": note, "problem": problem, "text": ""}


def _rows_of(path: Path, own: Path, chosen: Collection[str]) -> list[Row]:
    text, problem, cells = "", "", list[str]()
    try:
        if not path.resolve().is_relative_to(own.parent.resolve() / own.name):
            raise CourseError("it is a link that leads elsewhere: not followed")
        if not path.is_file():
            raise CourseError("no notebook")
        if path.stat().st_size > LARGEST_B:
            raise CourseError(f"it has more than {LARGEST_B:,} bytes")
        text = path.read_text(encoding="utf-8", errors="replace")
        cells = [cell.source for cell in read_cells(path)]
    except (OSError, RuntimeError, CourseError) as error:  # of links in a circle, too
        problem = str(error)
    # The file's name tells its lesson, otherwise the functions in it do.
    lessons = {lesson for lesson in catalogue.lessons() if lesson in path.name}
    defined = {*re.findall(r"\bdef (\w+) *\(", "\n".join(cells) or text)}
    known = exercises().items()
    lessons = lessons or {each.lesson for slug, each in known if slug in defined}
    if not lessons:
        return [_row(problem=problem or NOTHING)]
    lessons &= {*chosen} or lessons
    rows = [_row(slug, problem) for slug, each in known if each.lesson in lessons]
    for row in [] if problem else rows:
        try:
            row["text"] = _answer(cells, row["slug"])
        except LookupError as error:
            row["note"] = str(error)
        except Exception as error:  # it is no Python, or too deep
            failure = {"rule": str(error), "test": "", "evidence": []}
            row |= {"outcome": "your code raised", "failures": [failure]}
    return rows


def _answer(cells: Sequence[str], slug: str) -> str:
    """Return the last answer that is more than its stub, otherwise the stub."""
    begun = []
    for cell in cells:
        found = statements(cell)
        texts = [s.text for s in found if not (s.defines(slug) and _is_stub(s.node))]
        begun.append(cell if len(texts) == len(found) else "\n\n\n".join(texts))
    with suppress(LookupError):
        return answer_in(begun, slug)
    return answer_in(cells, slug)


def _is_stub(node: Any) -> bool:
    last = ast.unparse(node.body[-1])
    return len(node.body) <= 2 and last.startswith("raise NotImplementedError")
