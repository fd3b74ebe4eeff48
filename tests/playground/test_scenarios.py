"""Every scenario ends on every engine as its file says."""

import re

import pytest

from workbook.exercises.your_agent import your_parts
from workbook.loop.naive import build_history, naive_loop
from workbook.loop.turns import parse_turn
from workbook.playground.engines import ENGINES, GALLERY, compare, gallery, play
from workbook.playground.scenarios import (
    End,
    ScenarioError,
    load,
    outcome,
    read_scenario,
    scenario_tools,
    slugs,
)
from workbook.traces.equivalence import first_difference
from workbook.traces.events import check_event

WHOLE = 'title = "t"\nquestion = "q"\nteaches = "x"\n'
LIFT = WHOLE + 'turn = []\n[[tool]]\nname = "Lift"\ndescription = "Go."\n'
TWICE = WHOLE + '[[turn]]\ntext = "Hello"\ntimes = 2\n'


def differences(scenario, engine, trace):
    """Return how a run ended otherwise than its scenario says."""
    found, end = outcome(trace), scenario.ends.get(engine, End())
    return [
        f"{scenario.slug} on {engine}: {key} is {found[key]!r}, expected {expected!r}"
        for key, expected in end.model_dump(exclude_unset=True).items()
        if found[key] != expected
    ]


WINGS = [*slugs(), *slugs("trust")]
ENDS = [(slug, engine) for slug in WINGS for engine in load(slug).ends]


@pytest.mark.parametrize(("slug", "engine"), ENDS)
def test_scenario_ends_as_its_file_says(slug, engine):
    """Played on an engine, a scenario ends in the state that its file names."""
    assert load(slug).ends[engine].state is not None
    assert differences(load(slug), engine, play(slug, engine)) == []


@pytest.mark.parametrize("slug", WINGS)
def test_scenario_says_what_it_teaches(slug):
    """A scenario says what it teaches; its ends, if any, are for known engines."""
    scenario = load(slug)
    assert scenario.teaches.endswith((".", "?")), "write `teaches` as a sentence"
    unknown = sorted(set(scenario.ends) - set(ENGINES))
    assert unknown == [], f"[ends.<engine>]: use {', '.join(ENGINES)}"


@pytest.mark.parametrize("slug", WINGS)
def test_a_scenario_says_what_is_right(slug):
    """Each scenario of the workbook has a kind, and a sentence on its right ending."""
    assert load(slug).group, "name its `group`, as the other scenarios do"
    assert load(slug).right.endswith("."), "write `right` as a sentence."


@pytest.mark.parametrize("engine", GALLERY)
def test_events_are_events(engine):
    """What an engine writes is a trace without holes, from start to end."""
    trace = play("price_question", engine)
    for seq, event in enumerate(trace):
        check_event(event, seq)
    assert trace.events[0]["kind"] == "run_started"
    assert trace.end["answer"] == "88"


def test_a_run_is_written_as_it_happens(tmp_path):
    """With a path, the trace is on disk as well; a listener hears each event."""
    heard = []
    trace = play("polling", path=tmp_path / "t.jsonl", listener=heard.append)
    assert len((tmp_path / "t.jsonl").read_text().splitlines()) == len(trace)
    assert heard == list(trace)


def test_a_name_stands_in_one_wing():
    """No scenario of one wing has the name of another one's"""
    assert len(WINGS) == len(set(WINGS))


def test_playing_twice_gives_the_same_run():
    """A scenario's tools and script start anew each time."""
    first, second = play("polling"), play("polling")
    assert outcome(first) == outcome(second)
    texts = [[e["text"] for e in t.of("observation")] for t in (first, second)]
    assert texts[0] == texts[1] == sorted(set(texts[0]), key=texts[0].index)


def test_another_model_can_be_asked():
    """The scenario's tools serve any model."""
    from workbook.models.script import Script

    trace = play("price_question", model=Script(["Final Answer: 90"]))
    assert trace.end["answer"] == "90"


def test_a_model_can_be_chosen_by_its_name(monkeypatch):
    """A name is looked up as everywhere: ours, or a hosted one that needs a key."""
    from workbook.models.choice import MissingKey, UnknownModel

    assert play("price_question", model="scripted").end["answer"] == "88"
    with pytest.raises(UnknownModel, match="did you mean 'local'"):
        play("price_question", model="locl")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(MissingKey):
        play("price_question", model="openai:gpt-4o-mini")


def test_an_engine_of_your_own_plays():
    """An engine that has no name here is given itself."""
    mine = ENGINES["fsm"]
    ends = [outcome(play("price_question", each)) for each in (mine, "fsm")]
    assert ends[0] == ends[1]
    with pytest.raises(ScenarioError, match="there is no engine 'mine'"):
        play("price_question", "mine")


def test_one_engine_may_be_given_by_its_name():
    """`compare(slug, "fsm")` is the row of one engine, and a wrong name is told."""
    assert list(compare("polling", "fsm").endings) == ["fsm"]
    assert list(gallery("naive").endings) == ["naive"]
    with pytest.raises(ScenarioError, match="there is no engine 'fms'"):
        gallery("fms")


@pytest.mark.parametrize(
    ("slug", "engine", "message"),
    [
        ("price_questoin", "naive", "Did you mean 'price_question'"),
        ("nothing like it", "naive", "there is no scenario .* slugs.. names them"),
        (None, "naive", "there is no scenario None"),
        ("price_question", ["fsm"], "there is no engine .'fsm'."),
        ("price_question", "nave", "there is no engine 'nave'"),
    ],
)
def test_a_wrong_name_is_told(slug, engine, message):
    """A name that is not there is answered with those that are."""
    with pytest.raises(ScenarioError, match=message):
        play(slug, engine)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = ", "is not TOML"),
        ("tool_names = []", "tool_names: there is no such key"),
        ('title = "t"', "question is missing"),
        ("title = 3", "title is 3: .*string"),
        ('[[tool]]\nname = "Lift"', "tool 1 description is missing"),
        (LIFT + 'raises = "Stuck"', "tool 1 raises: 'Stuck' is not .* exception"),
        (LIFT + 'raises = "print"', "tool 1 raises: 'print' is not .* exception"),
        (LIFT + 'raise = "OSError"', "tool 1 raise: there is no such key"),
        (LIFT + "takes_s = -1", "tool 1 takes_s is -1: .*greater than 0"),
        (LIFT + "[ends.fsm]\nend = 3", "ends fsm end: there is no such key"),
        ('[turn]\ntext = "Hello"', r"write \[\[turn\]\] with two brackets"),
        (WHOLE + '[[turn]]\ntext = "Hello"\nsteps = 3', "turn 1 .*steps"),
        (WHOLE + '[[turn]]\ntxt = "Hello"', "turn 1 .*txt"),
        (WHOLE + '[[turn]]\nraises = "Stuck"', "Stuck"),
        (TWICE + '[[turn]]\ntext = "b"\ntimes = "often"', "turn 2: times is 'often'"),
        (TWICE + '[[turn]]\nif_seen = "b"', "turn 2 is .*if_seen, then"),
    ],
)
def test_a_wrong_file_is_told(tmp_path, text, message):
    """A file that does not hold together says where."""
    path = tmp_path / "broken.toml"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=message):
        read_scenario(path)


def test_what_is_wrong_is_a_sentence_in_a_notebook(kernel):
    """In a notebook, no traceback of ours stands around what is wrong."""
    kernel("shell = get_ipython()\nshell._showtraceback = lambda *told: print(told[2])")
    shown = kernel("from workbook.playground import player\nplayer('endles_retry')")
    kernel("del shell._showtraceback")
    told = "there is no scenario 'endles_retry'. Did you mean 'endless_retry'?"
    assert shown.strip() == repr([f"ScenarioError: {told}"])


def test_a_scenario_that_names_an_unknown_tool_is_told(tmp_path):
    """A tool that the workbook does not have is named."""
    path = tmp_path / "s.toml"
    path.write_text(
        'title="t"\nquestion="q"\nteaches="x"\ntools=["Telescope"]\nturn=[]\nends={}'
    )
    with pytest.raises(ScenarioError, match="Telescope"):
        scenario_tools(read_scenario(path))


def test_a_file_may_be_edited_between_two_runs(tmp_path, monkeypatch):
    """In front of a class a scenario is changed, saved, and played again at once."""
    monkeypatch.setattr("workbook.playground.scenarios.FOLDER", tmp_path)
    path = tmp_path / "mine.toml"
    for answer in ("one", "two"):
        path.write_text(f'{WHOLE}[[turn]]\ntext = "Final Answer: {answer}"')
        assert play("mine", "fsm").end["answer"] == answer


def test_differences_name_what_differs():
    """A run that ends otherwise than the file says is described."""
    trace = play("price_question")
    found = differences(load("price_question_ja"), "naive", trace)
    assert found == ["price_question_ja on naive: answer is '88', expected '88ドル'"]


def test_an_end_may_be_left_out():
    """Of an engine that a scenario does not name, any end is as good as another."""
    assert differences(load("price_question"), "other", play("polling")) == []


@pytest.mark.parametrize("engine", ["create_agent", "fsm_calls"])
def test_an_engine_that_asks_for_calls_is_shown_where_it_is_named(engine):
    """The gallery has the three engines of the lessons; another one is asked for."""
    assert engine not in GALLERY
    assert engine not in compare("text_step_for_a_call").endings
    row = compare("text_step_for_a_call", [*GALLERY, engine])
    assert list(row.endings) == [*GALLERY, engine]


def test_the_machine_takes_no_text_step_for_an_answer():
    """By function calls, a step that is written as text is told to be unreadable."""
    trace = play("text_step_for_a_call", "fsm_calls")
    first = trace.of("model_turn")[0]
    assert first["turn"]["kind"] != "final"
    assert "Action Input" not in trace.end["answer"]
    assert [event["ok"] for event in trace.of("observation")] == [False]


def test_the_drift_is_a_matter_of_the_window():
    """With the whole history in sight, the same script keeps the user's word."""
    wide = load("drift").model_copy(update={"window_tokens": None}).script()
    trace = play("drift", model=wide)
    assert trace.end["answer"] == "Casa Verde"


def test_the_gallery_has_a_row_a_scenario_and_a_column_an_engine():
    """The gallery is computed by playing."""
    table = gallery(["naive"]).frame
    assert list(table.index) == slugs()
    assert (
        table.loc["endless_retry", "naive"] == "EXHAUSTED (call_limit) after 12 turns"
    )
    row = compare("missing_action", ["naive"]).frame
    assert row.loc["missing_action", "naive"].startswith("ERROR")


TOO_SOON = "before I have calculated it.\nAction: Calculator\nAction Input: 240*0.15"


@pytest.mark.parametrize(
    ("slug", "naive", "reading", "registry"),
    [
        ("made_up_observation", "450,000", "about 139,000", "about 139,000"),
        ("missing_action", None, "56", "56"),
        ("final_answer_in_thought", TOO_SOON, "36", "36"),
        ("unknown_tool", None, None, "1024"),
        ("endless_retry", None, None, None),
    ],
)
def test_a_parser_mends_what_is_read_and_a_registry_what_is_called(
    slug, naive, reading, registry
):
    """With a parser every turn is read; with a registry every call comes back."""
    engines = {"naive": naive, "reading": reading, "registry": registry}
    answers = {engine: play(slug, engine).end["answer"] for engine in engines}
    assert answers == engines


@pytest.mark.parametrize("slug", WINGS)
def test_with_a_registry_no_tool_raises(slug):
    """On the loop with parser and registry, each call has an observation."""
    trace = play(slug, "registry")
    cancelled = load(slug).cancel_after_tool_calls is not None
    assert len(trace.of("tool_call")) == len(trace.of("observation")) + cancelled


def test_a_loop_runs_on_the_parts_it_has_a_place_for():
    """A loop, a parser and a history of the reader's own are plugged into the loops."""
    used = []

    def part(name, function):
        def noted(*args, **kwargs):
            used.append(name)
            return function(*args, **kwargs)

        return noted

    ours = {"naive_loop": naive_loop, "parse_turn": parse_turn}
    ours["build_history"] = build_history
    parts = {name: part(name, function) for name, function in ours.items()}
    found = {}
    for engine in ("naive", "reading", "registry"):
        used.clear()
        assert play("price_question", engine, parts=parts).end["answer"] == "88"
        found[engine] = set(used)
    read = {"parse_turn", "build_history"}
    assert found == {"naive": {"naive_loop"}, "reading": read, "registry": read}


def test_a_row_or_a_gallery_says_once_whose_parts_were_used(capsys, own_data):
    """Many runs, one line that says whose parts they used."""
    parts = your_parts("naive_loop")
    compare("price_question", ["naive", "reading"], parts)
    gallery(["naive"], parts=parts)
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["parts in this run · ours: naive_loop"] * 2


def test_a_part_that_breaks_ends_its_run_alone():
    """A loop that raises ends the run in ERROR, with what it raised."""

    def broken(model, tools, question, *, instructions=""):
        raise LookupError("a slip of mine")

    end = play("price_question", "naive", parts={"naive_loop": broken}).end
    assert (end["state"], end["reason"]) == ("ERROR", "LookupError")
    assert end["message"] == "a slip of mine"


WELL_BEHAVED = [
    "price_question",
    "price_question_ja",
    "price_question_zh",
    "polling",
    "budget_reached_exactly",
]


@pytest.mark.parametrize("engine", ["naive", "langchain", "reading", "registry"])
@pytest.mark.parametrize("slug", WELL_BEHAVED)
def test_a_well_behaved_scenario_is_the_same_run_on_all_engines(slug, engine):
    """Tool, arguments, observation and answer are the same, in the same order."""
    assert first_difference(play(slug, engine), play(slug, "fsm")) is None


def test_another_answer_is_another_run():
    """Engines that end differently are not taken for the same."""
    found = first_difference(play("drift"), play("polling"))
    assert found is not None


@pytest.mark.parametrize("engine", GALLERY)
def test_a_tool_that_says_no_has_failed(engine):
    """A 401 is a failed observation on every engine, and the model still reads it."""
    observations = play("endless_retry", engine).of("observation")
    assert len(observations) == 12
    for event in observations:
        assert not event["ok"]
        assert "401 Unauthorized: the token has expired." in event["text"]


def test_no_retry_mends_a_401():
    """The machine's trace says that the same call will not work later."""
    errors = [e["error"] for e in play("endless_retry", "fsm").of("observation")]
    assert {(e["kind"], e["retryable"]) for e in errors} == {("unauthorized", False)}


REFUSAL = re.compile(r"\b([45]\d\d [A-Z]|(error|failed|denied|forbidden)\b)", re.I)


@pytest.mark.parametrize("slug", slugs())
def test_what_a_scripted_tool_returns_is_a_result(slug):
    """A tool that says no uses `fails`, so that no engine takes it for a result."""
    for tool in load(slug).scripted_tools:
        assert not [text for text in tool.returns if REFUSAL.search(text)]


@pytest.mark.parametrize("engine", GALLERY)
def test_only_what_worked_is_ok(engine):
    """On no engine is an observation `ok` whose text tells of an error."""
    for slug in slugs():
        for event in play(slug, engine).of("observation"):
            assert not (event["ok"] and REFUSAL.search(event["text"])), slug
