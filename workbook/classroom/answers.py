"""A learner's notebook, read for its answers.

Run are the setup, the exercise cells and what a learner has written besides; of the
lesson's own cells the statements that give these a name which they use. All of it runs
in a process of its own (`child`); the tests and their verdict stay here.
"""

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from workbook.classroom.channel import Gone
from workbook.classroom.notebooks import Cell, needed, read_cells, shipped
from workbook.classroom.process import Answer, Child
from workbook.exercises.catalogue import CourseError, Exercise, exercises
from workbook.exercises.grade import grade
from workbook.exercises.report import Failure, Outcome, Report

SETUP_LIMIT_S, CELL_LIMIT_S = 60.0, 20.0  # on the wall
MOST_CHECKS = 15  # in one cell
CHECKED = r"\bcheck\(\s*%s\b|@(?:workbook\.)?check\b"
NO_SETUP = "no cell is tagged setup, so nothing that a setup cell imports is there"


class Answers:
    """What a notebook answers: run once, each check is graded at the moment it is met.

    `hidden`: by exercise, more files of tests, which are run besides.
    """

    def __init__(
        self,
        path: Path,
        cells: Sequence[Cell],
        problem: str = "",
        hidden: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        self.of_lesson = [e.slug for e in exercises().values() if e.lesson in path.stem]
        self.problem = problem  # why it could not be read, or why its setup failed
        self.hidden = hidden
        self.has_setup = any("setup" in cell.tags for cell in cells)
        self.defined = {slug for cell in cells for slug in cell.slugs}
        lessons = {
            exercises()[slug].lesson for slug in {*self.of_lesson, *self.defined}
        }
        self.cells = [] if problem else needed(cells, shipped(frozenset(lessons)))
        self.reports: dict[str, Verdict] = {}  # by exercise: the last one counts
        self.extra: dict[str, list[Verdict]] = {}  # the same, of hidden tests
        self.limits: list[str] = []
        self.child: Child | None = None
        self._ended: dict[int, Failure] = {}  # cells that end the process
        # By cell, number of the check in it, and exercise: what was found, to be said
        # again where the cells are run once more.
        self._verdicts: dict[tuple[int, int, str], list[Verdict]] = {}
        self._at = (0, 0)  # the cell that is run, and how many checks it has made
        self._said: list[str] = []  # the exercises that this cell has a word on
        self._has_run = False

    @property
    def slugs(self) -> list[str]:
        """The exercises that it is about, in the course's order."""
        if self.problem and not self.reports:
            return self.of_lesson or ["(notebook)"]
        known = {*self.of_lesson, *self.defined, *self.reports}
        return [slug for slug in exercises() if slug in known]

    def report(self, slug: str) -> Report:
        """Return what was found on an exercise.

        A `CourseError` says that its tests could not be run.
        """
        self.run()
        if self.problem:
            failure = Failure(self.problem)
            return Report(slug, Outcome.RAISED, failures=(failure,))
        missing = Failure(f"no cell defines {slug}")
        report = self.reports.get(
            slug, Report(slug, Outcome.NOT_ATTEMPTED, failures=(missing,))
        )
        if isinstance(report, CourseError):
            raise report
        if report.outcome is Outcome.RAISED and not self.has_setup:
            return replace(report, note=f"{NO_SETUP}; {report.note}".rstrip("; "))
        return report

    def run(self) -> None:
        """Run the cells in a process; where one ends it, again without that."""
        if self._has_run or self.problem:
            return
        self._has_run = True
        try:
            while not self._run_all():
                pass
        except Gone as error:
            self.problem = f"no process could be begun for it: {error}"
        finally:
            self.close()

    def _run_all(self) -> bool:
        """Return whether no cell has ended the process."""
        self.close()
        self.reports, self.extra = {}, {}
        self.child = Child(self._serve)
        self.limits = self.child.limits
        return all(self._run_cell(cell) for cell in self.cells)

    def _run_cell(self, cell: Cell) -> bool:
        """Run a cell, and check what it defines and no cell checks."""
        assert self.child
        setup = "setup" in cell.tags
        self._at, self._said = (cell.number, 0), []
        failure = self._ended.get(cell.number)
        try:
            if failure is None:
                said = self.child.ask(
                    "run",
                    cell.number,
                    cell.source,
                    cell.slugs,
                    wall_s=SETUP_LIMIT_S if setup else CELL_LIMIT_S,
                )
                if "failed" in said:
                    evidence = tuple((str(a), str(b)) for a, b in said["evidence"])
                    failure = Failure(str(said["failed"]), evidence=evidence)
                elif unchecked := self._unchecked(cell, said["defined"]):
                    for slug in unchecked:
                        self.child.ask("check", slug, wall_s=CELL_LIMIT_S)
            else:
                self._repeat(cell.number)
        except Gone as error:
            why = f"cell {cell.number}: while it ran, {error}"
            self._ended[cell.number] = Failure(why)
            return False
        if failure and setup:
            self.problem = f"the setup cell failed: {failure.requirement}"
        for slug in cell.slugs:
            if failure and slug not in self._said:
                self.reports[slug] = Report(slug, Outcome.RAISED, failures=(failure,))
        return True

    def _unchecked(self, cell: Cell, defined: Sequence[str]) -> list[str]:
        """Return what a cell defines and neither it nor a later one checks."""
        later = [each.source for each in self.cells if each.number >= cell.number]
        asked = {
            slug
            for slug in defined
            for text in later
            if re.search(CHECKED % slug, text)
        }
        return [
            slug for slug in defined if slug not in asked and slug not in self._said
        ]

    def _repeat(self, number: int) -> None:
        """Have the verdicts once more of a cell that is not run again."""
        for (cell, _, slug), verdicts in self._verdicts.items():
            if cell == number:
                self._note(slug, verdicts)

    def _serve(self, what: str, /, *args: Any) -> tuple[Any, dict[str, Any]]:
        """Answer what the notebook's `check` asks."""
        if threading.current_thread() is not threading.main_thread():
            raise CourseError("check is called in the main thread of a notebook")
        if what == "refused":
            for slug in set(self._cell_slugs()) - set(self._said):
                note = str(args[0])[:300]
                missing = Failure("check could not take it for an answer")
                self._said.append(slug)
                self.reports[slug] = Report(
                    slug, Outcome.NOT_ATTEMPTED, failures=(missing,), note=note
                )
            return None, {}
        slug, function, about = args
        exercise, child = exercises()[slug], self.child
        self._at = (self._at[0], self._at[1] + 1)
        if self._at[1] > MOST_CHECKS or not child:
            raise CourseError(f"a cell may check {MOST_CHECKS} times")
        at = (*self._at, exercise.slug)
        if at not in self._verdicts:
            answer = Answer(child, exercise.slug, function, about)
            self._verdicts[at] = [_graded(exercise, answer)]
            for tests in self.hidden.get(slug, ()):
                if child.is_there:
                    own = _graded(replace(exercise, tests=tests), answer)
                    self._verdicts[at].append(own)
        self._note(slug, self._verdicts[at])
        return getattr(self._verdicts[at][0], "outcome", "") == Outcome.PASSED, {}

    def _note(self, slug: str, verdicts: Sequence["Verdict"]) -> None:
        self._said.append(slug)
        self.reports[slug], *self.extra[slug] = verdicts

    def _cell_slugs(self) -> list[str]:
        return [
            s for each in self.cells if each.number == self._at[0] for s in each.slugs
        ]

    def close(self) -> None:
        """End the notebook's process."""
        if self.child:
            self.child.close()
        self.child = None


Verdict = Report | CourseError


def _graded(exercise: Exercise, answer: Answer) -> Verdict:
    try:
        return grade(exercise, answer)
    except CourseError as error:
        return error


def read_answers(
    path: Path,
    name: str = "",
    hidden: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Answers:
    """Read a notebook. Whatever goes wrong is in the result."""
    called = Path(name or path.name)
    try:
        return Answers(called, read_cells(path), hidden=hidden)
    except CourseError as error:
        said = str(error).replace(path.name, called.name)
        return Answers(called, [], said)
