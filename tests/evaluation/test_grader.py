"""What is known about graders: where they err, on answers of theirs and of others."""

from workbook.evaluation.grader import (
    grade,
    graded_answers,
    grader_errors,
    held_out_answers,
    naive_grades,
)
from workbook.evaluation.statistics import wilson_interval


def test_errors_are_of_two_kinds():
    """Who accepts everything rejects no right answer, and the other way round."""
    graders = {"yes": lambda *each: True, "no": lambda *each: False}
    answers = graded_answers()
    right = sum(each.right for each in answers)
    found = {
        name: {kind: len(each) for kind, each in both.items()}
        for name, both in grader_errors(graders, answers).items()
    }
    assert found["yes"] == {"accepted": len(answers) - right, "rejected": 0}
    assert found["no"] == {"accepted": 0, "rejected": right}


def test_a_grader_is_better_on_its_own_examples_than_on_others():
    """Its own show no error; of the held-out ones it gets most, and not all."""
    answers = held_out_answers()
    known = {(each.task, each.answer) for each in graded_answers()}
    assert not known & {(each.task, each.answer) for each in answers}
    own = grader_errors({"grade": grade}, graded_answers())["grade"]
    assert own == {"accepted": [], "rejected": []}
    errors = grader_errors({**naive_grades, "grade": grade}, answers)
    wrong = {name: sum(map(len, both.values())) for name, both in errors.items()}
    assert 0 < wrong["grade"] < min(wrong[name] for name in naive_grades)
    assert wilson_interval(wrong["grade"], len(answers))[1] < 0.5
