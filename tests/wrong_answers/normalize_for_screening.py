"""Plausible wrong answers, each with the test that must catch it."""

import unicodedata

from workbook.security.screen import LOOKALIKES, is_seen, join_letters
from workbook.security.screen import read_base64, read_escapes


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


def apart_as(form):
    return lambda text: apart(text, form)


def ascii_alone(text):
    return "".join(char for char in text if " " <= char <= "~")


def takes(*steps):
    """Return a function that takes these steps, in this order."""
    return lambda text: in_order(text, *steps)


READ = read_escapes, read_base64
PLAIN = seen, alike, str.casefold, join_letters
CODED = "test_base64_is_read_as_it_was_written"
INSIDE = "test_what_base64_says_may_be_disguised"
UNSEEN = "test_what_is_not_seen_by_itself_goes"
ALIKE = "test_letters_that_look_alike_are_latin"

WRONG = {
    takes(str.casefold, *READ, apart, seen, alike, join_letters): CODED,
    takes(read_base64, read_escapes, apart, *PLAIN): CODED,
    takes(read_escapes, apart, seen, alike, read_base64, *PLAIN[2:]): INSIDE,
    takes(read_base64, apart, *PLAIN): "test_escapes_and_capitals_are_read",
    takes(*READ, apart_as("NFKC"), *PLAIN): UNSEEN,
    takes(*READ, apart_as("NFD"), *PLAIN): "test_letters_of_another_shape_are_plain",
    takes(*READ, apart, *PLAIN[1:]): UNSEEN,
    takes(*READ, alike, apart, seen, *PLAIN[2:]): ALIKE,
    takes(*READ, apart, seen, str.casefold, alike, join_letters): ALIKE,
    takes(*READ, join_letters, apart, *PLAIN[:3]): "test_letters_are_joined_at_last",
    takes(*READ, apart, ascii_alone, *PLAIN): "test_a_plain_text_is_as_it_was",
}
