"""The policy: the first rule that matches, and what holds where none does."""

import pytest

from tests.doubles import Like
from workbook.runtime.calls import Effect
from workbook.runtime.permission import (
    POLICY,
    Decision,
    Mode,
    PolicyRule,
    Verdict,
    permission,
)
from workbook.runtime.permission import decide as packaged_decide

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY
READ, WRITE = Effect.READ, Effect.WRITE


def says(verdict):
    """Return what is equal to a Decision with this verdict, for whatever reason."""
    words = f"a Decision with {verdict!r}"
    return Like(words, lambda other: getattr(other, "verdict", None) == verdict)


def test_the_usual_rules(decide):
    """without an argument `rules`, `POLICY` holds, in plan and in build mode"""
    assert decide(Mode.PLAN, READ, "write_file") == says(ALLOW)
    assert decide(Mode.PLAN, WRITE, "write_file") == says(DENY)
    assert decide(Mode.BUILD, READ, "write_file") == says(ALLOW)
    assert decide(Mode.BUILD, WRITE, "write_file") == says(ASK)


def test_the_first_rule_that_matches_decides(decide):
    """the first rule that matches decides, whatever later rules say"""
    no, yes = PolicyRule(DENY, tool="Pay", why="a"), PolicyRule(ALLOW, why="b")
    assert decide("build", WRITE, "Pay", [no, yes]) == Decision(DENY, "a")
    assert decide("build", WRITE, "Pay", [yes, no]) == Decision(ALLOW, "b")


@pytest.mark.parametrize(
    ("rule", "others"),
    [
        (PolicyRule(ALLOW, mode="build", why="it fits"), ("plan", WRITE, "Pay")),
        (PolicyRule(ALLOW, effect=READ, why="it fits"), ("build", WRITE, "Pay")),
        (PolicyRule(ALLOW, tool="Pay", why="it fits"), ("build", WRITE, "Refund")),
        (PolicyRule(ALLOW, "build", "*", "Pay", "it fits"), ("plan", WRITE, "Pay")),
    ],
    ids=["mode", "effect", "tool", "mode and tool"],
)
def test_a_rule_matches_in_all_that_it_names(decide, rule, others):
    """a rule matches if its mode, effect and tool all do; "*" matches anything"""
    effect = WRITE if rule.effect == "*" else READ
    assert decide("build", effect, "Pay", [rule]) == Decision(ALLOW, "it fits")
    assert decide(*others, [rule]) == says(DENY)


@pytest.mark.parametrize(
    ("pattern", "tool", "fits"),
    [
        ("git_*", "git_commit", True),
        ("git_*", "legit_commit", False),
        ("*_file", "write_file", True),
        ("read_?", "read_2", True),
        ("read_?", "read_22", False),
    ],
)
def test_a_tool_is_a_pattern(decide, pattern, tool, fits):
    """a rule's tool is a pattern for the whole name: * is any text, ? one character"""
    rules = [PolicyRule(ALLOW, tool=pattern)]
    assert decide("build", WRITE, tool, rules) == says(ALLOW if fits else DENY)


@pytest.mark.parametrize(("pattern", "tool"), [("pay", "Pay"), ("GIT_*", "git_push")])
def test_the_case_of_a_name_does_not_count(decide, pattern, tool):
    """case does not count: a rule for "pay" is one for Pay, "GIT_*" one for git_push"""
    rules = [PolicyRule(DENY, tool=pattern), PolicyRule(ALLOW)]
    assert decide("build", WRITE, tool, rules) == says(DENY)


@pytest.mark.parametrize(
    ("effect", "verdict"), [(WRITE, DENY), ("write", DENY), (READ, ASK)]
)
def test_where_no_rule_matches(decide, effect, verdict):
    """if no rule matches, deny a WRITE, and ask a person about anything else"""
    assert decide("build", effect, "Pay", []) == says(verdict)
    only_plan = [PolicyRule(ALLOW, "plan")]
    assert decide("other", effect, "Pay", only_plan) == says(verdict)


def test_a_decision_says_why(decide):
    """`why` is that of the rule; if no rule matches, it is in words of your own"""
    assert decide("plan", WRITE, "Pay") == Decision(DENY, POLICY[1].why)
    why = decide("plan", WRITE, "Pay", []).why
    assert why.strip(), f"the reason is {why!r}"


def test_an_unknown_verdict_or_mode_is_refused():
    """A rule with a slip in its verdict is no rule: it raises, and names the slip."""
    with pytest.raises(ValueError, match="alow"):
        packaged_decide("build", READ, "Pay", [PolicyRule("alow")])
    with pytest.raises(ValueError, match="yolo"):
        permission(mode="yolo")
