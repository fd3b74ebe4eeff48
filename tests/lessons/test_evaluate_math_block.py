"""What llm-math makes of the model's reply."""

import inspect
import math

import pytest

PI_TWICE = str(2 * math.pi)
AS_SENT = '```text\n100*0.2\n```\n...numexpr.evaluate("100*0.2")...\n'


@pytest.mark.parametrize(
    ("block", "answer"),
    [
        (AS_SENT, "20.0"),
        ("```text\n100-20\n```", "80"),
        ("```text\n80*0.1\n```", "8.0"),
        ("```text\n2**10\n```", "1024"),
    ],
)
def test_the_block_is_evaluated(evaluate_math_block, block, answer):
    """return "Answer: " and the value of the text block, as numexpr writes it"""
    assert evaluate_math_block(block) == f"Answer: {answer}"


@pytest.mark.parametrize(("name", "value"), [("2*pi", PI_TWICE), ("e", str(math.e))])
def test_pi_and_e_are_the_only_names(evaluate_math_block, monkeypatch, name, value):
    """pi and e may be used; any other name, even a variable, raises ValueError"""
    assert evaluate_math_block(f"```text\n{name}\n```") == f"Answer: {value}"
    globals_of = inspect.unwrap(evaluate_math_block).__globals__
    monkeypatch.setitem(globals_of, "a_variable", 41)
    for other in ("a_variable + 1", "tau"):
        with pytest.raises(ValueError):  # noqa: PT011 - in any words
            evaluate_math_block(f"```text\n{other}\n```")


def test_spaces_around_the_reply_do_not_matter(evaluate_math_block):
    """newlines may come before the block; inside it they are optional"""
    assert evaluate_math_block("\n\n```text 0.5+1 ```\n") == "Answer: 1.5"


def test_a_ready_answer_is_passed_on(evaluate_math_block):
    """a reply that begins with "Answer:" is passed on, without newlines around it"""
    assert evaluate_math_block("Answer: 8 (Answer: 9)\n") == "Answer: 8 (Answer: 9)"


def test_the_last_answer_counts(evaluate_math_block):
    """after other words, return "Answer: " and the text after the last one, stripped"""
    assert evaluate_math_block("No, Answer: 8. Yes, Answer: 9") == "Answer: 9"


def test_the_block_wins_over_an_answer(evaluate_math_block):
    """a block at the start is evaluated, whatever "Answer:" follows it"""
    assert evaluate_math_block("```text\n0.5+1\n```\nAnswer: 3") == "Answer: 1.5"


@pytest.mark.parametrize("reply", ["", "80+8 is 88", "Sure! ```text\n1+1\n```"])
def test_anything_else_is_refused(evaluate_math_block, reply):
    """a reply with neither a block at its start nor an answer raises ValueError"""
    with pytest.raises(ValueError):  # noqa: PT011 - in any words
        evaluate_math_block(reply)


@pytest.mark.parametrize(
    "expression", ["20% of 100", "", "open('x')", "1/0/", "(1).__class__", "[1, 2]"]
)
def test_what_numexpr_refuses_is_a_value_error(evaluate_math_block, expression):
    """an expression that numexpr cannot evaluate raises ValueError"""
    with pytest.raises(ValueError):  # noqa: PT011 - in any words
        evaluate_math_block(f"```text\n{expression}\n```")


@pytest.mark.parametrize("expression", ["2**5000 % 7", "10**400 - 10**400"])
def test_what_no_float_can_hold_is_refused(evaluate_math_block, expression):
    """a number too large for a float raises ValueError, also in the middle of a sum"""
    with pytest.raises(ValueError):  # noqa: PT011 - in any words
        evaluate_math_block(f"```text\n{expression}\n```")
