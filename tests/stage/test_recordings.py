"""A recording is played in place of the real model, and for no other prompt."""

import datetime
import json

import pytest

from workbook.runtime.script import Script
from workbook.stage import recordings
from workbook.stage.recordings import (
    NotRecorded,
    Recorded,
    on_own_model,
    real_model,
    real_result,
)
from workbook.weights import fetch_weights
from workbook.worlds.endpoint import serve


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(recordings, "FOLDER", tmp_path)
    return tmp_path


@pytest.fixture
def why(monkeypatch):
    """Why the real model cannot be asked: nothing, until a test says it."""
    why = []

    def server():
        if why:
            raise RuntimeError(*why)

    monkeypatch.setattr("workbook.runtime.local.local_server", server)
    return why


def record(prompt, *answers, **settings):
    """Record the answers to a prompt, one each time that it is asked."""
    model = Recorded("lesson", settings, Script(list(answers)))
    return [model.complete(prompt) for _ in answers]


def test_what_was_recorded_is_played_and_nothing_else(folder):
    """The same prompt, stop and settings give the same answer, usage and count"""
    with pytest.raises(NotRecorded, match="lesson 'lesson'"):
        Recorded("lesson", {})
    model = Recorded("lesson", {"max_tokens": 5}, Script(["one", "two"]))
    recorded = [model.complete("a"), model.complete("a", stop=["\n"])]
    counted = model.count("Question: 1+1?")
    played = Recorded("lesson", {"max_tokens": 5})
    assert [played.complete("a"), played.complete("a", stop=["\n"])] == recorded
    assert played.name == "scripted (recorded)"
    assert played.count("Question: 1+1?") == counted
    assert played.count("a" * 30) == 10  # nobody counted it: an estimate
    for prompt, stop, most in (("b", [], 5), ("a", ["\t"], 5), ("a", [], 9)):
        with pytest.raises(NotRecorded, match="fetch-model") as caught:
            Recorded("lesson", {"max_tokens": most}).complete(prompt, stop=stop)
    # In a notebook it is a sentence, without a traceback of ours.
    assert caught.value._render_traceback_() == [f"NotRecorded: {caught.value}"]


def test_recording_again_keeps_the_other_answers(folder):
    """A new answer is added, an old one replaced; each setting is written down once"""
    for prompt, text, most in (("a", "old", 5), ("a", "new", 5), ("b", "other", 9)):
        record(prompt, text, max_tokens=most)
    most = [{"max_tokens": 5}, {"max_tokens": 9}]
    pairs = zip("ab", most, strict=True)
    texts = [Recorded("lesson", m).complete(prompt).text for prompt, m in pairs]
    assert texts == ["new", "other"]
    assert json.loads((folder / "lesson.json").read_text())["settings"] == most


def test_samples_of_one_prompt_are_kept_one_by_one(folder):
    """At a temperature the same prompt has an answer each time it is asked"""
    record("q", "one", "two", temperature=0.7)
    played = Recorded("lesson", {"temperature": 0.7})
    assert [played.complete("q").text for _ in range(3)] == ["one", "two", "one"]


@pytest.mark.parametrize(
    ("record_it", "live", "printed"),
    [
        ("0", True, "WORKBOOK_RECORD is 0.\nYou see its recorded answers of"),
        ("", True, "No network.\nYou see its recorded answers of"),
        ("", False, "live=True asks it here, in minutes."),
    ],
)
def test_a_recording_says_why_it_is_played(
    folder, monkeypatch, capsys, why, record_it, live, printed
):
    """On request, without weights, or where the model takes minutes; with a prefill"""
    record("1+1?\nThought:", " I add.")
    monkeypatch.setenv("WORKBOOK_RECORD", record_it)
    why += ["No network."] * live
    model = real_model("lesson", prefill="Thought:", live=live)
    assert model.complete("1+1?\n").text == "Thought: I add."
    shown = capsys.readouterr().out
    assert printed in shown
    assert datetime.date.today().isoformat() in shown


def test_with_weights_it_is_the_real_model():
    """Where the weights are, nothing is played"""
    fetch_weights()
    assert not isinstance(real_model("00_start_here")._model, Recorded)


def test_a_shipped_recording_says_what_it_is():
    """It names its model, its date and the settings that were used"""
    shipped = sorted(recordings.FOLDER.glob("*.json"))
    assert shipped
    for path in shipped:
        data = json.loads(path.read_text(encoding="utf-8"))
        assert data["model"].startswith("SmolLM2-135M-Instruct"), path
        assert datetime.date.fromisoformat(data["date"]).year >= 2026, path
        assert data["settings"], path


def test_a_result_is_shown_with_its_day_and_live_measures_it(
    folder, monkeypatch, capsys, why
):
    """live=True measures it here where the model is; rows keep their order"""
    rows = {"plain": 0, "an example": 7}
    monkeypatch.setenv("WORKBOOK_RECORD", "1")
    assert real_result("lesson", "changes", lambda: rows) == rows
    monkeypatch.delenv("WORKBOOK_RECORD")
    assert [*real_result("lesson", "changes", lambda: 1 / 0)] == [*rows]
    shown = capsys.readouterr().out
    assert datetime.date.today().isoformat() in shown
    assert "live=True runs it here" in shown
    assert real_result("lesson", "changes", lambda: 27, live=True) == 27
    why.append("No weights.")
    assert real_result("lesson", "changes", lambda: 1 / 0, live=True) == rows
    assert "No weights." in capsys.readouterr().out


def test_an_experiment_runs_on_a_model_of_your_own(monkeypatch, capsys):
    """Where none is named, or it cannot be asked, there is nothing, and a line why"""

    def ask(model):
        return model.complete("?").text

    assert on_own_model(ask) == {}
    assert "set WORKBOOK_MODEL to its name" in capsys.readouterr().out
    said = {"choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}]}
    answers = iter([(200, json.dumps(said).encode()), (401, b"no")])
    with serve(lambda body: next(answers)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("WORKBOOK_MODEL", "m")
        assert on_own_model(ask, "Thought: ") == {"yours, m": "Thought: Hi."}
        assert on_own_model(ask) == {}
    assert "m: left out. " in capsys.readouterr().out
