"""What the instructor's guide says is so, and its demos run."""

import ast
import re
import tempfile
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from tests.notebooks.conftest import execute, read, text_outputs
from workbook.checks.catalogue import exercises, lessons
from workbook.stage import play
from workbook.stage.engines import ENGINES
from workbook.stage.scenarios import load, outcome, read_scenario
from workbook.stage.trace_player import BUTTONS, RESPONSES

ROOT = Path(__file__).resolve().parents[1]
GUIDE = (ROOT / "notebooks" / "instructor_guide.md").read_text(encoding="utf-8")
DEMOS = read(ROOT / "notebooks" / "demos.ipynb").cells
LESSONS = {slug[:2]: each for slug, each in lessons().items() if not each.lab}
PARTS = ["Say", "Ask", "They answer", "The point", "Bridge", "Plan B"]
LOOPS = ("naive", "langchain", "fsm")


def pages():
    """Return the guide's pages: of each lesson's number its title and its text."""
    lessons_ = GUIDE.split("## The lessons, a page each")[1].split("\n## ")[0]
    found = re.split(r"(?m)^### (\d\d) · (.+)$", lessons_)[1:]
    return {n: (title, text) for n, title, text in zip(*[iter(found)] * 3, strict=True)}


PAGES = pages()
each_page = pytest.mark.parametrize("number", PAGES)


def demos():
    """Return the demo notebook's code by lesson: what stands below its heading."""
    found, here = {}, ""
    for cell in DEMOS:
        if heading := re.match(r"## (\d\d|\w.+)", cell.source):
            here = heading[1]
        if cell.cell_type == "code":
            found.setdefault(here, []).append(cell.source)
    return found


CELLS = demos()


def plans():
    """Return the session plans: minutes in the heading, and the rows below it."""
    plan = GUIDE.split("## Session plans")[1].split("\n## ")[0]
    parts = re.split(r"(?m)^### (\d+) minutes.*$", plan)[1:]
    assert parts
    rows = [re.findall(r"(?m)^\| (\d+) \| (.*) \|$", text) for text in parts[1::2]]
    return list(zip(map(int, parts[::2]), rows, strict=True))


def test_each_lesson_has_a_page():
    """in the lessons' order, with the lessons' titles"""
    assert {n: title for n, (title, _) in PAGES.items()} == {
        n: lesson.title for n, lesson in LESSONS.items()
    }


@each_page
def test_a_page_has_its_parts(number):
    """minutes, what to say and ask, wrong answers, a few steps, what comes next"""
    text = PAGES[number][1]
    assert re.match(r"\s*\*\d+ minutes · .+\*\n", text)
    assert re.findall(r"(?m)^\*\*([^*]+):\*\*", text) == PARTS
    steps = re.findall(r"(?m)^(\d)\. ", text)
    assert steps == [str(n + 1) for n in range(len(steps))]
    assert 4 <= len(steps) <= 6


@each_page
def test_a_demo_is_ready(number):
    """what a page opens with is a cell below its heading in the notebook"""
    cells = "\n".join(CELLS[number])
    top = PAGES[number][1].strip().splitlines()[0]
    assert cells
    for call in re.findall(r"`(\w+\(.*?\))`", top):
        assert call in cells


def test_engines_and_scenarios_of_the_guide_are_there():
    """each call of the guide and of its demos names what the workbook has"""
    code = "\n".join([GUIDE, *(cell.source for cell in DEMOS)])
    called = re.findall(r'\b(?:player|play)\("(\w+)"(?:, "(\w+)")?', code)
    assert len(called) > 20
    for slug, engine in called:
        assert slug == "out_of_order" or load(slug)
        assert not engine or engine in ENGINES


def test_what_is_to_be_pressed_is_a_button():
    """the words of all buttons that the guide names stand on one"""
    path = ROOT / "data/be_the_model.toml"
    model = tomllib.loads(path.read_text(encoding="utf-8"))
    known = {*BUTTONS.values(), *RESPONSES.values(), *model["buttons"], "Pause"}
    named = set(re.findall(r"\*\*([A-Z][\w ]+)\*\*", GUIDE.split("## Session")[0]))
    assert len(named) > 8
    assert named <= {*known, "Present"}


def as_shipped():
    return read(ROOT / "notebooks" / "demos.ipynb"), {}


@pytest.fixture(scope="module")
def shown():
    """What each cell of the demos shows, by the lesson, after Run All."""
    found, here = {}, ""
    for cell in execute(as_shipped, {}, tempfile.mkdtemp()).cells:
        if heading := re.match(r"## (\d\d)", cell.source):
            here = heading[1]
        found[here] = found.get(here, "") + text_outputs(cell)
    return found


@pytest.mark.parametrize(
    ("number", "told"),
    [
        ("01", "450,000"),
        ("02", "Finish[today]"),
        ("03", "The runtime sends a tool"),
        ("04", "call once per value"),
        ("05", "EXHAUSTED"),
        ("06", "STUCK"),
        ("07", "a rule says: ask a person"),
        ("08", "it was read as 45 88"),
        ("09", "REFUSED"),
        ("10", "Mallory"),
        ("11", "0.863636"),
        ("12", "37 % to 67 %"),
        ("13", "25 of 26"),
        ("14", "Its README.md says how to go on"),
    ],
)
def test_a_demo_shows_what_its_page_says(shown, number, told):
    """Run All shows it, without a network, a model or a button"""
    assert told in shown[number]


def test_without_widgets_a_demo_is_a_table():
    """the guide's plan B: `play` takes every call that the demos make of `player`"""
    assert "`player = play`" in GUIDE
    for code in "\n".join(chain.from_iterable(CELLS.values())).splitlines():
        if re.match(r'player\("\w+", "\w+"\)', code):
            call = ast.parse(code, mode="eval").body
            assert play(*[each.value for each in call.args]).end


@pytest.mark.parametrize(("minutes", "rows"), plans())
def test_a_session_plan_adds_up(minutes, rows):
    """its rows take its minutes; each has time for its exercises, lesson and demos"""
    assert sum(int(row) for row, _ in rows) == minutes
    tops = [text.strip().splitlines()[0] for _, text in PAGES.values()]
    long = {top: int(re.search(r"\d+", top)[0]) for top in tops}
    played = {slug: top for top in tops for slug in re.findall(r'player\("(\w+)"', top)}
    for row, what in rows:
        slugs_there = re.findall(r"`(\w+)`", what)
        known = [exercises()[slug] for slug in slugs_there if slug in exercises()]
        assert set(slugs_there) <= {*played, *exercises()}, what
        assert sum(exercise.minutes for exercise in known) <= int(row), what
        shown = {played[slug] for slug in slugs_there if slug in played}
        assert sum(long[top] for top in shown) <= int(row), what
        lesson = re.match(r"lesson (\d\d)", what)
        assert lesson is None or LESSONS[lesson[1]].minutes <= int(row), what


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


def blocks(language):
    """Return the code blocks of the guide in one language."""
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


def test_the_scenario_plays(tmp_path, monkeypatch):
    """the scenario's file holds together, and ends as the guide says"""
    (text,) = blocks("toml")
    monkeypatch.setattr("workbook.stage.scenarios.FOLDER", tmp_path)
    path = tmp_path / "out_of_order.toml"
    path.write_text(text, encoding="utf-8")
    assert read_scenario(path).title == tomllib.loads(text)["title"]
    assert outcome(play("out_of_order", "fsm"))["answer"] == "You will have to walk."


def test_the_slow_tool_is_given_up_by_the_machine_alone(tmp_path, monkeypatch):
    """with the guide's two keys the machine tells a timeout, and the loop waits"""
    assert "`takes_s = 2` and `timeout_s = 0.2`" in GUIDE
    (text,) = blocks("toml")
    slow = 'takes_s = 0.4\ntimeout_s = 0.1\nreturns = ["12"]'
    monkeypatch.setattr("workbook.stage.scenarios.FOLDER", tmp_path)
    text = re.sub(r"raises = .*\nmessage = .*", slow, text)
    (tmp_path / "out_of_order.toml").write_text(text, encoding="utf-8")
    seen = {e: play("out_of_order", e).of("observation")[0]["text"] for e in LOOPS}
    assert "timeout" in seen.pop("fsm")
    assert seen == {"naive": "12", "langchain": "12"}


def test_what_the_pages_say_of_the_runs():
    """turns, calls, ends and payments, as the steps have them"""
    made_up = play("made_up_observation", "naive")
    assert (made_up.end["answer"], made_up.of("tool_call")) == ("450,000", [])
    crash = play("crash_at_step_45", "naive")
    assert (len(crash.of("observation")), crash.end["state"]) == (44, "ERROR")
    asked = play("price_question", "langchain").of("model_request")
    assert (len(asked), sum("parent" in event for event in asked)) == (9, 4)
    assert play("array_for_one_value", "naive").end["reason"] == "ValueError"
    for engine in LOOPS:
        twice = play("payment_twice", engine).of("tool_call")
        assert [event["tool"] for event in twice] == ["Pay", "Pay"]
    circle = play("ping_pong", "guarded")
    said = [event["what"] for event in circle.of("decision")]
    assert (said, len(circle.of("model_turn"))) == (["warning", "stuck"], 7)
    paid = play("payment_other_call_id", "guarded").of("observation")
    assert len({event["result"]["payment_id"] for event in paid}) == 1
    audits = play("right_id_wrong_number", "grounded").of("decision")
    assert [event["who"] for event in audits].count("audit") == 3
    politely = play("page_pays_politely", "guarded").end["answer"]
    assert "paid the deposit of 200 euro" in politely
