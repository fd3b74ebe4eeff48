"""Your agent as a package that runs without the course: written once, then renewed.

What is written is made of texts: the templates of `data/agent`, your parts with their
tests, and the copies that these need.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from string import Template

import workbook
from workbook.exercises.answer import answer_in
from workbook.exercises.catalogue import CourseError, exercises
from workbook.exercises.copied import (
    COPY,
    NAME,
    OUTSIDE,
    SERVERS,
    copies,
    part_text,
    rewritten,
    tests_of,
    text_of,
)
from workbook.exercises.your_agent import Part, path_of
from workbook.paths import DATA

TEMPLATES = DATA / "agent"
RECORD = ".exported.json"
"""Which files were written, each with its digest: a changed one is the user's own."""
RENEWED = ("parts/", "data/", f"{COPY}/", f"{SERVERS}/")
BESIDE = "renewed, and what you had changed is beside it (.yours)"

CAPSTONE, ADDED = "my_agent", ("my_tool", "my_guard")
"""The exercise whose answer has these two functions, which take nobody's place."""

FILLED = ("README.md", "parts/__init__.py", f"{COPY}/__init__.py", "tests/conftest.py")
"""Templates in which names as $YOURS are filled in."""


def export(target: Path, update: bool = False) -> str:
    """Write your agent into a new or empty folder, or renew one; say what was done.

    CourseError: the folder holds something, is no exported agent, or cannot be written.
    """
    target = target.expanduser().absolute()
    there = (target / RECORD).is_file()
    if update and not there:
        raise CourseError(
            f"{target} is no exported agent: it has no {RECORD}. Without --update a new"
            " one is written."
        )
    if there and not update:
        raise CourseError(
            f"{target} holds an agent already. `python -m {NAME} export {target}"
            " --update` renews its parts and its runtime; or name a new folder."
        )
    texts, whose = packed()
    if update:
        return f"{_renew(target, texts)}\n{whose}"
    with whole_folder(target) as whole:
        for name, text in texts.items():
            _put(whole / name, text)
        _record(whole, {name: _digest(text) for name, text in texts.items()})
    return f"Your agent is in {target}. Its README.md says how to go on.\n{whose}"


def packed() -> tuple[dict[str, str], str]:
    """Return your agent as texts by place, and whose its parts are.

    Each part is checked once more.
    """
    templates = {
        path.relative_to(TEMPLATES).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(TEMPLATES.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    homes = {
        slug: each.target
        for slug, each in exercises().items()
        if each.role and each.target.startswith(f"{NAME}.{COPY}.")
    }
    parts, left_out = _parts([*homes])
    known = {
        "YOURS": ", ".join(parts) or "none",
        "OURS": ", ".join(slug for slug in homes if slug not in parts) or "none",
        "PARTS": " ".join([*homes, *ADDED]),
        "TAKEN": " ".join(homes.values()),
        "VERSION": workbook.__version__,
    }
    filled = {name: Template(templates[name]).substitute(known) for name in FILLED}
    files = {**copies(), **tests_of(parts), **templates, **filled}
    files |= {f"parts/{slug}.py": text for slug, text in parts.items()}
    for name in files.keys() - {"README.md"}:  # which says where it comes from
        files[name] = rewritten(files[name])
    files["LICENSE"] = text_of("LICENSE")
    return files, f"Yours: {known['YOURS']}.\nOurs: {known['OURS']}.{left_out}"


def _parts(run: list[str]) -> tuple[dict[str, str], str]:
    """Return the texts of your own parts, and why others of yours are left out."""
    own = [slug for slug in run if Part(slug).whose == "yours"]
    stale = [s for s in run if s not in own and path_of(s).exists()]
    kept = {slug: path_of(slug).read_text(encoding="utf-8") for slug in own}
    parts: dict[str, str] = {}
    refused: list[str] = []
    for slug, text in {**kept, **_added()}.items():
        text = part_text(text, own)
        if outside := OUTSIDE.search(text):
            refused.append(f"{slug} (it imports {outside[1]})")
        else:
            parts[slug] = text
    said = ""
    if stale:
        said += f"\nLeft out, because they no longer pass: {', '.join(stale)}."
    if refused:
        said += f"\nLeft out, because it needs the course itself: {', '.join(refused)}."
    return parts, said


def _added() -> dict[str, str]:
    """Return the tool and the guard of the capstone, each with what it needs."""
    if Part(CAPSTONE).whose != "yours":
        return {}
    kept, found = path_of(CAPSTONE).read_text(encoding="utf-8"), {}
    for name in ADDED:
        with suppress(LookupError):  # it has another name
            found[name] = answer_in([kept], name)
    return found


def _renew(target: Path, files: dict[str, str]) -> str:
    """Write what is new into an exported agent, and leave alone what the user wrote."""
    try:
        before = json.loads((target / RECORD).read_text(encoding="utf-8"))["files"]
    except (ValueError, LookupError, TypeError, OSError) as error:
        raise CourseError(
            f"{target / RECORD} cannot be read ({error}): export into a new folder."
        ) from None
    done: dict[str, list[str]] = {}
    digests = dict(before)
    for name in sorted({*files, *before}):
        path, new = target / name, _digest(files[name]) if name in files else ""
        there = _digest(path.read_text(encoding="utf-8")) if path.is_file() else ""
        theirs = there != before.get(name, "")  # edited, or taken away
        renewed = name.startswith(RENEWED)
        if there == new:
            digests[name] = new
            continue
        if not new and (theirs or name.startswith("parts/")):
            what = "left, as it is yours"
        elif not new:
            what = "taken away"
            path.unlink()
            del digests[name]
        elif theirs and not renewed:
            what = "left, as it is yours" if there else "left out, as you took it away"
        else:
            what = BESIDE if theirs and there else "renewed" if there else "new"
            if what == BESIDE:
                os.replace(path, path.with_name(f"{path.name}.yours"))
            _put(path, files[name])
            digests[name] = new
        done.setdefault(what, []).append(name)
    _record(target, digests)
    lines = [f"{what}: {', '.join(names)}" for what, names in done.items()]
    return "\n".join([f"Your agent in {target} is renewed.", *lines])


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Yield a folder that becomes `target` when the block ends well.

    CourseError: `target` holds something or cannot be written; then it is as before.
    """
    target = target.expanduser().absolute()
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise CourseError(f"{target} is no empty folder. Name a new one.")
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as beside:
            whole = Path(beside) / "whole"
            whole.mkdir()
            yield whole
            if target.is_dir():
                target.rmdir()
            os.replace(whole, target)  # all of it, or nothing
    except OSError as error:
        raise CourseError(f"{target} cannot be written: {error.strerror}.") from None


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _record(folder: Path, digests: dict[str, str]) -> None:
    told = {"version": workbook.__version__, "files": digests}
    _put(folder / RECORD, json.dumps(told, indent=1, sort_keys=True) + "\n")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
