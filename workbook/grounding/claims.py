"""An answer, cut into the sentences that state a fact, and what each of them cites.

A citation is a doc_id in square brackets at the end of its sentence: `[doc_3]`. That is
the form to ask a model for; `find_citations` says what else is read as one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from workbook.grounding.words import WORDS

MOST_HIDDEN = 400  # characters: a longer sentence is a claim, and is not searched

_BRACKET = r"[\[【［]\^?([^\[\]【】［］\n]{1,200})[\]】］]"
BRACKETS = re.compile(_BRACKET)
"""Square brackets; its group 1 is what stands in them."""
DOC_ID = re.compile(
    r"(?:(?i:doc)[ _-]?(?=\d{1,6}\Z)|(?=\d{1,3}\Z))(?P<number>\d+)"
    r"|[A-Za-z][\w-]*:[\w.:/-]+|[a-z]+[_-]?\d+"
)
"""A whole doc_id; its group `number` is the 3 of "3", "Doc 3" and "doc_3"."""
_FENCED = re.compile(r"```.*?```", re.DOTALL)
CODE = re.compile(
    r"```.*?```|`[^`\n]*`|[A-Za-z0-9_)]\[\d{1,3}\b[^\]\n]{0,200}\]", re.DOTALL
)
"""Code, where brackets cite nothing: between backquotes, or an index, `rows[1]`."""
_HEADING = re.compile(r"(#+\s*)\d{1,3}[.)]\s+")
_BULLET = re.compile(r"\s*(?:[-*•・+>]|\d{1,3}[.)])\s+|\s*・")
# Closing marks and citations behind a full stop belong to the sentence before it.
_END = re.compile(
    rf"(?:[.!?…]+[\"'”’)\]]*(?=\s|$|[\[【［])|[。！？]+(?P<closed>[」』”’）)]*))"
    rf"(?:\s*{_BRACKET})*"
)
_PAIRS = (("“", "”"), ('"', '"'), ("「", "」"), ("『", "』"), ("(", ")"), ("（", "）"))
_QUOTED = re.compile("|".join(rf"\{a}[^{a}{b}]{{0,300}}\{b}" for a, b in _PAIRS))
_NEXT_WORD = re.compile(r"\s*(\S{0,20})")


def _any_of(kind: str) -> re.Pattern[str]:
    pattern = "|".join(filter(None, WORDS["claims"][kind].split("\n")))
    for name, means in reversed(WORDS["patterns"].items()):  # they use earlier ones
        pattern = pattern.replace(name, f"(?:{means})")
    short = rf"\A(?=.{{0,{MOST_HIDDEN}}}\Z).*?"
    return re.compile(f"{short}(?:{pattern})", re.IGNORECASE)


NO_FACT, OPINION, REFUSAL, TURN = map(
    _any_of, ("no_facts", "opinions", "refusals", "turns")
)
"""Of a sentence: a question that asks, a greeting, a heading, or what announces a list;
an "I think it is pretty"; an "I do not know"; and a fact that goes on from there."""
_NEVER_ENDS, _MAY_END, _OPENERS = (
    frozenset(WORDS[name].split()) for name in ("never_ends", "may_end", "openers")
)


def find_citations(text: str) -> list[str]:
    """Return the doc_ids that a text cites, each once, in the order of their mention.

    The form is `[doc_3]`, with the doc_id as the search gave it: small letters and
    digits, or any with a colon. Read as well: several in one pair of brackets,
    `【doc_3】`, and `[3]` or `[Doc 3]` for doc_3. No citations are: code between
    backquotes, a number glued to a word (`rows[1]`), words such as `[sic]`.

    >>> find_citations("It is high [doc_1, w068]. It is old 【2】, they say [sic].")
    ['doc_1', 'w068', 'doc_2']
    """
    text = unicodedata.normalize("NFKC", CODE.sub(" ", text))
    found: list[str] = []
    for inside in BRACKETS.findall(text):
        for part in re.split("[,;、]", inside):
            if cited := DOC_ID.fullmatch(part.strip()):
                number = cited["number"]
                found.append(f"doc_{number}" if number else cited[0])
    return list(dict.fromkeys(found))


def without_citations(text: str) -> str:
    """Return a text without what stands in brackets, and without marks around it."""
    return " ".join(BRACKETS.sub(" ", text).split()).strip(" \"'“”*_|")


def sentences(text: str) -> list[str]:
    """Split a text into sentences, in English, Japanese and Chinese; nothing is lost.

    A line that begins with a bullet begins a sentence, and so does one behind a blank
    line. No sentence ends inside quotes or brackets, behind `Dr.` or `e.g.`, in `3.5`,
    or before a small letter.
    """
    return [part for block in _blocks(text) for part in _split(block)]


def split_claims(answer: str) -> list[str]:
    """Return the sentences of an answer that state a fact, each with its citations.

    Left out are questions that only ask, greetings, opinions of taste ("I think it is
    pretty"), refusals ("I do not know", 分かりません, 我不知道), code between ```, and
    headings and lines that announce a list, where they have no verb and no number. But
    an opinion or a refusal that cites is a claim, and so is one that goes on with a
    fact. In doubt a sentence is one.

    >>> split_claims("Hello! Dr. Ito says it is 3.5 km. [doc_1] I think it is ugly.")
    ['Dr. Ito says it is 3.5 km. [doc_1]']
    """
    claims = []
    for sentence in sentences(_FENCED.sub("\n\n", answer)):
        bare = without_citations(sentence)
        no_claim = OPINION.search(bare) or REFUSAL.search(bare)
        says_more = find_citations(sentence) or TURN.search(bare)
        if NO_FACT.search(bare) or (no_claim and not says_more):
            continue
        claims.append(sentence)
    return claims


def _blocks(text: str) -> Iterator[str]:
    """Yield the paragraphs, and each item of a list and each heading by itself."""
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        line = _HEADING.sub(r"\1", line)  # "## 2. Height"
        bullet, heading = _BULLET.match(line), line.startswith("#")
        if block and (bullet or heading or not line.strip()):
            yield " ".join(block)
            block = []
        if line := line[bullet.end() if bullet else 0 :].strip():
            block.append(line)
        if heading:
            yield " ".join(block)
            block = []


def _split(block: str) -> Iterator[str]:
    start, masked = 0, _QUOTED.sub(_masked, block)
    for end in _END.finditer(masked):
        if _ends_here(masked, end):
            yield block[start : end.end()].strip()
            start = end.end()
    if rest := block[start:].strip():
        yield rest


def _masked(quoted: re.Match[str]) -> str:
    """Hide the full stops in a quotation, except the last one, right before its end."""
    text = quoted[0]
    return re.sub("[.!?…。！？]", "\0", text[:-2]) + text[-2:]


def _ends_here(text: str, end: re.Match[str]) -> bool:
    """Return whether a sentence ends with this mark, by what stands on both sides."""
    if end["closed"]:  # 「はい。」と言った
        return text[end.end() : end.end() + 1].strip() == ""
    found = _NEXT_WORD.match(text, end.end())
    following = found[1] if found else ""
    if end[0][0] in "。！？" or not following:
        return True
    if following[0].islower():
        return False
    if end[0][0] != ".":
        return True
    words = text[max(0, end.start() - 20) : end.start()].split()
    word = words[-1].strip("([\"'“‘") if words else ""
    if word.lower() in _NEVER_ENDS:
        return False
    if word.lower() in _MAY_END or re.fullmatch(r"(?:[A-Za-z]\.)*[A-Za-z]", word):
        return following.strip(",'’").lower() in _OPENERS
    return True
