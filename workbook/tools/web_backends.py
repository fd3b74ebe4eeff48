"""Three searches on the web behind one contract: Serper, Baidu, Wikipedia.

Each has `name` and `search(query, k) -> list[Document]`, and raises `ToolFailure` with
a kind that says what went wrong. What a page says is data: it is cut and handed on,
never followed and never run. A key is sent and shown nowhere.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from workbook.tools.calls import ToolFailure
from workbook.tools.pages import baidu_results, is_captcha, text_of
from workbook.tools.query_terms import coverage
from workbook.tools.search_local import Document
from workbook.tools.web_http import WebError, fetch, malformed, reading

if TYPE_CHECKING:
    import httpx

MAX_TEXT_CHARS = 300


class Backend(Protocol):
    """A search: the bundled articles, or a service."""

    @property
    def name(self) -> str:
        """What its documents name as their source."""
        ...

    def search(self, query: str, k: int) -> list[Document]:
        """Return at most `k` documents; empty when there are none.

        Raises:
            ToolFailure: it could not search.
        """
        ...


@dataclass(frozen=True)
class Serper:
    """Google's results through serper.dev; needs a key.

    Args:
        api_key: by default that of the environment, `SERPER_API_KEY`.
        base_url: where the service is.
        client: an `httpx.Client`; a new one a search when not given.
    """

    api_key: str | None = field(default=None, repr=False)
    base_url: str = "https://google.serper.dev"
    client: httpx.Client | None = field(default=None, repr=False)
    name: str = "serper"

    def search(self, query: str, k: int) -> list[Document]:
        """Return Google's organic results."""
        key = (self.api_key or os.environ.get("SERPER_API_KEY", "")).strip()
        if not key:
            raise ToolFailure(
                WebError.NO_KEY,
                "serper needs a key and there is none.",
                hint="Set SERPER_API_KEY.",
            )
        body = fetch(
            self.name,
            self.client,
            "POST",
            f"{self.base_url}/search",
            headers={"X-API-KEY": key},
            json={"q": query, "num": k},
        )
        with reading(self.name):
            return first_of_each(
                document(self.name, query, hit["title"], hit["link"], hit["snippet"])
                for hit in _having(json.loads(body)["organic"], "title", "link")
            )[:k]


@dataclass(frozen=True)
class Baidu:
    """Baidu's page of results, read as HTML; it answers robots with a captcha."""

    base_url: str = "https://www.baidu.com"
    client: httpx.Client | None = field(default=None, repr=False)
    name: str = "baidu"

    def search(self, query: str, k: int) -> list[Document]:
        """Return the results of the first page."""
        page = fetch(
            self.name,
            self.client,
            "GET",
            f"{self.base_url}/s",
            params={"wd": query, "rn": k},
        )
        if is_captcha(page):
            raise ToolFailure(
                WebError.BLOCKED,
                "baidu asks for a captcha and shows no results.",
                hint="Search by hand, or use another backend.",
            )
        with reading(self.name):
            found = baidu_results(page)
        if found is None:
            raise malformed(self.name, "there is no list of results in the page")
        return first_of_each(
            document(self.name, query, hit.title, hit.url, hit.text) for hit in found
        )[:k]


@dataclass(frozen=True)
class Wikipedia:
    """Wikipedia's own search, in the language of the query.

    Args:
        base_url: `{lang}` in it becomes `en`, `ja` or `zh`.
    """

    base_url: str = "https://{lang}.wikipedia.org"
    client: httpx.Client | None = field(default=None, repr=False)
    name: str = "wikipedia"

    def search(self, query: str, k: int) -> list[Document]:
        """Return articles; their doc_id is Wikipedia's own number of the page."""
        lang = language(query)
        base = self.base_url.replace("{lang}", lang)
        params = {"action": "query", "list": "search", "format": "json"}
        body = fetch(
            self.name,
            self.client,
            "GET",
            f"{base}/w/api.php",
            params={**params, "srsearch": query[:300], "srlimit": str(k)},
        )
        with reading(self.name):
            return first_of_each(
                document(
                    self.name,
                    query,
                    hit["title"],
                    f"{base}/?curid={int(hit['pageid'])}",
                    text_of(hit["snippet"]),
                    doc_id=f"wikipedia:{lang}:{int(hit['pageid'])}",
                )
                for hit in _having(json.loads(body)["query"]["search"], "title")
            )[:k]


def document(
    source: str, query: str, title: str, url: str, text: str, doc_id: str = ""
) -> Document:
    """Return a page as a document, scored by `coverage`.

    Its doc_id, where the service has none, is a hash of the address: the same page
    has the same id in every search.
    """
    title, url, text = (  # services cut an emoji in two
        part.encode("utf-8", "replace").decode("utf-8")
        for part in (title, url, text[:MAX_TEXT_CHARS])
    )
    digest = hashlib.sha256(url.encode("utf-8")).hexdigest()[:12]
    score = coverage(query, title, text)
    shown = url if url.startswith(("http://", "https://")) else ""
    return Document(doc_id or f"{source}:{digest}", title, text, score, source, shown)


def first_of_each(documents: Iterable[Document]) -> list[Document]:
    """Return the documents without those whose doc_id came before."""
    found: dict[str, Document] = {}
    for each in documents:
        found.setdefault(each.doc_id, each)
    return list(found.values())


def language(query: str) -> str:
    """Return `ja` for kana, `zh` for Chinese characters alone, otherwise `en`.

    >>> language("富士山の高さ"), language("长城"), language("Vienna")
    ('ja', 'zh', 'en')
    """
    if re.search("[\u3040-\u30ff]", query):
        return "ja"
    return "zh" if re.search("[\u3400-\u9fff]", query) else "en"


def _having(hits: Any, *names: str) -> Iterator[dict[str, Any]]:
    """Yield the results that have these texts; a missing snippet is empty."""
    if not isinstance(hits, list):
        raise TypeError(f"results are {type(hits).__name__}, not a list")
    for hit in hits:
        if isinstance(hit, dict) and all(isinstance(hit.get(n), str) for n in names):
            yield {**hit, "snippet": str(hit.get("snippet") or "")}
