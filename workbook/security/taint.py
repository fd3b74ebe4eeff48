"""Taint: what a run has read decides what may flow where, whatever was written there.

Labels, and rules that are data. No model and no pattern of an attack is asked.
`workbook.security.tainted` makes a guard of them. A tool is read as well: one whose
text is not the one that the user agreed to, by its digest, asks a person.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import NamedTuple

from workbook.grounding.addresses import addresses_in
from workbook.grounding.recall import terms
from workbook.runtime.calls import Observation
from workbook.runtime.permission import POLICY, Decision, PolicyRule, Verdict
from workbook.runtime.tools import Tool
from workbook.security.strangers import digest


class Label(StrEnum):
    """What a run carries, once it has read it."""

    OUTSIDE = "outside"  # words of others: a page, a mail, a tool's text
    SECRET = "secret"  # what must not leave


class Sink(StrEnum):
    """Where something may go."""

    WRITE = "write"  # a call that changes something
    REQUEST = "request"  # a call that only reads, outside: what it is given leaves
    ADDRESS = "address"  # in an answer, one that the user did not give
    ASKED_ADDRESS = "asked address"  # one that stands in a source which they named
    MEMORY = "memory"  # what later runs read


class FlowRule(NamedTuple):
    """The verdict on what carries all these labels and goes there."""

    verdict: str
    labels: frozenset[str]
    sink: str
    why: str  # as the model reads it, without a full stop


ASK, DENY = Verdict.ASK, Verdict.DENY
_OUTSIDE, _SECRET = frozenset({Label.OUTSIDE}), frozenset({Label.SECRET})
FLOWS = (
    FlowRule(ASK, _OUTSIDE, Sink.WRITE, "text from outside may be behind it"),
    FlowRule(ASK, _OUTSIDE | _SECRET, Sink.REQUEST, "it may carry a secret away"),
    FlowRule(DENY, _OUTSIDE, Sink.ADDRESS, "text from outside may be behind it"),
    FlowRule(DENY, _SECRET, Sink.ADDRESS, "it may carry a secret away"),
    FlowRule(ASK, _OUTSIDE, Sink.ASKED_ADDRESS, "it comes from a page, not from you"),
    FlowRule(ASK, _SECRET, Sink.ASKED_ADDRESS, "it may carry a secret away"),
    FlowRule(ASK, _OUTSIDE, Sink.MEMORY, "later runs would take it for ours"),
    FlowRule(DENY, _SECRET, Sink.MEMORY, "a secret is not kept"),
)
STRICT = (Verdict.ALLOW, ASK, DENY)
"""The verdicts, the mildest first."""


def may_flow(
    labels: Collection[str], sink: str, rules: Iterable[FlowRule] = FLOWS
) -> Decision:
    """Return the strictest verdict of the rules that match, and why.

    A rule matches where all its labels are carried, and its sink is this one. Where
    none does, it is allowed. So one more label never allows more. Of rules that are
    equally strict, the first one says why.

    >>> may_flow({"outside"}, "write").verdict, may_flow({"secret"}, "write").verdict
    (<Verdict.ASK: 'ask'>, <Verdict.ALLOW: 'allow'>)
    """
    said = None
    for rule in rules:
        matches = sink == rule.sink and rule.labels <= set(labels)
        if matches and (said is None or is_stricter(rule.verdict, said.verdict)):
            said = Decision(Verdict(rule.verdict), rule.why)
    return said or Decision(Verdict.ALLOW, "no rule is against it")


def is_stricter(verdict: str, other: str) -> bool:
    """Say whether a verdict allows less than another.

    >>> is_stricter("deny", "ask"), is_stricter("ask", "ask")
    (True, False)
    """
    return STRICT.index(Verdict(verdict)) > STRICT.index(Verdict(other))


def stricter(
    rules: Iterable[PolicyRule], said: Sequence[tuple[Tool, Decision]]
) -> tuple[PolicyRule, ...]:
    """Return the policy in which these verdicts on tools hold too; never a milder one.

    Before each rule that is milder stands the same one for the tool, with the stricter
    verdict: so an ALLOW becomes an ASK, and what was denied stays denied.
    """
    rows: list[PolicyRule] = []
    for rule in rules:
        for tool, (verdict, why) in said:
            is_named = fnmatchcase(tool.name.casefold(), rule.tool.casefold())
            is_meant = is_named and rule.effect in ("*", tool.effect)
            if is_meant and is_stricter(verdict, rule.verdict):
                about = {"effect": tool.effect, "tool": tool.name, "why": why}
                rows.append(rule._replace(verdict=verdict, **about))
        rows.append(rule)
    return tuple(rows)


def changed(tools: Iterable[Tool], agreed: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the tools that are not as agreed to, by name: each "new" or "changed".

    >>> from workbook.runtime.calculator import calculator
    >>> tool = calculator()
    >>> changed([tool], {}), changed([tool], {"Calculator": digest(tool)})
    ([('Calculator', 'new')], [])
    """
    return [
        (tool.name, "changed" if tool.name in agreed else "new")
        for tool in tools
        if agreed.get(tool.name) != digest(tool)
    ]


def agreed_rules(
    tools: Sequence[Tool],
    agreed: Mapping[str, str],
    rules: Iterable[PolicyRule] = POLICY,
) -> tuple[PolicyRule, ...]:
    """Return the policy in which a tool that is not as agreed to asks a person.

    What was denied stays denied. `agreed` holds digests by name, as the caller kept
    them: `{tool.name: digest(tool) for tool in tools}`.
    """
    why = {"new": "nobody has agreed to this tool", "changed": "it is not as agreed to"}
    found = dict(changed(tools, agreed))
    differ = [tool for tool in tools if tool.name in found]
    said = [(each, Decision(ASK, why[found[each.name]])) for each in differ]
    return stricter(rules, said)


_PLAIN = re.compile(r"(?:https?://|www\.|mailto:)?[\w.+@-]+[\w.:/?=&%#~@+,-]*")


def offered(question: str, tool: str, seen: Observation) -> dict[str, str]:
    """Return the addresses that a source has which the question names, and where.

    It names the tool, or a word of the document's title. An address that is Markdown or
    HTML, or has another scheme, is not among them.

    >>> page = {"title": "City museum", "text": "See https://museum.example/visit."}
    >>> seen = Observation("", True, {"results": [page]}, None)
    >>> offered("Which address has the museum?", "Look", seen)
    {'https://museum.example/visit': 'Look, City museum'}
    """
    result = seen.result if seen.ok and isinstance(seen.result, dict) else {}
    listed = result.get("results")
    pages = listed if isinstance(listed, list) else [{"text": seen.text()}]
    says_tool = re.search(rf"\b{re.escape(tool)}\b", question, re.IGNORECASE)
    found: dict[str, str] = {}
    for page in (each for each in pages if seen.ok and isinstance(each, dict)):
        title = str(page.get("title", ""))
        if says_tool or {*terms(title)} & {*terms(question)}:
            addresses = filter(_PLAIN.fullmatch, addresses_in(str(page.get("text"))))
            where = f"{tool}, {title}" if title else tool
            found |= dict.fromkeys(addresses, where)
    return found
