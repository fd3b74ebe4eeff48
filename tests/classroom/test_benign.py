"""Learners of good will, with all lessons: each verdict is the one that is known.

By hand, WORKBOOK_LEARNERS=30 makes it a class, and WORKBOOK_JOBS=1 takes one core.
"""

import os

import pytest

from tests.classroom.benign import (
    VERDICTS,
    WRONG,
    learner_notebook,
    write_class,
    wrong_answers,
)
from workbook.classroom.run import grade_folder
from workbook.exercises.catalogue import exercises

pytestmark = pytest.mark.in_ci

LEARNERS = int(os.environ.get("WORKBOOK_LEARNERS", "1"))
JOBS = int(os.environ.get("WORKBOOK_JOBS", "2"))


def test_every_verdict_is_the_one_that_is_known(tmp_path):
    """right answers pass, wrong ones do not, stubs are not attempted, in all lessons"""
    folder = tmp_path / "class"
    known = write_class(folder, LEARNERS)
    papers = grade_folder(folder, tmp_path / "out", jobs=JOBS)
    found = {(p.learner, g.slug): g for p in papers for g in p.graded}
    assert found.keys() == known.keys()
    wrong = {
        key: (known[key], each.problem or each.report)
        for key, each in found.items()
        if each.report is None or each.report.outcome not in VERDICTS[known[key]]
    }
    assert wrong == {}


def test_no_wrong_answer_passes(tmp_path):
    """each of the wrong answers, which `check` finds out, is found out here as well"""
    known = {slug: wrong_answers(slug) for slug in exercises()}
    folder = tmp_path / "class"
    for number in range(max(map(len, known.values()))):
        kinds = {slug: WRONG for slug, found in known.items() if number < len(found)}
        path = folder / f"learner {number}" / "lessons.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(learner_notebook(kinds, number), encoding="utf-8")
    papers = grade_folder(folder, tmp_path / "out", jobs=JOBS)
    found = {(p.learner, g.slug): g for p in papers for g in p.graded}
    assert len(found) == sum(map(len, known.values()))
    passed = {
        (slug, known[slug][int(learner.split()[1])]): each.problem or each.report
        for (learner, slug), each in found.items()
        if each.report is None or each.report.outcome not in VERDICTS[WRONG]
    }
    assert passed == {}
