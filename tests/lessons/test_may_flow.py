"""What may flow where: the labels of a run, and rules that are data."""

import pytest

from workbook.lessons.untrusted import OUTSIDE, SECRET, FlowRule
from workbook.runtime.permission import Decision, Verdict

ALLOW, ASK, DENY = STRICT = [Verdict.ALLOW, Verdict.ASK, Verdict.DENY]


def rule(verdict, *labels, sink="write", why="as the rule says"):
    return FlowRule(verdict, frozenset(labels), sink, why)


def test_the_usual_flows(may_flow):
    """without `rules`, those of `FLOWS` are used"""
    assert may_flow([OUTSIDE], "write").verdict == ASK
    assert may_flow([OUTSIDE, SECRET], "request").verdict == ASK
    assert may_flow([SECRET], "address").verdict == DENY
    assert may_flow([OUTSIDE], "memory").verdict == ASK


def test_a_rule_matches_where_all_its_labels_are(may_flow):
    """a rule matches a run that carries all its labels, with or without others"""
    rules = [rule(DENY, "a", "b")]
    assert may_flow(["a"], "write", rules).verdict == ALLOW
    assert may_flow(["b", "c"], "write", rules).verdict == ALLOW
    assert may_flow(["a", "b"], "write", rules).verdict == DENY
    assert may_flow(["c", "b", "a"], "write", rules).verdict == DENY


def test_a_rule_speaks_of_its_sink(may_flow):
    """a rule matches only its own sink"""
    rules = [rule(DENY, "a", sink="memory")]
    assert may_flow(["a"], "write", rules).verdict == ALLOW
    assert may_flow(["a"], "memory", rules).verdict == DENY


@pytest.mark.parametrize("verdicts", [[ASK, DENY], [DENY, ASK], [ALLOW, DENY], [ALLOW]])
def test_the_strictest_rule_decides(may_flow, verdicts):
    """of the rules that match, the strictest gives the `verdict` and the `why`"""
    rules = [rule(verdict, "a", why=f"it says {verdict}") for verdict in verdicts]
    strictest = max(verdicts, key=STRICT.index)
    right = Decision(strictest, f"it says {strictest}")
    assert may_flow(["a"], "write", rules) == right


def test_of_equally_strict_rules_the_first_says_why(may_flow):
    """of equally strict rules, the first gives the `why`"""
    rules = [rule(ASK, "a", why="the first"), rule(ASK, "a", why="the second")]
    assert may_flow(["a"], "write", rules) == Decision(ASK, "the first")


def test_what_no_rule_speaks_of_is_allowed(may_flow):
    """if no rule matches, it is allowed, with a `why` in words of your own"""
    for rules in ([], [rule(DENY, "b")]):
        verdict, why = may_flow(["a"], "write", rules)
        assert verdict == ALLOW
        assert why.strip(), "the decision has no reason"
