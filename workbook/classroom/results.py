"""What grading found, as data: a paper is one notebook of one learner."""

from dataclasses import dataclass

from pydantic import TypeAdapter

from workbook.exercises.report import Report


@dataclass(frozen=True, slots=True)
class Submission:
    """A notebook as it was handed in: what is graded is this text, not the file."""

    learner: str  # the name of the learner's folder; "" where there is none
    notebook: str  # the file's name
    text: str
    note: str = ""  # such as: the newest of two
    handed_in: str = ""  # ISO 8601, UTC; "" where nobody knows


@dataclass(frozen=True, slots=True)
class Graded:
    """One exercise: what its tests found, or why they could not be run."""

    slug: str
    report: Report | None
    problem: str = ""  # why there is no report
    source: str = ""  # the cell that defines the function
    signs: tuple[str, ...] = ()  # what a person should look at, with evidence


@dataclass(frozen=True, slots=True)
class Paper:
    """What came of a submission."""

    learner: str
    notebook: str
    note: str = ""
    graded: tuple[Graded, ...] = ()
    hidden: tuple[Graded, ...] = ()  # by the instructor's own tests
    limits: tuple[str, ...] = ()  # what held the learner's code, in words
    handed_in: str = ""  # as the submission has it


PAPER = TypeAdapter(Paper)
SUBMISSION = TypeAdapter(Submission)
