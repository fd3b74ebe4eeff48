"""The policy: what may be done in which mode, as rules that are data.

It looks at the mode, at what a tool does to the world, and at its name: never at what
a model or a page says.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import NamedTuple

from workbook.tools.calls import Effect


class Mode(StrEnum):
    """What the user lets the agent do; only the user changes it."""

    PLAN = "plan"
    BUILD = "build"


class Verdict(StrEnum):
    """What the policy says of a call. ASK: a person decides."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class PolicyRule(NamedTuple):
    """One rule: the verdict on calls in this mode, of this effect, of such a tool.

    `tool` is a pattern as a shell has it, such as "git_*", in any case. "*" is any.
    """

    verdict: str
    mode: str = "*"
    effect: str = "*"
    tool: str = "*"
    why: str = "a rule says so"  # as the model reads it, without a full stop


class Decision(NamedTuple):
    """What was decided, and why."""

    verdict: Verdict
    why: str


POLICY = (
    PolicyRule(Verdict.ALLOW, effect=Effect.READ, why="reading changes nothing"),
    PolicyRule(Verdict.DENY, Mode.PLAN, Effect.WRITE, why="a plan changes nothing"),
    PolicyRule(Verdict.ASK, Mode.BUILD, Effect.WRITE, why="it changes something"),
)
"""What holds where the user has no other rules. What runs other programs is a WRITE,
a test runner too: a test can commit."""


def decide(
    mode: str, effect: str, tool: str, rules: Sequence[PolicyRule] = POLICY
) -> Decision:
    """Return the verdict of the first rule that matches, and why.

    Where no rule matches, a WRITE is denied, and about anything else a person is asked.
    A tool's name matches in any case, on every system: who forbids "pay" means Pay.
    """
    for rule in rules:
        if (
            rule.mode in ("*", mode)
            and rule.effect in ("*", effect)
            and fnmatchcase(tool.casefold(), rule.tool.casefold())
        ):
            return Decision(Verdict(rule.verdict), rule.why)
    verdict = Verdict.DENY if effect == Effect.WRITE else Verdict.ASK
    return Decision(verdict, "no rule speaks of it")
