"""Plausible wrong answers, each with the test that must catch it."""

import unicodedata

from workbook.trust.screen import (
    LOOKALIKES,
    is_seen,
    join_letters,
    read_base64,
    read_escapes,
)


def apart(text, form="NFKD"):
    return unicodedata.normalize(form, text)


def seen(text):
    return "".join(char for char in text if is_seen(char))


def alike(text):
    return text.translate(LOOKALIKES)


def in_order(text, *steps):
    for step in steps:
        text = step(text)
    return text


def makes_it_small_first(text):
    steps = [str.casefold, read_escapes, read_base64, apart, seen, alike, join_letters]
    return in_order(text, *steps)


def reads_base64_first(text):
    steps = [read_base64, read_escapes, apart, seen, alike, str.casefold, join_letters]
    return in_order(text, *steps)


def reads_base64_last(text):
    steps = [read_escapes, apart, seen, alike, read_base64, str.casefold, join_letters]
    return in_order(text, *steps)


def reads_no_escapes(text):
    return in_order(text, read_base64, apart, seen, alike, str.casefold, join_letters)


def puts_letters_together_again(text):
    steps = [read_escapes, read_base64, lambda t: apart(t, "NFKC"), seen, alike]
    return in_order(text, *steps, str.casefold, join_letters)


def leaves_full_width(text):
    steps = [read_escapes, read_base64, lambda t: apart(t, "NFD"), seen, alike]
    return in_order(text, *steps, str.casefold, join_letters)


def leaves_what_is_not_seen(text):
    steps = [read_escapes, read_base64, apart, alike, str.casefold, join_letters]
    return in_order(text, *steps)


def looks_alike_before_it_is_apart(text):
    steps = [read_escapes, read_base64, alike, apart, seen, str.casefold, join_letters]
    return in_order(text, *steps)


def is_small_before_it_looks_alike(text):
    steps = [read_escapes, read_base64, apart, seen, str.casefold, alike, join_letters]
    return in_order(text, *steps)


def joins_too_early(text):
    steps = [read_escapes, read_base64, join_letters, apart, seen, alike, str.casefold]
    return in_order(text, *steps)


def keeps_ascii_alone(text):
    text = in_order(text, read_escapes, read_base64, apart, alike, str.casefold)
    return join_letters("".join(char for char in text if " " <= char <= "~"))


WRONG = {
    makes_it_small_first: "test_base64_is_read_as_it_was_written",
    reads_base64_first: "test_base64_is_read_as_it_was_written",
    reads_base64_last: "test_what_base64_says_may_be_disguised",
    reads_no_escapes: "test_escapes_and_capitals_are_read",
    puts_letters_together_again: "test_what_is_not_seen_by_itself_goes",
    leaves_full_width: "test_letters_of_another_shape_are_plain",
    leaves_what_is_not_seen: "test_what_is_not_seen_by_itself_goes",
    looks_alike_before_it_is_apart: "test_letters_that_look_alike_are_latin",
    is_small_before_it_looks_alike: "test_letters_that_look_alike_are_latin",
    joins_too_early: "test_letters_are_joined_at_last",
    keeps_ascii_alone: "test_a_plain_text_is_as_it_was",
}
