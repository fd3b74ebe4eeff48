"""The gallery as a page: what is expected, what only looks right, what changed."""

import re

import pytest

from workbook.playground import watch
from workbook.playground.engines import GALLERY, gallery
from workbook.playground.gallery_page import Ending, Gallery
from workbook.playground.scenarios import (
    load,
    slugs,
)
from workbook.runtime.turns import parse_turn


@pytest.fixture(scope="module")
def whole():
    return gallery()


def kinds(shown, slug):
    return [endings[slug].kind for endings in shown.endings.values()]


@pytest.mark.parametrize(
    ("slug", "expected"),
    [
        ("price_question_ja", ["right", "right", "right"]),
        ("made_up_question", ["wrong", "wrong", "right"]),
        ("payment_twice", ["wrong", "wrong", "wrong"]),
        ("endless_retry", ["exhausted", "exhausted", "exhausted"]),
        ("cancelled_by_user", ["error", "error", "right"]),
        ("unknown_tool", ["error", "right", "right"]),
    ],
)
def test_what_looks_right_and_is_not_is_told_apart(whole, slug, expected):
    """An answer is right if the scenario says so; DONE alone is not enough."""
    assert kinds(whole, slug) == expected


def test_a_right_answer_is_judged_whole():
    """Words behind an answer, as of a model that goes on, make it another answer."""
    answers = {"144": True, "It is 144.": True, "144\n\nQuestion: 13 * 13?": False}
    for answer, right in answers.items():
        end = {"state": "DONE", "answer": answer}
        assert load("made_up_question").is_right(end) == right


def test_the_page_shows_what_was_expected(whole):
    """Question, right ending, sign and whole answer of each row stand on the page."""
    page = whole._repr_html_()
    assert page.count('<details class="row') == len(slugs())
    assert page.count("▶ Play</button>") == len(slugs()) * len(GALLERY)
    for words in (
        "How many people live in Reykjavik?",
        "About 139,000",
        "⚠",
        "450,000",
        'player("drift", "fsm")',
    ):
        assert words in page
    assert "Action: Calculator\nAction Input: 240*0.15" in page  # not cut
    groups = re.findall(r'class="group">([^<]+)<', page)
    assert set(groups) == {load(slug).group for slug in slugs()}


def test_what_anybody_wrote_is_text(whole):
    """HTML in an answer does not become part of the page."""
    assert "<b>Sale" not in whole._repr_html_()
    assert "&lt;b&gt;Sale" in whole._repr_html_()


def test_rows_that_end_otherwise_are_marked():
    """Beside another column, the rows whose kind of ending differs are marked."""
    both = gallery("naive").beside(gallery("fsm"), "yours")
    assert list(both.endings) == ["naive", "yours"]
    changed = {slug for slug in slugs() if len(set(kinds(both, slug))) == 2}
    assert both.marked == changed
    assert {"made_up_question", "missing_action"} <= changed
    assert not {"price_question", "drift", "endless_retry"} & changed
    assert both._repr_html_().count(' marked"') == len(changed)


def test_of_one_engine_what_is_wrong_is_on_top():
    """With nothing to compare, the rows that end right are folded, if there are many"""
    one = gallery("fsm")
    assert set(one.on_top) == {s for s in slugs() if kinds(one, s) != ["right"]}
    few = gallery("fsm", only=["drift", "price_question"])
    assert few.on_top == ["drift", "price_question"]


def test_a_row_is_played_on_its_engine_with_its_parts(monkeypatch):
    """What the page writes into the widget opens the player, of one's own column too"""
    asked = []
    monkeypatch.setattr(watch, "player", lambda *run, parts: asked.append((run, parts)))
    parts = {"parse_turn": parse_turn}
    shown = gallery("naive", only=["drift"])
    shown = shown.beside(gallery("reading", parts, only=["drift"]), "with a parser")
    box = shown.opener().children[0]
    box.value = "1795636789541 drift with a parser"
    box.value = "1795636789542 drift naive"
    assert asked == [(("drift", "reading"), parts), (("drift", "naive"), None)]


def test_what_changed_is_on_top(whole):
    """What ends otherwise on the last engine than on the first; the rest is folded."""
    changed = {s for s in slugs() if kinds(whole, s)[0] != kinds(whole, s)[-1]}
    assert whole.marked == set(whole.on_top) == changed
    above, _, below = whole._repr_html_().partition("which end as before")
    for slug in slugs():
        place = f"<code>{slug}</code>"
        assert (place in above, place in below) == (
            slug in changed,
            slug not in changed,
        )


def test_a_run_that_gave_no_answer_has_its_own_sign():
    """an end in REFUSED that is not right is told by a sign of its own"""
    end = {"state": "REFUSED", "reason": "unanswerable", "answer": None}
    ending = Ending({**end, "model_turns": 3, "tool_calls": 1}, "", right=False)
    of_one = {"good_sources": load("good_sources")}
    played = {"grounded": ("grounded", None)}
    page = Gallery(of_one, {"grounded": {"good_sources": ending}}, played)
    assert "⊘ <b>REFUSED" in page._repr_html_()
