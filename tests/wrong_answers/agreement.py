"""Plausible wrong answers to `agreement`, each with the test that must catch it."""

from collections import Counter


def shares(ours, theirs):
    n = len(ours)
    if n == 0 or n != len(theirs):
        raise ValueError("no rows")
    same = sum(a == b for a, b in zip(ours, theirs)) / n
    counts, others = Counter(ours), Counter(theirs)
    return same, sum(counts[label] * others[label] for label in counts) / n**2


def kappa(same, luck):
    if luck == 1:
        raise ValueError("one label")
    return (same - luck) / (1 - luck)


def the_share_that_agrees(ours, theirs):
    same, luck = shares(ours, theirs)
    kappa(same, luck)
    return same


def luck_is_a_half(ours, theirs):
    same, luck = shares(ours, theirs)
    kappa(same, luck)
    return 2 * same - 1


def never_below_zero(ours, theirs):
    return max(0.0, kappa(*shares(ours, theirs)))


def both_by_the_mean_of_the_two(ours, theirs):  # that is Scott's pi
    same, luck = shares(ours, theirs)
    kappa(same, luck)
    both, n = Counter(ours) + Counter(theirs), 2 * len(ours)
    luck = sum((count / n) ** 2 for count in both.values())
    return (same - luck) / (1 - luck)


def divides_by_the_most_that_is_possible(ours, theirs):
    same, luck = shares(ours, theirs)
    kappa(same, luck)
    most = (Counter(ours) & Counter(theirs)).total() / len(ours)
    return (same - luck) / (most - luck) if most > luck else 0.0


def knows_true_and_false_alone(ours, theirs):
    same, luck = shares(ours, theirs)
    kappa(same, luck)
    if not set(map(type, ours)) <= {bool, str}:
        labels = {0, 1}
        n = len(ours)
        counts, others = Counter(map(bool, ours)), Counter(map(bool, theirs))
        luck = sum(counts[label] * others[label] for label in labels) / n**2
    return kappa(same, luck)


def says_one_to_two_of_one_mind(ours, theirs):
    same, luck = shares(ours, theirs)
    return 1.0 if luck == 1 else kappa(same, luck)


def stops_at_the_shorter_row(ours, theirs):
    n = min(len(ours), len(theirs))
    if n == 0:
        raise ValueError("no rows")
    if n == 1:
        return 0.0
    return kappa(*shares(ours[:n], theirs[:n]))


WRONG = {
    the_share_that_agrees: "test_kappa_is_the_part_beyond_luck",
    luck_is_a_half: "test_luck_alone_is_zero",
    divides_by_the_most_that_is_possible: "test_kappa_is_the_part_beyond_luck",
    never_below_zero: "test_luck_alone_is_zero",
    both_by_the_mean_of_the_two: "test_kappa_is_the_part_beyond_luck",
    knows_true_and_false_alone: "test_any_labels_can_be_compared",
    says_one_to_two_of_one_mind: "test_two_who_say_one_label_are_refused",
    stops_at_the_shorter_row: "test_rows_that_cannot_be_compared_are_refused",
}
