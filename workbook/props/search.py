"""Search over bundled articles: SQLite's FTS5, its BM25, and no network.

One index for words, one of trigrams for Chinese and Japanese, and one of pairs for
what is too short for a trigram. The text of an article is data: it is cut and handed
on, never interpreted.
"""

from __future__ import annotations

import json
import math
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workbook.paths import DATA
from workbook.props.query_terms import (
    MAX_TERMS,
    in_pairs,
    normalise,
    overlapping,
    runs,
    snippet,
    words,
)

WIKI = DATA / "wiki.jsonl"
TITLE_WEIGHT = 4.0
"""A word in the title counts as often as four in the text."""
K1 = 1.2
"""BM25's saturation: fixed in FTS5, https://www.sqlite.org/fts5.html#the_bm25_function"""


@dataclass(frozen=True, slots=True)
class Document:
    """One result of a search.

    Args:
        doc_id: names this document for ever, also in later searches: cite by it.
        title: of the article or page.
        text: the sentences that fit the query best, at most about 300 characters.
        score: from 0 (nothing in common) to 1, comparable between queries.
        source: the backend that found it.
        url: where it stands, where that is known.
    """

    doc_id: str
    title: str
    text: str
    score: float
    source: str = "local"
    url: str = ""

    def as_dict(self) -> dict[str, str | float]:
        """Return the document as a tool's result shows it."""
        found: dict[str, str | float] = {
            "doc_id": self.doc_id,
            "title": self.title,
            "text": self.text,
            "score": self.score,
        }
        return {**found, "url": self.url} if self.url else found


@dataclass(frozen=True, slots=True)
class Article:
    """What is indexed: an id that is used once, a title, and the whole text."""

    doc_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look up: an FTS5 phrase, and the table that can find it."""

    table: str
    text: str
    prefix: bool = False

    @property
    def match(self) -> str:
        """The term as FTS5 reads it: quoted, so that no character is syntax."""
        return '"' + self.text.replace('"', '""') + '"' + ("*" if self.prefix else "")


class LocalSearch:
    """A search backend over `articles`.

    Raises:
        ValueError: two articles have the same doc_id.
    """

    name = "local"

    def __init__(self, articles: Iterable[Article]) -> None:
        self._lock = threading.Lock()  # a tool with a timeout runs in its own thread
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._db.executescript(
            """
            CREATE TABLE articles (doc_id TEXT UNIQUE, title TEXT, text TEXT);
            CREATE VIRTUAL TABLE words USING fts5
                (title, text, tokenize = 'porter unicode61 remove_diacritics 2');
            CREATE VIRTUAL TABLE trigrams USING fts5
                (title, text, tokenize = 'trigram');
            CREATE VIRTUAL TABLE pairs USING fts5 (title, text);
            """
        )
        for article in articles:
            self._add(article)

    def _add(self, article: Article) -> None:
        insert = "INSERT INTO articles (doc_id, title, text) VALUES (?, ?, ?)"
        try:
            row = self._db.execute(
                insert, (article.doc_id, article.title, article.text)
            ).lastrowid
        except sqlite3.IntegrityError:
            raise ValueError(
                f"two articles have the doc_id {article.doc_id!r} (the second is "
                f"{article.title!r}): give each its own, a citation rests on it"
            ) from None
        # casefold, as the query is: SQLite lowers letters, but leaves ß as it is.
        title, text = (
            normalise(part).casefold() for part in (article.title, article.text)
        )
        for table, columns in (
            ("words", (title, text)),
            ("trigrams", (title, text)),
            ("pairs", (in_pairs(title), in_pairs(text))),
        ):
            self._db.execute(
                f"INSERT INTO {table} (rowid, title, text) VALUES (?, ?, ?)",
                (row, *columns),
            )

    def search(self, query: str, k: int = 5) -> list[Document]:
        """Return the `k` best documents, the best one first. Every string is legal.

        The score is the share of BM25 that the query could have got at most:

            score = Σ bm25(term, document) / Σ idf(term) · (k1 + 1)

        over the terms of the query, k1 = 1.2. A term never gives more than its
        idf · (k1 + 1), so the score lies between 0 and 1 whatever the query's length.
        A term that no article holds has the largest idf of all and nothing to show for
        it: half a match scores low. A single mention in a text of average length
        gives about 0.45, a title that matches 0.8 and more.

        Equal scores are ordered by doc_id. No terms, or `k` below 1: an empty list.
        """
        with self._lock:
            terms = self._terms(query)
            scores = self._scores(terms)
            best = sorted(
                (-round(score, 4), doc_id, row)
                for row, (score, doc_id) in scores.items()
            )[: max(k, 0)]
            rows = [(self._article(row), -negative) for negative, _, row in best]
        shown = [term.text for term in terms]
        return [
            Document(a.doc_id, a.title, snippet(a.text, shown), score, self.name)
            for a, score in rows
        ]

    def _terms(self, query: str) -> list[Term]:
        terms = [Term("words", word) for word in words(query)]
        for run in runs(query):
            trigrams = overlapping(run, 3) if len(run) >= 3 else []
            if any(self._rows(Term("trigrams", text)) for text in trigrams):
                terms += [Term("trigrams", text) for text in trigrams]
            else:  # too short for a trigram, or one that nobody wrote
                terms += [
                    Term("pairs", text, prefix=len(text) == 1)
                    for text in overlapping(run, 2)
                ]
        return list(dict.fromkeys(terms))[:MAX_TERMS]

    def _rows(self, term: Term) -> list[tuple[int, float]]:
        """Return (row, BM25) of every article that holds the term."""
        return self._db.execute(
            f"SELECT rowid, -bm25({term.table}, {TITLE_WEIGHT}, 1.0) "
            f"FROM {term.table} WHERE {term.table} MATCH ?",
            (term.match,),
        ).fetchall()

    def _scores(self, terms: Iterable[Term]) -> dict[int, tuple[float, str]]:
        (articles,) = self._db.execute("SELECT count(*) FROM articles").fetchone()
        attainable = 0.0
        found: dict[int, float] = {}
        for term in terms:
            rows = self._rows(term)
            attainable += idf(articles, len(rows)) * (K1 + 1)
            for row, bm25 in rows:
                found[row] = found.get(row, 0.0) + bm25
        find_id = "SELECT doc_id FROM articles WHERE rowid = ?"
        return {
            row: (total / attainable, self._db.execute(find_id, (row,)).fetchone()[0])
            for row, total in found.items()
        }

    def _article(self, row: int) -> Article:
        return Article(
            *self._db.execute(
                "SELECT doc_id, title, text FROM articles WHERE rowid = ?", (row,)
            ).fetchone()
        )


def idf(articles: int, holding: int) -> float:
    """Return how much a term says: FTS5's own formula, never below 1e-6.

    >>> round(idf(articles=100, holding=1), 2), idf(articles=100, holding=90)
    (4.19, 1e-06)
    """
    value = math.log((articles - holding + 0.5) / (holding + 0.5))
    return value if value > 0 else 1e-6


def read_articles(path: Path | str = WIKI) -> Iterator[Article]:
    """Yield the articles of a JSONL file with `doc_id`, `title` and `text` a line."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                fields = json.loads(line)
                yield Article(fields["doc_id"], fields["title"], fields["text"])


@cache
def bundled_search() -> LocalSearch:
    """Return the search over the bundled articles; built once a process."""
    return LocalSearch(read_articles())
