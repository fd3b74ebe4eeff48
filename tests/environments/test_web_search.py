"""Search on the web: rows of services, asked in turn, against a played server."""

import json
from dataclasses import dataclass, field

import httpx
import pytest

from workbook.environments.search import Document
from workbook.environments.web_search import SERVICES, TIMEOUT_S, Service, web_search
from workbook.grounding.claims import find_citations
from workbook.tools.calls import ToolFailure

KEY = "secret-key-of-nobody-1234567890"
QUERY = "height of Mount Fuji"
HIT = {"title": "Mount Fuji", "pageid": 206, "link": "https://fuji.example/a"}
HIT |= {"snippet": 'The <span class="searchmatch">height</span> &amp; more'}
OTHER = {**HIT, "title": "Hakone", "pageid": 7, "link": "https://hakone.example/"}


def reply(*hits):
    """Return a page of results that either service could have sent."""
    return json.dumps({"organic": hits, "query": {"search": hits}})


@dataclass
class Server:
    """Plays a server: what it answers, and what it was asked."""

    status: int = 200
    body: str = reply(HIT, OTHER)
    headers: dict = field(default_factory=dict)
    error: Exception | None = None
    asked: list = field(default_factory=list)

    def answer(self, request):
        self.asked.append(request)
        if self.error:
            raise self.error
        return httpx.Response(self.status, headers=self.headers, text=self.body)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("SERPER_API_KEY", f"{KEY}\n")
    return Server()


@pytest.fixture
def service(server):
    """Make a backend that asks the played server."""
    with httpx.Client(transport=httpx.MockTransport(server.answer)) as client:
        yield lambda name: Service(name, client)


every = pytest.mark.parametrize("name", SERVICES)


@every
def test_a_row_becomes_documents(server, service, name):
    """each page is one document, with a text without tags and an id to cite it by"""
    server.body = reply(HIT, {**OTHER, "title": "Hakone \ud83d"})
    found, again = (service(name).search(query, 5) for query in (QUERY, "more"))
    assert [each.title for each in found] == ["Mount Fuji", "Hakone ?"]
    assert found[0].text == "The height & more"
    assert (0 < found[1].score < 1, found[1].source) == (True, name)
    assert found[1].url.startswith("https://")
    ids = [each.doc_id for each in found]
    assert ids == [each.doc_id for each in again]
    assert find_citations("".join(f"[{each}]" for each in ids)) == ids
    assert len(service(name).search(QUERY, 1)) == 1
    server.body = reply()
    assert service(name).search(QUERY, 5) == []


@every
@pytest.mark.parametrize(
    ("played", "kind", "retryable"),
    [
        ({"status": 429}, "busy", True),
        ({"status": 503}, "busy", True),
        ({"status": 403}, "refused", False),
        ({"status": 307, "headers": {"Location": "/elsewhere"}}, "refused", False),
        ({"error": httpx.ReadTimeout("3 s are over")}, "no_network", True),
        ({"body": ""}, "malformed", False),
        ({"body": '{"organic": 5, "query": []}'}, "malformed", False),
        ({"body": reply("no object")}, "malformed", False),
    ],
)
def test_what_goes_wrong_has_a_kind(server, service, name, played, kind, retryable):
    """a failure says its kind, whether to try again, what to do; and no key"""
    vars(server).update({"body": f"key {KEY}", **played})
    with pytest.raises(ToolFailure) as caught:
        service(name).search(QUERY, 5)
    error = caught.value.error
    assert (error.kind, error.retryable, bool(error.hint)) == (kind, retryable, True)
    assert KEY not in repr(error)
    assert len(server.asked) == 1  # no redirect is followed
    assert set(server.asked[0].extensions["timeout"].values()) == {TIMEOUT_S}


def test_the_key_comes_from_the_environment(server, service, monkeypatch):
    """the key is sent in a header alone; without one the service is not asked"""
    service("serper").search(QUERY, 5)
    [asked] = server.asked
    assert asked.headers["X-API-KEY"] == KEY
    assert KEY not in f"{asked.url}{asked.content}"
    monkeypatch.delenv("SERPER_API_KEY")
    with pytest.raises(ToolFailure, match="needs a key"):
        service("serper").search(QUERY, 5)
    assert len(server.asked) == 1


def test_services_are_asked_until_one_finds(monkeypatch):
    """who fails or finds nothing is passed; the bundled articles are the last resort"""

    def search(service, query, k):
        if service.name == "wikipedia":
            raise ToolFailure("busy", "wikipedia is down.", True, "Wait.")
        return []

    monkeypatch.setattr(Service, "search", search)
    found = web_search().run(query=QUERY)
    assert found["tried"] == [
        {"backend": "serper", "found": 0},
        {
            "backend": "wikipedia",
            "error": "busy",
            "message": "wikipedia is down.",
            "retryable": True,
            "hint": "Wait.",
        },
        {"backend": "local", "found": 3},
    ]
    assert (found["backend"], len(found["results"])) == ("local", 3)
    hit = Document("serper:1", "Fuji", "", 1.0)
    monkeypatch.setattr(Service, "search", lambda *asked: [hit])
    assert web_search().run(query=QUERY)["tried"] == [{"backend": "serper", "found": 1}]
