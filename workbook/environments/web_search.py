"""Search the web through several services, one after the other, local articles last.

A service is a row of `data/environments/search.toml`: its address, what it is asked,
how its reply is read. What a page says is data: it is cut and handed on.
"""

from __future__ import annotations

import hashlib
import html
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from workbook.environments import search
from workbook.environments.search import KNOWN, Document
from workbook.tools import Tool, ToolFailure
from workbook.tools.threads import TimedOut, call_with_timeout

if TYPE_CHECKING:
    import httpx

SERVICES: dict[str, dict[str, Any]] = KNOWN["services"]
TIMEOUT_S = 3.0  # of a request, until something comes
BACKEND_LIMIT_S = 6.0  # two that hang leave the articles time within the tool's 20 s
MAX_TEXT_CHARS = 300
AGENT = "react-workbook/0.1 (a course on agents; runs one search at a time)"


@dataclass(frozen=True)
class Service:
    """One of `SERVICES`, asked by `client`, or by a new one each time."""

    name: str
    client: httpx.Client | None = field(default=None, repr=False)

    def search(self, query: str, k: int) -> list[Document]:
        """Return at most `k` documents, each page once."""
        row = SERVICES[self.name]
        asked = {row["query"]: query, row["number"]: k, **row.get("more", {})}
        reply = self._reply(row, asked)
        try:
            found = reply.json()
            for key in row["path"]:
                found = found[key]
            documents = [self._document(row, query, hit) for hit in found]
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise failure("malformed", self.name) from None
        return list({each.doc_id: each for each in documents}.values())[:k]

    def _reply(self, row: dict[str, Any], asked: dict[str, Any]) -> httpx.Response:
        import httpx

        headers = {"User-Agent": AGENT}
        if "key" in row:
            headers["X-API-KEY"] = os.environ.get(row["key"], "").strip()
            if not headers["X-API-KEY"]:
                raise failure("no_key", self.name)
        body: Any = {"json" if row["method"] == "POST" else "params": asked}
        try:  # no redirect is followed: a key goes to no other server
            request = self.client.request if self.client else httpx.request
            reply = request(
                row["method"], row["url"], headers=headers, timeout=TIMEOUT_S, **body
            )
            return reply.raise_for_status()
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            kind = "server_error" if status >= 500 else "refused"
            kind = "rate_limited" if status == 429 else kind
            raise failure(kind, self.name, f"HTTP {status}") from None
        except httpx.TimeoutException:
            raise failure("timeout", self.name) from None
        except httpx.HTTPError as error:
            raise failure("no_network", self.name, type(error).__name__) from None

    def _document(self, row: dict[str, Any], query: str, hit: Any) -> Document:
        """Return a result; its score is the share of the query's terms that it has."""
        text = html.unescape(re.sub("<[^>]*>", "", hit.get("snippet", "")))
        address = row["address"].format(**hit)
        title, text, url = (  # services cut an emoji in two
            part.encode("utf-8", "replace").decode("utf-8")
            for part in (hit["title"], text[:MAX_TEXT_CHARS], address)
        )
        page, terms = search.normalise(f"{title} {text}"), search.terms_of(query)
        score = round(sum(term in page for term in terms) / max(len(terms), 1), 4)
        doc_id = f"{self.name}:{hashlib.sha256(url.encode()).hexdigest()[:12]}"
        shown = url if url.startswith(("http://", "https://")) else ""
        return Document(doc_id, title, text, score, self.name, shown)


def failure(kind: str, name: str, detail: str = "") -> ToolFailure:
    """Return what a service could not do, in the words of `search.toml`."""
    what, retryable, hint = KNOWN["failures"][kind]
    more = f" ({detail})" if detail else ""
    return ToolFailure(kind, f"{name} {what}{more}.", retryable, hint)


class Cascade:
    """Backends in the order in which they are asked, each for `limit_s` at the most.

    A backend has a `name` and `search(query, k)`, which returns documents.
    """

    def __init__(self, backends: Sequence[Any], limit_s: float = BACKEND_LIMIT_S):
        self.backends, self.limit_s = tuple(backends), limit_s

    def find(self, query: str, k: int = 3) -> dict[str, Any]:
        """Ask until one has documents; return them, who had them, and who was tried.

        ToolFailure `no_backend` if every one failed.
        """
        tried: list[dict[str, Any]] = []
        found: list[Document] | None = None
        for each in self.backends:
            try:
                asked = {"query": query, "k": k}
                found = call_with_timeout(each.search, asked, self.limit_s)
                tried.append({"backend": each.name, "found": len(found or ())})
            except Exception as error:  # a backend is as fallible as any tool
                why = asdict(_reason(each.name, error).error)
                tried.append({"backend": each.name, "error": why.pop("kind"), **why})
                continue
            if found:
                break
        if found is None:
            told = " ".join(each["message"] for each in tried)
            hints = " ".join(dict.fromkeys(each["hint"] for each in tried))
            again = any(each["retryable"] for each in tried)
            message = f"no search could be made: {told}"
            raise ToolFailure("no_backend", message, again, hints)
        shown = [each.as_dict() for each in found[:k]]
        return {"results": shown, "backend": tried[-1]["backend"], "tried": tried}


def _reason(name: str, error: Exception) -> ToolFailure:
    if isinstance(error, TimedOut):
        return failure("timeout", name)
    if isinstance(error, ToolFailure):
        return error
    return failure("mistake", name, type(error).__name__)


def web_search(backends: Sequence[Any] | None = None) -> Tool:
    """Return the tool `WebSearch`: the services, and the bundled articles last."""
    usual = [*map(Service, SERVICES), search.bundled_search()]
    cascade = Cascade(usual if backends is None else backends)
    about = "Searches the web and says which backend answered and which failed."
    return search.search_tool("WebSearch", about, cascade.find, timeout_s=20.0)


TOOLS = {"WebSearch": web_search}
