"""Search the web through several services, one after the other, local articles last.

A service is a row of `data/environments/search.toml`: its address, what it is asked,
how its reply is read. What a page says is data: it is cut and handed on.
"""

from __future__ import annotations

import hashlib
import html
import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from workbook.environments import search
from workbook.environments.search import KNOWN, Document
from workbook.tools import Tool, ToolFailure
from workbook.tools.calls import clipped

if TYPE_CHECKING:
    import httpx

SERVICES: dict[str, dict[str, Any]] = KNOWN["services"]
TIMEOUT_S = 3.0  # of a request, until something comes
AGENT = "react-workbook/0.1 (a course on agents; runs one search at a time)"


@dataclass(frozen=True)
class Service:
    """One of `SERVICES`, asked by `client`, or by a new one each time."""

    name: str
    client: httpx.Client | None = None

    def search(self, query: str, k: int) -> list[Document]:
        """Return at most `k` documents; ToolFailure says what kept it from that."""
        import httpx

        row, headers = SERVICES[self.name], {"User-Agent": AGENT}
        if "key" in row:
            headers["X-API-KEY"] = os.environ.get(row["key"], "").strip()
            if not headers["X-API-KEY"]:
                raise self._failure("no_key")
        asked = {row["query"]: query, row["number"]: k, **row.get("more", {})}
        body: Any = {"json" if row["method"] == "POST" else "params": asked}
        request = self.client.request if self.client else httpx.request
        try:  # no redirect is followed: a key goes to no other server
            reply = request(
                row["method"], row["url"], headers=headers, timeout=TIMEOUT_S, **body
            )
            found = reply.raise_for_status().json()
            for key in row["path"]:
                found = found[key]
            return [self._document(row, query, hit) for hit in found[:k]]
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            busy = status == 429 or status >= 500
            raise self._failure("busy" if busy else "refused", str(status)) from None
        except httpx.HTTPError as error:
            raise self._failure("no_network", type(error).__name__) from None
        except (ValueError, LookupError, TypeError):
            raise self._failure("malformed") from None

    def _document(self, row: dict[str, Any], query: str, hit: Any) -> Document:
        """Return a result; its score is the share of the query's terms that it has."""
        url = row["address"].format(**hit)
        text = html.unescape(re.sub("<[^>]*>", "", hit.get("snippet", "")))
        title, text = clipped(hit["title"], 300), clipped(text, 300)
        page, terms = search.normalise(f"{title} {text}"), search.terms_of(query)
        score = round(sum(term in page for term in terms) / max(len(terms), 1), 4)
        doc_id = f"{self.name}:{hashlib.sha256(url.encode()).hexdigest()[:12]}"
        return Document(doc_id, title, text, score, self.name, url)

    def _failure(self, kind: str, detail: str = "") -> ToolFailure:
        what, retryable, hint = KNOWN["failures"][kind]
        more = f" ({detail})" if detail else ""
        return ToolFailure(kind, f"{self.name} {what}{more}.", retryable, hint)


def ask_in_turn(backends: Iterable[Any], query: str, k: int = 3) -> dict[str, Any]:
    """Ask until a backend has documents; return them, who had them, who was tried.

    A backend has a `name` and `search(query, k)`, which returns documents.
    """
    tried: list[dict[str, Any]] = []
    found: list[Document] = []
    for each in backends:
        try:
            found = each.search(query, k)
            tried.append({"backend": each.name, "found": len(found)})
        except ToolFailure as failure:
            why = asdict(failure.error)
            tried.append({"backend": each.name, "error": why.pop("kind"), **why})
        if found:
            break
    shown = [each.as_dict() for each in found]
    return {"results": shown, "backend": tried[-1]["backend"], "tried": tried}


def web_search() -> Tool:
    """Return the tool `WebSearch`: the services, and the bundled articles last."""

    def run(query: str, k: int = 3) -> dict[str, Any]:
        backends = [*map(Service, SERVICES), search.bundled_search()]
        return ask_in_turn(backends, query, k)

    about = "Searches the web and says which backend answered and which failed."
    return search.search_tool("WebSearch", about, run, timeout_s=20.0)


TOOLS = {"WebSearch": web_search}
