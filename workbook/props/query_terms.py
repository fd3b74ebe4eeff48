"""Cut a question into terms that an index can look up, in any script.

English has spaces between its words, Japanese and Chinese have none. This module knows
no database.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

MAX_TERMS = 32
"""Terms of one query that are looked up; a longer query is cut here."""

CJK = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_RUN = re.compile(f"[{CJK}]+")
_WORD = re.compile(rf"(?:(?![{CJK}])[^\W_])+")
_HIRAGANA = re.compile("[\u3040-\u309f]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")

STOP_WORDS = frozenset(
    re.findall(  # the s is what an apostrophe leaves over: "What's Fuji's height?"
        r"\w+",
        "a an and are as at be by did do does for from had has have how in is it its "
        "many much of on or that the their there this to was were what when where "
        "which who whom whose why will with you your i me my tell about please s",
    )
)

QUESTION_WORDS = re.compile(
    "什么时候|什麼時候|为什么|為什麼|什么|什麼|多长时间|多長時間|有多|多少|几个|幾個"
    "|哪一|哪里|哪裡|哪个|哪個|哪|谁|誰|请问|請問|吗|嗎|呢|的|了|是|何"
)
"""They end a run, as hiragana does. Not so 和, 在 and 与: too many names hold them."""

SATURATION = 1.2
"""BM25's k1: how soon one more mention stops to count. FTS5's is fixed at this."""
TITLE_WEIGHT = 4.0
"""A word in the title counts as often as four in the text."""


def normalise(text: str) -> str:
    """Return `text` in one shape: full-width letters and digits become plain ones.

    >>> normalise("ＳＱＬ １００")
    'SQL 100'
    """
    return unicodedata.normalize("NFKC", text)


def words(text: str) -> list[str]:
    """Return the words of scripts that have spaces, without English stop words.

    A query of nothing but stop words keeps them: "The Who" is a band.

    >>> words("How high is the Eiffel Tower?")
    ['high', 'eiffel', 'tower']
    """
    found = [word.casefold() for word in _WORD.findall(normalise(text))]
    return [word for word in found if word not in STOP_WORDS] or found


def runs(text: str) -> list[str]:
    """Return the runs of Chinese and Japanese characters that carry the subject.

    Hiragana (mostly grammar) separates them. A query in hiragana alone is kept whole.

    >>> runs("富士山の高さは")
    ['富士山', '高']
    """
    found = _RUN.findall(normalise(text))
    parts = [
        part
        for run in found
        for piece in _HIRAGANA.split(run)
        for part in QUESTION_WORDS.split(piece)
        if part
    ]
    return parts or found


def overlapping(run: str, length: int) -> list[str]:
    """Return every piece of `run` with this many characters, in order."""
    if len(run) <= length:
        return [run]
    return [run[i : i + length] for i in range(len(run) - length + 1)]


def in_pairs(text: str) -> str:
    """Return the pairs of characters in each run, with spaces between, to be indexed.

    The last character stands alone too, so that a search for it finds it there.
    """
    found = _RUN.findall(normalise(text))
    return " ".join(run[i : i + 2] for run in found for i in range(len(run)))


def snippet(text: str, terms: Sequence[str], width: int = 300) -> str:
    """Return `text` from the sentence with the most terms on, at most `width` long."""
    sentences = [part for part in _SENTENCE_END.split(text.strip()) if part]
    if not sentences:
        return ""

    def held(i: int) -> int:
        shaped = normalise(sentences[i]).casefold()
        return sum(term in shaped for term in terms)

    best = max(range(len(sentences)), key=held)  # the first of those that are equal
    joined = "".join(
        part if part.endswith(("。", "！", "？")) else part + " "
        for part in sentences[best:]
    ).strip()
    return joined if len(joined) <= width else joined[: width - 1].rstrip() + "…"


def coverage(query: str, title: str, text: str) -> float:
    """Return how much of `query` a page is about, from 0 to 1, without an index.

    Saturated as BM25 is for a text of average length: the mean over the terms of
    f / (f + 1.2), where f = mentions in the text + 4 · mentions in the title.

    >>> coverage("Eiffel Tower", "Eiffel Tower", "A tower in Paris.")
    0.7878
    """
    terms = words(query) + [p for run in runs(query) for p in overlapping(run, 2)]
    if not terms:
        return 0.0

    def mentions(term: str, where: str) -> int:
        if _RUN.match(term):
            return normalise(where).count(term)
        found = _WORD.findall(normalise(where).casefold())
        return sum(word.startswith(term) for word in found)

    found = [mentions(t, text) + TITLE_WEIGHT * mentions(t, title) for t in terms]
    return round(sum(f / (f + SATURATION) for f in found) / len(terms), 4)
