"""A folder of strangers' files, read into submissions before any of them is run.

A learner is a folder. Of several notebooks with one exercise the newest counts. What
cannot be graded is a paper whose note says why; nothing here is executed.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG

from workbook.classroom.notebooks import as_in_a_class_list, read_cells
from workbook.classroom.results import Paper, Submission
from workbook.classroom.rows import UNGRADED
from workbook.exercises.catalogue import CourseError, exercises

LARGEST_MB = 20
FLAT = re.compile(r"(.+_\d+_assignsubmission_file_)(.+)")  # Moodle's, without folders
COPY = re.compile(r"([ _-]*\(\d+\)|-Copy\d*|[ _-]+copy)+$", re.IGNORECASE)
# What ends a line, moves the cursor, or turns the direction of a text around.
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A notebook that can be graded."""

    submission: Submission
    slugs: tuple[str, ...]  # the exercises that it is about
    time: tuple[int, int, int]  # the newest is the largest
    path: str  # below the learner's folder
    elsewhere: frozenset[str] = frozenset()  # those that a newer notebook has


def read_folder(folder: Path) -> list[HandedIn | Paper]:
    """Return what is to be graded of each learner, and papers on what cannot be.

    Moodle's and nbgrader's folders will do. Notebooks beside the folders, or a single
    one in place of a folder, are the learner's whose name is "".
    """
    if folder.is_file():
        return _of_learner("", [folder], folder.parent)
    if not folder.is_dir():
        raise CourseError(f"{folder}: it is not there. Give a notebook or a folder.")
    learners: dict[str, list[Path]] = {}
    for path in folder.iterdir():
        flat, is_notebook = FLAT.fullmatch(path.name), _is_notebook(path)
        if path.is_dir() and not path.is_symlink():
            learner = path.name
        elif is_notebook:
            learner = flat[1] if flat else ""
        elif path.is_symlink():
            learner = path.name
        else:
            continue
        if not _left_out(path):
            learners.setdefault(learner, []).append(path)
    if not learners:
        raise CourseError(f"{folder}: no learner's folder and no notebook is in it.")
    found: list[HandedIn | Paper] = []
    for name in sorted(learners, key=as_in_a_class_list):
        roots = learners[name]
        home = folder if len(roots) > 1 or _is_notebook(roots[0]) else roots[0]
        found += _of_learner(seen(name), roots, home)
    return found


def seen(name: str) -> str:
    """Return a file's name as text that can be written, with � for what misleads."""
    return UNSEEN.sub("�", os.fsencode(name).decode("utf-8", "replace"))


def read_notebook(path: Path) -> tuple[str, list[str]]:
    """Return a notebook's text and its exercises; a `CourseError` says why it cannot.

    The exercises are those that its cells define, and those of the lesson in its name.
    """
    try:
        about = path.stat()
        if not S_ISREG(about.st_mode):
            raise CourseError("it is no file")
        if about.st_size > LARGEST_MB * 1_000_000:
            size = f"{about.st_size / 1_000_000:,.0f} MB"
            raise CourseError(f"it has {size}, more than the {LARGEST_MB} allowed")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CourseError(f"it cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise CourseError("it is not text in UTF-8, as notebooks are") from None
    if not text.strip():
        raise CourseError("it is empty")
    slugs = {slug for cell in read_cells(path, text) for slug in cell.slugs}
    slugs |= {e.slug for e in exercises().values() if e.lesson in path.stem}
    return text, [slug for slug in exercises() if slug in slugs]


def _left_out(path: Path) -> bool:
    return path.name.startswith((".", "__MACOSX"))  # checkpoints, what archives add


def _is_notebook(path: Path) -> bool:
    return path.suffix.casefold() == ".ipynb"


def _of_learner(learner: str, roots: list[Path], home: Path) -> list[HandedIn | Paper]:
    handed: list[HandedIn] = []
    papers: list[Paper] = []
    others = []
    for path, problem in (each for root in roots for each in _walk(root, home)):
        if not problem and not _is_notebook(path):
            others.append(seen(path.name))
            continue
        note = f"{UNGRADED}: {seen(path.name)}: {problem}"
        try:
            if problem:
                raise CourseError(problem)
            text, slugs = read_notebook(path)
            if slugs:
                handed.append(_handed_in(learner, path, home, text, slugs))
                continue
            note = "none of the exercises is in it"
        except CourseError as error:
            note = f"{UNGRADED}: {error}"
        papers.append(Paper(learner, seen(path.name), note))
    if not handed and not papers:
        there = f"; there is {', '.join(sorted(others)[:3])}" if others else ""
        papers.append(Paper(learner, "", f"no notebook{there}"))
    found: list[HandedIn | Paper] = [*_newest(handed), *papers]
    return sorted(found, key=lambda each: as_in_a_class_list(_name(each)))


def _name(each: HandedIn | Paper) -> str:
    return each.notebook if isinstance(each, Paper) else each.submission.notebook


def _walk(root: Path, home: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file at or below a path, and why it cannot be read, or "".

    No link is followed that leads out of the learner's folder.
    """
    inside = os.path.join(os.path.realpath(home.parent), home.name, "")
    waiting = [root]
    while waiting:
        path = waiting.pop()
        if _left_out(path):
            continue
        try:
            if path.is_symlink():
                target = os.path.realpath(path)
                if not os.path.exists(target):
                    yield path, "it is a link that leads nowhere"
                elif not target.startswith(inside):
                    yield path, "it is a link that leads elsewhere: not followed"
                elif not os.path.isdir(target):
                    yield path, ""
            elif path.is_dir():
                waiting += path.iterdir()
                if path != root and _is_notebook(path):
                    yield path, "it is a folder"
            else:
                yield path, ""
        except OSError as error:
            yield path, f"it cannot be read ({error.strerror})"


def _handed_in(
    learner: str, path: Path, home: Path, text: str, slugs: list[str]
) -> HandedIn:
    time = path.stat().st_mtime_ns
    try:
        when = datetime.fromtimestamp(time // 10**9, UTC).isoformat()
    except (OverflowError, ValueError, OSError):  # a disk's nonsense
        when = ""
    submission = Submission(learner, seen(path.name), text, handed_in=when)
    below = path.relative_to(home)
    # Of the same time: what is not in old/, and what has (1) or -Copy1 in its name.
    order = (time, -len(below.parts), len(path.name))
    return HandedIn(submission, tuple(slugs), order, seen(below.as_posix()))


def _newest(handed: list[HandedIn]) -> Iterator[HandedIn]:
    """Yield those with an exercise that no newer one has, with a note of the others."""
    taken: dict[tuple[str, str], HandedIn] = {}
    chosen: list[HandedIn] = []
    older: dict[str, list[HandedIn]] = {}  # by the path of the newer one
    for each in sorted(handed, key=lambda each: each.time, reverse=True):
        name = each.submission.notebook
        # Loose notebooks may be several learners': only copies of a name are versions.
        group = "" if each.submission.learner else COPY.sub("", Path(name).stem)
        newer = [taken[group, s] for s in each.slugs if (group, s) in taken]
        for other in {other.path: other for other in newer}.values():
            older.setdefault(other.path, []).append(each)
        mine = [slug for slug in each.slugs if (group, slug) not in taken]
        elsewhere = frozenset(each.slugs) - frozenset(mine)
        taken |= {(group, slug): each for slug in mine}
        if mine:
            chosen.append(replace(each, elsewhere=elsewhere))
    graded = {each.path for each in chosen}
    for each in chosen:
        rest, notes = older.get(each.path, []), []
        if dropped := [other for other in rest if other.path not in graded]:
            same = any(other.time[0] == each.time[0] for other in dropped)
            word = "one" if same else "the newest"
            count = f"{word} of {len(dropped) + 1}{' with the same time' * same}"
            paths = ", ".join(other.path for other in dropped)
            notes.append(f"{count}; not graded: {paths}")
        if each.elsewhere:
            names = ", ".join(slug for slug in each.slugs if slug in each.elsewhere)
            notes.append(f"a newer notebook counts for {names}")
        submission = replace(each.submission, note="; ".join(notes))
        yield replace(each, submission=submission)
