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
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, Protocol

from workbook.props.query_terms import coverage
from workbook.props.search import Document
from workbook.tools.calls import ToolFailure

if TYPE_CHECKING:
    import httpx

TIMEOUT_S = 3.0
MAX_BYTES = 2_000_000
USER_AGENT = "react-workbook/0.1 (a course on agents; runs one search at a time)"


class WebError(StrEnum):
    """Why a search on the web has no result."""

    NO_KEY = "no_key"
    BLOCKED = "blocked"
    NO_NETWORK = "no_network"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    MALFORMED = "malformed"


def malformed(name: str, what: str) -> ToolFailure:
    """Return the failure of a service that answers in a shape that is not its own."""
    return ToolFailure(
        WebError.MALFORMED, f"{name} answered, but {what}.", hint="Use another backend."
    )


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn what reading an unexpected answer raises into a `malformed` failure."""
    try:
        yield
    # html.parser asserts that nobody writes "<![foo[".
    except (
        LookupError,
        TypeError,
        ValueError,
        RecursionError,
        AssertionError,
    ) as error:
        what = f"not in its own shape ({type(error).__name__})"
        raise malformed(name, what) from None


def fetch(
    name: str, client: httpx.Client | None, method: str, url: str, **request: Any
) -> str:
    """Return the body of one answer, or raise `ToolFailure` in words of our own.

    Args:
        name: of the backend, for the message.
        client: with its own timeout; None makes one for this request, 3 s.
        method: `GET`, which follows redirects, or `POST`, which does not.
        url: the address.
        request: `headers`, `params` and `json` as httpx has them.

    Raises:
        ToolFailure: `timeout`, `no_network`, `rate_limited`, `server_error`,
            `refused`, or `malformed` above 2 MB.
    """
    import httpx

    headers = {"User-Agent": USER_AGENT, **request.pop("headers", {})}
    own = client or httpx.Client()
    try:
        with own.stream(
            method,
            url,
            headers=headers,
            timeout=TIMEOUT_S if client is None else client.timeout,
            follow_redirects=method == "GET",  # a key goes to no other server
            **request,
        ) as answer:
            _check_status(name, answer.status_code, answer.headers, headers)
            if "captcha" in answer.url.path or "wappass" in answer.url.host:
                return "captcha"
            return _body(name, answer, deadline=time.monotonic() + TIMEOUT_S)
    except httpx.TimeoutException:
        raise timed_out(name) from None
    except (httpx.TooManyRedirects, httpx.DecodingError) as error:
        raise malformed(name, f"unreadably ({type(error).__name__})") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ToolFailure(
            WebError.NO_NETWORK,
            f"{name} could not be reached ({type(error).__name__}).",
            retryable=True,
            hint="Check the network, or use the local articles.",
        ) from None
    finally:
        if client is None:
            own.close()


def _body(name: str, answer: httpx.Response, deadline: float) -> str:
    """Read until the end, but neither for ever nor without measure."""
    body = bytearray()
    for chunk in answer.iter_bytes():
        body += chunk
        if len(body) > MAX_BYTES:
            raise malformed(name, f"it is longer than {MAX_BYTES} bytes")
        if time.monotonic() > deadline:
            raise timed_out(name)
    return body.decode("utf-8", "replace")


def _check_status(
    name: str, status: int, answered: Mapping[str, str], sent: Mapping[str, str]
) -> None:
    if status == 429:
        wait = answered.get("Retry-After", "")
        hint = f"Wait {wait} s." if wait.isdecimal() else "Wait a minute."
        raise ToolFailure(
            WebError.RATE_LIMITED,
            f"{name} was asked too often (HTTP 429).",
            retryable=True,
            hint=hint,
        )
    if status >= 500:
        raise ToolFailure(
            WebError.SERVER_ERROR,
            f"{name} has an error of its own (HTTP {status}).",
            retryable=True,
            hint="Try again later.",
        )
    if status >= 300:
        keyed = "X-API-KEY" in sent and status in (401, 403)
        hint = "Check the key." if keyed else "Use another backend."
        raise ToolFailure(
            WebError.REFUSED, f"{name} refused the search (HTTP {status}).", hint=hint
        )


def timed_out(name: str) -> ToolFailure:
    """Return the failure of a service that takes too long."""
    return ToolFailure(
        WebError.TIMEOUT,
        f"{name} did not answer in time.",
        retryable=True,
        hint="Try again later.",
    )


MAX_PIECE_CHARS = 5000
_SILENT = ("script", "style", "noscript", "template")
_CAPTCHA = re.compile(
    r"^captcha$|百度安全验证|wappass\.baidu\.com|<title>[^<]*captcha", re.I
)


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a page: title, address, and the text below."""

    title: str
    url: str
    text: str


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._silent += tag in _SILENT

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in _SILENT and self._silent > 0

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data)


class _Results(HTMLParser):
    """Collects `<div class="result …" mu="address"><h3>title</h3> text </div>`."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.has_list = False
        self.hits: list[Hit] = []
        self._divs = 0  # open divs inside the result, 0 outside
        self._in: list[str] = []  # h3, script … that are open
        self._url = ""
        self._title: list[str] = []
        self._text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if given.get("id") == "content_left":
            self.has_list = True
        if not self._divs:
            if tag == "div" and "result" in given.get("class", "").split():
                self._divs, self._url = 1, given.get("mu", "")
                self._in, self._title, self._text = [], [], []
            return
        if tag == "div":
            self._divs += 1
        elif tag == "h3" or tag in _SILENT:
            self._in.append(tag)
        elif tag == "a" and "h3" in self._in and not self._url:
            self._url = given.get("href", "")

    def handle_endtag(self, tag: str) -> None:
        if not self._divs:
            return
        if tag in self._in:
            self._in.remove(tag)
        if tag == "div":
            self._divs -= 1
            if not self._divs:
                self._close()

    def handle_data(self, data: str) -> None:
        if not self._divs or any(tag in _SILENT for tag in self._in):
            return
        (self._title if "h3" in self._in else self._text).append(data)

    def _close(self) -> None:
        title = one_line("".join(self._title))
        if title and self._url:
            self.hits.append(Hit(title, self._url, one_line(" ".join(self._text))))


def baidu_results(page: str) -> list[Hit] | None:
    """Return the results of one of Baidu's pages; None when it is no such page.

    A page of results holds an element with the id `content_left`; it is empty when
    nothing was found.
    """
    parser = _Results()
    parser.feed(page)  # no close(): a tag that never ends would take it minutes
    return parser.hits if parser.has_list else None


def is_captcha(page: str) -> bool:
    """Tell whether the page asks for a proof that somebody is not a program."""
    return bool(_CAPTCHA.search(page))


def text_of(html: str) -> str:
    """Return the text of a piece of HTML, on one line, without scripts.

    A long piece is read up to `MAX_PIECE_CHARS`.

    >>> text_of("<b>Mount</b> Fuji &amp; <script>alert(1)</script>Hakone")
    'Mount Fuji & Hakone'
    """
    parser = _Text()
    parser.feed(html[:MAX_PIECE_CHARS])
    parser.close()
    return one_line("".join(parser.parts))


def one_line(text: str) -> str:
    """Return the text with every run of white space as one space."""
    return " ".join(text.split())


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
