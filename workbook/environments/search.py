"""Search over bundled articles: SQLite's FTS5, its BM25, and no network."""

import math
import re
import sqlite3
import threading
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from workbook.environments.wiki import Article, load_articles
from workbook.paths import DATA
from workbook.runtime.tools import Tool

KNOWN = tomllib.loads((DATA / "environments/search.toml").read_text("utf-8"))
MAX_TERMS = 32  # of one query; a longer query is cut here
SATURATION = 1.2  # BM25's k1, at which FTS5's is fixed
TITLE_WEIGHT = 4.0  # a word in the title counts as often as four in the text

CJK = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_RUN = re.compile(f"[{CJK}]+")
_WORD = re.compile(rf"(?:(?![{CJK}])[^\W_])+")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?=\s)|(?<=[。！？])")
_BETWEEN = re.compile("|".join(["[\u3040-\u309f]", *KNOWN["question_words"].split()]))
_STOP_WORDS = frozenset(KNOWN["stop_words"].split())


@dataclass(frozen=True, slots=True)
class Document:
    """One result of a search; scores, 0 to 1, are comparable between queries."""

    doc_id: str
    title: str
    text: str
    score: float
    url: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the document as a tool's result shows it."""
        return {k: v for k, v in asdict(self).items() if v or k != "url"}


class LocalSearch:
    """A search over `articles`.

    Words are found by FTS5; Chinese and Japanese, which put no blanks between words, by
    pairs of characters, with the same formula.
    """

    def __init__(self, articles: Iterable[Article]) -> None:
        self._articles = sorted(articles, key=lambda article: article.doc_id)
        self._rows = [(normalise(a.title), normalise(a.text)) for a in self._articles]
        self._lock = threading.Lock()  # a tool with a timeout runs in its own thread
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._db.execute(
            "CREATE VIRTUAL TABLE pages USING fts5"
            "(title, text, tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        self._db.executemany("INSERT INTO pages VALUES (?, ?)", self._rows)

    def search(self, query: str, k: int = 5) -> list[Document]:
        """Return the `k` best documents, the best one first. Every string is legal.

        The score is the share of BM25 that the query could have got at most:
        Σ bm25(term, document) / Σ idf(term) · (k1 + 1), k1 = 1.2, also over the terms
        that no article holds.
        """
        terms, most, sums = terms_of(query), 0.0, dict[int, float]()
        for term in terms:
            by = self._by_characters if _RUN.match(term) else self._by_word
            rows = by(term)
            most += idf(len(self._articles), len(rows)) * (SATURATION + 1)
            for row, bm25 in rows.items():
                sums[row] = sums.get(row, 0.0) + bm25
        scores = {row: round(bm25 / most, 4) for row, bm25 in sums.items()}
        found = []
        for row in sorted(scores, key=lambda row: (-scores[row], row))[: max(k, 0)]:
            each = self._articles[row]
            text = snippet(each.text, terms)
            found.append(Document(each.doc_id, each.title, text, scores[row]))
        return found

    def _by_word(self, word: str) -> dict[int, float]:
        asked = "SELECT rowid - 1, -bm25(pages, ?, 1.0) FROM pages WHERE pages MATCH ?"
        with self._lock:  # a word is letters and digits; in quotes none is syntax
            rows = self._db.execute(asked, (TITLE_WEIGHT, f'"{word}"'))
            return dict(rows.fetchall())

    def _by_characters(self, piece: str) -> dict[int, float]:
        counts = [TITLE_WEIGHT * t.count(piece) + s.count(piece) for t, s in self._rows]
        held = {row: count for row, count in enumerate(counts) if count}
        most = idf(len(counts), len(held)) * (SATURATION + 1)
        return {row: most * n / (n + SATURATION) for row, n in held.items()}


def idf(articles: int, holding: int) -> float:
    """Return how much a term says, by https://sqlite.org/fts5.html#the_bm25_function."""
    return max(math.log((articles - holding + 0.5) / (holding + 0.5)), 1e-6)


@cache
def bundled_search() -> LocalSearch:
    """Return the search over the bundled articles."""
    return LocalSearch(load_articles())


def normalise(text: str) -> str:
    """Return `text` in one shape: full-width letters become plain, capitals small."""
    return unicodedata.normalize("NFKC", text).casefold()


def words(text: str) -> list[str]:
    """Return the words, stop words only where nothing else is ("The Who")."""
    found = _WORD.findall(normalise(text))
    return [word for word in found if word not in _STOP_WORDS] or found


def pieces(text: str) -> list[str]:
    """Return the pairs of Chinese and Japanese characters that carry the subject.

    Hiragana and question words separate them, unless there is nothing else.
    """
    runs = _RUN.findall(normalise(text))
    parts = [part for run in runs for part in _BETWEEN.split(run) if part] or runs
    return [p[i : i + 2] for p in parts for i in range(max(1, len(p) - 1))]


def terms_of(query: str) -> list[str]:
    """Return what of a query is looked up, each term once."""
    return list(dict.fromkeys([*words(query), *pieces(query)]))[:MAX_TERMS]


def snippet(text: str, terms: Sequence[str], width: int = 300) -> str:
    """Return `text` from the sentence with the most terms on, at most `width` long."""
    sentences = _SENTENCE_END.split(text)
    held = [sum(t in normalise(sentence) for t in terms) for sentence in sentences]
    best = "".join(sentences[held.index(max(held)) :]).strip()
    return best if len(best) <= width else best[: width - 1].rstrip() + "…"


def search_tool(name: str, about: str, run: Callable[..., Any], **limits: Any) -> Tool:
    """Return a tool with the arguments `query` and `k`."""
    usage = (
        "One query per call, at most 300 characters; k, the number of documents, is 1 "
        'to 10. Right: {"query": "height of Mount Fuji", "k": 3}. '
        'Wrong: {"query": ["Fuji", "Everest"]}.'
    )
    text = {"type": "string", "minLength": 1, "maxLength": 300}
    number = {"type": "integer", "minimum": 1, "maximum": 10}
    asked = {"properties": {"query": text, "k": number}, "required": ["query"]}
    aliases = dict.fromkeys(("q", "question", "input"), "query")
    words = f"{about} {usage}"
    return Tool(name, words, asked, run, aliases=aliases, **limits)


def wiki_search() -> Tool:
    """Return the tool `WikiSearch` over the bundled articles."""

    def run(query: str, k: int = 3) -> dict[str, Any]:
        found = bundled_search().search(query, k)
        return {"results": [each.as_dict() for each in found]}

    about = "Searches bundled articles, offline. A score near 1 fits, below 0.3 hardly."
    return search_tool("WikiSearch", about, run, timeout_s=None)


TOOLS = {"WikiSearch": wiki_search}
