"""Search over bundled articles: SQLite's FTS5, its BM25, and no network."""

import math
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from workbook.environments import query_terms as qt
from workbook.environments.wiki import Article, load_articles


@dataclass(frozen=True, slots=True)
class Document:
    """One result of a search; scores, 0 to 1, are comparable between queries."""

    doc_id: str
    title: str
    text: str
    score: float
    source: str = "local"
    url: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the document as a tool's result shows it."""
        left_out = {"source"} if self.url else {"source", "url"}
        return {k: v for k, v in asdict(self).items() if k not in left_out}


@dataclass(frozen=True, slots=True)
class Term:
    """A phrase to look up, and the table of FTS5 that can find it."""

    table: str
    text: str
    prefix: bool = False

    @property
    def match(self) -> str:
        """The term, quoted, so that no character is syntax to FTS5."""
        return '"' + self.text.replace('"', '""') + '"' + ("*" if self.prefix else "")


class LocalSearch:
    """A search backend over `articles`."""

    name = "local"

    def __init__(self, articles: Iterable[Article]) -> None:
        self._articles = sorted(articles, key=lambda each: each.doc_id)
        for one, other in pairwise(self._articles):
            if one.doc_id == other.doc_id:
                raise ValueError(f"two articles have the doc_id {one.doc_id!r}")
        self._lock = threading.Lock()  # a tool with a timeout runs in its own thread
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._db.executescript(
            """
            CREATE VIRTUAL TABLE words USING fts5
                (title, text, tokenize = 'porter unicode61 remove_diacritics 2');
            CREATE VIRTUAL TABLE trigrams USING fts5
                (title, text, tokenize = 'trigram');
            CREATE VIRTUAL TABLE pairs USING fts5  -- too short for a trigram
                (title, text);
            """
        )
        for row, article in enumerate(self._articles):
            # casefold, as the query is: SQLite lowers letters, but leaves ß as it is.
            title = qt.normalise(article.title).casefold()
            text = qt.normalise(article.text).casefold()
            pairs = (qt.in_pairs(title), qt.in_pairs(text))
            cells = {"words": (title, text), "trigrams": (title, text), "pairs": pairs}
            for table, columns in cells.items():
                insert = f"INSERT INTO {table} (rowid, title, text) VALUES (?, ?, ?)"
                self._db.execute(insert, (row, *columns))

    def search(self, query: str, k: int = 5) -> list[Document]:
        """Return the `k` best documents, the best one first. Every string is legal.

        The score is the share of BM25 that the query could have got at most:
        Σ bm25(term, document) / Σ idf(term) · (k1 + 1), k1 = 1.2, also over the terms
        that no article holds.
        """
        with self._lock:
            terms = self._terms(query)
            scores = self._scores(terms)
        shown, found = [term.text for term in terms], []
        for row in sorted(scores, key=lambda row: (-scores[row], row))[: max(k, 0)]:
            each = self._articles[row]
            text = qt.snippet(each.text, shown)
            found.append(Document(each.doc_id, each.title, text, scores[row]))
        return found

    def _terms(self, query: str) -> list[Term]:
        terms = [Term("words", word) for word in qt.words(query)]
        for run in qt.runs(query):
            trigrams = [Term("trigrams", part) for part in qt.overlapping(run, 3)]
            if len(run) >= 3 and any(map(self._rows, trigrams)):
                terms += trigrams
            else:  # too short for a trigram, or one that nobody wrote
                pairs = qt.overlapping(run, 2)
                terms += [Term("pairs", part, len(part) == 1) for part in pairs]
        return list(dict.fromkeys(terms))[: qt.MAX_TERMS]

    def _rows(self, term: Term) -> list[tuple[int, float]]:
        return self._db.execute(
            f"SELECT rowid, -bm25({term.table}, {qt.TITLE_WEIGHT}, 1.0) "
            f"FROM {term.table} WHERE {term.table} MATCH ?",
            (term.match,),
        ).fetchall()

    def _scores(self, terms: Iterable[Term]) -> dict[int, float]:
        attainable, found = 0.0, defaultdict[int, float](float)
        for term in terms:
            rows = self._rows(term)
            attainable += idf(len(self._articles), len(rows)) * (qt.SATURATION + 1)
            for row, bm25 in rows:
                found[row] += bm25
        return {row: round(total / attainable, 4) for row, total in found.items()}


def idf(articles: int, holding: int) -> float:
    """Return how much a term says, by https://sqlite.org/fts5.html#the_bm25_function."""
    return max(math.log((articles - holding + 0.5) / (holding + 0.5)), 1e-6)


@cache
def bundled_search() -> LocalSearch:
    """Return the search over the bundled articles."""
    return LocalSearch(load_articles())
