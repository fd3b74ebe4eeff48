"""Plausible wrong answers, each with the test that must catch it."""

import re

from workbook.lessons.screen import DELIMITER, FENCE


def fenced(text, nonce, *, fits=lambda nonce: re.fullmatch(r"[A-Za-z0-9]{8,}", nonce),
           instead="[nonce]", flags=re.IGNORECASE, count=0, spoil=DELIMITER.sub,
           strip=str):  # fmt: skip
    """Fence as one should; each argument makes one mistake."""
    if not fits(nonce):
        raise ValueError(f"the nonce {nonce!r} needs 8 or more letters and digits")
    if instead is not None and nonce:
        text = re.sub(re.escape(nonce), instead, text, count=count, flags=flags)
    return FENCE.format(nonce=nonce, text=strip(spoil("< ", text)))


def fences(**mistake):
    """Return a function that makes one of these mistakes."""
    return lambda text, nonce: fenced(text, nonce, **mistake)


def fills_in_twice(text, nonce):
    if not re.fullmatch(r"[A-Za-z0-9]{8,}", nonce):
        raise ValueError(f"the nonce {nonce!r} needs 8 or more letters and digits")
    text = re.sub(re.escape(nonce), "[nonce]", text, flags=re.IGNORECASE)
    text = DELIMITER.sub("< ", text)
    return FENCE.replace("{text}", text).replace("{nonce}", nonce)


def knows_all_small_and_all_capital_letters(text, nonce):
    return fenced(text.replace(nonce.upper(), "[nonce]"), nonce, flags=re.NOFLAG)


def spoils_the_delimiters_first(text, nonce):
    return fenced(DELIMITER.sub("< ", text), nonce, spoil=lambda spoilt, text: text)


TAKEN_OUT = "test_the_nonce_is_taken_out"
SPOILT = "test_a_delimiter_of_its_own_is_broken"
LETTER = "test_other_text_stays_as_it_is"
GUESSED = "test_a_nonce_that_can_be_guessed_is_refused"

WRONG = {
    fences(instead=None): TAKEN_OUT,
    knows_all_small_and_all_capital_letters: TAKEN_OUT,
    fences(count=1): TAKEN_OUT,
    fences(instead=""): TAKEN_OUT,
    fences(spoil=lambda spoilt, text: text): SPOILT,
    fences(spoil=lambda spoilt, text: DELIMITER.sub("&lt;", text)): SPOILT,
    fences(spoil=lambda spoilt, text: re.sub("<(?=<end|<outside)", spoilt, text)): SPOILT,
    spoils_the_delimiters_first: "test_the_nonce_is_replaced_first",
    fences(spoil=lambda _, text: text.replace("<<", "< <")): LETTER,
    fills_in_twice: LETTER,
    fences(strip=str.strip): "test_the_text_stands_in_the_fence",
    fences(fits=lambda nonce: True): GUESSED,
    fences(fits=lambda nonce: re.match(r"[A-Za-z0-9]{8,}$", nonce)): GUESSED,
    fences(fits=lambda nonce: len(nonce) >= 8 and nonce.isalnum()): GUESSED,
}
