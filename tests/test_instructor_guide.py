"""What the instructor's guide shows works as it stands."""

import re
import tomllib
from pathlib import Path

import pytest

from workbook.course import player
from workbook.course.engines import ENGINES, play
from workbook.course.scenarios import outcome, read_scenario, slugs

ROOT = Path(__file__).resolve().parents[1]
GUIDE = (ROOT / "notebooks" / "instructor_guide.md").read_text(encoding="utf-8")


def blocks(language):
    """Return the code blocks of the guide in one language."""
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


@pytest.fixture(scope="module")
def namespace():
    """The guide's cells, run one after the other."""
    names = {}
    for cell in blocks("python"):
        exec(cell, names)
    return names


def test_the_cells_run(namespace):
    """the cells run in the order in which they stand, on every engine"""
    answers = {engine: namespace["ends"](engine)["answer"] for engine in ENGINES}
    assert answers["fsm"] == "88"


def test_the_faults_of_the_model_are_met(namespace):
    """of the three turns two are answered with an error, and the last ends the run"""
    trace = play("price_question", "fsm", model=namespace["faulty"])
    assert [event["ok"] for event in trace.of("observation")] == [False, False]
    assert trace.end["state"] == "ERROR"
    assert "the provider did not answer" in trace.end["message"]


def test_the_scenario_plays(tmp_path, monkeypatch):
    """the scenario's file holds together, and ends as the guide says"""
    (text,) = blocks("toml")
    monkeypatch.setattr("workbook.course.scenarios.FOLDER", tmp_path)
    path = tmp_path / "out_of_order.toml"
    path.write_text(text, encoding="utf-8")
    assert read_scenario(path).title == tomllib.loads(text)["title"]
    assert outcome(play("out_of_order", "fsm"))["answer"] == "You will have to walk."


@pytest.mark.parametrize(
    "slug", sorted(set(re.findall(r'(?:player|compare|play)\("(\w+)"', GUIDE)))
)
def test_what_is_named_is_there(slug):
    """every scenario that the guide names can be shown"""
    if slug != "out_of_order":
        assert slug in slugs()
        assert player(slug) is not None


def test_the_machine_pays_twice_as_yet():
    """the trap in the guide's table is one: no engine of these pays only once"""
    for engine in ENGINES:
        calls = [
            event
            for event in play("payment_twice", engine).of("tool_call")
            if event["tool"] == "Pay"
        ]
        assert len(calls) == 2, engine
