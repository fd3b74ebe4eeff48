"""`python -m workbook grade`: a folder graded, with words for whoever waits for it.

The exit code is 0 when all was graded, whatever the marks, 1 when some of it could not
be, 130 when it ended early; wrong use is a `CourseError`.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from workbook.classroom.results import Paper
from workbook.classroom.rows import UNGRADED, is_ungraded
from workbook.classroom.run import grade_folder
from workbook.exercises.display import Grid

PREFIX = f"{UNGRADED}: "  # stands in a column of its own


def grade_command(
    folder: Path,
    out: Path,
    jobs: int | None = None,
    course: Path | None = None,
    roster: Path | None = None,
    hidden: Path | None = None,
) -> int:
    """Grade a folder, write tables and pages, and return the exit code."""
    from workbook.classroom import gradebook, pages

    # Before the night, and not after it.
    rules = gradebook.read_course(course) if course else None
    people = gradebook.read_roster(roster) if roster else None
    counted = Progress()
    try:
        papers = grade_folder(
            folder, out, jobs=jobs, hidden=hidden, progress=counted.tell
        )
    except KeyboardInterrupt:
        _end_children()
        old = " The tables there are older." if (out / "results.csv").exists() else ""
        words = f"ended early: {counted.done} of {counted.of} are kept in {out}.{old}"
        print(f"\n{words} The same command goes on.", file=sys.stderr)
        return 130
    gradebook.write_marks(papers, out, rules, people)
    pages.write_feedback(papers, out)
    pages.write_class_page(papers, out)
    print(summary(papers, out))
    return 1 if any(map(is_ungraded, papers)) else 0


class Progress:
    """How far it is: a line that changes in a terminal, a line each elsewhere."""

    def __init__(self) -> None:
        self.done = self.of = 0

    def tell(self, paper: Paper, done: int, of: int) -> None:
        self.done, self.of = done, of
        line = f"{done} of {of}  {paper.learner}  {paper.notebook}  {met(paper)}"
        if sys.stderr.isatty():
            end = "\n" if done == of else ""
            print(f"\r\033[K{line:.100}", end=end, file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)


def met(paper: Paper) -> str:
    """Return how many of a notebook's requirements are met: "31 of 40"."""
    if is_ungraded(paper):
        return UNGRADED
    reports = [graded.report for graded in paper.graded if graded.report]
    passed, total = (sum(r.passed for r in reports), sum(r.total for r in reports))
    return f"{passed} of {total}" if reports else ""


def summary(papers: Sequence[Paper], out: Path) -> Grid:
    """Return a row a notebook, and below it what is left to do and where all is."""
    flagged = [sum(bool(g.signs) for g in paper.graded) for paper in papers]
    rows = [
        (p.learner, p.notebook, met(p), f"{n or ''}", p.note.removeprefix(PREFIX))
        for p, n in zip(papers, flagged, strict=True)
    ]
    learners = len({paper.learner for paper in papers})
    ungraded = sum(map(is_ungraded, papers))
    lines = [f"{learners} learners, {sum(bool(p.notebook) for p in papers)} notebooks."]
    lines += [f"{ungraded} {UNGRADED}, see the notes."] if ungraded else []
    if sum(flagged):
        lines.append(
            f"{sum(flagged)} answers have signs: results.csv has the evidence."
        )
    names = sorted(path.name for path in out.glob("[!.]*"))
    lines.append(f"Written to {out}: {', '.join(names)}.")
    head = ("learner", "notebook", "met", "signs", "note")
    return Grid(head, rows, "\n".join(lines))


def _end_children() -> None:
    """End the judges that are at work: nobody waits for them any more."""
    import psutil

    for child in psutil.Process().children(recursive=True):
        try:
            child.kill()
        except psutil.Error:  # it was quicker
            continue
