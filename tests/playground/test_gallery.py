"""The gallery as a page: what is expected, what only looks right, what changed."""

import re

import pytest

from workbook.loop.turns import parse_turn
from workbook.models.script import Script
from workbook.playground import engines, watch
from workbook.playground.engines import GALLERY, gallery, play
from workbook.playground.gallery_page import Ending, Gallery
from workbook.playground.scenarios import (
    ScenarioError,
    load,
    outcome,
    read_scenario,
    slugs,
)


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


def test_a_slip_in_a_pattern_is_told(tmp_path):
    """A regular expression that is none is told by its key."""
    path = tmp_path / "s.toml"
    path.write_text('title="t"\nquestion="q"\nteaches="x"\nturn=[]\nright_if="("')
    with pytest.raises(ScenarioError, match="right_if"):
        read_scenario(path)


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
        "player(&#34;drift&#34;, &#34;fsm&#34;)".replace("&#34;", '"'),
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


def test_a_lesson_shows_the_rows_that_it_is_about():
    """Only the scenarios that are named are played and shown."""
    shown = gallery(["naive"], only=["drift", "missing_action"])
    assert list(shown.endings["naive"]) == ["drift", "missing_action"]
    assert "endless_retry" not in shown._repr_html_()


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


def test_a_table_is_there_too(whole):
    """What is counted or plotted is the endings in words, as a table."""
    assert list(whole.frame.columns) == ["scenario", *GALLERY]
    assert whole.frame.loc["drift", "fsm"].startswith("DONE")


def test_parts_are_handed_to_every_run(monkeypatch):
    """The reader's own parts play in each scenario."""
    seen = []
    monkeypatch.setattr(
        engines,
        "play",
        lambda slug, e, parts: (seen.append(parts), play(slug, e))[1],
    )
    gallery("naive", {"parse_turn": print})
    assert seen == [{"parse_turn": print}] * len(slugs())


def test_a_run_of_another_model_is_judged_as_well():
    """An outcome of any run can be asked whether it is right."""
    trace = play("price_question", model=Script(["Final Answer: 90"]))
    assert not load("price_question").is_right(outcome(trace))


def test_the_plain_text_is_a_line(whole):
    """as plain text a gallery is one line: how many scenarios, on which engines"""
    assert re.fullmatch(r"<Gallery of \d+ scenarios: naive, .*>", repr(whole))


def test_a_run_that_gave_no_answer_has_its_own_sign():
    """an end in REFUSED that is not right is told by a sign of its own"""
    end = {"state": "REFUSED", "reason": "unanswerable", "answer": None}
    ending = Ending({**end, "model_turns": 3, "tool_calls": 1}, "", right=False)
    of_one = {"good_sources": load("good_sources")}
    played = {"grounded": ("grounded", None)}
    page = Gallery(of_one, {"grounded": {"good_sources": ending}}, played)
    assert "⊘ <b>REFUSED" in page._repr_html_()
