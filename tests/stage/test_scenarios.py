"""Every scenario ends on every engine as its file says."""

import json
import re
import subprocess
import sys

import pytest

from tests.stage.plays import played
from workbook.choice import ChoiceError
from workbook.runtime.model import ToolRequest
from workbook.runtime.replay import first_divergence
from workbook.runtime.script import Script
from workbook.stage import scenarios
from workbook.stage.engines import ENGINES, play
from workbook.stage.scenarios import (
    Scenario,
    ScenarioError,
    ScriptedTool,
    load,
    outcome,
    slugs,
)

SLUGS = [*slugs(), *slugs("trust")]
WHOLE = 'title = "t"\nquestion = "q"\nteaches = "x"\n'
LIFT = WHOLE + 'turn = []\n[[tool]]\nname = "Lift"\ndescription = "Go."\n'
POINT = WHOLE + 'turn = []\n[[punchline]]\nlabel = "x"\n'
TWICE = WHOLE + '[[turn]]\ntext = "Hello"\ntimes = 2\n'
REFUSAL = re.compile(r"\b([45]\d\d [A-Z]|(error|failed|denied|forbidden)\b)", re.I)
NAMES = "be_the_model, load, gallery, play, player, on_own_model, real_model"
HEAVY = {"pandas", "matplotlib", "ipywidgets", "langchain_core", "jinja2"}


def test_one_line_begins_a_lesson_and_costs_little():
    """The names come from one line, and none of the heavy packages with them"""
    code = f"from workbook.stage import {NAMES}\n" * 2 + "import sys\n"  # run twice
    code += f"assert all(map(callable, ({NAMES})))\nprint(*{HEAVY} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.stdout.strip(), run.stderr) == ("", "")


@pytest.mark.parametrize("engine", ENGINES)
def test_scenarios_end_as_their_files_say(engine):
    """Played on an engine, each ends as its file says; no trace has a hole in it"""
    for slug in SLUGS:
        if not (end := load(slug).ends.get(engine)):
            continue
        trace, expected = played(slug, engine)[0], end.model_dump(exclude_unset=True)
        assert expected["state"], slug
        assert expected.items() <= outcome(trace).items(), slug
        assert [event["seq"] for event in trace] == list(range(len(trace)))
        for event in trace.of("observation") * (slug in slugs()):
            assert not (event["ok"] and REFUSAL.search(event["text"])), slug


@pytest.mark.parametrize("slug", SLUGS)
def test_a_scenario_describes_itself(slug):
    """Write `teaches` and `right` as sentences; name a group and engines that exist"""
    scenario = load(slug)
    assert scenario.teaches.endswith((".", "?"))
    assert scenario.right.endswith(".")
    assert scenario.group, "data/scenarios/README.md lists the groups"
    assert {*scenario.ends} <= {*ENGINES}
    for tool in scenario.scripted_tools * (slug in slugs()):
        assert not [text for text in tool.returns if REFUSAL.search(text)], "use fails"


def test_a_tool_that_refuses_has_failed():
    """A 401 is a failed observation on every engine; the model reads it all the same"""
    for engine in ("naive", "langchain", "fsm"):
        observed = played("endless_retry", engine)[0].of("observation")
        assert [event["ok"] for event in observed] == [False] * 12
        words = "401 Unauthorized: the token has expired."
        assert all(words in event["text"] for event in observed)
    errors = [event["error"] for event in observed]  # as the machine has them
    assert {(e["kind"], e["retryable"]) for e in errors} == {("unauthorized", False)}


def test_a_run_begins_anew_and_is_written_as_it_happens(tmp_path):
    """Played twice it is the same run; a file has each event"""
    path = tmp_path / "t.jsonl"
    trace = play("polling", path=path)
    again = play("polling")
    assert first_divergence(again.events, trace.events) is None
    assert len(path.read_text().splitlines()) == len(trace)
    lift = ScriptedTool(name="Lift", description="Go.", returns=["one", "two"]).tool()
    assert [lift.run(input="")["result"] for _ in range(3)] == ["one", "two", "two"]


def test_another_model_can_be_asked(monkeypatch):
    """The tools serve any model: one that is given, or named; a hosted one has a key"""
    asked = Script(["Final Answer: 90"]), "scripted"
    answers = [play("price_question", model=model).end["answer"] for model in asked]
    assert answers == ["90", "88"]
    with pytest.raises(ChoiceError, match="'gpt 4' names no model"):
        play("price_question", model="gpt 4")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ChoiceError, match="needs a key"):
        play("price_question", model="openai:gpt-4o-mini")


@pytest.mark.parametrize(
    ("slug", "engine", "message"),
    [
        ("price_questoin", "fsm", "Did you mean 'price_question'"),
        (None, "fsm", "no scenario None. slugs.. names them"),
        ("polling", "fms", "no engine 'fms'; there is naive"),
    ],
)
def test_a_wrong_name_is_reported(slug, engine, message):
    """A name that does not exist is answered with those that do"""
    with pytest.raises(ScenarioError, match=message):
        play(slug, engine)


ADD = {"name": "add", "arguments": {"a": 1}}


def written(turn):
    """Return the text of a scenario with one turn."""
    text = json.dumps(turn).replace(": ", " = ") if isinstance(turn, dict) else turn
    return f"{WHOLE}turn = [{text}]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = ", "is not TOML"),
        ("tool_names = []", "tool_names: there is no such key"),
        ('title = "t"', "question is missing"),
        ("title = 3", "title is 3: .*string"),
        (LIFT + 'raises = "print"', "tool 1 raises: 'print' is not .* exception"),
        (LIFT + "takes_s = -1", "tool 1 takes_s is -1: .*greater than 0"),
        ('[turn]\ntext = "Hello"', r"write \[\[turn\]\] with two brackets"),
        (WHOLE + 'right_if = "("', "right_if is '\\('"),
        (POINT + 'kind = "payment"', "punchline 1 kind is 'payment'"),
        (TWICE + '[[turn]]\nif_seen = "b"', "turn 2: .*if_seen, then"),
        (TWICE + "x = 1\n[[tool]]\n", "turn 1 x: there.*; tool 1 name is missing"),
        (f'tools = ["Telescope"]\n{WHOLE}turn = []', "broken: .*Telescope"),
        (written(3), "hold together: turn 1"),
        (written({"text": "a", "times": -1}), "turn 1 times"),
        (written({"if_seen": "a", "then": 3, "else": "b"}), "turn 1 then"),
        (written({"calls": [{"name": "Add"}]}), "turn 1 calls 1 arguments"),
        (written({"calls": [ADD], "txt": "a"}), "turn 1.*txt"),
    ],
)
def test_a_mistake_is_reported_with_its_place(tmp_path, monkeypatch, text, message):
    """A sentence names the key, or the number of the tool or turn, without traceback"""
    monkeypatch.setattr(scenarios, "FOLDER", tmp_path)
    (tmp_path / "broken.toml").write_text(text)
    with pytest.raises(ScenarioError, match=message) as caught:
        load("broken").tools()
    assert caught.value._render_traceback_() == [f"ScenarioError: {caught.value}"]


def script(*turns, **more):
    """Return the script of a scenario with these turns, as a file has them."""
    about = dict.fromkeys(("slug", "title", "question", "teaches"), "x")
    return Scenario.model_validate({**about, "turn": [*turns], **more}).script()


def test_the_turns_of_a_file_are_those_of_a_script():
    """Texts are repeated, errors raised, calls requested, with ids or without"""
    model = script({"text": "{n}!", "times": 2}, {"text": "no", "times": 0}, "b")
    assert [model.complete("p").text for _ in range(3)] == ["1!", "2!", "b"]
    with pytest.raises(ConnectionError, match="401"):
        script({"raises": "ConnectionError", "message": "401"}).complete("p")
    answer = script({"text": "Add.", "calls": [{**ADD, "id": "c7"}, ADD]}).complete("p")
    asked = [ToolRequest("add", {"a": 1}, call_id) for call_id in ("c7", "")]
    assert (answer.text, list(answer.calls)) == ("Add.", asked)
    assert answer.finish == "tool_calls"


@pytest.mark.parametrize(("window", "text"), [(100, "88 dollars"), (2, "88 yen")])
def test_drift_can_be_written_down(window, text):
    """A constraint is obeyed only while the window still holds it"""
    other = {"if_seen": "in pounds", "then": "88 pounds", "else": "88 yen"}
    turn = {"if_seen": "in dollars", "then": "88 dollars", "else": other}
    model = script(turn, window_tokens=window)
    assert model.complete("Answer in dollars." + "…" * 20).text == text


def test_a_part_that_breaks_ends_its_run_alone():
    """A loop that raises ends the run in ERROR, with what it raised"""
    broken = {"naive_loop": lambda *given, **options: {}["a slip of mine"]}
    end = play("price_question", "naive", parts=broken).end
    found = end["state"], end["reason"], end["message"]
    assert found == ("ERROR", "KeyError", "'a slip of mine'")
