"""Search on the web: rows of services and a cascade, against a played server."""

import json
import threading
import time
from dataclasses import dataclass, field

import httpx
import pytest

from workbook.environments.search import LocalSearch
from workbook.environments.web_search import (
    BACKEND_LIMIT_S,
    SERVICES,
    TIMEOUT_S,
    Cascade,
    Service,
    web_search,
)
from workbook.environments.wiki import Article
from workbook.grounding.claims import find_citations
from workbook.tools.calls import ToolCall, ToolFailure
from workbook.tools.registry import ToolRegistry

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
    server.body = reply(HIT, OTHER, {**HIT, "title": "again"})
    found, again = (service(name).search(query, 5) for query in (QUERY, "more"))
    assert [each.title for each in found] == ["again", "Hakone"]
    assert found[0].text == "The height & more"
    assert (0 < found[1].score < 1, found[1].source) == (True, name)
    assert found[1].url.startswith("https://")
    ids = [each.doc_id for each in found]
    assert ids == [each.doc_id for each in again]
    assert find_citations("".join(f"[{each}]" for each in ids)) == ids
    assert len(service(name).search(QUERY, 1)) == 1
    server.body = reply()
    assert service(name).search(QUERY, 5) == []
    half_an_emoji = {**HIT, "title": "Fuji \ud83d", "link": "javascript:alert(1)"}
    server.body = reply(half_an_emoji)
    [found] = service(name).search(QUERY, 5)
    assert (found.title, found.url[:4]) == ("Fuji ?", "http" * (name != "serper"))


@every
@pytest.mark.parametrize(
    ("played", "kind", "retryable"),
    [
        ({"status": 429}, "rate_limited", True),
        ({"status": 503}, "server_error", True),
        ({"status": 403}, "refused", False),
        ({"status": 307, "headers": {"Location": "/elsewhere"}}, "refused", False),
        ({"error": httpx.ReadTimeout("3 s are over")}, "timeout", True),
        ({"error": httpx.ConnectError("no route to host")}, "no_network", True),
        ({"body": ""}, "malformed", False),
        ({"body": "[" * 99_999}, "malformed", False),
        ({"body": '{"organic": 5, "query": []}'}, "malformed", False),
        ({"body": reply({"title": None})}, "malformed", False),
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


LOCAL = LocalSearch([Article("w1", "Mount Fuji", "Mount Fuji is 3,776 m high.")])


@dataclass(frozen=True)
class Plays:
    """A backend that does one thing: return documents, or raise."""

    name: str
    outcome: object

    def search(self, query, k):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def broken(name, kind="timeout", retryable=True):
    failure = ToolFailure(kind, f"{name} is down.", retryable, f"Fix {name}.")
    return Plays(name, failure)


def test_the_cascade_stops_at_the_first_that_finds():
    """who fails, raises or finds nothing is passed, and nobody is asked after a find"""
    mistake = Plays("b", RuntimeError(f"key {KEY}"))
    others = [broken("a"), mistake, Plays("c", [])]
    found = Cascade([*others, LOCAL, Plays("never", AssertionError())]).find(QUERY)
    assert [tried["backend"] for tried in found["tried"]] == [*"abc", "local"]
    assert [tried.get("error") for tried in found["tried"]] == [
        *("timeout", "mistake", None, None)
    ]
    assert KEY not in str(found)
    assert Cascade(others).find(QUERY)["results"] == []  # c could search
    assert (found["backend"], found["results"][0]["doc_id"]) == ("local", "w1")


def test_all_backends_failed():
    """when every backend failed, the error observation tells each one's reason"""
    backends = [broken("a"), broken("b", "no_key", retryable=False)]
    registry = ToolRegistry([web_search(backends)])
    error = registry.run(ToolCall("WebSearch", {"query": QUERY}, "call_1")).error
    assert (error.kind, error.retryable) == ("no_backend", True)
    assert "a is down. b is down." in error.message
    assert error.hint == "Fix a. Fix b."


def test_a_backend_that_hangs_is_left_behind():
    """a backend that does not come back in time does not keep the others from it"""
    gate = threading.Event()

    @dataclass(frozen=True)
    class Hangs:
        name: str = "slow"

        def search(self, query, k):
            gate.wait(10)
            return []

    started = time.perf_counter()
    found = Cascade([Hangs(), LOCAL], limit_s=0.05).find(QUERY)
    gate.set()
    assert time.perf_counter() - started < 1
    assert (found["tried"][0]["error"], found["backend"]) == ("timeout", "local")
    assert len(SERVICES) * BACKEND_LIMIT_S < web_search().timeout_s


def test_local_is_the_last_resort(monkeypatch):
    """the services are asked before the bundled articles"""
    monkeypatch.setattr(Service, "search", lambda *asked: [])
    tried = web_search().run(query=QUERY)["tried"]
    assert [each["backend"] for each in tried] == [*SERVICES, "local"]
