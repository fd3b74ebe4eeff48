"""Plausible wrong answers to `same_search`, each with the test that must catch it."""

import json
import unicodedata
from collections import Counter

from workbook.lessons.react_prompting import normalize_answer
from workbook.runtime.stuck import TOKEN


def words(value):
    narrow = unicodedata.normalize("NFKC", value)
    return TOKEN.findall(narrow.casefold())


def plain(value, of_text=lambda text: tuple(sorted(words(text)))):
    return of_text(value) if isinstance(value, str) else ("", json.dumps(value, sort_keys=True))


def compare(one, other, shape=plain):
    """Compare as one should, with values in a shape of one's own."""
    if any(shape(one[name]) != shape(other[name]) for name in one.keys() & other.keys()):
        return False
    return Counter(map(shape, one.values())) == Counter(map(shape, other.values()))


def forgets_the_width(one, other):
    as_wide = lambda text: tuple(sorted(TOKEN.findall(text.casefold())))
    return compare(one, other, lambda value: plain(value, as_wide))


def keeps_the_order_of_words(one, other):
    return compare(one, other, lambda value: plain(value, lambda text: tuple(words(text))))


def takes_the_words_for_a_set(one, other):
    return compare(one, other, lambda v: plain(v, lambda text: frozenset(words(text))))


def drops_punctuation(one, other):
    letters = lambda text: tuple(sorted(words(normalize_answer(text))))
    return compare(one, other, lambda value: plain(value, letters))


def splits_at_spaces_alone(one, other):
    split = lambda text: tuple(sorted(unicodedata.normalize("NFKC", text).casefold().split()))
    return compare(one, other, lambda value: plain(value, split))


def looks_at_no_name(one, other):
    return Counter(map(plain, one.values())) == Counter(map(plain, other.values()))


def insists_on_the_names(one, other):
    return {n: plain(v) for n, v in one.items()} == {n: plain(v) for n, v in other.items()}


def minds_the_order_of_names_inside_a_value(one, other):
    return compare(one, other, lambda v: plain(v) if isinstance(v, str) else json.dumps(v))


def takes_everything_for_text(one, other):
    return compare(one, other, lambda value: plain(str(value)))


def takes_the_values_for_a_set(one, other):
    shared = one.keys() & other.keys()
    if any(plain(one[name]) != plain(other[name]) for name in shared):
        return False
    return set(map(plain, one.values())) == set(map(plain, other.values()))


WRONG = {
    forgets_the_width: "test_how_it_is_written_does_not_count",
    keeps_the_order_of_words: "test_the_order_of_words_does_not_count",
    takes_the_words_for_a_set: "test_another_word_is_another_search",
    drops_punctuation: "test_signs_and_digits_count",
    splits_at_spaces_alone: "test_japanese_and_chinese_have_no_space_between_words",
    looks_at_no_name: "test_a_name_that_both_have_counts",
    insists_on_the_names: "test_the_name_of_the_argument_does_not_count",
    minds_the_order_of_names_inside_a_value: "test_what_is_no_text_is_exact",
    takes_everything_for_text: "test_what_is_no_text_is_exact",
    takes_the_values_for_a_set: "test_one_argument_more_is_another_search",
}
