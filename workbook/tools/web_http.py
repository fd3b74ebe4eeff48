"""Ask a server once, and say in our own words what went wrong.

Neither the address nor the server's words go into an error: they may hold the key.
What comes back is limited in time and in size. This module knows no service.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any

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
