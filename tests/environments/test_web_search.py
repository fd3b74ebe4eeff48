"""Search on the web: Wikipedia and what can go wrong, against a played server."""

import json

import httpx
import pytest

from workbook.environments.web_search import TIMEOUT_S, web_search
from workbook.grounding.claims import find_citations
from workbook.runtime.calls import ToolCall
from workbook.runtime.tools import ToolRegistry

HIT = {"title": "Mount Fuji \ud83d", "pageid": 206}  # half an emoji
HIT |= {"snippet": 'The <span class="searchmatch">height</span> &amp; more'}


def seen(*hits, query="height of Mount Fuji", **reply):
    """Return the result of a search, and what the server was asked."""
    asked = []

    def answer(request):
        asked.append(request)
        if isinstance(reply.get("error"), Exception):
            raise reply["error"]
        more = reply or {"text": json.dumps({"query": {"search": hits}})}
        return httpx.Response(**{"status_code": 200, **more})

    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        registry = ToolRegistry([web_search(client)])
        call = ToolCall("WebSearch", {"query": query, "k": 2}, "call_1")
        return registry.run(call).result, asked


def test_a_page_becomes_a_document():
    """a page is one document, with a text without tags and an id to cite it by"""
    found, [asked] = seen(HIT)
    assert found["tried"] == [{"backend": "wikipedia", "found": 1}]
    [page] = found["results"]
    assert (page["title"], page["text"]) == ("Mount Fuji ?", "The height & more")
    assert page["score"] == 1.0
    assert page["url"] == "https://en.wikipedia.org/w/index.php?curid=206"
    assert find_citations(f"[{page['doc_id']}]") == [page["doc_id"]]
    assert asked.url.params["srsearch"] == "height of Mount Fuji"
    assert asked.url.params["srlimit"] == "2"


@pytest.mark.parametrize(
    ("reply", "kind", "retryable"),
    [
        ({"status_code": 429}, "refused", True),
        ({"status_code": 503}, "refused", True),
        ({"status_code": 403}, "refused", False),
        (
            {"status_code": 307, "headers": {"Location": "/elsewhere"}},
            *("refused", False),
        ),
        ({"error": httpx.ReadTimeout("3 s are over")}, "no_network", True),
        ({"text": ""}, "malformed", False),
        ({"json": {"query": []}}, "malformed", False),
        ({"json": {"query": {"search": ["no object"]}}}, "malformed", False),
    ],
)
def test_what_goes_wrong_is_told_beside_the_articles(reply, kind, retryable):
    """a failure says its kind, whether to try again, what to do; the articles answer"""
    found, asked = seen(**reply)
    failed, local = found["tried"]
    assert (failed["error"], failed["retryable"]) == (kind, retryable)
    assert failed["message"].startswith("Wikipedia")
    assert failed["hint"]
    assert local == {"backend": "local", "found": 2}
    assert (found["backend"], len(found["results"])) == ("local", 2)
    assert len(asked) == 1  # no redirect is followed
    assert set(asked[0].extensions["timeout"].values()) == {TIMEOUT_S}


def test_the_articles_are_asked_where_nothing_is_found():
    """a search that finds nothing is told, and the articles are searched"""
    found, _ = seen()
    assert found["tried"][0] == {"backend": "wikipedia", "found": 0}
    assert found["backend"] == "local"
