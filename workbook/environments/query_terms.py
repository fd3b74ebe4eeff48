"""Cut a question into terms that an index can look up, in any script."""

import re
import tomllib
import unicodedata
from collections.abc import Sequence

from workbook.paths import DATA

KNOWN = tomllib.loads((DATA / "search.toml").read_text("utf-8"))
MAX_TERMS = 32  # of one query; a longer query is cut here

CJK = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_RUN = re.compile(f"[{CJK}]+")
_WORD = re.compile(rf"(?:(?![{CJK}])[^\W_])+")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?=\s)|(?<=[。！？])")
_BETWEEN = re.compile("|".join(["[\u3040-\u309f]", *KNOWN["question_words"].split()]))
STOP_WORDS = frozenset(KNOWN["stop_words"].split())

SATURATION = 1.2  # BM25's k1, at which FTS5's is fixed
TITLE_WEIGHT = 4.0  # a word in the title counts as often as four in the text


def normalise(text: str) -> str:
    """Return `text` in one shape: full-width letters and digits become plain ones."""
    return unicodedata.normalize("NFKC", text)


def words(text: str) -> list[str]:
    """Return the words, stop words only where nothing else is ("The Who")."""
    found = [word.casefold() for word in _WORD.findall(normalise(text))]
    return [word for word in found if word not in STOP_WORDS] or found


def runs(text: str) -> list[str]:
    """Return the runs of Chinese and Japanese characters that carry the subject.

    Hiragana and question words separate them, unless there is nothing else.
    """
    found = _RUN.findall(normalise(text))
    parts = [part for run in found for part in _BETWEEN.split(run) if part]
    return parts or found


def language(query: str) -> str:
    """Return `ja` for kana, `zh` for Chinese characters alone, otherwise `en`."""
    if re.search("[\u3040-\u30ff]", query):
        return "ja"
    return "zh" if re.search("[\u3400-\u9fff]", query) else "en"


def overlapping(run: str, length: int) -> list[str]:
    """Return every piece of `run` with this many characters, in order."""
    return [run[i : i + length] for i in range(max(1, len(run) - length + 1))]


def in_pairs(text: str) -> str:
    """Return the pairs of characters in each run, and its last one, to be indexed."""
    found = _RUN.findall(normalise(text))
    return " ".join(run[i : i + 2] for run in found for i in range(len(run)))


def snippet(text: str, terms: Sequence[str], width: int = 300) -> str:
    """Return `text` from the sentence with the most terms on, at most `width` long."""
    sentences = _SENTENCE_END.split(text)
    shaped = [normalise(sentence).casefold() for sentence in sentences]
    held = [sum(term in sentence for term in terms) for sentence in shaped]
    best = "".join(sentences[held.index(max(held)) :]).strip()
    return best if len(best) <= width else best[: width - 1].rstrip() + "…"


def coverage(query: str, title: str, text: str) -> float:
    """Return how much of `query` a page is about, 0 to 1: BM25 without an index.

    The mean over the terms of f / (f + 1.2), f = mentions + 4 · mentions in the title.
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
