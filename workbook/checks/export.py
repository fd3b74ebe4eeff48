"""Your agent as a package that runs without the course: written once, then renewed."""

import os
import re
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from workbook import __version__
from workbook.checks.answer import PART_IMPORT, answer_in
from workbook.checks.catalogue import CourseError, exercises
from workbook.checks.parts import path_of
from workbook.checks.process import Worker
from workbook.paths import ROOT

MARKER = ".exported"  # holds the version that wrote the agent
RENEWED = ("runtime/", "servers/", "data/", "parts/")
ADDED = ("my_tool", "my_guard")  # functions of the answer my_agent
COPIED = ["LICENSE", "workbook/runtime/*.py", "workbook/weights.py"]
COPIED += ["workbook/security/mcp.py", "workbook/security/strangers.py"]
COPIED += ["data/agent/*.*", "data/agent/*/*.py"]  # the last of one name counts
FOR_TESTS = ["tests/doubles.py", "tests/runtime/playing.py"]
FOR_TESTS += ["data/lessons/04/calculator_attacks.toml"]
RENAMED = {  # in this order
    "python -m workbook fetch-model": "python agent.py --model local",
    "python -m workbook serve-model": "its own command",
    "pip install mcp": "pip install -e '.[mcp]'",
    "; the scripted model needs neither": "",
    "WORKBOOK_": "AGENT_",
    "from .runtime ": "from runtime ",
    "workbook.runtime": "runtime",
    "workbook.security": "servers",
    "workbook": "agent",
}
OUTSIDE = re.compile(r"^\s*(?:from|import) (workbook\b(?!\.runtime\b)[.\w]*)", re.M)
FILLED = re.compile(r"^- (?:Yours|The runtime's): .*", re.M)  # lines of README.md


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
    roles = {slug: each for slug, each in exercises().items() if each.role}
    homes = {s: e for s, e in roles.items() if "workbook.runtime." in e.target}
    parts, left_out = _parts(homes)
    words = {
        "$YOURS": ", ".join(parts) or "none",
        "$OURS": ", ".join(slug for slug in homes if slug not in parts) or "none",
        "$PARTS": " ".join([*homes, *ADDED]),
        "$TAKEN": " ".join(each.target for each in homes.values()),
        "$VERSION": __version__,
    }
    for slug, each in homes.items():
        module = f"parts.{slug}" if slug in parts else each.target.partition(":")[0]
        words[f'{slug} = part("{slug}")\n'] = f"from {module} import {slug}\n"
    files = {f"parts/{name}.py": parts.get(name, "") for name in [*homes, *parts]}
    tests = [each.tests for slug, each in homes.items() if slug in parts]
    for pattern in [*COPIED, *tests, *(FOR_TESTS if tests else [])]:
        for path in filter(Path.is_file, ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix().replace("data/agent/", "")
            name = name.replace("workbook/security", "servers").replace("workbook/", "")
            text = path.read_text("utf-8")
            if name not in tests or not OUTSIDE.search(text):
                files[name] = text
    for name in files:
        others = {} if name in ("README.md", "LICENSE") else RENAMED
        for word, other in {**words, **others}.items():
            files[name] = files[name].replace(word, other)
    return files, f"Yours: {words['$YOURS']}.\nOurs: {words['$OURS']}.{left_out}"


def _parts(slugs: Collection[str]) -> tuple[dict[str, str], str]:
    """Return the texts of your parts by name, and a report on those left out."""
    parts, report, worker = dict[str, str](), "", Worker()
    for slug in [each for each in (*slugs, "my_agent") if path_of(each).exists()]:
        text = path_of(slug).read_text("utf-8")
        worker = Worker() if worker.ended else worker
        if worker.test(slug, text)["outcome"] != "passed":
            report += f"\nLeft out: {slug}, as it no longer passes."
            continue
        names = [slug] if slug in slugs else [n for n in ADDED if f"def {n}(" in text]
        for name in names:
            part = answer_in([text], name).replace(f"{PART_IMPORT}\n", "")
            others = {*re.findall(r'^\w+ = part\("(\w+)"\)$', part, re.M)} - {*slugs}
            if outside := OUTSIDE.findall(part) + sorted(others):
                report += f"\nLeft out: {name}, as it needs {', '.join(outside)}."
            else:
                parts[name] = part
    worker.close()
    return parts, report


def _write(folder: Path, files: dict[str, str]) -> str:
    """Write what is new, lose nothing that is there, and return a report."""
    report = ""
    for name, text in sorted(files.items()):
        path = folder / name
        there = path.read_text("utf-8", "replace") if path.is_file() else ""
        if there == text:
            continue
        if there and name.startswith(RENEWED):
            aside = f"{name}.yours"
            while (folder / aside).exists():
                aside += ".yours"
            os.replace(path, folder / aside)
            report += f"{name}: the file that was there is now {aside}\n"
        elif there and FILLED.sub("", there) != FILLED.sub("", text):
            path = folder / f"{name}.new"
            report += f"{name}: left as it is, and today's is {name}.new\n"
        if text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    (folder / MARKER).write_text(f"{__version__}\n")
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
