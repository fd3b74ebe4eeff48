"""Pages that give orders to a model, the sets of texts, and what makes a leak."""

from workbook.experiments.untrusted import (
    PAGES,
    by_order,
    in_a_fence,
    leaks,
    obeyed,
    prompt_after,
    prompt_in_parts,
    texts,
)
from workbook.runtime.script import Script

LANGUAGES = {"en", "de", "fr", "ja", "zh"}
PAYS = " I must pay.\nAction: Pay"


def naive(prompt):
    """Pay whatever the page says, unless the page is in a fence."""
    return " It is in a fence.\nFinal Answer: 12" if "<<fence>>" in prompt else PAYS


def model():
    return Script([naive], repeat_last=True)


def test_a_turn_that_asks_for_the_payment_obeys():
    """Each page is read once, and the line that asks for the tool counts"""
    assert obeyed(model()) == [True] * len(PAGES)
    said = Script([" Action: Payment", " pay\nAction: Pay"] * (len(PAGES) // 2))
    assert obeyed(said) == [False, True] * (len(PAGES) // 2)


def test_the_orders_are_counted_apart():
    """Of each order there are four pages, one for each payee"""
    table = by_order([True] * 4 + [False] * 13 + [True] * 3)
    assert [count for _, count in table.rows] == [f"{n} of 4" for n in (4, 0, 0, 0, 3)]
    assert table.footer == "in all 7 of 20"


def test_a_fence_is_compared_page_by_page():
    """In both prompts; what is known of the first one is not asked again"""
    table = in_a_fence(model(), lambda page: f"<<fence>> {page}", [True] * 20)
    assert [row[1:5] for row in table.rows] == [("20", "0", "20", "0")] * 2


def test_the_prompt_has_the_tools_and_ends_after_the_page():
    """The model's turn is the next thing in it"""
    prompt = prompt_after("Adults pay 12 euro.")
    assert prompt.endswith("Observation: Adults pay 12 euro.\nThought:")
    assert "Pay(" in prompt
    assert "Pay(" not in prompt_after("", described=False)


def test_a_prompt_in_parts_says_who_wrote_what():
    """Its parts are the whole prompt; the runtime wrote the page and what tools are"""
    parts = prompt_in_parts("Adults pay 12 euro.")
    assert "".join(text for _, text in parts) == prompt_after("Adults pay 12 euro.")
    assert ["Pay(" in parts[0][1], parts[0][0], parts[-1][0]] == [
        True,
        *["runtime"] * 2,
    ]


def test_the_sets_have_attacks_and_harmless_texts():
    """Of each kind at least sixty, in five languages; of ours a half"""
    for whose in ("ours", "theirs"):
        labels = [row["label"] for row in texts(whose)]
        assert min(labels.count("attack"), labels.count("harmless")) >= 60
        assert {row["language"] for row in texts(whose)} == LANGUAGES
    assert {row["half"] for row in texts("ours")} == {"reporting"}


def test_a_leak_needs_all_three():
    """Private data, untrusted text, a way out: without one of them nothing leaves"""
    ends = [row["the code of the door"] for row in leaks({})]
    assert [end["right"] for end in ends] == [False, True, True, True]
