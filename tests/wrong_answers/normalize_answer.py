"""Plausible wrong answers to `normalize_answer`, each with words of its failure."""

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


WRONG = {
    knows_ascii_only: "half-width twins",
    cuts_articles_out_of_words: "only whole words are articles",
    keeps_the_articles: "a, an and the are dropped",
    keeps_letters_and_digits_only: "no punctuation",
}
