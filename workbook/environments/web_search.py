"""Search the web through several backends, one after the other, local last.

The first backend that finds something answers. The observation says which were tried
and why each of them failed. This module knows no HTTP.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from workbook.environments.search import Document, bundled_search
from workbook.environments.web_backends import SERVICES, Backend, Service, failure
from workbook.tools import Tool, ToolError, ToolFailure
from workbook.tools.threads import TimedOut, call_with_timeout

MAX_DOCUMENTS = 10
MAX_QUERY_CHARS = 300
BACKEND_LIMIT_S = 6.0  # three that hang leave the articles time within the tool's 20 s


class Cascade:
    """Backends in the order in which they are asked, each for `limit_s` at the most."""

    def __init__(self, backends: Sequence[Backend], limit_s: float = BACKEND_LIMIT_S):
        if not backends:
            raise ValueError("a cascade needs at least one backend")
        self.backends, self.limit_s = tuple(backends), limit_s

    def find(self, query: str, k: int = 3) -> dict[str, Any]:
        """Ask until one has documents; return them, who had them, and who was tried.

        ToolFailure `no_backend` if every one failed.
        """
        tried: list[dict[str, Any]] = []
        failed: dict[str, ToolError] = {}
        asked = {"query": query, "k": k}
        for backend in self.backends:
            documents: list[Document] = []
            try:
                documents = call_with_timeout(backend.search, asked, self.limit_s)
                tried.append({"backend": backend.name, "found": len(documents)})
            except Exception as error:  # a backend is as fallible as any tool
                failed[backend.name] = _reason(backend.name, error)
                why = asdict(failed[backend.name])
                tried.append({"backend": backend.name, "error": why.pop("kind"), **why})
            if documents:
                break
        if len(failed) == len(tried):
            told = " ".join(
                f"{name}: {error.message}" for name, error in failed.items()
            )
            again = any(error.retryable for error in failed.values())
            hint = " ".join(dict.fromkeys(e.hint for e in failed.values() if e.hint))
            message = f"no search could be made: {told}"
            raise ToolFailure("no_backend", message, again, hint)
        shown = [each.as_dict() for each in documents[:k]]
        return {"results": shown, "backend": backend.name, "tried": tried}


def _reason(name: str, error: Exception) -> ToolError:
    if isinstance(error, TimedOut):
        error = failure("timeout", name)
    if isinstance(error, ToolFailure):
        return error.error
    hint = f"Do not wait for {name}: it has a mistake."
    return ToolError("backend_raised", f"it raised {type(error).__name__}.", hint=hint)


def default_backends() -> tuple[Backend, ...]:
    """Return Serper, Baidu, Wikipedia and the bundled articles, in this order."""
    return (*map(Service, SERVICES), bundled_search())


USAGE = (
    "One query per call, at most 300 characters; k, the number of documents, is 1 to "
    '10. Right: {"query": "height of Mount Fuji", "k": 3}. '
    'Wrong: {"query": ["Fuji", "Everest"]}.'
)


def search_tool(
    name: str, description: str, run: Callable[..., Any], timeout_s: float | None
) -> Tool:
    """Return a tool with the arguments `query` and `k`."""
    text = {"type": "string", "minLength": 1, "maxLength": MAX_QUERY_CHARS}
    number = {"type": "integer", "minimum": 1, "maximum": MAX_DOCUMENTS}
    return Tool(
        name=name,
        description=f"{description} {USAGE}",
        parameters={"properties": {"query": text, "k": number}, "required": ["query"]},
        run=run,
        timeout_s=timeout_s,
        aliases={"q": "query", "question": "query", "input": "query"},
        repeatable=True,
    )


def wiki_search(backend: Backend | None = None) -> Tool:
    """Return the tool `WikiSearch` over the bundled articles."""
    search = (backend or bundled_search()).search

    def run(query: str, k: int = 3) -> dict[str, Any]:
        return {"results": [each.as_dict() for each in search(query, k)]}

    about = "Searches bundled articles, offline. A score near 1 fits, below 0.3 hardly."
    return search_tool("WikiSearch", about, run, timeout_s=None)


def web_search(backends: Sequence[Backend] | None = None) -> Tool:
    """Return the tool `WebSearch`: Serper, Baidu, Wikipedia, then bundled articles."""
    cascade = Cascade(default_backends() if backends is None else backends)
    about = "Searches the web and says which backend answered and which failed."
    return search_tool("WebSearch", about, cascade.find, timeout_s=20.0)


TOOLS = {"WikiSearch": wiki_search, "WebSearch": web_search}
