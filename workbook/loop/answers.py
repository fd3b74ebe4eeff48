"""When two answers are the same.

Answers are normalised as HotpotQA's and SQuAD's official scripts do it (Yang et al.,
EMNLP 2018; Rajpurkar et al., EMNLP 2016); besides, full-width letters and digits are
made half-width.
"""

import re
import string
import unicodedata

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalize_answer(text: str) -> str:
    """Return the answer in small letters, without punctuation, articles, extra space.

    Full-width characters become half-width first (Unicode's NFKC). As in the official
    scripts, the sign of a number and its decimal point are punctuation too: "-3.5"
    becomes "35". Compare numbers as numbers where that matters.

    >>> normalize_answer("  The Eiffel-Tower, Paris. ")
    'eiffeltower paris'
    >>> normalize_answer("「東京 タワー」（１９５８）")
    '東京 タワー1958'
    """
    narrow = unicodedata.normalize("NFKC", text).lower()
    category = unicodedata.category
    marks = {*string.punctuation, *(m for m in narrow if category(m)[0] == "P")}
    plain = "".join(m for m in narrow if m not in marks)
    return " ".join(_ARTICLES.sub(" ", plain).split())


def exact_match(answer: str, gold: str) -> bool:
    """Return whether two answers are the same once normalised."""
    return normalize_answer(answer) == normalize_answer(gold)
