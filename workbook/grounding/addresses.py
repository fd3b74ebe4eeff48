"""The addresses in a text: links, images, mail, whatever is around them."""

from __future__ import annotations

import html
import re
import unicodedata

_ADDRESS = re.compile(
    r"(?<![a-z0-9])(?:https?|ftp|wss?):\S+"  # a browser needs no slashes behind these
    r"|(?<![a-z0-9])[a-z][a-z0-9+.-]{1,20}:[/\\]+\S+"
    r"|<[a-z][a-z0-9+.-]{1,31}:[^\s<>]+>"  # a link in Markdown, whatever the scheme
    r"|(?<![:/\\\w])[/\\]{2}[\w-]+\.\S+"  # //host.example/…
    r"|\b(?:mailto|tel|sms|javascript):\S+|\bdata:[^\s,]{0,99},\S*"
    r"|\bwww\.\S+|\b(?:[\w-]{1,63}\.){1,9}[a-z]{2,24}(?::\d{1,5})?[/?]\S+"
    r"|[\w.+-]{1,64}@[\w-]{1,63}\.\w\S*"
    r"|\]\(\s*<?\s*[^)\s/:\\&%]{0,200}[/:\\&%]\S*"  # Markdown, and its definitions
    r"|^[ \t>*+.)\d-]*\[(?:\\.|[^\[\]\\]){1,999}\]:\s*\S+"
    r"|<[a-z][\w:-]*[\s/][^<>]*=[^<>]*|<style\b"  # any attribute: ">" may stand in one
    r"|(?<![\w.])(?<!version )(?<!release )(?<!section )"
    r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}"
    r"(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w.]*\d)(?::\d{1,5})?(?:/\S*)?"  # 203.0.113.7
    r"|\b[a-z0-9-]{2,63} ?[\[(](?:dot|\.)[\])] ?[a-z]{2,24}\b(?:/\S*)?"
    r"|\b[a-z0-9-]{2,63} dot "
    r"(?:com|org|net|info|io|dev|app|ai|xyz|example|test)\b(?:/\S*)?",
    re.IGNORECASE | re.MULTILINE,
)
_BEHIND = re.compile(
    r"[.,;:!?)\]}>\"'*_`。、，）」』]{1,3}$"
)  # signs behind an address


def addresses_in(text: str) -> list[str]:
    """Return the addresses in a text: links, images, mail, with or without a scheme.

    A host alone (a.example) is none: a page that makes a link of one needs more than
    this; so is a telephone number. One of numbers is (203.0.113.7), and one with its
    dot in a word or in brackets. Each goes up to the next blank, without up to three
    signs that end a sentence: rather too much than a part, for what is behind a known
    address may be data.

    >>> addresses_in("See [it](https://a.example/x?d=1), or write to ada@b.example.")
    ['https://a.example/x?d=1', 'ada@b.example']
    """
    seen = unicodedata.normalize("NFKC", html.unescape(text))
    found = [each for as_is in (text, seen) for each in _ADDRESS.findall(as_is)]
    return list(
        dict.fromkeys(_BEHIND.sub("", each.lstrip("]( \t\n<")) for each in found)
    )
