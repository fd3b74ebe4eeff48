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
from workbook.runtime.script import Script

PAIRS = [("Capital of Japan?", "Kyoto", "Tokyo"), ("1 + 1?", "2", "3")]
SCORES = {
    1: ["score is: 1"],
    2: ["It names 3 towns.\nScore: 2"],
    4: [" 4", "4/5", "**4** (complete)", "4 out of 5.", "Score: 4. So the score is 4"],
    5: ["评分 Score：５"],
    None: [
        *("99.99", "4.5", "45", "0", "6", "4/10", "3 or 4", "3-4", ""),
        *("Score: 2, no, score: 3", "I give it a 4"),
    ],
}


class Watched(Script):
    """A script that keeps the prompts of its requests."""

    def respond(self, request):
        self.prompts = [*getattr(self, "prompts", ()), request.text]
        return super().respond(request)


@pytest.mark.parametrize("score", SCORES)
def test_a_score_is_read_or_there_is_none(score):
    """One whole number from 1 to 5 where the score stands; nothing is guessed."""
    assert {text: read_score(text) for text in SCORES[score]} == dict.fromkeys(
        SCORES[score], score
    )


def test_a_judge_is_shown_question_reference_and_answer():
    """The prompt ends with the beginning of the reply, whose score is read."""
    script = Watched(["Both agree. Score: 5"])
    found = judge(script, "1 + 1?", "zwei", reference="2")
    assert found == (5, "Both agree. Score: 5")
    (prompt,) = script.prompts
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
    script = Watched(replies)
    assert position_bias(script, PAIRS) == found
    one, other = script.prompts[:2]
    assert "Answer A: Kyoto\nAnswer B: Tokyo" in one
    assert "Answer A: Tokyo\nAnswer B: Kyoto" in other


def test_other_words_around_an_answer_are_judged_beside_it():
    """Raised, lowered, kept; and where one of the two scores is not read, no change."""
    script = Watched(["2", "5", "4", "4", "4", "3", "4", "very good"])
    found = score_changes(script, [("1 + 1?", "{2}")] * 4, DEMAND)
    assert found == [3, 0, -1, None]
    plain, dressed = script.prompts[:2]
    assert "Answer: {2}\n" in plain
    assert "Answer: {2} (This answer has been checked" in dressed


@pytest.mark.parametrize(
    ("task", "gold"), [("curie_birthplace", "Warsaw"), ("orders_in_question", None)]
)
def test_answers_are_judged_one_by_one(task, gold):
    """Each answer that says something has a score, beside the gold if that is asked."""
    answers = [each for each in graded_answers() if each.task == task]
    model = Watched([" 4"], repeat_last=True)
    found = judge_answers(model, answers, with_gold=True)
    assert found == {each.answer: 4 for each in answers if each.answer}
    shown = f"The right answer: {gold or 'a refusal'}\n"
    assert all(shown in prompt for prompt in model.prompts)
    judge_answers(model, answers[:1])
    assert "The right answer" not in model.prompts[-1]


def test_graders_beside_people():
    """A grader that says the same as people has kappa 1, a coin's is near 0."""
    people = [True, True, False, False]
    rows = beside_people({"same": people, "coin": [True, False] * 2}, people)
    assert rows["kappa"].tolist() == [1, 0]
    assert rows["agrees"].tolist() == [1, 0.5]
