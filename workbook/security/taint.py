"""Taint: what a run has read decides what may flow where, whatever was written there.

Labels, and rules that are data. No model and no pattern of
an attack is asked. `workbook.security.tainted` puts them into a machine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import NamedTuple

from workbook.guardrails.permission import Decision, PolicyRule, Verdict
from workbook.tools.calls import Effect
from workbook.tools.tool import Tool


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


_OUTSIDE, _SECRET = frozenset({Label.OUTSIDE}), frozenset({Label.SECRET})
FLOWS = (
    FlowRule(Verdict.ASK, _OUTSIDE, Sink.WRITE, "text from outside may be behind it"),
    FlowRule(
        Verdict.ASK, _OUTSIDE | _SECRET, Sink.REQUEST, "it may carry a secret away"
    ),
    FlowRule(
        Verdict.DENY, _OUTSIDE, Sink.ADDRESS, "text from outside may be behind it"
    ),
    FlowRule(Verdict.DENY, _SECRET, Sink.ADDRESS, "it may carry a secret away"),
    FlowRule(Verdict.ASK, _OUTSIDE, Sink.ASKED_ADDRESS, "it is a page's, not yours"),
    FlowRule(Verdict.ASK, _SECRET, Sink.ASKED_ADDRESS, "it may carry a secret away"),
    FlowRule(Verdict.ASK, _OUTSIDE, Sink.MEMORY, "later runs would be told it as ours"),
    FlowRule(Verdict.DENY, _SECRET, Sink.MEMORY, "a secret is not kept"),
)
STRICT = (Verdict.ALLOW, Verdict.ASK, Verdict.DENY)
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


def rules_under(
    labels: Collection[str],
    rules: Sequence[PolicyRule],
    tools: Iterable[Tool],
    flow: Callable[..., Decision] = may_flow,
    sinks: Mapping[str, str] = {},
) -> tuple[PolicyRule, ...]:
    """Return the policy as it holds for a run with these labels; never a milder one.

    Before each rule that is milder than `flow` stands the same one for the tool, with
    the stricter verdict: so an ALLOW becomes an ASK, and what was denied stays denied.
    `sinks` says where a tool leads by its name, where its effect does not.
    """
    leads = [(tool, sinks.get(tool.name) or _sink(tool)) for tool in tools]
    said = [(tool, flow(labels, sink)) for tool, sink in leads if sink]
    rows: list[PolicyRule] = []
    for rule in rules:
        for tool, (verdict, why) in said:
            speaks = fnmatchcase(tool.name.casefold(), rule.tool.casefold())
            if (
                speaks
                and rule.effect in ("*", tool.effect)
                and is_stricter(verdict, rule.verdict)
            ):
                about = {"effect": tool.effect, "tool": tool.name, "why": why}
                rows.append(rule._replace(verdict=verdict, **about))
        rows.append(rule)
    return tuple(rows)


def _sink(tool: Tool) -> Sink | None:
    if tool.effect is Effect.WRITE:
        return Sink.WRITE
    return Sink.REQUEST if tool.outside else None
