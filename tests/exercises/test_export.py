"""The agent as a package of its own."""

import os
import subprocess
import sys

import pytest

from tests.learner import solve
from workbook.exercises.catalogue import CourseError, exercises
from workbook.exercises.export import export
from workbook.exercises.your_agent import path_of
from workbook.paths import ROOT

pytestmark = pytest.mark.usefixtures("own_data", "one_worker")


@pytest.mark.parametrize("arguments", [["agent.py"], ["-m", "pytest", "-q"]])
def test_the_agent_answers_and_its_tests_pass(tmp_path, arguments):
    """an exported agent is right, and the tests that go with it pass"""
    solve()
    assert "Ours: none." in export(tmp_path / "mine")
    elsewhere = {"WORKBOOK_DATA": str(tmp_path / "nobody"), "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, *arguments],
        cwd=tmp_path / "mine",
        env=os.environ | elsewhere,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert arguments != ["agent.py"] or run.stdout == "88\n"


def test_what_does_not_pass_is_left_out_and_what_is_there_left_alone(tmp_path):
    """a part that fails by now is named and left out; a full folder is refused"""
    mine, full = tmp_path / "mine", tmp_path / "full"
    with pytest.raises(CourseError, match="No part of the agent is yours"):
        export(mine)
    solve("parse_turn", "who_writes")
    path_of("who_writes").write_text("def who_writes(label):\n    return 'model'\n")
    said = export(mine)
    assert "Left out, since they do not pass any more: who_writes." in said
    names = {path.stem for path in (mine / "your_agent").glob("*.py")}
    assert names & exercises().keys() == {"parse_turn"}
    full.mkdir()
    (full / "thesis.txt").write_text("mine")
    for target, word in ((full, "not empty"), (full / "thesis.txt", "no folder")):
        with pytest.raises(CourseError, match=word):
            export(target)
    assert [path.name for path in full.iterdir()] == ["thesis.txt"]
