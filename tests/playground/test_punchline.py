"""What a demo is about stays in view, as its scenario's file says."""

import re

import pytest

from tests.test_instructor_guide import CELLS
from workbook.playground.engines import play
from workbook.playground.punchline import MOST, Punchline, pins
from workbook.playground.render import render
from workbook.playground.scenarios import load, slugs

POINTS = {
    ("made_up_observation", "naive"): ["Reykjavik has 450,000 people.", "450,000"],
    ("crash_at_step_45", "naive"): ["44", "closed the connection"],
    ("price_question", "langchain"): ["model: 5", "model: 4"],
    ("array_for_one_value", "fsm"): ["call once per value", "3: "],
    ("same_call_forever", "fsm"): ["same: 12", "EXHAUSTED"],
    ("payment_twice", "fsm"): ["pay_1", "pay_2"],
    ("ping_pong", "guarded"): ["calls: 7", "rule warns", "rule stops", "STUCK"],
    ("payment_other_call_id", "guarded"): ["person: 3", "payment 1", "before: 2"],
    ("right_id_wrong_number", "grounded"): ["3,776 m", "3,767 m"],
    ("page_pays_politely", "grounded"): [
        "glad of the deposit",
        "a person is asked",
        "28 euro",
    ],
}
CODE = "\n".join(source for sources in CELLS.values() for source in sources)
DEMOS = re.findall(r'player\("(\w+)", "(\w+)"', CODE)


def shown(entries, events):
    return [f"{label}: {text}" for label, text in pins(entries, events)]


@pytest.mark.parametrize("slug", slugs())
def test_a_count_of_one_reads_well(slug):
    """A label has its count last, or as a number: nothing happens "1 times\""""
    labels = [entry.label for entry in load(slug).punchline]
    assert not [label for label in labels if re.search(r"\{n\} \w", label)]


def test_each_demo_has_its_point():
    """What is shown to a class is here, on the engine that makes the point"""
    assert POINTS.keys() <= set(DEMOS)
    assert {slug for slug, _ in POINTS} == {slug for slug, _ in DEMOS}


@pytest.mark.parametrize(("slug", "engine"), POINTS)
def test_the_point_of_each_demo_is_in_view_at_its_end(slug, engine):
    """Both payments; the made-up observation, and the answer that rests on it"""
    said = "\n".join(shown(load(slug).punchline, play(slug, engine)))
    assert [point for point in POINTS[slug, engine] if point not in said] == []


@pytest.mark.parametrize(("slug", "engine"), POINTS)
def test_nothing_is_in_view_before_it_has_happened(slug, engine):
    """Event by event there is no less in view, and at the start there is nothing"""
    events, entries = list(play(slug, engine)), load(slug).punchline
    in_view = [len(pins(entries, events[:n])) for n in range(len(events) + 1)]
    assert in_view[:2] == [0, 0]
    assert in_view == sorted(in_view)


def test_each_entry_of_each_scenario_is_met():
    """No entry is for an event that no engine of the demos writes"""
    for slug in [*slugs(), *slugs("trust")]:
        missing = list(load(slug).punchline)
        for engine in ("naive", "guarded", "grounded", "langchain"):
            if missing:
                events = list(play(slug, engine))
                missing = [entry for entry in missing if not pins([entry], events)]
        assert missing == [], slug


def test_a_run_without_a_punchline_and_a_saved_one_have_the_end():
    """How it ended stays in view; before the end there is nothing"""
    assert load("endless_retry").punchline == []
    events = play("endless_retry", "naive").events
    assert render(events, 4, None)["pins"] == ""
    assert "the end" in render(events, len(events), None)["pins"]


def test_of_many_the_first_and_the_last_stay():
    """However often a thing happens, the room is for four"""
    entry = Punchline(label="call {n}", kind="tool_call")
    said = shown([entry], play("same_call_forever", "naive"))
    assert [re.match(r"call \d+", text)[0] for text in said] == [
        *("call 1", "call 10", "call 11", "call 12")
    ]
    assert len(said) == MOST


def test_the_last_one_keeps_its_number():
    """Where only the last stays, its number is how many there were"""
    entry = Punchline(label="{n} calls", kind="tool_call", says="", latest=True)
    assert shown([entry], play("same_call_forever", "naive")) == ["12 calls: "]
