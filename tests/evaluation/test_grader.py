"""What is known about graders: where they err, on answers of theirs and of others."""

from workbook.evaluation.grader import (
    blind_answers,
    grade,
    graded_answers,
    grader_errors,
    held_out_answers,
    naive_grades,
)
from workbook.evaluation.statistics import wilson_interval
from workbook.evaluation.tasks import Gold, tasks

OWN, OTHERS = graded_answers(), held_out_answers()


def test_a_naive_grader_lies_both_ways():
    """It calls wrong answers right, and right ones wrong."""
    for errors in grader_errors(naive_grades, OWN).values():
        assert errors["accepted"]
        assert errors["rejected"]
    year = Gold("all", ("2004",))
    said = {name: grader("In 12004.", year) for name, grader in naive_grades.items()}
    assert said == {"substring": True, "any keyword": True, "silence is safe": True}
    assert not any(grader("In 1999.", year) for grader in naive_grades.values())


def test_a_grader_is_better_on_its_own_examples_than_on_others():
    """Its own show no error; of the held-out ones it gets most, and not all."""
    assert not {each[:2] for each in OWN} & {each[:2] for each in OTHERS}
    assert grader_errors({"grade": grade}, OWN)["grade"] == {
        "accepted": [],
        "rejected": [],
    }
    errors = grader_errors({**naive_grades, "grade": grade}, OTHERS)
    wrong = {name: sum(map(len, both.values())) for name, both in errors.items()}
    assert 0 < wrong["grade"] < min(wrong[name] for name in naive_grades)
    assert wilson_interval(wrong["grade"], len(OTHERS))[1] < 0.5


def test_answers_in_other_words_are_beyond_rules():
    """Of blind answers the strict grader accepts the fewest wrong, and rejects most."""
    blind = blind_answers()
    assert sum(each.right for each in blind) == 60
    assert {each.task for each in blind} == {task.slug for task in tasks()}
    assert not {each[:2] for each in blind} & {each[:2] for each in OWN + OTHERS}
    errors = grader_errors({**naive_grades, "grade": grade}, blind)
    counts = {
        name: {k: len(v) for k, v in both.items()} for name, both in errors.items()
    }
    assert counts["grade"] == {"accepted": 7, "rejected": 37}
    assert min(each["accepted"] for each in counts.values()) == 7
