"""What the instructor's guide shows works as it stands."""

import ast
import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from workbook.exercises.catalogue import exercises, lessons
from workbook.paths import DATA
from workbook.playground import player
from workbook.playground.engines import play
from workbook.playground.scenarios import outcome, read_scenario, slugs

ROOT = Path(__file__).resolve().parents[1]
GUIDE = (ROOT / "notebooks" / "instructor_guide.md").read_text(encoding="utf-8")


ENGINES = ("naive", "langchain", "fsm")
OPENS = re.compile(r'^\| \d\d \| `player\("(\w+)", engine="(\w+)"', re.MULTILINE)
DEMOS = OPENS.findall(GUIDE)


def blocks(language):
    """Return the code blocks of the guide in one language."""
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


def calls():
    """Return the calls in the guide's text and tables, without those for grading."""
    found, stage = [], GUIDE.split("\n## Grading")[0]
    for code in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", stage):
        try:
            read = ast.parse(code, mode="eval").body
        except SyntaxError:
            continue
        if isinstance(read, ast.Call):
            found.append(code)
    return list(dict.fromkeys(found))


def plans():
    """Return the session plans: minutes in the heading, and the rows below it."""
    plan = GUIDE.split("## Session plans")[1].split("\n## ")[0]
    parts = re.split(r"(?m)^### (\d+) minutes.*$", plan)[1:]
    rows = [re.findall(r"(?m)^\| (\d+) \| (.*) \|$", text) for text in parts[1::2]]
    return list(zip(map(int, parts[::2]), rows, strict=True))


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """A folder to write into, and the scenarios with the guide's own among them."""
    folder = tmp_path_factory.mktemp("class")
    shutil.copytree(DATA / "scenarios", folder / "scenarios")
    (text,) = blocks("toml")
    (folder / "scenarios" / "out_of_order.toml").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("workbook.playground.scenarios.FOLDER", folder / "scenarios")
        patched.chdir(folder)
        yield folder


def first_cell():
    """Return the names that are there after "All you need is in one cell"."""
    names = {}
    exec(blocks("python")[0], names)
    return names


@pytest.fixture(scope="module")
def namespace():
    """The guide's cells, run one after the other."""
    names = first_cell()
    for cell in blocks("python")[1:]:
        exec(cell, names)
    return names


def test_one_cell_has_all_that_the_guide_needs(elsewhere):
    """each call in the text and in the tables runs after the first cell alone"""
    assert len(calls()) > 15
    for code in calls():
        eval(code, first_cell())


@pytest.mark.parametrize("cell", blocks("python")[1:])
def test_each_cell_runs_after_the_first_one(cell):
    """no cell needs another one but the one that has all"""
    exec(cell, first_cell())


def test_a_table_entry_without_code_names_the_section_where_it_stands():
    """what is opened in a lesson is found there under its heading"""
    table = GUIDE.split("### The table")[1].split("\n## ")[0]
    rows = re.findall(r"(?m)^\| (\d\d) \| (.*?) \|", table)
    assert len(rows) > 14
    for number, opens in rows:
        if opens.startswith("`"):
            continue
        place = re.match(r'lesson (\d\d), "(.+)":', opens)
        assert place, opens
        assert place[1] == number
        (lesson,) = ROOT.glob(f"notebooks/{number}_*.ipynb")
        cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells)
        heading = rf"(?m)^##+ (Exercise · )?{re.escape(place[2])}$"
        assert re.search(heading, text), opens


@pytest.mark.parametrize(("minutes", "rows"), plans())
def test_a_session_plan_adds_up(minutes, rows):
    """the minutes of its rows are those of its heading"""
    assert sum(int(row) for row, _ in rows) == minutes


def test_there_is_a_plan_for_each_length():
    """an hour, an hour and a half, three hours, and a day"""
    assert [minutes for minutes, _ in plans()] == [60, 90, 180, 420]


@pytest.mark.parametrize(("minutes", "rows"), plans())
def test_a_plan_leaves_time_for_what_it_names(minutes, rows):
    """a row is as long as its exercises, or its lesson; its demos are in the table"""
    whole = [each for each in lessons().values() if not each.lab]
    minutes_of = {each.slug[:2]: each.minutes for each in whole}
    demos = [slug for slug, _ in DEMOS]
    for row, what in rows:
        slugs_there = re.findall(r"`(\w+)`", what)
        known = [exercises()[slug] for slug in slugs_there if slug in exercises()]
        assert set(slugs_there) <= {*demos, *exercises()}, what
        assert sum(exercise.minutes for exercise in known) <= int(row), what
        lesson = re.match(r"lesson (\d\d)", what)
        assert lesson is None or minutes_of[lesson[1]] <= int(row), what


def test_the_rubric_has_four_levels_for_each_criterion():
    """a row says what each of 0 to 3 points is, and the sum is that of the text"""
    rubric = GUIDE.split("## A rubric")[1].split("\n## ")[0]
    head, _, *rows = [
        line.split("|")[1:-1] for line in re.findall(r"(?m)^\|.*$", rubric)
    ]
    assert [cell.strip()[0] for cell in head[1:]] == ["0", "1", "2", "3"]
    for row in rows:
        assert len(row) == 5
        assert len({cell.strip() for cell in row} - {""}) == 5
    assert f"{3 * len(rows)} in all" in rubric


def test_the_pictures_are_there_and_small():
    """each picture of the guide is in the repository, and loads at once"""
    pictures = re.findall(r"!\[.+\]\((.+)\)", GUIDE)
    assert len(pictures) == 3
    for picture in pictures:
        path = (ROOT / "notebooks" / picture).resolve()
        assert path.stat().st_size <= 60_000


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
    monkeypatch.setattr("workbook.playground.scenarios.FOLDER", tmp_path)
    path = tmp_path / "out_of_order.toml"
    path.write_text(text, encoding="utf-8")
    assert read_scenario(path).title == tomllib.loads(text)["title"]
    assert outcome(play("out_of_order", "fsm"))["answer"] == "You will have to walk."


def test_the_slow_tool_is_given_up_by_the_machine_alone(tmp_path, monkeypatch):
    """with the guide's two keys the machine tells a timeout, and the loop waits"""
    assert "`takes_s = 2` and `timeout_s = 0.2`" in GUIDE
    (text,) = blocks("toml")
    slow = 'takes_s = 0.4\ntimeout_s = 0.1\nreturns = ["12"]'
    monkeypatch.setattr("workbook.playground.scenarios.FOLDER", tmp_path)
    text = re.sub(r"raises = .*\nmessage = .*", slow, text)
    (tmp_path / "out_of_order.toml").write_text(text, encoding="utf-8")
    seen = {e: play("out_of_order", e).of("observation")[0]["text"] for e in ENGINES}
    assert "timeout" in seen.pop("fsm")
    assert seen == {"naive": "12", "langchain": "12"}


@pytest.mark.parametrize(
    "slug", sorted(set(re.findall(r'(?:player|compare|play)\("(\w+)"', GUIDE)))
)
def test_what_is_named_is_there(slug):
    """every scenario that the guide names can be shown"""
    if slug != "out_of_order":
        assert slug in [*slugs(), *slugs("trust")]
        assert player(slug) is not None


def row_of(slug):
    """Return the last column of the table's row that opens with this scenario."""
    (row,) = [line for line in GUIDE.splitlines() if f'| `player("{slug}"' in line]
    return row.split("|")[-2]


def test_what_comes_is_what_the_made_up_observation_says():
    """the naive loop answers with what the model made up, and calls no tool"""
    trace = play("made_up_observation", "naive")
    assert trace.end["answer"] in row_of("made_up_observation")
    assert trace.of("tool_call") == []


def test_what_comes_of_the_crash_is_an_exception():
    """44 pages are read, and there is no answer"""
    trace = play("crash_at_step_45", "naive")
    assert "an exception; 44 pages are read" in row_of("crash_at_step_45")
    assert (len(trace.of("observation")), trace.end["answer"]) == (44, None)
    assert trace.end["state"] == "ERROR"


def test_the_price_question_takes_nine_calls():
    """five are the agent's, four its calculator's"""
    asked = play("price_question", "langchain").of("model_request")
    assert "nine: its calculator asks the model four times" in row_of("price_question")
    assert (len(asked), sum("parent" in event for event in asked)) == (9, 4)


def test_three_numbers_bring_an_error_and_then_one_call_each():
    """the first call is refused, the three after it are answered"""
    trace = play("array_for_one_value", "fsm")
    assert [e["ok"] for e in trace.of("observation")] == [False, True, True, True]


def test_the_budget_of_steps_ends_the_endless_call():
    """EXHAUSTED, since no step is left"""
    end = play("same_call_forever", "fsm").end
    assert end["state"] in row_of("same_call_forever")
    assert end["reason"] == "out_of_steps"


def test_the_machine_pays_twice_as_yet():
    """the trap in the guide's table is one: no engine of these pays only once"""
    for engine in ENGINES:
        calls = [
            event
            for event in play("payment_twice", engine).of("tool_call")
            if event["tool"] == "Pay"
        ]
        assert len(calls) == 2, engine


def test_a_rule_ends_the_ping_pong():
    """a warning at the third pair, STUCK at the next call"""
    trace = play("ping_pong", "guarded")
    said = [event["what"] for event in trace.of("decision")]
    assert (said, trace.end["state"]) == (["warning", "stuck"], "STUCK")
    assert len(trace.of("tool_call")) == 3 * 2 + 1
    assert "STUCK" in row_of("ping_pong")


def test_three_times_yes_is_one_payment():
    """each call is asked about, and the money is sent once"""
    trace = play("payment_other_call_id", "guarded")
    asked = [event for event in trace.of("decision") if event["what"] == "ask"]
    paid = {event["result"]["payment_id"] for event in trace.of("observation")}
    assert (len(asked), len(paid)) == (3, 1)
    assert "once" in row_of("payment_other_call_id")
