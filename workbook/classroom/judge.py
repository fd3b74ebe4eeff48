"""A submission, judged: in a process of its own, from a copy of package and tests.

That process holds the tests, the comparison and the verdict, and imports nothing that a
learner wrote: their code runs in a child of it (`process.Child`), and sends data.
"""

import atexit
import compileall
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from workbook.classroom.answers import read_answers
from workbook.classroom.results import PAPER, SUBMISSION, Graded, Paper, Submission
from workbook.classroom.sandbox import die_with_parent
from workbook.exercises.catalogue import CourseError, exercises
from workbook.exercises.report import clip
from workbook.paths import ROOT

LEAVE: Any = {"ignore_cleanup_errors": True}
WALL_LIMIT_S = 900.0  # for a notebook, its processes begun anew included
COPIED = ("workbook", "data", "tests", "notebooks")
_lock = threading.Lock()


def judge(submission: Submission, hidden: Path | None = None) -> Paper:
    """Grade one submission; whatever the learner's code does, a paper comes back.

    `hidden`: a folder of test files of your own, whose tests take the same fixtures,
    and are run besides. May be called from any thread or process.
    """
    with _lock:
        root, before = _copy()
    with tempfile.TemporaryDirectory(prefix="workbook-", **LEAVE) as folder:
        return _in_a_process(submission, hidden, root, before, folder)


def _in_a_process(
    submission: Submission, hidden: Path | None, root: Path, before: str, folder: str
) -> Paper:
    command = [sys.executable, "-m", "workbook.classroom.judge", str(hidden or "")]
    problem = ""
    try:
        done = subprocess.run(
            command,
            input=SUBMISSION.dump_json(submission),
            capture_output=True,
            cwd=root,
            env={
                **os.environ,
                **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder),
                "PYTHONPATH": str(root),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            timeout=WALL_LIMIT_S,
            check=False,
            start_new_session=True,
        )
        if done.returncode:
            last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            problem = f"the judge ended with {done.returncode}: {clip(last, 300)}"
    except subprocess.TimeoutExpired:
        problem = f"the notebook was not judged within {WALL_LIMIT_S:g} seconds"
    if digest(root) != before:
        with _lock:
            _copy.cache_clear()
        problem = "the package was changed while this notebook ran: nothing counts"
    return (
        PAPER.validate_json(done.stdout) if not problem else lost(submission, problem)
    )


def lost(submission: Submission, problem: str) -> Paper:
    """Return the paper of a submission that could not be judged: a row says why."""
    return Paper(
        submission.learner,
        submission.notebook,
        submission.note,
        (Graded("(notebook)", None, problem),),
        handed_in=submission.handed_in,
    )


@functools.cache
def _copy() -> tuple[Path, str]:
    """Return a copy of package and tests that nobody writes to, and its digest."""
    folder = Path(tempfile.mkdtemp(prefix="workbook-copy-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    left_out = shutil.ignore_patterns("__pycache__")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=left_out)
        compileall.compile_dir(folder / name, quiet=2)
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(0o444)
    return folder, digest(folder)


def digest(folder: Path) -> str:
    """Return a hash of all files below a folder, their names and what is in them."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        total.update(f"{path.relative_to(folder)}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()


def _judge(submission: Submission, hidden: str) -> Paper:
    own = _tests_by_exercise(Path(hidden)) if hidden else {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notebook.ipynb"
        path.write_text(submission.text, encoding="utf-8", errors="surrogatepass")
        answers = read_answers(path, submission.notebook, own)
    answers.run()
    cells = {slug: cell.source for cell in answers.cells for slug in cell.slugs}
    graded = []
    for slug in answers.slugs:
        source = cells.get(slug, "")
        try:
            graded.append(Graded(slug, answers.report(slug), source=source))
        except CourseError as error:
            graded.append(Graded(slug, None, str(error), source))
    extra = [
        Graded(slug, *((None, str(v)) if isinstance(v, CourseError) else (v,)))
        for slug, verdicts in answers.extra.items()
        for v in verdicts
    ]
    return Paper(
        submission.learner,
        submission.notebook,
        submission.note,
        tuple(graded),
        tuple(extra),
        tuple(answers.limits),
        submission.handed_in,
    )


def _tests_by_exercise(folder: Path) -> dict[str, list[str]]:
    """Return the instructor's own test files, by the exercises that they name."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for slug in exercises():
            if re.search(rf"def test_\w+\([^)]*\b{slug}\b", text):
                found.setdefault(slug, []).append(str(path.resolve()))
    return found


if __name__ == "__main__":
    die_with_parent()
    paper = _judge(SUBMISSION.validate_json(sys.stdin.buffer.read()), sys.argv[1])
    said = json.dumps(PAPER.dump_python(paper), ensure_ascii=False)
    # Half a pair, as in "\ud800", is no text that can be written.
    sys.stdout.buffer.write(said.encode("utf-8", "replace"))
