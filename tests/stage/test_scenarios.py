"""Every scenario ends on every engine as its file says."""

import json
import re

import pytest

from tests.stage.plays import as_told, played
from workbook.checks.parts import your_parts
from workbook.choice import ChoiceError
from workbook.lessons.naive_loop import naive_loop, reading_loop
from workbook.runtime.model import ToolRequest
from workbook.runtime.script import Script
from workbook.stage.engines import ENGINES, play
from workbook.stage.gallery_page import gallery
from workbook.stage.scenarios import (
    End,
    Scenario,
    ScenarioError,
    ScriptedTool,
    load,
    outcome,
    read_scenario,
    slugs,
)

WINGS = [*slugs(), *slugs("trust")]
ENDS = [(slug, engine) for slug in WINGS for engine in load(slug).ends]
WHOLE = 'title = "t"\nquestion = "q"\nteaches = "x"\n'
LIFT = WHOLE + 'turn = []\n[[tool]]\nname = "Lift"\ndescription = "Go."\n'
POINT = WHOLE + 'turn = []\n[[punchline]]\nlabel = "x"\n'
TWICE = WHOLE + '[[turn]]\ntext = "Hello"\ntimes = 2\n'
REFUSAL = re.compile(r"\b([45]\d\d [A-Z]|(error|failed|denied|forbidden)\b)", re.I)
WELL_BEHAVED = ["price_question", "price_question_ja", "price_question_zh"]
WELL_BEHAVED += ["polling", "budget_reached_exactly"]


def differences(scenario, engine, trace):
    """Return how a run ended otherwise than its scenario says."""
    found, end = outcome(trace), scenario.ends.get(engine, End())
    return [
        f"{scenario.slug} on {engine}: {key} is {found[key]!r}, expected {expected!r}"
        for key, expected in end.model_dump(exclude_unset=True).items()
        if found[key] != expected
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_scenarios_end_as_their_files_say(engine):
    """Played on an engine, each ends in the state that its file names, or in any"""
    found = []
    for slug in (slug for slug, named in ENDS if named == engine):
        assert load(slug).ends[engine].state is not None, slug
        found += differences(load(slug), engine, played(slug, engine)[0])
    assert found == []


def test_what_a_scenario_says_of_itself():
    """It has a name of its own, says what it teaches, and names engines that are"""
    assert len(WINGS) == len(set(WINGS))
    for slug in WINGS:
        scenario = load(slug)
        wrong = {
            "write `teaches` as a sentence": not scenario.teaches.endswith((".", "?")),
            f"[ends.<engine>]: use {', '.join(ENGINES)}": (
                not scenario.ends.keys() <= {*ENGINES}
            ),
            "name its `group`; data/scenarios/README.md lists them": not scenario.group,
            "write `right` as a sentence": not scenario.right.endswith("."),
        }
        found = "; ".join(words for words, is_wrong in wrong.items() if is_wrong)
        assert not found, f"{slug}: {found}"
    for slug in slugs():  # a tool that says no uses `fails`: no engine is taken in
        for tool in load(slug).scripted_tools:
            assert not [text for text in tool.returns if REFUSAL.search(text)], slug


def test_what_is_told_of_a_run_is_whole():
    """No trace has a hole, and no observation is `ok` whose text tells of an error"""
    for slug, engine in ENDS:
        trace = played(slug, engine)[0]
        assert [event["seq"] for event in trace] == list(range(len(trace)))
        assert trace.events[0]["kind"] == "run_started"
        for event in trace.of("observation") * (slug in slugs()):
            assert not (event["ok"] and REFUSAL.search(event["text"])), (slug, engine)


def test_a_tool_that_says_no_has_failed():
    """A 401 is a failed observation on every engine; the model reads it all the same"""
    for engine in ("naive", "langchain", "fsm"):
        observed = played("endless_retry", engine)[0].of("observation")
        assert len(observed) == 12
        assert not any(event["ok"] for event in observed)
        told = "401 Unauthorized: the token has expired."
        assert all(told in event["text"] for event in observed)
    errors = [event["error"] for event in observed]  # as the machine has them
    assert {(e["kind"], e["retryable"]) for e in errors} == {("unauthorized", False)}


def test_a_run_begins_anew_and_is_written_as_it_happens(tmp_path):
    """Played twice it is the same run; a file has each event, a listener hears it"""
    path, heard = tmp_path / "t.jsonl", []
    first = play("polling")
    trace = play("polling", path=path, listener=heard.append)
    assert as_told(first) == as_told(trace)
    texts = [event["text"] for event in trace.of("observation")]
    assert len(texts) == len(set(texts))  # the tool has gone on, from its first answer
    lift = ScriptedTool(name="Lift", description="Go.", returns=["one", "two"]).tool()
    assert [lift.run(input="")["result"] for _ in range(3)] == ["one", "two", "two"]
    assert len(path.read_text().splitlines()) == len(trace)
    assert heard == list(trace)


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


def test_a_wrong_name_is_told():
    """A name that is not there is answered with those that are"""
    near, none = "Did you mean 'price_question'", "no scenario None. slugs.. names them"
    for slug, message in (("price_questoin", near), (None, none)):
        with pytest.raises(ScenarioError, match=message):
            play(slug)
    with pytest.raises(ScenarioError, match=r"no engine 'fms'; there is naive"):
        play("polling", "fms")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = ", "is not TOML"),
        ("tool_names = []", "tool_names: there is no such key"),
        ('title = "t"', "question is missing"),
        ("title = 3", "title is 3: .*string"),
        ('[[tool]]\nname = "Lift"', "tool 1 description is missing"),
        (LIFT + 'raises = "print"', "tool 1 raises: 'print' is not .* exception"),
        (LIFT + "takes_s = -1", "tool 1 takes_s is -1: .*greater than 0"),
        (LIFT + "[ends.fsm]\nend = 3", "ends fsm end: there is no such key"),
        ('[turn]\ntext = "Hello"', r"write \[\[turn\]\] with two brackets"),
        (WHOLE + 'right_if = "("', "right_if is '\\('"),
        (POINT + 'kind = "payment"', "punchline 1 kind is 'payment'"),
        (POINT + 'kind = "decision"\nsays = "("', "punchline 1 says"),
        (WHOLE + '[[turn]]\ntxt = "Hello"', "turn 1.*txt"),
        (TWICE + '[[turn]]\ntext = "b"\ntimes = "often"', "turn 2 times is 'often'"),
        (TWICE + '[[turn]]\nif_seen = "b"', "turn 2: .*if_seen, then"),
        (TWICE + "x = 1\n[[tool]]\n", "turn 1 x: there.*; tool 1 name is missing"),
        (f'tools = ["Telescope"]\n{WHOLE}turn = []', "broken: .*Telescope"),
    ],
)
def test_a_wrong_file_is_told(tmp_path, text, message):
    """A file that does not hold together says where, and which tool is none of ours"""
    path = tmp_path / "broken.toml"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=message) as caught:
        read_scenario(path).tools()
    # In a notebook it is a sentence, without a traceback of ours.
    assert caught.value._render_traceback_() == [f"ScenarioError: {caught.value}"]


def test_the_gallery_has_a_row_a_scenario_and_a_column_an_engine(capsys, own_data):
    """It is computed by playing, and says once whose parts many runs have used"""
    parts = your_parts("naive_loop")
    shown = gallery(["naive"], parts=parts)
    assert list(shown.endings["naive"]) == slugs()
    end = shown.endings["naive"]["endless_retry"]
    assert (end["state"], end["reason"], end["model_turns"]) == (
        "EXHAUSTED",
        "call_limit",
        12,
    )
    row = gallery(["naive", "langchain"], parts, only=["missing_action"])
    assert list(row.endings) == ["naive", "langchain"]
    assert row.kinds("naive") == ["error"]
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["parts in this run · ours: naive_loop"] * 2


ADD = {"name": "add", "arguments": {"a": 1}}


def script(*turns, **more):
    """Return the script of a scenario with these turns, as a file has them."""
    about = dict.fromkeys(("slug", "title", "question", "teaches"), "x")
    return Scenario.model_validate({**about, "turn": [*turns], **more}).script()


def test_the_turns_of_a_file_are_those_of_a_script():
    """Texts are written out, errors raised, calls asked for, with ids or without"""
    said = script({"text": "{n}!", "times": 2}, {"text": "no", "times": 0}, "b")
    assert [said.complete("p").text for _ in range(3)] == ["1!", "2!", "b"]
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
    said = script(turn, window_tokens=window)
    assert said.complete("Answer in dollars." + "…" * 20).text == text


@pytest.mark.parametrize(
    ("turn", "place"),
    [
        (3, "turn 1"),
        ({"text": "a", "times": -1}, "turn 1 times"),
        ({"if_seen": "a", "then": 3, "else": "b"}, "turn 1 then"),
        ({"calls": [{"name": "Add"}]}, "turn 1 calls 1 arguments"),
        ({"calls": [ADD], "txt": "a"}, "turn 1"),
        ({"raises": "SystemExit"}, "turn 1 raises"),
    ],
)
def test_a_wrong_turn_is_named(tmp_path, turn, place):
    """A mistake in a table is named by the number of its turn"""
    text = json.dumps(turn).replace(": ", " = ") if isinstance(turn, dict) else turn
    (tmp_path / "broken.toml").write_text(f"{WHOLE}turn = [{text}]")
    with pytest.raises(ScenarioError, match=f"hold together: {place}"):
        read_scenario(tmp_path / "broken.toml")


TOO_SOON = "before I have calculated it.\nAction: Calculator\nAction Input: 240*0.15"
FIXED = {
    "made_up_observation": ["450,000", "about 139,000"],
    "missing_action": [None, "56"],
    "final_answer_in_thought": [TOO_SOON, "36"],
    "unknown_tool": [None, None],
    "endless_retry": [None, None],
}


def test_a_parser_fixes_what_is_read():
    """With a parser every turn is read; a wrong tool and an endless retry stay"""
    for slug, answers in FIXED.items():
        loops = naive_loop, reading_loop
        ends = [play(slug, parts={"naive_loop": loop}).end for loop in loops]
        assert [end["answer"] for end in ends] == answers, slug


def test_a_part_that_breaks_ends_its_run_alone():
    """A loop that raises ends the run in ERROR, with what it raised"""
    broken = {"naive_loop": lambda *given, **options: {}["a slip of mine"]}
    end = play("price_question", "naive", parts=broken).end
    found = end["state"], end["reason"], end["message"]
    assert found == ("ERROR", "KeyError", "'a slip of mine'")


def test_a_well_behaved_scenario_is_the_same_run_on_all_engines():
    """Tool, arguments, observation and answer are the same, in the same order"""
    for slug in WELL_BEHAVED:
        for engine in ("naive", "langchain"):
            one, other = played(slug, engine)[0], played(slug, "fsm")[0]
            assert as_told(one) == as_told(other), (slug, engine)
    assert as_told(played("drift", "fsm")[0]) != as_told(one)
