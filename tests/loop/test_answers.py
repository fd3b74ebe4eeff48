"""When two answers are the same, and what to do when one method gives up."""

import pytest

from workbook.loop.answers import (
    Order,
    exact_match,
    majority,
    matches_any,
    normalize_answer,
    run_back_off,
    same_number,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  New \t York\nCity ", "new york city"),
        ("$8_8^ `|~<=>%&#@*dollars+ (Saint-Denis).", "88 dollars saintdenis"),
        ("a cup of AN apple, The Theodor, Anna", "cup of apple theodor anna"),
        ("１２３ ＡＢＣ大学\u3000タワー", "123 abc大学 タワー"),
        ("「京都」。《西游记》（昔の）都！", "京都西游记昔の都"),
    ],
)
def test_case_space_punctuation_articles_and_width_do_not_count(text, expected):
    """small letters, one space between words, no punctuation in any script"""
    assert normalize_answer(text) == expected
    assert exact_match(text, f"The {expected}.")
    assert not exact_match(text, f"{expected} tower")


REACT_FIRST = Order.REACT_TO_COT_SC
COT_FIRST = Order.COT_SC_TO_REACT
# majority


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([], (None, 0)),
        ([None, "", "."], (None, 0)),
        (["88"], ("88", 1)),
        (["90", "88", "88."], ("88", 2)),
        (["Nara", "The Kyoto", "kyoto", "nara"], ("Nara", 2)),
    ],
    ids=["none", "no votes", "one", "normalised", "tie: the first"],
)
def test_the_most_frequent_answer_wins(votes, expected):
    """Votes are counted normalised; a tie goes to the answer that was given first."""
    assert majority(votes) == expected


# back_off


def test_react_first_keeps_the_answer_of_react(back_off):
    """ReAct → CoT-SC: when ReAct has an answer, it is taken, whatever the votes"""
    assert back_off(REACT_FIRST, "88", ["90", "90", "90"]) == "88"


def test_react_first_backs_off_without_an_answer(back_off):
    """ReAct → CoT-SC: when ReAct has none, the most frequent vote is taken"""
    assert back_off(REACT_FIRST, None, ["90", "88", "90", None, None]) == "90"


@pytest.mark.parametrize("votes", [["90", "90", "88"], ["90", "90", "91", "92"]])
def test_half_is_enough(back_off, votes):
    """CoT-SC → ReAct: an answer that at least half of the samples give is taken"""
    assert back_off(COT_FIRST, "88", votes) == "90"


def test_cot_first_backs_off_when_the_votes_are_scattered(back_off):
    """CoT-SC → ReAct: when the top answer has fewer than half, ReAct's is taken"""
    assert back_off(COT_FIRST, "88", ["90", "90", "91", "92", "93"]) == "88"


def test_a_sample_without_an_answer_counts_as_a_sample(back_off):
    """half means half of all samples: one without an answer (None) counts, too"""
    assert back_off(COT_FIRST, "88", ["90", "90", None, None, None]) == "88"


@pytest.mark.parametrize("votes", [["The Nile", "nile.", "Rhine"], ["NILE", "Nile"]])
def test_votes_are_compared_normalised(back_off, votes):
    """two spellings of one answer are one answer; its first spelling is returned"""
    assert back_off(COT_FIRST, "Rhine", votes) == votes[0]


@pytest.mark.parametrize("order", [REACT_FIRST, COT_FIRST])
@pytest.mark.parametrize("votes", [[], [None, None]])
def test_without_any_vote_react_is_all_there_is(back_off, order, votes):
    """without a single vote, the answer is ReAct's"""
    assert back_off(order, "88", votes) == "88"


@pytest.mark.parametrize(("order", "votes"), [(REACT_FIRST, []), (COT_FIRST, ["1", "2", "3"])])  # fmt: skip  # noqa: E501
def test_when_both_give_up_there_is_no_answer(back_off, order, votes):
    """when both methods pass the question on, the result is None"""
    assert back_off(order, None, votes) is None


# the runners


def test_another_back_off_may_decide():
    """a rule of one's own is asked with the order, ReAct's answer and the votes"""

    def back_off(*given):
        return str(given)

    decided = run_back_off(REACT_FIRST, lambda: None, lambda: ["1"], back_off)
    assert decided == str((REACT_FIRST, None, ["1"]))


def not_asked():
    raise AssertionError("the second method was asked without need")


@pytest.mark.parametrize(
    ("order", "react", "cot_sc"),
    [
        (REACT_FIRST, lambda: "88", not_asked),
        (COT_FIRST, not_asked, lambda: ["88", "88", "90"]),
    ],
)
def test_the_second_method_is_asked_only_in_need(order, react, cot_sc):
    """A first method that is sure of its answer costs nothing more."""
    assert run_back_off(order, react, cot_sc) == "88"


@pytest.mark.parametrize(
    ("order", "react", "cot_sc"),
    [
        (REACT_FIRST, lambda: None, lambda: ["88", "90", "88"]),
        (COT_FIRST, lambda: "88", lambda: ["90", "91", "92"]),
        (COT_FIRST, lambda: "88", lambda: []),
    ],
)
def test_the_second_method_answers_when_the_first_gives_way(order, react, cot_sc):
    """A first method that is at a loss hands over to the other one."""
    assert run_back_off(order, react, cot_sc) == "88"


@pytest.mark.parametrize(
    ("answer", "gold", "same"),
    [
        ("1,692", "1692", True),
        (" $1692.00", "1692", True),
        ("There are 1692.", "1692", True),
        ("１，６９２", "1692", True),
        ("a share of .5", "0.5", True),
        ("16.92", "1692", False),
        ("-1692", "1692", False),
        ("47 * 36 = 1692", "1692", False),
        ("many", "1692", False),
        ("1,69,2", "1692", False),
        ("1" * 5000, "1692", False),
    ],
)
def test_an_answer_is_right_if_it_names_that_one_number(answer, gold, same):
    """Commas, currency and words are no fault; a point, a sign, a second number are."""
    assert same_number(answer, gold) == same


def test_a_gold_answer_that_is_no_number_is_refused():
    """A typing error in the data is told and does not count as a wrong answer."""
    with pytest.raises(ValueError, match="one number"):
        same_number("4", "four")


@pytest.mark.parametrize("answer", [None, ""])
def test_no_answer_is_never_right(answer):
    """A run that gave up is wrong, whatever would have been right."""
    assert not matches_any(answer, [""])


def test_any_accepted_answer_will_do():
    """One accepted answer is enough."""
    assert matches_any("cervantes", ["Miguel de Cervantes", "Cervantes"])
    assert not matches_any("Lope de Vega", ["Miguel de Cervantes", "Cervantes"])
