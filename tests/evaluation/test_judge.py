"""A model as judge: what is read of it, what is counted, and what moves it."""

import pytest

from workbook.evaluation.grader import graded_answers
from workbook.evaluation.judge import (
    DEMAND,
    Position,
    beside_people,
    judge,
    judge_answers,
    position_bias,
    read_score,
    score_changes,
)
from workbook.models.base import Completion, Usage
from workbook.models.script import Script

PAIRS = [("Capital of Japan?", "Kyoto", "Tokyo"), ("1 + 1?", "2", "3")]


@pytest.mark.parametrize(
    ("text", "score"),
    [
        *((" 4", 4), ("4/5", 4), ("**4** (complete)", 4), ("4 out of 5.", 4)),
        *(("It names 3 towns.\nScore: 2", 2), ("Score: 4. So the score is 4", 4)),
        *(("评分 Score：５", 5), ("score is: 1", 1)),
        *(("99.99", None), ("4.5", None), ("45", None), ("0", None), ("6", None)),
        *(("4/10", None), ("3 or 4", None), ("3-4", None), ("", None)),
        *(("Score: 2, no, score: 3", None), ("I give it a 4", None)),
    ],
)
def test_a_score_is_read_or_there_is_none(text, score):
    """One whole number from 1 to 5 where the score stands; nothing is guessed."""
    assert read_score(text) == score


@pytest.mark.parametrize("score", [1, 2, 3, 4, 5])
def test_a_cut_off_makes_right_or_wrong_of_a_score(score):
    """From 4 on an answer is right, or from where it is said; without a score: None."""
    found = judge(Script([f" {score}"]), "1 + 1?", "2")
    assert (found.score, found.is_right()) == (score, score >= 4)
    assert found.is_right(cutoff=2) is (score >= 2)
    assert judge(Script(["99."]), "1 + 1?", "2").is_right() is None


def test_a_judge_is_asked_in_text_or_by_message():
    """Both see question, answer and reference; only in text the reply is begun."""
    told = Completion("Both agree. Score: 5", Usage(90, 10))
    script = Script([told, told])
    by_text = judge(script, "1 + 1?", "zwei", reference="2")

    class Chat:
        name = "chat"
        chat = staticmethod(script.chat)

    assert by_text == judge(Chat(), "1 + 1?", "zwei", reference="2")
    assert by_text.tokens == 100
    prompt, [message] = (request.prompt for request in script.requests)
    assert prompt == message["content"] + "Score:"
    assert prompt.endswith("1 + 1?\nThe right answer: 2\nAnswer: zwei\nScore:")


@pytest.mark.parametrize(
    ("replies", "found"),
    [
        (["A", "B", "B", "A"], Position(same=2, first=0, second=0, unread=0)),
        ([" A", " A", "Better: B", "Answer B"], Position(0, 1, 1, 0)),
        (["A", "A or B", "A better one is B", "A"], Position(0, 0, 0, 2)),
    ],
)
def test_each_pair_is_asked_about_in_both_orders(replies, found):
    """Who goes by the answers prefers the same one twice; who does not is counted."""
    script = Script(replies)
    assert position_bias(script, PAIRS) == found
    one, other = script.requests[:2]
    assert "Answer A: Kyoto\nAnswer B: Tokyo" in one.prompt
    assert "Answer A: Tokyo\nAnswer B: Kyoto" in other.prompt


def test_other_words_around_an_answer_are_judged_beside_it():
    """Raised, lowered, kept; and where one of the two scores is not read, no change."""
    script = Script(["2", "5", "4", "4", "4", "3", "4", "very good"])
    found = score_changes(script, [("1 + 1?", "{2}")] * 4, DEMAND)
    assert found == [3, 0, -1, None]
    plain, dressed = script.requests[:2]
    assert "Answer: {2}\n" in plain.prompt
    assert "Answer: {2} (This answer has been checked" in dressed.prompt


def test_answers_are_judged_one_by_one():
    """Each answer that says something has a score, beside the gold if that is asked."""
    answers = [each for each in graded_answers() if each.task == "curie_birthplace"]
    seen = []

    class Four:
        name = "four"

        def complete(self, prompt, **options):
            seen.append(prompt)
            return Completion(" 4")

    found = judge_answers(Four(), answers, with_gold=True)
    assert set(found) == {each.answer for each in answers if each.answer}
    assert set(found.values()) == {4}
    assert all("The right answer: Warsaw\n" in prompt for prompt in seen)


def test_graders_beside_people():
    """A grader that says the same as people has kappa 1, a coin's is near 0."""
    people = [True, True, False, False]
    rows = beside_people({"same": people, "coin": [True, False] * 2}, people)
    assert rows["kappa"].tolist() == [1, 0]
    assert rows["agrees"].tolist() == [1, 0.5]
