"""Three searches on the web behind one contract: Serper, Baidu, Wikipedia.

What goes wrong is a `ToolFailure` of a kind in `data/search.toml`. What a page says is
data: it is cut and handed on, never followed and never run.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, Protocol

from workbook.environments.query_terms import KNOWN, coverage, language
from workbook.environments.search import Document
from workbook.tools.calls import ToolFailure

if TYPE_CHECKING:
    import httpx
    from bs4 import BeautifulSoup

TIMEOUT_S = 3.0
MAX_BYTES = 2_000_000
MAX_HTML_CHARS = 200_000  # of the part that is read: a page of open tags takes a second
MAX_RESULTS = 20
MAX_TEXT_CHARS = 300
_CAPTCHA = re.compile(KNOWN["captcha"], re.IGNORECASE)
USER_AGENT = "react-workbook/0.1 (a course on agents; runs one search at a time)"


def failure(kind: str, name: str, detail: object = "", hint: str = "") -> ToolFailure:
    """Return what a service could not do."""
    what, retryable, usual = KNOWN["failures"][kind]
    message = f"{name} {what} ({detail})." if detail else f"{name} {what}."
    return ToolFailure(kind, message, retryable, hint or usual)


class Backend(Protocol):
    """A search that returns at most `k` documents, or raises `ToolFailure`."""

    @property
    def name(self) -> str: ...

    def search(self, query: str, k: int) -> list[Document]: ...


@dataclass(frozen=True)
class Service:
    """One of `SERVICES`, asked by `client`, or by a new one each time.

    The `api_key` of serper is by default `SERPER_API_KEY`.
    """

    name: str
    client: httpx.Client | None = field(default=None, repr=False)
    api_key: str | None = field(default=None, repr=False)

    def search(self, query: str, k: int) -> list[Document]:
        """Return at most `k` documents, each page once."""
        found: dict[str, Document] = {}
        try:
            for each in SERVICES[self.name](self, query, k):
                found.setdefault(each.doc_id, each)
        except ToolFailure:
            raise
        except Exception:  # json recurses, html.parser asserts: a page may be anything
            raise failure("malformed", self.name) from None
        return list(found.values())[:k]

    def fetch(self, method: str, url: str, **request: Any) -> str:
        """Return the body of one answer."""
        import httpx

        request["headers"] = {"User-Agent": USER_AGENT, **request.get("headers", {})}
        request["follow_redirects"] = method == "GET"  # a key goes to no other server
        stream = self.client.stream if self.client else httpx.stream
        deadline = time.monotonic() + TIMEOUT_S
        body = bytearray()
        try:
            with stream(method, url, timeout=TIMEOUT_S, **request) as answer:
                answer.raise_for_status()
                if "captcha" in answer.url.path or "wappass" in answer.url.host:
                    return "captcha"
                for chunk in answer.iter_bytes():
                    body += chunk
                    if len(body) > MAX_BYTES:
                        raise failure("malformed", self.name, f"over {MAX_BYTES} bytes")
                    if time.monotonic() > deadline:
                        raise failure("timeout", self.name)
        except httpx.HTTPStatusError as error:
            raise _refused(self.name, error.response) from None
        except httpx.TimeoutException:
            raise failure("timeout", self.name) from None
        except (httpx.TooManyRedirects, httpx.DecodingError) as error:
            raise failure("malformed", self.name, type(error).__name__) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise failure("no_network", self.name, type(error).__name__) from None
        return body.decode("utf-8", "replace")


def _serper(service: Service, query: str, k: int) -> Iterator[Document]:
    """Google's results through serper.dev."""
    key = (service.api_key or os.environ.get("SERPER_API_KEY", "")).strip()
    if not key:
        raise failure("no_key", service.name)
    asked = {"headers": {"X-API-KEY": key}, "json": {"q": query, "num": k}}
    page = service.fetch("POST", "https://google.serper.dev/search", **asked)
    for hit in _having(json.loads(page)["organic"], "title", "link"):
        text = str(hit.get("snippet") or "")
        yield document(service.name, query, hit["title"], hit["link"], text)


def _baidu(service: Service, query: str, k: int) -> Iterator[Document]:
    """Baidu's page of results, read as HTML; it answers robots with a captcha."""
    asked = {"wd": query, "rn": k}
    page = service.fetch("GET", "https://www.baidu.com/s", params=asked)
    if _CAPTCHA.search(page):
        raise failure("blocked", service.name)
    for title, url, text in baidu_results(page):
        yield document(service.name, query, title, url, text)


def _wikipedia(service: Service, query: str, k: int) -> Iterator[Document]:
    """Wikipedia's own search, in the language of the query."""
    lang = language(query)
    base = f"https://{lang}.wikipedia.org"
    asked = {"action": "query", "list": "search", "format": "json"}
    asked |= {"srsearch": query[:300], "srlimit": str(k)}
    page = service.fetch("GET", f"{base}/w/api.php", params=asked)
    for hit in _having(json.loads(page)["query"]["search"], "title"):
        number = int(hit["pageid"])  # Wikipedia's own, the same for ever
        url, doc_id = f"{base}/?curid={number}", f"wikipedia:{lang}:{number}"
        text = text_of(str(hit.get("snippet") or ""))
        yield document(service.name, query, hit["title"], url, text, doc_id)


SERVICES = {"serper": _serper, "baidu": _baidu, "wikipedia": _wikipedia}
"""How each is asked, and what stands in its answer; a mistake in it is `malformed`."""


def _refused(name: str, answer: httpx.Response) -> ToolFailure:
    status, detail = answer.status_code, f"HTTP {answer.status_code}"
    if status == 429:
        wait = answer.headers.get("Retry-After", "")
        hint = f"Wait {wait} s." if wait.isdecimal() else ""
        return failure("rate_limited", name, detail, hint)
    if status >= 500:
        return failure("server_error", name, detail)
    keyed = "X-API-KEY" in answer.request.headers and status in (401, 403)
    return failure("refused", name, detail, "Check the key." if keyed else "")


def baidu_results(page: str) -> list[tuple[str, str, str]]:
    """Return title, address and text of each result in a page's `content_left`."""
    start = re.search(r"""<div[^<>]*\bid=["']?content_left\b""", page)
    if start is None:
        raise ValueError("there is no list of results in the page")
    found, soup = [], _soup(page[start.start() :])
    for result in soup.find_all("div", class_="result", limit=MAX_RESULTS):
        if heading := result.find("h3"):
            link = heading.find("a")
            url = str(result.get("mu") or (link and link.get("href")) or "")
            title = " ".join(heading.extract().get_text().split())
            if title and url:
                found.append((title, url, " ".join(result.get_text(" ").split())))
    return found


def text_of(html: str) -> str:
    """Return the text of a piece of HTML, on one line, without scripts."""
    return " ".join(_soup(html).get_text().split())


def _soup(html: str) -> BeautifulSoup:
    """Return a piece of HTML as a tree, up to the first tag that never ends.

    After such a tag html.parser takes minutes. So it is first fed the text without
    being told that this is all: it stops where it cannot go on.
    """
    from bs4 import BeautifulSoup

    text, reader = html[:MAX_HTML_CHARS] + "\n", HTMLParser()
    reader.feed(text)
    return BeautifulSoup(text[: len(text) - len(reader.rawdata)], "html.parser")


def document(
    source: str, query: str, title: str, url: str, text: str, doc_id: str = ""
) -> Document:
    """Return a page as a document; its usual doc_id is a hash of its address."""
    title, url, text = (  # services cut an emoji in two
        part.encode("utf-8", "replace").decode("utf-8")
        for part in (title, url, text[:MAX_TEXT_CHARS])
    )
    digest = hashlib.sha256(url.encode("utf-8")).hexdigest()[:12]
    score = coverage(query, title, text)
    shown = url if url.startswith(("http://", "https://")) else ""
    return Document(doc_id or f"{source}:{digest}", title, text, score, source, shown)


def _having(hits: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    """Return the results that have these texts; one without is passed over."""
    return [hit for hit in hits if all(isinstance(hit.get(n), str) for n in names)]
