"""Plausible wrong answers to `first_divergence`, each with the test that catches it."""

from workbook.runtime.replay import alike
from workbook.runtime.replay import first_divergence as right


def ignores_at_s_alone(recorded, told):
    for seq, (one, other) in enumerate(zip(recorded, told)):
        if one | {"at_s": 0} != other | {"at_s": 0}:
            return seq
    return None if len(recorded) == len(told) else min(len(recorded), len(told))


def forgets_the_longer_one(recorded, told):
    for seq, (one, other) in enumerate(zip(recorded, told)):
        if not alike(one, other):
            return seq
    return None


def returns_the_last_one(recorded, told):
    pairs = enumerate(zip(recorded, told))
    differing = [seq for seq, (one, other) in pairs if not alike(one, other)]
    return differing[-1] if differing else right(recorded, told)


def takes_0_for_none(recorded, told):
    return right(recorded, told) or None


def takes_an_empty_run_for_a_difference(recorded, told):
    return right(recorded, told) if recorded and told else 0


WRONG = {
    ignores_at_s_alone: "test_times_are_no_difference",
    forgets_the_longer_one: "test_one_that_breaks_off",
    returns_the_last_one: "test_the_first_event_that_differs",
    takes_0_for_none: "test_the_first_event_that_differs",
    takes_an_empty_run_for_a_difference: "test_the_same_run_has_none",
}
