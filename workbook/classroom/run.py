"""A folder of notebooks, graded: all are read, then each is judged, wherever you say.

What is found is written as it comes. Stop it, or let it die, and call it again: what is
the same is not judged again. The old tables stay until the new ones are complete.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from queue import SimpleQueue

from filelock import FileLock, Timeout

from workbook.classroom.judge import judge as judge_apart
from workbook.classroom.results import PAPER, Graded, Paper, Submission
from workbook.classroom.rows import ALL_COLUMNS, rows_of
from workbook.classroom.signs import with_signs
from workbook.classroom.submissions import HandedIn, read_folder
from workbook.classroom.table import write_table
from workbook.exercises.catalogue import CourseError, exercises
from workbook.exercises.report import describe_error
from workbook.paths import DATA, ROOT

LOCK_WAIT_S = 1.0  # for whoever was killed to let go
FOUND, FOUND_NEW, TABLE = "results.jsonl", "results.jsonl.new", "results.csv"
Judge = Callable[[Submission, Path | None], Paper]


def grade_folder(
    folder: Path,
    out: Path,
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    hidden: Path | None = None,
    judge: Judge = judge_apart,
    progress: Callable[[Paper, int, int], object] | None = None,
) -> list[Paper]:
    """Grade every notebook of a folder and return the papers, as in a class list.

    Args:
        folder: one subfolder a learner, or a single notebook.
        out: outside of it, for `results.jsonl` and `results.csv`.
        executor: of `concurrent.futures`, a Dask client's `get_executor()`, or None:
            so many threads as `jobs` says, or as there are cores.
        hidden: a folder of your own tests; what they find is reported apart.
        judge: makes a paper of a submission; whatever it raises is on the paper.
        progress: told of each paper, with how many there are, of how many.

    Raises:
        CourseError: a folder will not do, or another grader is at work in `out`.
        KeyboardInterrupt: as you wish. What is finished is kept.
    """
    folder, out = Path(folder).resolve(), Path(out).resolve()
    if folder == out or folder in out.parents:
        words = "it is in the folder that is graded. Name one outside of it."
        raise CourseError(f"{out}: {words}")
    if jobs is not None and jobs < 1:
        raise CourseError(f"--jobs {jobs}: at least one is needed.")
    hidden = hidden and _with_tests(Path(hidden).resolve())
    try:
        out.mkdir(parents=True, exist_ok=True)
        with FileLock(out / ".lock", timeout=LOCK_WAIT_S):
            found = read_folder(folder)
            pool = executor or ThreadPoolExecutor(jobs or os.cpu_count())
            try:
                return _grade(found, out, pool, judge, hidden, progress)
            finally:
                if executor is None:
                    pool.shutdown(wait=False, cancel_futures=True)
    except Timeout:
        words = "another grader is at work there. Wait for it, or name another folder."
        raise CourseError(f"{out}: {words}") from None
    except OSError as error:
        place, why = error.filename or out, error.strerror or error
        raise CourseError(f"{place}: {why}. What is finished is kept.") from None


def _with_tests(hidden: Path) -> Path:
    if not any(hidden.rglob("test_*.py")):
        raise CourseError(f"{hidden}: it is no folder with files called test_….py.")
    return hidden


def _grade(
    found: list[HandedIn | Paper],
    out: Path,
    pool: Executor,
    judge: Judge,
    hidden: Path | None,
    progress: Callable[[Paper, int, int], object] | None,
) -> list[Paper]:
    stamp, before = _stamp(hidden), _lines(out)
    papers: dict[int, Paper] = {n: p for n, p in enumerate(found) if type(p) is Paper}
    handed = {n: each for n, each in enumerate(found) if isinstance(each, HandedIn)}
    keys = {n: _key(each, stamp) for n, each in handed.items()}
    kept = {n: before[key] for n, key in keys.items() if key in before}
    papers |= {n: _paper_of(handed[n], PAPER.validate_json(kept[n])) for n in kept}
    whole = out / f"{FOUND_NEW}.new"  # a last line that is half is not in it
    whole.write_bytes(b"".join(kept.values()))
    os.replace(whole, out / FOUND_NEW)
    if progress:
        for number, paper in enumerate(papers.values(), start=1):
            progress(paper, number, len(found))
    left = {n: each for n, each in handed.items() if n not in kept}
    with (out / FOUND_NEW).open("ab") as file:
        for n, paper in _judged(left, pool, judge, hidden):
            papers[n] = _paper_of(handed[n], paper)
            file.write(_line(keys[n], paper))
            file.flush()
            if progress:
                progress(papers[n], len(papers), len(found))
    texts = [handed[n].submission.text if n in handed else "" for n in sorted(papers)]
    all_papers = with_signs([papers[n] for n in sorted(papers)], texts)
    rows = [row for paper in all_papers for row in rows_of(paper)]
    write_table(out / TABLE, [ALL_COLUMNS, *rows], mark=True)
    os.replace(out / FOUND_NEW, out / FOUND)
    return all_papers


def _judged(
    left: dict[int, HandedIn], pool: Executor, judge: Judge, hidden: Path | None
) -> Iterator[tuple[int, Paper]]:
    """Yield each paper as it is done; with whom a pool broke is judged alone."""
    waiting: dict[Future[Paper], int] = {}
    done: SimpleQueue[Future[Paper]] = SimpleQueue()
    alone = []
    try:
        for n, each in left.items():
            try:
                future = pool.submit(judge, each.submission, hidden)
            except BrokenExecutor:
                alone.append(n)
                continue
            waiting[future] = n
            future.add_done_callback(done.put)
        while waiting:
            future = done.get()
            n = waiting.pop(future)
            if isinstance(future.exception(), BrokenExecutor):
                alone.append(n)
            else:
                yield n, _result(future, left[n])
    finally:
        for future in waiting:
            future.cancel()
    for n in sorted(alone):
        with ProcessPoolExecutor(1, get_context("spawn")) as single:
            future = single.submit(judge, left[n].submission, hidden)
            yield n, _result(future, left[n])


def _result(future: Future[Paper], each: HandedIn) -> Paper:
    """Return the paper, one with a row for each exercise, whatever became of it."""
    paper, why = Paper("", ""), "the judge did not report on it"
    try:
        found = future.result()
        PAPER.dump_json(found, warnings="error")
        paper = found
    except Exception as error:
        why = f"the judge ended: {describe_error(error)}"
    known = {graded.slug: graded for graded in paper.graded}
    if lost := known.pop("(notebook)", None):
        why = lost.problem
    rest = [Graded(slug, None, why) for slug in each.slugs if slug not in known]
    return replace(paper, graded=(*known.values(), *rest))


def _paper_of(each: HandedIn, paper: Paper) -> Paper:
    """Return a paper under its learner's name, without what a newer notebook has."""
    mine, elsewhere = each.submission, each.elsewhere
    return replace(
        paper,
        learner=mine.learner,
        notebook=mine.notebook,
        note=paper.note or mine.note,
        handed_in=mine.handed_in,
        graded=tuple(g for g in paper.graded if g.slug not in elsewhere),
        hidden=tuple(g for g in paper.hidden if g.slug not in elsewhere),
    )


def _line(key: str, paper: Paper) -> bytes:
    return b'{"key":"%s",%s\n' % (key.encode(), PAPER.dump_json(paper)[1:])


def _lines(out: Path) -> dict[str, bytes]:
    """Return the whole lines that are there, of papers without a problem, by key."""
    lines = {}
    for path in (out / FOUND, out / FOUND_NEW):
        for line in path.read_bytes().split(b"\n") if path.is_file() else ():
            try:
                key, paper = json.loads(line)["key"], PAPER.validate_json(line)
                if not any(g.report is None for g in (*paper.graded, *paper.hidden)):
                    lines[key] = line + b"\n"
            except (ValueError, KeyError, TypeError):
                continue  # half a line: whoever wrote it was killed
    return lines


def _key(each: HandedIn, stamp: str) -> str:
    mine = each.submission
    about = json.dumps([stamp, mine.learner, each.path, mine.text, mine.note])
    return hashlib.sha256(about.encode()).hexdigest()[:32]


def _stamp(hidden: Path | None) -> str:
    """Return a digest of all that a verdict depends on, apart from the notebook."""
    paths = {exercise.tests_path for exercise in exercises().values()}
    paths |= {*(ROOT / "workbook").rglob("*.py"), *DATA.rglob("*")}
    paths |= set(hidden.rglob("*.py")) if hidden else set()
    digest = hashlib.sha256(str(hidden).encode())
    for path in sorted(path for path in paths if path.is_file()):
        digest.update(hashlib.sha256(path.read_bytes()).digest() + bytes(path))
    return digest.hexdigest()
