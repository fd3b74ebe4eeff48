"""Search over our articles (SQLite's FTS5 and its BM25), and on the web.

The web backends are rows of `data/worlds/search.toml`, asked one after the other.
The text of a page is data: it is cut and passed on.
"""

import html
import math
import os
import re
import sqlite3
import time
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache, partial
from hashlib import sha256
from typing import Any, NamedTuple

from workbook.paths import DATA
from workbook.runtime.calls import ToolFailure, clip
from workbook.runtime.tools import Tool
from workbook.runtime.wrappers import with_backoff
from workbook.worlds.catalogue import contract
from workbook.worlds.wiki import Article, load_articles, split_sentences

KNOWN = tomllib.loads((DATA / "worlds/search.toml").read_text("utf-8"))
SATURATION = 1.2  # BM25's k1, at which FTS5's is fixed
TITLE_WEIGHT = 4.0  # a word in the title counts as much as four in the text
CJK = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"(?:(?![{CJK}])[^\W_])+")
BETWEEN = re.compile("|".join(["[\u3040-\u309f]", *KNOWN["question_words"].split()]))
AGENT = "react-workbook/0.1 (a course on agents; runs one search at a time)"
CAPTCHA = re.compile("wappass.baidu.com|百度安全验证")


class Document(NamedTuple):
    """One result of a search; scores, 0 to 1, are comparable between queries."""

    doc_id: str
    title: str
    text: str
    score: float
    url: str = ""


class LocalSearch:
    """Words are found by their stem; Chinese and Japanese by pairs of characters."""

    def __init__(self, articles: Iterable[Article]) -> None:
        self.articles = [*articles]
        self.db = sqlite3.connect(":memory:", check_same_thread=False)
        self.db.execute(
            "CREATE VIRTUAL TABLE pages USING fts5"
            "(title, text, tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        rows = [(_spaced(each.title), _spaced(each.text)) for each in self.articles]
        self.db.executemany("INSERT INTO pages VALUES (?, ?)", rows)

    def search(self, query: str, k: int = 5) -> list[Document]:
        """Return the `k` best documents, the best one first. Every string is legal.

        A score is the sum of bm25(term, document) over the most that the query could
        get, Σ idf(term) · (k1 + 1), terms that no article holds included.
        """
        terms, most, sums = terms_of(query), 0.0, dict[int, float]()
        asked = "SELECT rowid - 1, -bm25(pages, ?, 1.0) FROM pages WHERE pages MATCH ?"
        for term in terms:
            given = TITLE_WEIGHT, f'"{_spaced(term)}"'
            rows = self.db.execute(asked, given).fetchall()
            # As in https://sqlite.org/fts5.html#the_bm25_function.
            idf = math.log((len(self.articles) - len(rows) + 0.5) / (len(rows) + 0.5))
            most += max(idf, 1e-6) * (SATURATION + 1)
            for row, bm25 in rows:
                sums[row] = sums.get(row, 0.0) + bm25
        found = []
        for row in sorted(sums, key=sums.__getitem__, reverse=True)[:k]:
            doc_id, title, text, _ = self.articles[row]
            score = round(sums[row] / most, 4)
            found.append(Document(doc_id, title, snippet(text, terms), score))
        return found


@cache
def bundled_search() -> LocalSearch:
    """Return the search over our articles."""
    return LocalSearch(load_articles())


def _normalise(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _spaced(text: str) -> str:
    """Return `text` with each Chinese or Japanese character as a word."""
    return re.sub(f"([{CJK}])", r" \1 ", _normalise(text))


def terms_of(query: str) -> list[str]:
    """Return what is looked up, each term once: words, and pairs of characters.

    Stop words are left out, and hiragana and question words separate the pairs, unless
    there is nothing else.
    """
    words, stop = WORD.findall(_normalise(query)), KNOWN["stop_words"].split()
    words = [word for word in words if word not in stop] or words
    runs = re.findall(f"[{CJK}]+", _normalise(query))
    parts = [part for run in runs for part in BETWEEN.split(run) if part] or runs
    pairs = [p[i : i + 2] for p in parts for i in range(max(1, len(p) - 1))]
    return list(dict.fromkeys([*words, *pairs]))


def held(terms: Sequence[str], text: str) -> int:
    """Return how many of the terms are in a text."""
    page = _normalise(text)
    return sum(term in page for term in terms)


def snippet(text: str, terms: Sequence[str], width: int = 300) -> str:
    """Return `text` from the sentence with the most terms on, at most `width` long."""
    best = max(split_sentences(text), key=partial(held, terms))
    return clip(text[text.index(best) :].strip(), width).replace(" …", "…")


def _tool(of: str, search: Callable[..., list[Document]]) -> Tool:
    def run(query: str, k: int = 3) -> dict[str, Any]:
        found = [each._asdict().items() for each in search(query, k)]
        return {"results": [{k: v for k, v in each if v != ""} for each in found]}

    return contract(of, run)


def wiki_search() -> Tool:
    """Return the tool `WikiSearch` over our articles."""
    return _tool("WikiSearch", bundled_search().search)


def web_search(client: Any = None, sleep: Any = time.sleep) -> Tool:
    """Return the tool `WebSearch`: it reports which backends failed, and why.

    `client` is an `httpx.Client`; without one, requests go to the network.
    """

    def run(query: str, k: int = 3) -> dict[str, Any]:
        tried, searches = list[dict[str, Any]](), {}
        for row in KNOWN["backend"]:
            searches[row["name"]] = _tool("WebSearch", partial(_ask, row, client))
        for name, tool in {**searches, "Wiki": wiki_search()}.items():
            again, about = with_backoff(tool, attempts=2, sleep=sleep), f"{name}Search"
            try:
                found = again.run(query=query, k=k)["results"]
                tried.append({"backend": about, "found": len(found)})
                if found:
                    break
            except ToolFailure as failure:
                why = asdict(failure.error)
                tried.append({"backend": about, "error": why.pop("kind"), **why})
        return {"results": found, "backend": about, "tried": tried}

    return contract("WebSearch", run)


def _ask(row: Mapping[str, Any], client: Any, query: str, k: int) -> list[Document]:
    import httpx

    def failure(kind: str, what: str, hint: str, can_pass: bool = False) -> ToolFailure:
        return ToolFailure(kind, f"{row['name']} {what}.", can_pass, hint)

    key = os.environ.get(row.get("key", ""), "")
    if "key" in row and not key:
        hint = f"Set {row['key']}, or use another search."
        raise failure("no_key", "needs a key", hint)
    asked = {n: {"{query}": query, "{k}": k}.get(v, v) for n, v in row["ask"].items()}
    about: dict[str, Any] = {"json" if row["method"] == "POST" else "params": asked}
    about["headers"] = {"User-Agent": AGENT} | ({"X-API-KEY": key} if key else {})
    try:
        reply = (client or httpx).request(row["method"], row["url"], timeout=3, **about)
        if CAPTCHA.search(f"{reply.headers.get('Location')} {reply.text}"):
            hint = "A person would have to solve it: use another search."
            raise failure("captcha", "asks for a captcha", hint)
        hits = reply.raise_for_status().json()
        for field in row["hits"]:
            hits = hits[field]
        return [_document(row, query, hit) for hit in hits if hit][:k]
    except httpx.HTTPStatusError as error:
        status, hint = error.response.status_code, "Use another search, or wait."
        can_pass = status == 429 or status >= 500
        raise failure("refused", f"answered {status}", hint, can_pass) from None
    except httpx.HTTPError as error:
        what = f"could not be reached ({type(error).__name__})"
        raise failure("no_network", what, "Check the network.", True) from None
    except (ValueError, LookupError, TypeError, AttributeError):
        what, hint = "answered unreadably", "Use another search."
        raise failure("malformed", what, hint) from None


def _document(row: Mapping[str, Any], query: str, hit: Mapping[str, Any]) -> Document:
    *parts, url = (str(hit.get(field, "")) for field in row["fields"])
    plain = (html.unescape(re.sub("<[^>]*>", "", part)) for part in parts)
    title, text = (clip(part, 300) for part in plain)
    url, terms = row.get("link", "{}").format(url), terms_of(query)
    # Of the query's terms, the share that it has.
    score = round(held(terms, f"{title} {text}") / max(len(terms), 1), 4)
    number = sha256(url.encode()).hexdigest()[:6]
    return Document(f"{row['name'].lower()}:{number}", title, text, score, url)


TOOLS = {"WikiSearch": lambda: [wiki_search()], "WebSearch": lambda: [web_search()]}
