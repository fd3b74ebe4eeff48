"""A hosted model's answers to the lessons' experiments, recorded once and shown."""

import json

import pytest

from tests.endpoint import Fault, endpoint
from workbook.__main__ import main
from workbook.exercises.catalogue import CourseError
from workbook.playground import recorded
from workbook.playground.record import record
from workbook.playground.recorded import (
    OTHERS,
    RECORD_AS,
    Recorder,
    on_other_models,
    other_models,
)
from workbook.runtime.script import Script

TURN = " I need 20% of 110.\nAction: Calculator\nAction Input: 110*0.2"
HOSTED = {
    "WORKBOOK_MODEL": "gpt-test",
    "OPENAI_API_KEY": "sk-of-a-test",
    "WORKBOOK_RECORD": "0",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of recordings, and no hosted model."""
    monkeypatch.setattr(recorded, "FOLDER", tmp_path)
    monkeypatch.setattr("workbook.playground.record.FOLDER", tmp_path)
    for name in (*HOSTED, "OPENAI_BASE_URL", RECORD_AS):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / OTHERS


@pytest.fixture
def named(monkeypatch):
    """Name a hosted model at an address."""

    def name_it(url, **more):
        for name, value in {**HOSTED, "OPENAI_BASE_URL": url, **more}.items():
            monkeypatch.setenv(name, value)

    return name_it


def test_a_lesson_is_recorded_and_shown(folder, named, monkeypatch):
    """The command runs the lesson's experiment, and the lesson then has a column.

    A try that broke off is no column, and no part of the next one.
    """
    with endpoint(Fault(400, b"{}"), TURN) as told:
        named(told.url)
        Recorder(Script(["old"]), folder / "large.part", {}).complete("a")
        with pytest.raises(CourseError, match=r"nothing was recorded|00_start_here"):
            list(record("large", ["00"]))
        assert not list(folder.glob("*.json"))
        Recorder(Script(["old"]), folder / "large.part", {}).complete("a")
        assert main(["record", "large", "--only", "00"]) == 0
    asked = told.asked[-1]["messages"][-1]["content"]
    assert asked.endswith("Thought:")
    data = json.loads((folder / "large.json").read_text(encoding="utf-8"))
    assert (data["model"], len(data["answers"])) == ("gpt-test", 1)
    assert not (folder / "large.part").exists()
    monkeypatch.delenv("WORKBOOK_MODEL")
    ((name, model),) = other_models(prefill="Thought:", max_tokens=100).items()
    assert name == f"large, {data['date']}"
    said = model.complete(asked.removesuffix("Thought:"), stop=["\nObservation:"])
    assert said.text == f"Thought:{TURN}"


def test_your_own_model_and_a_recorded_one_stand_side_by_side(folder, named, capsys):
    """Each has a column; what cannot be asked has a line, and none while one records"""
    Recorder(Script(["recorded"]), f"{OTHERS}/large", {}).complete("q")
    with endpoint("mine", Fault(401, b'{"error": {"message": "no such key"}}')) as told:
        named(told.url)
        both = on_other_models(lambda model: model.complete("q").text)
        assert on_other_models(lambda model: model.complete("another")) == {}
    assert list(both.values()) == ["mine", "recorded"]
    assert next(iter(both)) == "yours, gpt-test"
    said = capsys.readouterr().out
    assert "left out. It was not asked this" in said
    assert "no such key" in said
    named(told.url, **{RECORD_AS: str(folder / "new.part")})
    assert list(other_models()) == ["yours, gpt-test"]


def test_without_any_other_model_a_line_says_how_to_name_one(folder, capsys):
    """Nothing is asked, and the cell says what to set"""
    assert on_other_models(lambda model: 1 / 0) == {}
    assert "WORKBOOK_MODEL to its name" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "only", "environment", "says"),
    [
        ("../up", [], HOSTED, "no name for a file"),
        ("large", [], {"WORKBOOK_MODEL": "local"}, "cannot be recorded"),
        ("large", [], {"WORKBOOK_MODEL": "gpt-test"}, "OPENAI_API_KEY"),
        ("large", ["77"], HOSTED, "No lesson begins with 77"),
        ("taken", [], HOSTED, "Choose another name"),
    ],
)
def test_what_cannot_be_recorded_says_why(
    folder, monkeypatch, name, only, environment, says
):
    """A name, a model or a lesson that will not do is said before anything is asked"""
    Recorder(Script(["one"]), f"{OTHERS}/taken", {}).complete("a")
    for key, value in environment.items():
        monkeypatch.setenv(key, value)
    with pytest.raises(CourseError, match=says):
        list(record(name, only))
