"""A recording stands in for the real model, and for nothing else."""

import datetime
import json

import pytest

from workbook.runtime.script import Script
from workbook.stage import recordings
from workbook.stage.recordings import (
    NotRecorded,
    RecordedModel,
    Recorder,
    real_model,
    real_result,
)
from workbook.weights import fetch_weights


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(recordings, "FOLDER", tmp_path)
    return tmp_path


def record(prompt, *said, **settings):
    """Record what is said to a prompt, each time that it is asked."""
    model = Recorder(Script(list(said)), "lesson", settings)
    return [model.complete(prompt) for _ in said]


def test_what_was_recorded_is_played(folder):
    """The same prompt, stop and settings give the same answer, usage and count"""
    model = Recorder(Script(["one", "two"]), "lesson", {"max_tokens": 5})
    said = [model.complete("a"), model.complete("a", stop=["\n"])]
    counted = model.count("Question: 1+1?")
    played = RecordedModel("lesson", {"max_tokens": 5})
    assert [played.complete("a"), played.complete("a", stop=["\n"])] == said
    assert played.name == "scripted (recorded)"
    assert played.count("Question: 1+1?") == counted
    assert played.count("a" * 30) == 10  # nobody counted it: an estimate


def test_what_was_not_recorded_is_refused(folder):
    """Another prompt, stop, setting or lesson has no answer, and you are told"""
    with pytest.raises(NotRecorded, match="lesson 'lesson'"):
        RecordedModel("lesson", {})
    record("a", "one")
    for prompt, stop, most in (("b", [], {}), ("a", ["\n"], {}), ("a", [], {"n": 9})):
        with pytest.raises(NotRecorded, match="fetch-model") as caught:
            RecordedModel("lesson", most).complete(prompt, stop=stop)
    # In a notebook it is a sentence, without a traceback of ours.
    assert caught.value._render_traceback_() == [f"NotRecorded: {caught.value}"]


def test_what_takes_minutes_is_played_although_the_model_is_here(folder, capsys):
    """Without `live` the recording is played, and its first line has the day"""
    record("a", "one")
    model = real_model("lesson", live=False)
    assert model.complete("a").text == "one"
    today = datetime.date.today().isoformat()
    assert capsys.readouterr().out.startswith(f"scripted (recorded), {today}. live=")


def test_recording_again_keeps_the_other_answers(folder):
    """A new answer is added, an old one replaced; each setting is written down once"""
    for prompt, text, most in (("a", "old", 5), ("a", "new", 5), ("b", "other", 9)):
        record(prompt, text, max_tokens=most)
    most = [{"max_tokens": 5}, {"max_tokens": 9}]
    said = zip("ab", most, strict=True)
    texts = [RecordedModel("lesson", m).complete(prompt).text for prompt, m in said]
    assert texts == ["new", "other"]
    assert json.loads((folder / "lesson.json").read_text())["settings"] == most


def test_samples_of_one_prompt_are_kept_one_by_one(folder):
    """At a temperature the same prompt has an answer each time it is asked"""
    record("q", "one", "two", temperature=0.7)
    played = RecordedModel("lesson", {"temperature": 0.7})
    assert [played.complete("q").text for _ in range(3)] == ["one", "two", "one"]


def test_the_recording_can_be_wished_for(folder, monkeypatch, capsys):
    """With WORKBOOK_RECORD=0 it is played, which is said; a turn can be begun for it"""
    record("1+1?\nThought:", " I add.")
    monkeypatch.setenv("WORKBOOK_RECORD", "0")
    model = real_model("lesson", prefill="Thought:")
    assert model.complete("1+1?\n").text == "Thought: I add."
    assert "You see what the model said on" in capsys.readouterr().out


def test_without_weights_the_recording_is_played(folder, monkeypatch, capsys):
    """Where the weights cannot be had, the reason is shown, and no traceback"""
    record("a", "one")

    def no_server():
        raise RuntimeError("No network.")

    monkeypatch.setattr("workbook.runtime.local.local_server", no_server)
    assert real_model("lesson").complete("a").text == "one"
    assert "No network." in capsys.readouterr().out


def test_with_weights_it_is_the_real_model():
    """Where the weights are, nothing is played"""
    fetch_weights()
    assert not isinstance(real_model("00_start_here"), RecordedModel)


def test_a_shipped_recording_says_what_it_is():
    """It names its model, its date and the settings that were used"""
    shipped = sorted(recordings.FOLDER.glob("*.json"))
    assert shipped
    for path in shipped:
        data = json.loads(path.read_text(encoding="utf-8"))
        assert data["model"].startswith("SmolLM2-135M-Instruct"), path
        assert datetime.date.fromisoformat(data["date"]).year >= 2026, path
        assert data["settings"], path


def test_what_was_measured_is_shown_with_its_day_first(folder, monkeypatch, capsys):
    """an experiment of minutes shows its recording; live=True measures it here"""
    monkeypatch.setenv("WORKBOOK_RECORD", "1")
    assert real_result("lesson", "tasks", lambda: 26) == 26
    monkeypatch.delenv("WORKBOOK_RECORD")
    assert real_result("lesson", "tasks", lambda: 1 / 0) == 26
    shown = capsys.readouterr().out
    assert datetime.date.today().isoformat() in shown
    assert "live=True runs it here" in shown
    monkeypatch.setattr(recordings, "_why_recorded", lambda: "")
    assert real_result("lesson", "tasks", lambda: 27, live=True) == 27
    monkeypatch.setattr(recordings, "_why_recorded", lambda: "No weights.")
    assert real_result("lesson", "tasks", lambda: 1 / 0, live=True) == 26
    assert "No weights." in capsys.readouterr().out


def test_the_rows_of_a_result_keep_their_order(folder, monkeypatch):
    """A table from a recording begins with the same row as the one measured here"""
    rows = {"plain": 0, "an example": 7}
    monkeypatch.setenv("WORKBOOK_RECORD", "1")
    real_result("lesson", "changes", lambda: rows)
    monkeypatch.delenv("WORKBOOK_RECORD")
    assert [*real_result("lesson", "changes", lambda: 1 / 0)] == [*rows]
