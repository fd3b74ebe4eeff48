"""Plausible wrong answers to `vote`, each with the test that must catch it."""

from collections import Counter, defaultdict
from decimal import Decimal

from workbook.lessons.self_consistency import Tally, meaning


def counted(answers, *, read=meaning, join=1, ahead=True, failed=True, silent=True, tie=int.__eq__,
            order=Counter.most_common, named=dict.setdefault):  # fmt: skip
    """Vote as one should; each argument makes one mistake."""
    given = [(a, m) for a in answers if isinstance(a, str) and (m := read(a))]
    broken = sum(isinstance(a, BaseException) for a in answers)
    units, counts, first = defaultdict(set), Counter(), {}
    for _, (what, unit) in given if ahead else ():
        units[what] |= {unit} - {""}
    for answer, (what, unit) in given:
        units[what] |= {unit} - {""}
        if not unit and 1 <= len(units[what]) <= join:
            unit = min(units[what])
        counts[what, unit] += 1
        named(first, (what, unit), answer)
    votes = tuple((first[m], count) for m, count in order(counts))
    tied = len(votes) > 1 and bool(tie(votes[0][1], votes[1][1]))
    rest = len(answers) - len(given) - broken if silent else 0
    return Tally(votes, rest, broken if failed else 0, tied)


def counts_spellings(answers):
    return counted(answers, read=lambda text: (text, "") if text.strip("… ") else None)


def reads_ascii_alone(text):
    found = meaning(text)
    return found if text.isascii() else found and (text, "")


def drops_the_sign(text):
    found = meaning(text)
    is_number = found and isinstance(found[0], Decimal)
    return (abs(found[0]), found[1]) if is_number else found


def drops_the_unit(text):
    return meaning(text) and (meaning(text)[0], "")


def looks_for_the_most_votes_of_none(answers):
    tally = counted(answers)
    numbers = [count for _, count in tally.votes]
    return tally._replace(tied=numbers.count(max(numbers)) > 1)


def votes(**mistake):
    """Return a function that makes one of these mistakes."""

    def vote(answers):
        return counted(answers, **mistake)

    return vote


def says_a_tie_of_any_two(answers):
    tally = counted(answers)
    numbers = [count for _, count in tally.votes]
    return tally._replace(tied=len({*numbers}) < len(numbers))


def drops_single_letters(text):
    return (
        None
        if len(text.strip(". ")) < 2 and text.strip(". ").isalpha()
        else meaning(text)
    )


def by_the_alphabet(counts):
    return sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))


WRONG = {
    counts_spellings: "test_answers_with_one_meaning_are_one",
    votes(read=reads_ascii_alone): "test_answers_with_one_meaning_are_one",
    votes(read=drops_the_sign): "test_answers_with_other_meanings_are_not",
    votes(ahead=False): "test_a_number_joins_the_only_unit",
    looks_for_the_most_votes_of_none: "test_a_tie_is_said",
    votes(read=drops_single_letters): "test_answers_with_one_meaning_are_one",
    votes(order=by_the_alphabet): "test_equal_votes_stand_as_given",
    votes(read=drops_the_unit): "test_answers_with_other_meanings_are_not",
    votes(join=0): "test_a_number_joins_the_only_unit",
    votes(join=9): "test_a_number_beside_two_units_stands_alone",
    votes(silent=False): "test_without_an_answer_it_abstains",
    votes(failed=False): "test_what_was_raised_has_failed",
    votes(order=Counter.items): "test_each_answer_with_its_votes_most_first",
    votes(named=dict.__setitem__): "test_each_answer_with_its_votes_most_first",
    votes(tie=int.__lt__): "test_a_tie_is_said",
    says_a_tie_of_any_two: "test_a_tie_is_said",
}
