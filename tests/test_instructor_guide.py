"""What the instructor's guide says is so, and its demos run."""

import re
import tempfile
import tomllib
from pathlib import Path

import pytest

from tests.notebooks.conftest import execute, read, text_outputs
from workbook.checks.catalogue import exercises, lessons
from workbook.stage import play
from workbook.stage.engines import ENGINES
from workbook.stage.machines import by_script, machine_for
from workbook.stage.scenarios import load
from workbook.stage.trace_player import BUTTONS, RESPONSES

ROOT = Path(__file__).resolve().parents[1]
GUIDE = (ROOT / "notebooks" / "instructor_guide.md").read_text(encoding="utf-8")
LESSONS = {slug[:2]: each for slug, each in lessons().items() if not each.lab}
PARTS = ["Say", "Ask", "They answer", "The point", "Bridge", "Plan B"]
LOOPS = ("naive", "langchain", "fsm")
SHOWN = {
    "02": "Finish[today]",
    "04": "call once per value",
    "05": "EXHAUSTED",
    "08": "it was read as 45 88",
    "11": "0.863636",
    "12": "37 % to 67 %",
    "13": "25 of 26",
    "14": "Its README.md says how to go on",
}


def section(title):
    return GUIDE.split(f"## {title}")[1].split("\n## ")[0]


PAGES = re.split(r"(?m)^### (\d\d) · ", section("The lessons, a page each"))[1:]
PAGES = dict(zip(PAGES[::2], PAGES[1::2], strict=True))
PLANS = re.split(r"(?m)^### (\d+) minutes.*$", section("Session plans"))[1:]
PLANS = [
    (int(minutes), re.findall(r"(?m)^\| (\d+) \| (.*) \|$", text))
    for minutes, text in zip(PLANS[::2], PLANS[1::2], strict=True)
]
(LIFT,) = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)


def by_lesson(cells, text_of):
    """Return what the demos' cells have, together for each lesson's heading."""
    found, here = {}, ""
    for cell in cells:
        heading = re.match(r"## (\d\d)", cell.source)
        here = heading[1] if heading else here
        found[here] = found.get(here, "") + text_of(cell)
    return found


def demos():
    return read(ROOT / "notebooks" / "demos.ipynb"), {}


@pytest.mark.parametrize("number", LESSONS)
def test_each_lesson_has_a_page_and_a_demo(number):
    """Title, minutes, what to say and ask, a few steps; its cells are in the demos"""
    title, top, text = PAGES[number].split("\n\n", 2)
    assert title == LESSONS[number].title
    assert re.match(r"\*\d+ minutes · .+\*$", top)
    assert re.findall(r"(?m)^\*\*([^*]+):\*\*", text) == PARTS
    steps = re.findall(r"(?m)^(\d)\. ", text)
    assert steps == [*"123456"][: len(steps)]
    assert len(steps) >= 4
    cells = by_lesson(demos()[0].cells, lambda cell: cell.source)[number]
    assert all(call in cells for call in re.findall(r"`(\w+\(.*?\))`", top))
    for slug, engine in re.findall(r'player\("(\w+)", "(\w+)"\)', text):
        assert load(slug)
        assert engine in ENGINES


def test_what_is_to_be_pressed_is_a_button():
    """Each button that the guide names is there"""
    path = ROOT / "data/be_the_model.toml"
    model = tomllib.loads(path.read_text(encoding="utf-8"))
    known = {*BUTTONS.values(), *RESPONSES.values(), *model["buttons"]}
    named = set(re.findall(r"\*\*([A-Z][\w ]+)\*\*", GUIDE.split("## Session")[0]))
    assert named <= known | {"Pause", "Present"}


def test_the_demos_show_what_the_pages_say():
    """Run All works, without a network, a model or a button"""
    run = execute(demos, {}, tempfile.mkdtemp())
    shown = by_lesson(run.cells, text_outputs)
    for number, words in SHOWN.items():
        assert words in shown[number]


@pytest.mark.parametrize(("minutes", "rows"), PLANS)
def test_a_session_plan_adds_up(minutes, rows):
    """Its rows take its minutes; each has time for its exercises, lesson and demos"""
    assert sum(int(row) for row, _ in rows) == minutes
    for row, what in rows:
        slugs = re.findall(r"`(\w+)`", what)
        assert {*slugs} <= {*exercises(), *re.findall(r'player\("(\w+)"', GUIDE)}
        needed = sum(exercises()[s].minutes for s in slugs if s in exercises())
        if lesson := re.match(r"lesson (\d\d)", what):
            needed += LESSONS[lesson[1]].minutes
        for page in PAGES.values():
            top = page.split("\n\n")[1]
            if {*slugs} & {*re.findall(r'player\("(\w+)"', top)}:
                needed += int(re.search(r"\d+", top)[0])
        assert needed <= int(row), what


@pytest.mark.parametrize(
    ("fault", "read"),
    [
        ("takes_s = 0.4\ntimeout_s = 0.1\nreturns = ['12']", ("12", "12", "timeout")),
        ("returns = ['<b>12</b>']", ("<b>12", "<b>12", "<b>12")),
        ("raises = 'RuntimeError'\nmessage = 'stuck'", ("", "", "RuntimeError: stuck")),
    ],
)
def test_a_fault_is_put_in_live(tmp_path, monkeypatch, fault, read):
    """The lift's file plays; only the machine keeps to a limit, and reads a raise"""
    monkeypatch.setattr("workbook.stage.scenarios.FOLDER", tmp_path)
    text = re.sub("raises = .*\nmessage = .*", fault, LIFT)
    (tmp_path / "out_of_order.toml").write_text(text, encoding="utf-8")
    for engine, words in zip(LOOPS, read, strict=True):
        run = play("out_of_order", engine)
        assert words in "".join(each["text"] for each in run.of("observation"))
    assert run.end["answer"] == "You will have to walk."


@pytest.mark.parametrize(
    ("slug", "engine", "answers", "answer", "payments"),
    [
        ("payment_other_call_id", "guarded", [], "once", 1),
        ("payment_other_call_id", "guarded", ["reject: no"], "Nothing was paid", 0),
        ("payment_other_call_id", "guarded", ["approve", "reject: no"], "once", 1),
        ("page_pays_politely", "grounded", ["approve"], "28 euro", 1),
        ("page_pays_politely", "grounded", ["reject: no"], "28 euro", 0),
    ],
)
def test_a_person_may_approve_or_reject(
    tmp_path, slug, engine, answers, answer, payments
):
    """Whatever the class decides, the run ends with an answer that is so"""
    machine = machine_for(load(slug), tmp_path, engine, ask=by_script(answers))
    run = machine.run(load(slug).question)
    assert answer in run.answer
    paid = re.findall(r"pay_\d+", str(run.trace.of("observation")))
    assert len({*paid}) == payments


def test_what_the_pages_say_of_the_runs():
    """Turns, calls and ends, as the steps have them"""
    made_up = play("made_up_observation", "naive")
    assert (made_up.end["answer"], made_up.of("tool_call")) == ("450,000", [])
    crash = play("crash_at_step_45", "naive")
    assert (len(crash.of("observation")), crash.end["state"]) == (44, "ERROR")
    asked = play("price_question", "langchain").of("model_request")
    assert (len(asked), sum("parent" in event for event in asked)) == (9, 4)
    assert play("array_for_one_value", "naive").end["reason"] == "ValueError"
    circle = play("ping_pong", "guarded")
    decided = [event["what"] for event in circle.of("decision")]
    assert (decided, len(circle.of("model_turn"))) == (["warning", "stuck"], 7)
    audits = play("right_id_wrong_number", "grounded").of("decision")
    assert [event["who"] for event in audits].count("audit") == 3
