"""Plausible wrong answers to `normalize_answer`, with the tests that catch them."""

import re
import string
import unicodedata


def knows_ascii_only(text):
    text = text.lower().translate(str.maketrans("", "", string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def cuts_articles_out_of_words(text):
    text = unicodedata.normalize("NFKC", text).lower()
    text = "".join(c for c in text if not unicodedata.category(c).startswith("P"))
    return " ".join(re.sub(r"the |an? ", " ", text + " ").split())


def keeps_the_articles(text):
    text = unicodedata.normalize("NFKC", text).lower()
    text = "".join(c for c in text if not unicodedata.category(c).startswith("P"))
    return " ".join(text.split())


def keeps_letters_and_digits_only(text):
    text = unicodedata.normalize("NFKC", text).lower()
    words = re.findall(r"[a-z0-9]+", text)
    return " ".join(word for word in words if word not in ("a", "an", "the"))


def drops_what_unicode_calls_punctuation(text):
    text = unicodedata.normalize("NFKC", text).lower()
    text = "".join(c for c in text if not unicodedata.category(c).startswith("P"))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def keeps_what_a_word_may_hold(text):
    text = unicodedata.normalize("NFKC", text).lower()
    text = re.sub(r"[^\w\s]", "", text)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


WRONG = {
    knows_ascii_only: "test_full_width_becomes_half_width",
    cuts_articles_out_of_words: "test_a_word_that_begins_like_an_article_stays",
    keeps_the_articles: "test_articles_do_not_count",
    keeps_letters_and_digits_only: "test_case_space_and_punctuation_do_not_count",
    drops_what_unicode_calls_punctuation: "test_signs_do_not_count",
    keeps_what_a_word_may_hold: "test_signs_do_not_count",
}
