"""Read what is needed out of HTML, with the standard library's parser.

Only text comes out of here: no script is run, no address is opened, and nothing that
a page says is taken for an instruction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser

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
