"""What stays in a prompt that has grown too long."""

import re

import pytest

from tests.doubles import named
from workbook.runtime.context import (
    EARLIER,
    ContextTooSmall,
    PromptPart,
    cut,
    extract,
    size,
)
from workbook.runtime.context import fit_context as ours

LETTER = named("one token a letter", len)  # so that figures can be read


def turn(group, text="", **options):
    return PromptPart(text or f"Action: Look {group}".ljust(20), group=group, **options)


def seen(group, text=""):
    return turn(group, text or f"Observation: {group}".ljust(20), kind="observation")


def conversation(turns, **options):
    """A question and so many turns: 20 letters each, and their observations."""
    question = PromptPart("Question: ?".ljust(20), pinned=True, kind="question")
    steps = [part(n, **options) for n in range(1, turns + 1) for part in (turn, seen)]
    return [question, *steps]


def texts(parts):
    return [part.text for part in parts]


short = named("returns how many parts", lambda parts: f"({len(parts)})")
LONG = named("returns 495 letters", lambda parts: "long " * 99)


def lists(found):
    """Say what the parts are, for a failure."""
    return f"the parts are {texts(found)}"


def test_what_fits_stays(fit_context):
    """parts that already fit come back as they are; exactly the limit fits"""
    parts = conversation(turns=2)
    found = fit_context(parts, 100, count=LETTER)
    assert texts(found) == texts(parts), lists(found)


def test_the_oldest_are_replaced_by_a_summary(fit_context):
    """the oldest turns go, and one part of kind "summary" takes their place"""
    found = fit_context(conversation(turns=9), 310, count=LETTER, summarise=short)
    kinds = [part.kind for part in found]
    assert kinds[:2] == ["question", "summary"], f"the kinds of the parts are {kinds}"
    assert kinds.count("summary") == 1, f"the kinds of the parts are {kinds}"
    assert texts(found)[-1] == seen(9).text, f"the newest is gone: {lists(found)}"


NEARLY_ALL = [*conversation(turns=3), turn(4, "x" * 930), seen(4, "y" * 30)]


@pytest.mark.parametrize(
    ("parts", "limit"),
    [(conversation(turns=9), 100), (conversation(turns=30), 1000), (NEARLY_ALL, 1000)],
    ids=["small", "large", "question and newest turn take 980 of 1000"],
)
def test_the_summary_has_its_limit_too(fit_context, parts, limit):
    """the result takes at most `limit`, and the summary at most a tenth of it"""
    found = fit_context(parts, limit, count=LETTER, summarise=LONG)
    used = size(found, LETTER)
    assert used <= limit, f"it takes {used}, and the limit is {limit}"
    used = size((part for part in found if part.kind == "summary"), LETTER)
    assert used <= limit / 10, f"the summary takes {used}, and the limit is {limit}"


def test_what_is_pinned_never_goes(fit_context):
    """a pinned part stays, word for word, wherever it is"""
    parts = conversation(turns=9)
    wish = PromptPart("No peanuts. " * 9, pinned=True, kind="observation")
    parts.insert(4, wish)
    found = fit_context(parts, 300, count=LETTER, summarise=short)
    for pinned in (parts[0], wish):
        why = f"the part {pinned.text!r} is pinned, and gone: {lists(found)}"
        assert pinned.text in texts(found), why


def test_a_call_stays_with_its_observation(fit_context):
    """parts of one group stay together, or go together"""
    for limit in range(100, 380, 10):
        found = fit_context(conversation(turns=9), limit, count=LETTER, summarise=short)
        groups = [part.group for part in found if part.group]
        torn = {group for group in groups if groups.count(group) != 2}
        assert not torn, f"one part of two is gone, of the groups {torn}"


@pytest.mark.parametrize(("limit", "most"), [(370, 180), (360, 180)])
def test_turns_go_in_a_batch(fit_context, limit, most):
    """turns go until the rest, without the summary, is at most half of the limit"""
    found = fit_context(conversation(turns=9), limit, count=LETTER, summarise=short)
    left = size((part for part in found if part.kind != "summary"), LETTER)
    why = f"beside the summary {left} of {limit} are left, and not {most}"
    assert left == most, why  # a turn is 40


def test_long_observations_are_cut_first(fit_context):
    """first cut each observation to a quarter of the limit; that may be enough"""
    parts = conversation(turns=2)
    parts[2] = seen(1, "Observation: It is open. " + "Nobody knows why. " * 30)
    found = fit_context(parts, 240, count=LETTER)
    assert len(found) == 5, f"all five parts should stay; {lists(found)}"
    others = [found[n].text == parts[n].text for n in (0, 1, 3, 4)]
    assert all(others), f"only the long observation should change; {lists(found)}"
    text = found[2].text
    assert text.startswith("Observation: It is open."), f"it became {text!r}"
    assert "characters were cut" in text, f"it became {text!r}"
    assert len(text) <= 60, f"a quarter of the limit is 60; it takes {len(text)}"


def test_the_newest_turn_goes_last(fit_context):
    """the newest group stays if it and the pinned fit, even if above half"""
    newest = turn(4, "x" * 120)
    parts = [*conversation(turns=3), newest]
    found = fit_context(parts, 160, count=LETTER, summarise=short)
    assert texts(found)[-1:] == [newest.text], lists(found)


def test_more_pinned_than_there_is_room_for(fit_context):
    """raise ContextTooSmall, naming the limit, if the pinned parts alone do not fit"""
    with pytest.raises(ContextTooSmall, match="15"):
        fit_context(conversation(turns=1), 15, count=LETTER)
    parts = conversation(turns=1)
    found = fit_context(parts, 20, count=LETTER)
    assert texts(found)[0] == parts[0].text, f"the pinned part fits; {lists(found)}"


def test_two_parts_with_one_text_are_two():
    """a part without a group is alone: of two that look alike, the older one may go"""
    parts = [PromptPart("a" * 40), PromptPart("a" * 40), PromptPart("b" * 40)]
    found = ours(parts, 100, count=LETTER, summarise=short)
    assert texts(found) == ["(2)", "b" * 40]
    assert texts(ours(parts, 160, count=LETTER)) == texts(parts)


@pytest.mark.parametrize(
    ("text", "most", "kept"),
    [
        ("One. Two. Three. Four. " * 9, 52, "One. Two. Three. Four."),
        ("It costs 3.50 yen in Japan " * 5 + ".", 55, "It costs 3.50 yen in Japan"),
        ("一つ。二つ。三つ。" * 20, 39, "一つ。二つ。三つ。"),
        ("first line\nsecond line\n" + "x" * 99, 60, "first line\nsecond line"),
        ("Seen: so. " + "x. " * 99 + "\n", 38, "Seen: so."),
    ],
)
def test_a_text_is_cut_at_a_sentence(text, most, kept):
    """it ends where a sentence ends, or inside the first where that is too long"""
    found = cut(text, most, LETTER)
    note = re.fullmatch(r" \[… (\d+) characters were cut\]\n?", found[len(kept) :])
    assert found.startswith(kept)
    assert len(text) - len(kept) - int(note[1]) in (0, 1)  # and perhaps a blank
    assert len(found) <= most
    assert found.endswith("\n") is text.endswith("\n")
    assert cut(text, 5, LETTER) == ""


def test_the_summary_says_which_call_gave_what():
    """a line for each group, the latest first, before what was summarised earlier"""
    call = {"id": "c1", "name": "add", "arguments": '{"a": 1}'}
    asks = {"role": "model", "text": "", "calls": [call]}
    parts = [
        turn(1, "Thought: I add.\nAction: Calculator\nAction Input: 1+1"),
        seen(1, "\nObservation: 2\n"),
        turn(2, "I am not sure."),
    ]
    old = PromptPart(extract(parts), kind="summary")
    new = [turn(3, "…", payload=asks), seen(3, "tool: 2\n")]
    assert extract([old, *new]).splitlines() == [
        EARLIER,
        '- add({"a": 1}) → tool: 2',
        "- I am not sure.",
        "- Action: Calculator Action Input: 1+1 → Observation: 2",
    ]
