"""Plausible wrong answers to `same_search`, each with the test that must catch it."""

import json
import unicodedata
from collections import Counter

from workbook.loop.answers import TOKEN, normalize_answer


def plain(value):
    if not isinstance(value, str):
        return ("", json.dumps(value, sort_keys=True))
    narrow = unicodedata.normalize("NFKC", value)
    return tuple(sorted(TOKEN.findall(narrow.casefold())))


def compares_them_as_they_are(one, other):
    return one == other


def forgets_the_width(one, other):
    def words(value):
        return sorted(str(value).casefold().split())

    return sorted(map(words, one.values())) == sorted(map(words, other.values()))


def takes_the_words_for_a_set(one, other):
    def words(value):
        return frozenset(plain(value))

    if any(words(one[name]) != words(other[name]) for name in one.keys() & other.keys()):
        return False
    return Counter(map(words, one.values())) == Counter(map(words, other.values()))


def sorts_the_characters(one, other):
    def signs(value):
        narrow = unicodedata.normalize("NFKC", value if isinstance(value, str) else "")
        rest = "" if isinstance(value, str) else json.dumps(value)
        return "".join(sorted(narrow.casefold().replace(" ", ""))), rest

    if any(signs(one[name]) != signs(other[name]) for name in one.keys() & other.keys()):
        return False
    return Counter(map(signs, one.values())) == Counter(map(signs, other.values()))


def drops_punctuation(one, other):
    def words(value):
        text = normalize_answer(value) if isinstance(value, str) else json.dumps(value)
        return tuple(sorted(TOKEN.findall(text)))

    if any(words(one[name]) != words(other[name]) for name in one.keys() & other.keys()):
        return False
    return Counter(map(words, one.values())) == Counter(map(words, other.values()))


def splits_at_spaces_alone(one, other):
    def words(value):
        if not isinstance(value, str):
            return (json.dumps(value), "")
        narrow = unicodedata.normalize("NFKC", value).casefold()
        return tuple(sorted(narrow.split()))

    if any(words(one[name]) != words(other[name]) for name in one.keys() & other.keys()):
        return False
    return Counter(map(words, one.values())) == Counter(map(words, other.values()))


def looks_at_no_name(one, other):
    return Counter(map(plain, one.values())) == Counter(map(plain, other.values()))


def insists_on_the_names(one, other):
    return {n: plain(v) for n, v in one.items()} == {n: plain(v) for n, v in other.items()}


def takes_everything_for_text(one, other):
    def words(value):
        return plain(str(value))

    if any(words(one[name]) != words(other[name]) for name in one.keys() & other.keys()):
        return False
    return Counter(map(words, one.values())) == Counter(map(words, other.values()))


def compares_only_what_both_have(one, other):
    return all(plain(one[name]) == plain(other[name]) for name in one.keys() & other.keys())


WRONG = {
    compares_them_as_they_are: "test_case_does_not_count",
    forgets_the_width: "test_width_does_not_count",
    takes_the_words_for_a_set: "test_another_word_is_another_search",
    sorts_the_characters: "test_signs_and_digits_count",
    drops_punctuation: "test_signs_and_digits_count",
    splits_at_spaces_alone: "test_japanese_and_chinese_have_no_space_between_words",
    looks_at_no_name: "test_a_name_that_both_have_counts",
    insists_on_the_names: "test_the_name_of_the_argument_does_not_count",
    takes_everything_for_text: "test_what_is_no_text_is_exact",
    compares_only_what_both_have: "test_one_argument_more_is_another_search",
}
