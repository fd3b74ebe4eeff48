"""Marks: what the papers bring by a course's rules, for people and for gradebooks.

What could not be graded brings neither points nor a zero: its cell is empty, so are the
sums that need it, and a note says why. It grades nothing, and it writes no page.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from workbook.classroom.course import Course, instant, read_course
from workbook.classroom.results import Graded, Paper
from workbook.classroom.roster import IDENTITIES, Roster, Student, read_roster
from workbook.classroom.table import Cell, Identity, write_table
from workbook.exercises.catalogue import exercises
from workbook.exercises.report import Outcome

__all__ = ["Course", "Roster", "read_course", "read_roster", "write_marks"]

Rows = Iterator[list[Cell]]
FOLDERS = (("learner", "id"),)  # the columns of a roster that is made of folders
NBGRADER: list[Cell] = [
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name",
    "email", "raw_score", "late_submission_penalty", "score", "max_score",
]  # fmt: skip


@dataclass
class Mark:
    """What one learner gets. `None` is no grade, and never 0 points."""

    student: Student
    folder: str = ""
    status: str = "absent"
    points: dict[str, float | None] = field(default_factory=dict)  # by exercise
    costs: float = 0.0  # of being late, in points
    days_late: int = 0
    handed_in: str = ""
    notes: list[str] = field(default_factory=list)

    def sum(self, slugs: Iterable[str]) -> float | None:
        points = [self.points.get(slug) for slug in slugs]
        whole = [each for each in points if each is not None]
        return sum(whole) if points and len(whole) == len(points) else None

    @property
    def raw(self) -> float | None:
        return self.sum(self.points)

    @property
    def penalty(self) -> float | None:
        return None if self.raw is None else self.costs

    @property
    def total(self) -> float | None:
        return None if self.raw is None else self.raw - self.costs


def write_marks(
    papers: Sequence[Paper],
    out: Path,
    course: Course | None = None,
    roster: Roster | None = None,
) -> list[Path]:
    """Write `marks.csv`, and its likes for nbgrader, Moodle and Canvas.

    `marks.csv` has everybody: also who is absent, and folders that fit nobody or two.
    The other three have the roster's students alone (without a roster the folders),
    because an unknown user ends an import. In them names are neutral text, and what
    gradebooks join by (ids, user names, e-mails) is as the roster has it.
    """
    course = course or Course()
    worth = course.worth(_counted(papers, course))
    by_folder: dict[str, list[Paper]] = defaultdict(list)
    for paper in papers:
        by_folder[paper.learner].append(paper)
    marks = {
        folder: _mark(folder, own, course, worth) for folder, own in by_folder.items()
    }
    listed, others = _join(marks, roster) if roster else (list(marks.values()), [])
    titles = roster.titles if roster else FOLDERS
    of = sum(worth.values())
    files = {
        "marks.nbgrader.csv": _for_nbgrader(listed, course, of),
        "marks.moodle.csv": _for_moodle(listed, course, {f: t for t, f in titles if f}),
        "marks.canvas.csv": _for_canvas(listed, course, of, roster),
        "marks.csv": _for_people([*listed, *others], worth),
    }
    return [
        write_table(out / name, rows, mark=name == "marks.csv")
        for name, rows in files.items()
    ]


def _counted(papers: Sequence[Paper], course: Course) -> list[str]:
    """Return the exercises that count: of the course's lessons, or of those handed in.

    A lesson was handed in where one notebook has all of its exercises: a copy of one
    function in another lesson's notebook makes nobody lose the rest.
    """
    lessons, size = course.lessons, Counter(e.lesson for e in exercises().values())
    if lessons is None:
        has = [{g.slug for g in paper.graded} & exercises().keys() for paper in papers]
        counts = [Counter(exercises()[slug].lesson for slug in slugs) for slugs in has]
        lessons = [x for count in counts for x in count if count[x] == size[x]]
    return [
        slug for slug, exercise in exercises().items() if exercise.lesson in lessons
    ]


def _mark(
    folder: str, papers: list[Paper], course: Course, worth: dict[str, float]
) -> Mark:
    """Sum up one learner's papers. Of two attempts the one handed in last counts."""
    status = "handed in" if any(paper.notebook for paper in papers) else "no notebook"
    mark = Mark(Student(id=Identity(folder)), folder, status)
    mark.handed_in = max(paper.handed_in for paper in papers)
    found: dict[str, list[tuple[int, str, Graded]]] = defaultdict(list)
    unread = False  # a notebook, in which what is missing may stand
    for paper in papers:
        problem = _problem(paper)
        unread |= bool(problem)
        says = [paper.note, problem if paper.notebook else ""]
        about = f"{paper.notebook}: " if paper.notebook else ""
        mark.notes += [about + text for text in says if text]
        for graded in paper.graded:
            report, rank = graded.report, 2
            if problem or report is None:
                graded, rank = replace(graded, report=None), 1
            elif report.outcome is Outcome.NOT_ATTEMPTED:
                rank = 0
            found[graded.slug].append((rank, paper.handed_in, graded))
    missing, timeless = set(), False
    for slug, most in worth.items():
        lesson = exercises()[slug].lesson
        if slug not in found:
            mark.points[slug] = None if unread else 0.0
            missing.add(lesson)
            continue
        _, handed_in, graded = max(found[slug], key=lambda each: each[:2])
        if graded.report is None:
            mark.points[slug] = None
            if graded.problem:
                mark.notes.append(f"{slug} could not be graded: {graded.problem}")
            continue
        mark.points[slug] = points = most * course.share(graded.report)
        days = course.days_late(lesson, handed_in)
        mark.days_late = max(mark.days_late, days)
        mark.costs += points * course.penalty(days)
        timeless |= bool(course.due_at(lesson)) and instant(handed_in) is None
    if timeless:
        mark.notes.append("when it was handed in is not known: taken as in time")
    if missing and not unread:
        mark.notes.append(f"not all was found of {', '.join(sorted(missing))}")
    if signs := sum(len(g.signs) for p in papers for g in p.graded):
        mark.notes.append(f"{signs} sign{'s' * (signs > 1)} to look at in results.csv")
    return mark


def _problem(paper: Paper) -> str:
    """Return why nothing of a notebook could be graded, or nothing if something was."""
    reports = [g.report for g in paper.graded if g.slug in exercises()]
    if any(report is None or report.total for report in reports):
        return ""
    failures = [f for report in reports if report for f in report.failures[:1]]
    why = f" ({failures[0].requirement})" if failures else ""
    return f"nothing of it could be graded{why}"


def _join(marks: dict[str, Mark], roster: Roster) -> tuple[list[Mark], list[Mark]]:
    """Return a mark for each student, and those of the folders that are nobody's."""
    fits = {folder: roster.find(folder) for folder in marks}
    mine: dict[Student, list[str]] = defaultdict(list)
    for folder, students in fits.items():
        for student in students:
            mine[student].append(folder)
    listed = []
    for student in roster.students:
        match mine[student]:
            case []:
                listed.append(Mark(student))
            case [folder] if len(fits[folder]) == 1:
                listed.append(replace(marks.pop(folder), student=student))
            case folders:
                said = f"may be theirs, and is given to nobody: {', '.join(folders)}"
                listed.append(Mark(student, status="unclear", notes=[said]))
    for folder, mark in marks.items():
        mark.student, mark.status = Student(), "not on the roster"
        if students := fits[folder]:
            other = {f for s in students for f in mine[s]} - {folder}
            also = f", as does {', '.join(sorted(other))}" if other else ""
            mark.notes.insert(0, f"fits {', '.join(map(str, students))}{also}")
            mark.status = "unclear"
    return listed, [*marks.values()]


def _for_people(marks: list[Mark], worth: dict[str, float]) -> Rows:
    lessons: dict[str, list[str]] = defaultdict(list)
    for slug in worth:
        lessons[exercises()[slug].lesson].append(slug)
    who = ["learner", "id", "last_name", "first_name", "email", "status", "days_late"]
    yield [*who, *worth, *lessons, "points", "penalty", "total", "of", "note"]
    for mark in marks:
        of = mark.student
        yield [
            *(mark.folder, of.identity, *of.names, of.email, mark.status),
            mark.days_late if mark.points else None,
            *(mark.points.get(slug) for slug in worth),
            *(mark.sum(slugs) for slugs in lessons.values()),
            *(mark.raw, mark.penalty, mark.total, sum(worth.values())),
            "; ".join(mark.notes),
        ]


def _for_nbgrader(marks: list[Mark], course: Course, out_of: float) -> Rows:
    """Its own export has 0.0 for who is absent; here that is no grade, as elsewhere."""
    yield NBGRADER
    due = course.due if isinstance(course.due, datetime) else None
    for mark in marks:
        at, of = instant(mark.handed_in), mark.student
        yield [
            course.assignment,
            *(f"{t.astimezone(UTC):%Y-%m-%d %H:%M:%S}" if t else "" for t in (due, at)),
            *(of.identity, *of.names, of.email),
            *(mark.raw, mark.penalty, mark.total, out_of),
        ]


def _for_moodle(marks: list[Mark], course: Course, titles: dict[str, str]) -> Rows:
    """Its importer gives a row whose identity is empty (or 0) to whom it had before.

    So a column of identities stands here only if everybody has one of their own; where
    no column is such, the fullest one does, and who has none is left out.
    """
    own: dict[str, set[str]] = {}
    for name in [name for name in IDENTITIES if name in titles]:
        counts = Counter(getattr(mark.student, name) for mark in marks)
        own[name] = {text for text, n in counts.items() if n == 1} - {"", "0"}
    whole = [name for name in own if len(own[name]) == len(marks)]
    shown = whole or sorted(own, key=lambda name: len(own[name]))[-1:]
    fields = [*shown, *(name for name in ("first", "last", "name") if name in titles)]
    yield [*(titles[name] for name in fields), course.assignment]
    for mark in marks:
        if shown and getattr(mark.student, shown[0]) in own[shown[0]]:
            cells = [getattr(mark.student, name) for name in fields]
            yield [*cells, "-" if mark.total is None else mark.total]
        else:
            mark.notes.append("not in marks.moodle.csv: no identity of their own")


def _for_canvas(
    marks: list[Mark], course: Course, out_of: float, roster: Roster | None
) -> Rows:
    """It takes the digits of `ID` for its own number: nothing else may stand there."""
    titles = dict(roster.titles) if roster and roster.kind == "Canvas" else {}
    known = [
        t for t in titles if re.fullmatch(re.escape(course.assignment) + r" \(\d+\)", t)
    ]
    fields = {"ID": "lms_id"}
    if "username" in titles.values():  # it sees the SIS' own id only beside the login
        sis = {"SIS User ID": "id"} if "id" in titles.values() else {}
        fields |= {**sis, "SIS Login ID": "username"}
    fields["Section"] = "section"
    yield ["Student", *fields, known[0] if known else course.assignment]
    yield ["    Points Possible", *[None] * len(fields), out_of]
    for mark in marks:
        of = mark.student
        name = ", ".join(filter(None, of.names)) or of.identity
        yield [name, *(getattr(of, each) for each in fields.values()), mark.total]
