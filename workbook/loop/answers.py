"""When two answers are the same.

Answers are normalised as HotpotQA's and SQuAD's official scripts do it (Yang et al.,
EMNLP 2018; Rajpurkar et al., EMNLP 2016), with two additions for Japanese and Chinese:
full-width letters and digits are made narrow, and F1 counts their characters.
"""

import re
import string
import unicodedata
from collections import Counter

from workbook.models.prompts import TOKEN

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


def f1(answer: str, gold: str) -> float:
    """Return the harmonic mean of precision and recall over tokens, from 0 to 1.

    A token is a word, or one character of Japanese, Chinese or Korean. As in HotpotQA,
    "yes" and "no" are right or wrong as a whole.

    >>> f1("the city of Kyoto", "Kyoto")
    0.5
    >>> f1("京都市", "京都")
    0.8
    """
    ours, theirs = normalize_answer(answer), normalize_answer(gold)
    if ours == theirs:
        return 1.0
    if {ours, theirs} & {"yes", "no", "noanswer"}:
        return 0.0
    mine, wanted = Counter(TOKEN.findall(ours)), Counter(TOKEN.findall(theirs))
    shared = (mine & wanted).total()
    return 2 * shared / (mine.total() + wanted.total())
