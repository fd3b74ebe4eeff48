"""Plausible wrong answers, each with the test that must catch it."""

import html
import re
import unicodedata

from workbook.lessons.screen import LOOKALIKES, is_seen, join_letters
from workbook.lessons.screen import read_base64, read_escapes

STEPS = {
    "escapes": read_escapes,
    "base64": read_base64,
    "apart": lambda text: unicodedata.normalize("NFKD", text),
    "seen": lambda text: "".join(filter(is_seen, text)),
    "alike": lambda text: text.translate(LOOKALIKES),
    "small": str.casefold,
    "joined": join_letters,
}


def steps(*names, **others):
    """Return a function that takes these steps in this order."""

    def normalize_for_screening(text):
        for name in names:
            text = (STEPS | others)[name](text)
        return text

    return normalize_for_screening


def without(name):
    return steps(*(each for each in STEPS if each != name))


def instead(**others):
    return steps(*STEPS, **others)


def replaced_by_its_text(text):
    """Read base64, and lose the word that was read."""
    words = r"[A-Za-z0-9+/]{16,}={0,2}"
    return re.sub(words, lambda word: read_base64(word[0])[len(word[0]):], text)


def full_width_alone(text):
    plain = text.translate({wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)})
    return unicodedata.normalize("NFD", plain)


def cyrillic_alone(text):
    return text.translate({n: to for n, to in LOOKALIKES.items() if 0x400 <= n < 0x500})


ESCAPES = "test_escapes_are_read"
BASE64 = "test_base64_is_read"
PLAIN_LETTERS = "test_full_width_letters_become_plain"
MARKS = "test_marks_and_unseen_characters_go"
ALIKE = "test_letters_that_look_alike_become_latin"
SMALL = "test_letters_become_small"
JOINED = "test_spaced_letters_are_joined"
IN_OTHERS = "test_a_disguise_in_a_disguise"

WRONG = {
    steps("apart", "seen", "alike", "small", "escapes", "base64", "joined"): IN_OTHERS,
    steps("base64", "escapes", "apart", "seen", "alike", "small", "joined"): IN_OTHERS,
    steps("escapes", "base64", "joined", "apart", "seen", "alike", "small"): IN_OTHERS,
    steps("escapes", "base64", "alike", "joined", "seen", "apart", "small"): IN_OTHERS,
    without("escapes"): ESCAPES,
    instead(escapes=html.unescape): ESCAPES,
    without("base64"): BASE64,
    instead(base64=replaced_by_its_text): BASE64,
    without("apart"): PLAIN_LETTERS,
    instead(apart=full_width_alone): PLAIN_LETTERS,
    without("seen"): MARKS,
    instead(seen=lambda text: text.replace("\u200b", "")): MARKS,
    without("alike"): ALIKE,
    instead(alike=cyrillic_alone): ALIKE,
    without("small"): SMALL,
    instead(small=lambda text: text.lower() if text.isupper() else text): SMALL,
    without("joined"): JOINED,
    instead(joined=lambda text: re.sub(r"(?<=\b\w)\.(?=\w\b)", "", text)): JOINED,
    instead(seen=lambda text: "".join(c for c in text if c.isprintable() and is_seen(c))):
        "test_a_plain_text_stays",
}
