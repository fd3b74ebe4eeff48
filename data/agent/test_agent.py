"""Your parts pass the tests of their exercises, and the agent answers."""

import subprocess
import sys
from pathlib import Path

import pytest
from your_agent import PARTS

from workbook.exercises.catalogue import find
from workbook.exercises.display import as_message
from workbook.exercises.report import Outcome
from workbook.exercises.run_tests import run_tests

HOME = Path(__file__).resolve().parents[1]
OWN = [slug for slug in PARTS if (HOME / "your_agent" / f"{slug}.py").exists()]


def test_there_is_a_part():
    """at least one part is yours"""
    assert OWN


@pytest.mark.parametrize("slug", OWN)
def test_the_part_passes_its_tests(slug):
    """each part does what its exercise asks for"""
    report = run_tests(find(slug), PARTS[slug].function)
    assert report.outcome is Outcome.PASSED, str(as_message(report))


def test_the_agent_answers():
    """on the script, the price is 88"""
    command = [sys.executable, "agent.py"]
    run = subprocess.run(command, cwd=HOME, capture_output=True, text=True)
    assert run.stdout.strip() == "88", run.stderr


def test_it_asks_before_it_writes(tmp_path):
    """a no leaves the folder as it is; after a yes the failing test passes"""
    command = [sys.executable, "agent.py", "--mend", tmp_path / "work"]
    said = {}
    for answer in ("no, not yet\n", "yes\n"):
        run = subprocess.run(
            command, cwd=HOME, capture_output=True, text=True, input=answer
        )
        said[answer] = run.stdout.strip(), (tmp_path / "work" / "price.py").read_text()
        assert "--- price.py" in run.stderr
    (refused, before), (done, after) = said.values()
    assert (refused, before == after) == ("I could not mend it.", False)
    assert "both tests pass" in done
