"""Papers as grading leaves them, made by hand: each test says what it needs of one."""

from workbook.classroom.results import Graded, Paper
from workbook.exercises.catalogue import exercises
from workbook.exercises.report import Failure, Outcome, Report

LESSON = "01_naive_loop"  # four exercises
SLUGS = [slug for slug, each in exercises().items() if each.lesson == LESSON]
MISSED = Failure("blank text is Malformed", "test_blank", (("called", "f('')"),))


def answer(slug, met=4, of=4, **fields):
    """Return an exercise of which so many tests are met; `met=None`: not graded."""
    if met is None:
        return Graded(slug, None, **{"problem": "it was stopped", **fields})
    ends = {0: Outcome.NOT_ATTEMPTED, of: Outcome.PASSED}
    outcome = fields.pop("outcome", ends.get(met, Outcome.WRONG))
    failures = fields.pop("failures", () if met == of else (MISSED,))
    note = fields.pop("note", "")
    return Graded(slug, Report(slug, outcome, met, of, failures, note), **fields)


def paper(learner, met=4, lesson=LESSON, **fields):
    """Return a lesson's paper; `met` is for all of its exercises, or a list of them."""
    slugs = [slug for slug, each in exercises().items() if each.lesson == lesson]
    mets = met if isinstance(met, list) else [met] * len(slugs)
    graded = tuple(answer(slug, n) for slug, n in zip(slugs, mets, strict=True))
    return Paper(learner, f"{lesson}.ipynb", **{"graded": graded, **fields})
