"""Search Wikipedia, and the bundled articles where it finds nothing or fails.

What a page says is data: it is cut and handed on.
"""

from __future__ import annotations

import html
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbook.environments import search
from workbook.environments.search import Document
from workbook.runtime.calls import ToolFailure, clipped
from workbook.runtime.tools import Tool

if TYPE_CHECKING:
    import httpx

ADDRESS = "https://en.wikipedia.org/w"
TIMEOUT_S = 3.0  # of a request, until something comes
AGENT = "react-workbook/0.1 (a course on agents; runs one search at a time)"


def wikipedia(query: str, k: int, client: httpx.Client | None = None) -> list[Document]:
    """Return at most `k` pages of Wikipedia; ToolFailure says what went wrong."""
    import httpx

    asked = {"action": "query", "list": "search", "format": "json"}
    asked |= {"srsearch": query, "srlimit": str(k)}
    about: Any = {"params": asked, "headers": {"User-Agent": AGENT}}
    try:
        get = client.get if client else httpx.get
        reply = get(f"{ADDRESS}/api.php", timeout=TIMEOUT_S, **about)
        hits = reply.raise_for_status().json()["query"]["search"]
        return [_document(query, hit) for hit in hits]
    except httpx.HTTPStatusError as error:
        status, hint = error.response.status_code, "Use the articles, or wait a minute."
        later, said = status == 429 or status >= 500, f"Wikipedia answered {status}."
        raise ToolFailure("refused", said, later, hint) from None
    except httpx.HTTPError as error:
        said = f"Wikipedia could not be reached ({type(error).__name__})."
        raise ToolFailure("no_network", said, True, "Check the network.") from None
    except (ValueError, LookupError, TypeError):
        said, hint = "Wikipedia answered unreadably.", "Use the articles."
        raise ToolFailure("malformed", said, hint=hint) from None


def _document(query: str, hit: dict[str, Any]) -> Document:
    """Return a result; its score is the share of the query's terms that it has."""
    text = html.unescape(re.sub("<[^>]*>", "", hit["snippet"]))
    title, text = clipped(hit["title"], 300), clipped(text, 300)
    page, terms = search.normalise(f"{title} {text}"), search.terms_of(query)
    score = round(sum(term in page for term in terms) / max(len(terms), 1), 4)
    number = hit["pageid"]
    url = f"{ADDRESS}/index.php?curid={number}"
    return Document(f"wikipedia:{number}", title, text, score, url)


def web_search(client: httpx.Client | None = None) -> Tool:
    """Return the tool `WebSearch`, which says who was asked and what came of it."""

    def run(query: str, k: int = 3) -> dict[str, Any]:
        tried: list[dict[str, Any]] = [{"backend": "wikipedia"}]
        found: list[Document] = []
        try:
            found = wikipedia(query, k, client)
            tried[0]["found"] = len(found)
        except ToolFailure as failure:
            why = asdict(failure.error)
            tried[0] |= {"error": why.pop("kind"), **why}
        if not found:
            found = search.bundled_search().search(query, k)
            tried.append({"backend": "local", "found": len(found)})
        shown = [each.as_dict() for each in found]
        return {"results": shown, "backend": tried[-1]["backend"], "tried": tried}

    about = "Searches the web and says which backend answered and which failed."
    return search.search_tool("WebSearch", about, run, timeout_s=20.0)


TOOLS = {"WebSearch": web_search}
