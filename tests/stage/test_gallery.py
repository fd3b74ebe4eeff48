"""The gallery as a page: what is expected, what only looks right, what changed."""

import re
import sys
from types import SimpleNamespace

import pytest

from workbook.checks.parts import your_parts
from workbook.runtime.turns import parse_turn
from workbook.stage.gallery_page import gallery
from workbook.stage.scenarios import load, slugs

ENGINES = ["naive", "langchain", "fsm"]
FEW = ["made_up_question", "drift", "price_question", "cancelled_by_user"]


@pytest.fixture(scope="module")
def whole():
    return gallery(ENGINES)


def test_an_answer_is_right_if_the_scenario_says_so(whole):
    """DONE alone is not enough, and a run that has no answer can be right"""
    columns = whole.endings.values()
    for slug, expected in {
        "made_up_question": ["wrong", "wrong", "right"],
        "endless_retry": ["exhausted", "exhausted", "exhausted"],
        "cancelled_by_user": ["error", "error", "right"],
    }.items():
        assert [column[slug]["kind"] for column in columns] == expected


def test_the_page_shows_what_was_expected(whole):
    """Question, right ending, chip and whole answer of each row, with HTML as text"""
    page = whole._repr_html_()
    assert page.count('<details class="row') == len(slugs())
    assert page.count("▶ Play</button>") == len(slugs()) * len(ENGINES)
    for words in ("How many people live in Reykjavik?", "About 139,000", "✗ wrong"):
        assert words in page
    assert "Action: Calculator\nAction Input: 240*0.15" in page  # not cut
    assert "&lt;b&gt;Sale" in page
    assert "<b>Sale" not in page
    groups = re.findall(r'class="group">([^<]+)<', page)
    assert set(groups) == {load(slug).group for slug in slugs()}


def test_what_changed_is_on_top(whole):
    """What ends otherwise on the last engine than on the first; the rest is folded"""
    first, _, last = whole.endings.values()
    changed = {slug for slug in first if first[slug]["kind"] != last[slug]["kind"]}
    assert set(whole.on_top) == changed
    above, _, below = whole._repr_html_().partition("which end as before")
    for slug in slugs():
        assert f"<code>{slug}</code>" in (above if slug in changed else below)


def test_of_one_engine_what_is_wrong_is_on_top():
    """With nothing to compare, the rows that end right are folded, if there are many"""
    one = gallery(["fsm"])
    right = [end["right"] for end in one.endings["fsm"].values()]
    assert len(one.on_top) == right.count(False)
    assert gallery(["fsm"], only=FEW).on_top == FEW


def test_a_column_of_your_parts_is_marked_where_it_differs(capsys, own_data):
    """It is one more column; whose parts were used is printed once"""
    parts = your_parts("parse_turn")
    both = gallery(["naive"], only=FEW)
    both = both.beside(gallery(["fsm"], parts, only=FEW), "yours")
    assert list(both.endings) == ["naive", "yours"]
    assert both.marked == {"made_up_question", "cancelled_by_user"}
    assert both._repr_html_().count(' marked"') == 2
    assert capsys.readouterr().out == "parts in this run · ours: parse_turn\n"


def test_a_row_is_played_on_its_engine_with_its_parts(monkeypatch):
    """What the page writes into the widget opens the player, with your parts"""
    asked = []
    played = SimpleNamespace(player=lambda *run, parts: asked.append((run, parts)))
    monkeypatch.setitem(sys.modules, "workbook.stage.trace_player", played)
    parts = {"parse_turn": parse_turn}
    shown = gallery(["naive"], only=["drift"])
    shown = shown.beside(gallery(["fsm"], parts, only=["drift"]), "with a parser")
    box = shown.opener().children[0]
    box.value = "1795636789541 drift with a parser"
    box.value = "1795636789542 drift naive"
    assert asked == [(("drift", "fsm"), parts), (("drift", "naive"), {})]
