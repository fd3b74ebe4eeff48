"""Plausible wrong answers to `first_divergence`, each with the test that catches it."""

from workbook.record.divergence import alike


def compares_times_too(recorded, told):
    for seq, (one, other) in enumerate(zip(recorded, told, strict=False)):
        if one != other:
            return seq
    return None if len(recorded) == len(told) else min(len(recorded), len(told))


def forgets_the_longer_one(recorded, told):
    for seq, (one, other) in enumerate(zip(recorded, told, strict=False)):
        if not alike(one, other):
            return seq
    return None


def returns_the_last_one(recorded, told):
    found = None
    for seq, (one, other) in enumerate(zip(recorded, told, strict=False)):
        if not alike(one, other):
            found = seq
    if found is None and len(recorded) != len(told):
        found = min(len(recorded), len(told))
    return found


def counts_from_the_end_of_the_longer(recorded, told):
    for seq, (one, other) in enumerate(zip(recorded, told, strict=False)):
        if not alike(one, other):
            return seq
    return None if len(recorded) == len(told) else max(len(recorded), len(told)) - 1


WRONG = {
    compares_times_too: "test_times_are_no_difference",
    forgets_the_longer_one: "test_one_that_breaks_off",
    returns_the_last_one: "test_the_first_event_that_differs",
    counts_from_the_end_of_the_longer: "test_one_that_breaks_off",
}
