"""A recording stands in for the real model, and for nothing else."""

import datetime
import json

import pytest

from workbook.models.script import Script
from workbook.models.weights import fetch_weights
from workbook.playground import recorded
from workbook.playground.recorded import (
    NotRecorded,
    RecordedModel,
    Recorder,
    real_model,
    real_result,
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "FOLDER", tmp_path)
    return tmp_path


def test_what_was_recorded_is_played(folder):
    """The same prompt, stop sequence and settings give the same answer and usage."""
    model = Recorder(Script(["one", "two"]), "lesson", {"max_tokens": 5})
    said = [model.complete("a"), model.complete("a", stop=["\n"])]
    played = RecordedModel("lesson", {"max_tokens": 5})
    assert [played.complete("a"), played.complete("a", stop=["\n"])] == said
    assert played.name == "scripted (recorded)"


@pytest.mark.parametrize(
    ("prompt", "stop", "settings"),
    [("b", [], {}), ("a", ["\n"], {}), ("a", [], {"max_tokens": 9})],
)
def test_what_was_not_recorded_is_refused(folder, prompt, stop, settings):
    """Another prompt, stop sequence or setting has no answer, and you are told."""
    Recorder(Script(["one"]), "lesson", {}).complete("a")
    with pytest.raises(NotRecorded, match="fetch-model"):
        RecordedModel("lesson", settings).complete(prompt, stop=stop)


def test_a_lesson_without_a_recording_says_so(folder):
    """A lesson for which nothing was recorded is named."""
    with pytest.raises(NotRecorded, match="lesson 'x'"):
        RecordedModel("x", {})


def test_recording_again_keeps_the_other_answers(folder):
    """A new answer is added to the file; the same prompt replaces its own."""
    for text in ("old", "new"):
        Recorder(Script([text]), "lesson", {}).complete("a")
    Recorder(Script(["other"]), "lesson", {}).complete("b")
    played = RecordedModel("lesson", {})
    assert [played.complete(p).text for p in "ab"] == ["new", "other"]


def test_what_was_counted_is_played(folder):
    """Tokens are recorded as the model counted them; others are estimated."""
    model = Recorder(Script(["one"]), "lesson", {})
    counted = model.count("Question: 1+1?")
    model.complete("a")
    played = RecordedModel("lesson", {})
    assert played.count("Question: 1+1?") == counted
    assert played.count("a" * 30) == 10


def test_the_recording_can_be_wished_for(folder, monkeypatch, capsys):
    """With WORKBOOK_RECORD=0 the recording is played, and the page says so."""
    Recorder(Script(["one"]), "lesson", {}).complete("a")
    monkeypatch.setenv("WORKBOOK_RECORD", "0")
    assert real_model("lesson").complete("a").text == "one"
    assert "You see what the model said on" in capsys.readouterr().out


def test_a_turn_can_be_begun_for_it(folder, monkeypatch):
    """A prefill ends the prompt that is asked, and begins the turn."""
    Recorder(Script([" I add."]), "lesson", {}).complete("1+1?\nThought:")
    monkeypatch.setenv("WORKBOOK_RECORD", "0")
    model = real_model("lesson", prefill="Thought:")
    assert model.complete("1+1?\n").text == "Thought: I add."


def test_without_weights_the_recording_is_played(folder, monkeypatch, capsys):
    """Where the weights cannot be had, the reason is shown, and no traceback."""
    Recorder(Script(["one"]), "lesson", {}).complete("a")

    def no_server():
        raise RuntimeError("No network.")

    monkeypatch.setattr("workbook.models.local.local_server", no_server)
    assert real_model("lesson").complete("a").text == "one"
    assert "No network." in capsys.readouterr().out


def test_with_weights_it_is_the_real_model():
    """Where the weights are, nothing is played."""
    fetch_weights()
    assert not isinstance(real_model("00_start_here"), RecordedModel)


@pytest.mark.parametrize("path", sorted(recorded.FOLDER.glob("*.json")))
def test_a_shipped_recording_says_what_it_is(path):
    """A recording names its model, its date and the settings that were used."""
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["model"].startswith("SmolLM2-135M-Instruct")
    assert datetime.date.fromisoformat(data["date"]).year >= 2026
    assert data["settings"]


def test_the_settings_are_kept(folder):
    """Each setting that was used is written down once."""
    for tokens in (5, 5, 9):
        Recorder(Script(["a"]), "lesson", {"max_tokens": tokens}).complete("q")
    data = json.loads((folder / "lesson.json").read_text(encoding="utf-8"))
    assert data["settings"] == [{"max_tokens": 5}, {"max_tokens": 9}]


def test_what_was_measured_is_shown_without_weights(folder, monkeypatch, capsys):
    """What is no text is kept under its name, and shown where there is no model."""
    monkeypatch.setenv("WORKBOOK_RECORD", "1")
    assert real_result("lesson", "near", lambda: [[1, 2]]) == [[1, 2]]
    monkeypatch.setenv("WORKBOOK_RECORD", "0")
    assert real_result("lesson", "near", lambda: 1 / 0) == [[1, 2]]
    assert datetime.date.today().isoformat() in capsys.readouterr().out


def test_what_takes_minutes_is_measured_when_it_is_wished_for(folder, monkeypatch):
    """A lesson that is read again does not wait for it, also where the weights are."""
    monkeypatch.setenv("WORKBOOK_RECORD", "1")
    assert real_result("lesson", "tasks", lambda: 26, takes_minutes=True) == 26
    monkeypatch.delenv("WORKBOOK_RECORD")
    assert real_result("lesson", "tasks", lambda: 1 / 0, takes_minutes=True) == 26
