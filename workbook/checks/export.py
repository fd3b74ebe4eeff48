"""Your agent as a package that runs without the course: written once, then renewed."""

import json
import os
import re
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from zlib import crc32

from workbook import __version__
from workbook.checks.answer import PART_IMPORT, answer_in
from workbook.checks.catalogue import CourseError, exercises
from workbook.checks.parts import path_of
from workbook.checks.process import Worker
from workbook.paths import ROOT

MARKER = ".exported"  # holds a checksum of each file that was written
PACKAGE = "my_agent"
RENEWED = ("runtime/", "guards/", "parts/")  # of the package
ADDED = ("my_tool", "my_guard", "percent_tool", "safe_eval")
"""Parts that replace nothing: two of the answer my_agent, and two for its tools."""
GUARDS = ("grounding", "matcher", "memory", "screen", "strangers", "untrusted")
WORDS = ("lessons/09/words.toml", "lookalikes.toml", "screen_patterns.toml")
COPIED = {  # where each comes to be; of one name the last one counts
    "LICENSE": "",
    "workbook/runtime/*.py": f"{PACKAGE}/runtime/",
    **{f"workbook/lessons/{name}.py": f"{PACKAGE}/guards/" for name in GUARDS},
    **{f"data/{n}": f"{PACKAGE}/guards/data/{n}" for n in WORDS},
    "data/agent/*.*": "",
    "data/agent/tests/*.py": "tests/",
    f"data/agent/{PACKAGE}/*.*": f"{PACKAGE}/",
    f"data/agent/{PACKAGE}/guards/*.py": f"{PACKAGE}/guards/",
    f"data/agent/{PACKAGE}/parts/*.py": f"{PACKAGE}/parts/",
}
INSIDE = "runtime|paths|lessons\\.(?:" + "|".join(GUARDS) + ")"
FOR_TESTS = {"tests/doubles.py": "tests/", "tests/runtime/playing.py": "tests/runtime/"}
OUTSIDE = re.compile(
    rf"^\s*(?:from|import) (workbook\b(?!\.(?:{INSIDE})\b)[.\w]*)", re.M
)


def export(target: Path, update: bool = False) -> str:
    """Write or renew your agent; return a report. CourseError: the folder is wrong."""
    target = target.expanduser().absolute()
    if (target / MARKER).is_file() != update:
        why = "is no exported agent: omit" if update else "holds an agent already: add"
        raise CourseError(f"{target} {why} --update, or name another folder.")
    files, parts = packed()
    with nullcontext(target) if update else whole_folder(target) as folder:
        done = _write(folder, files)
    return f"Your agent is in {target}. Its README.md says how to go on.\n{done}{parts}"


def packed() -> tuple[dict[str, str], str]:
    """Return your agent's files by name, "" for one it has not, and a report."""
    room = sorted((ROOT / "workbook/runtime").glob("*.py"))
    version = f"{__version__}-{crc32(b''.join(path.read_bytes() for path in room)):x}"
    inside = re.compile(rf"workbook\.(?:{INSIDE})\b")
    there = {s: each for s, each in exercises().items() if inside.match(each.target)}
    homes = {slug: each for slug, each in there.items() if each.role}
    parts, left_out = _parts(homes, there)
    modules = {slug: _here(e.target.partition(":")[0]) for slug, e in there.items()}
    words = {
        "$YOURS": ", ".join(parts) or "none",
        "$OURS": ", ".join(slug for slug in homes if slug not in parts) or "none",
        "$PARTS": " ".join(f"{s}={modules[s][len(PACKAGE) + 1 :]}" for s in homes),
        "$VERSION": version,
    }
    for slug, module in modules.items():
        home = f"{PACKAGE}.parts.{slug}" if slug in parts else module
        words[f'{slug} = part("{slug}")\n'] = f"from {home} import {slug}\n"
    names = [*homes, *ADDED, *parts]
    files = {f"{PACKAGE}/parts/{name}.py": parts.get(name, "") for name in names}
    tests = {
        each.tests: f"{Path(each.tests).parent}/"
        for slug, each in homes.items()
        if slug in parts
    }
    for pattern, place in (COPIED | tests | (FOR_TESTS if tests else {})).items():
        for path in filter(Path.is_file, ROOT.glob(pattern)):
            text = path.read_text("utf-8")
            if pattern not in tests or not OUTSIDE.search(text):
                files[place if place.endswith(path.name) else place + path.name] = text
    for name, text in files.items():
        if "/runtime/" not in name or name.startswith("tests/"):
            for word, other in words.items():
                text = text.replace(word, other)
            files[name] = text if name in ("README.md", "LICENSE") else _here(text)
    files[f"{PACKAGE}/runtime/__init__.py"] = f'VERSION = "{version}"\n'
    return files, f"Yours: {words['$YOURS']}.\nOurs: {words['$OURS']}.{left_out}"


def _here(text: str) -> str:
    for room in ("lessons", "paths"):
        text = text.replace(f"workbook.{room}", f"{PACKAGE}.guards")
    return text.replace("workbook.runtime", f"{PACKAGE}.runtime")


def _parts(
    slugs: Collection[str], there: Collection[str]
) -> tuple[dict[str, str], str]:
    """Return the texts of your parts by name, and a report on those left out.

    A part may need what is `there`, in the runtime or among the guards.
    """
    parts, report, worker = dict[str, str](), "", Worker()
    also = ("my_agent", "percent_tool", "safe_eval")
    for slug in [each for each in (*slugs, *also) if path_of(each).exists()]:
        text = path_of(slug).read_text("utf-8")
        worker = Worker() if worker.ended else worker
        if worker.test(slug, text)["outcome"] != "passed":
            report += f"\nLeft out: {slug}, as it no longer passes."
            continue
        names = [n for n in ADDED[:2] if f"def {n}(" in text]
        names = names if slug == "my_agent" else [slug]
        for name in names:
            part = answer_in([text], name).replace(f"{PART_IMPORT}\n", "")
            others = {*re.findall(r'^\w+ = part\("(\w+)"\)$', part, re.M)} - {*there}
            if outside := OUTSIDE.findall(part) + sorted(others):
                report += f"\nLeft out: {name}, as it needs {', '.join(outside)}."
            else:
                parts[name] = part
    worker.close()
    return parts, report


def _write(folder: Path, files: dict[str, str]) -> str:
    """Write what is new, lose nothing that was edited, and return a report."""
    report, marker = "", folder / MARKER
    written = dict[str, int](json.loads(marker.read_text()) if marker.is_file() else {})
    for name, text in sorted(files.items()):
        path = folder / name
        there = path.read_text("utf-8", "replace") if path.is_file() else ""
        is_edited = there and crc32(there.encode()) != written.get(name)
        if there == text or (is_edited and not text):  # or a file of the owner's
            continue
        if is_edited and name.removeprefix(f"{PACKAGE}/").startswith(RENEWED):
            aside = f"{name}.yours"
            while (folder / aside).exists():
                aside += ".yours"
            os.replace(path, folder / aside)
            report += f"{name}: the file that was there is now {aside}\n"
        elif is_edited:
            path = folder / f"{name}.new"
            report += f"{name}: left as it is, and today's is {name}.new\n"
        elif there:
            report += f"{name}: {'renewed' if text else 'removed'}\n"
            path.unlink()
        if text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    sums = {name: crc32(text.encode()) for name, text in files.items()}
    marker.write_text(json.dumps(sums, indent=0))
    return report


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Yield a folder that becomes `target`, or CourseError: it is as it was."""
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
