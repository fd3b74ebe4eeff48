"""Learners of good will, with all lessons: each verdict is the one that is known.

By hand, WORKBOOK_LEARNERS=30 makes it a class, and WORKBOOK_JOBS=1 takes one core.
"""

import os

import pytest

from tests.classroom.benign import VERDICTS, write_class
from workbook.classroom.run import grade_folder

pytestmark = pytest.mark.in_ci

LEARNERS = int(os.environ.get("WORKBOOK_LEARNERS", "2"))
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
