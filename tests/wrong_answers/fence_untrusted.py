"""Plausible wrong answers, each with the test that must catch it."""

import re

from workbook.trust.screen import DELIMITER, FENCE


def look_at(nonce):
    if not re.fullmatch(r"[A-Za-z0-9]{8,}", nonce):
        raise ValueError(f"the nonce {nonce!r} needs 8 or more letters and digits")


def without(nonce, text, instead="[nonce]", flags=re.IGNORECASE):
    return re.sub(re.escape(nonce), instead, text, flags=flags)


def trusts_the_text(text, nonce):
    look_at(nonce)
    return FENCE.format(nonce=nonce, text=text)


def leaves_delimiters(text, nonce):
    look_at(nonce)
    return FENCE.format(nonce=nonce, text=without(nonce, text))


def leaves_the_nonce(text, nonce):
    look_at(nonce)
    return FENCE.format(nonce=nonce, text=DELIMITER.sub("< ", text))


def sees_one_case(text, nonce):
    look_at(nonce)
    text = without(nonce, text, flags=re.NOFLAG)
    return FENCE.format(nonce=nonce, text=DELIMITER.sub("< ", text))


def takes_the_nonce_out(text, nonce):
    look_at(nonce)
    text = without(nonce, text, "")
    return FENCE.format(nonce=nonce, text=DELIMITER.sub("< ", text))


def takes_out_one(text, nonce):
    look_at(nonce)
    text = re.sub(re.escape(nonce), "[nonce]", text, count=1, flags=re.IGNORECASE)
    return FENCE.format(nonce=nonce, text=DELIMITER.sub("< ", text))


def escapes_every_bracket(text, nonce):
    look_at(nonce)
    return FENCE.format(nonce=nonce, text=without(nonce, text).replace("<<", "< <"))


def fills_in_twice(text, nonce):
    look_at(nonce)
    text = DELIMITER.sub("< ", without(nonce, text))
    return FENCE.replace("{text}", text).replace("{nonce}", nonce)


def strips_the_text(text, nonce):
    look_at(nonce)
    text = DELIMITER.sub("< ", without(nonce, text)).strip()
    return FENCE.format(nonce=nonce, text=text)


def looks_at_no_nonce(text, nonce):
    text = DELIMITER.sub("< ", without(nonce, text)) if nonce else text
    return FENCE.format(nonce=nonce, text=text)


def lets_a_line_end_through(text, nonce):
    if not re.match(r"[A-Za-z0-9]{8,}$", nonce):
        raise ValueError(f"bad nonce {nonce!r}")
    text = DELIMITER.sub("< ", without(nonce, text))
    return FENCE.format(nonce=nonce, text=text)


def takes_letters_of_any_script(text, nonce):
    if len(nonce) < 8 or not nonce.isalnum():
        raise ValueError(f"bad nonce {nonce!r}")
    text = DELIMITER.sub("< ", without(nonce, text))
    return FENCE.format(nonce=nonce, text=text)


WRONG = {
    trusts_the_text: "test_the_nonce_is_taken_out",
    leaves_delimiters: "test_a_delimiter_of_its_own_is_spoilt",
    leaves_the_nonce: "test_the_nonce_is_taken_out",
    sees_one_case: "test_the_nonce_is_taken_out",
    takes_the_nonce_out: "test_what_is_left_is_no_nonce",
    takes_out_one: "test_the_nonce_is_taken_out",
    escapes_every_bracket: "test_other_text_is_told_to_the_letter",
    fills_in_twice: "test_other_text_is_told_to_the_letter",
    strips_the_text: "test_the_text_stands_in_the_fence",
    looks_at_no_nonce: "test_a_nonce_that_can_be_guessed_is_refused",
    lets_a_line_end_through: "test_a_nonce_that_can_be_guessed_is_refused",
    takes_letters_of_any_script: "test_a_nonce_that_can_be_guessed_is_refused",
}
