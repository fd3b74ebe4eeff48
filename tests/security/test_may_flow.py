"""What may flow where: the labels of a run, and rules that are data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.runtime.permission import Decision, Verdict
from workbook.security.taint import FlowRule, Label, Sink

ALLOW, ASK, DENY = STRICT = [Verdict.ALLOW, Verdict.ASK, Verdict.DENY]
SETS = [[], [Label.OUTSIDE], [Label.SECRET], [Label.OUTSIDE, Label.SECRET]]


def rule(verdict, *labels, sink="write", why="as the rule says"):
    return FlowRule(verdict, frozenset(labels), sink, why)


@pytest.mark.parametrize(
    ("sink", "verdicts"),
    [  # without a label, outside, secret, both
        (Sink.WRITE, [ALLOW, ASK, ALLOW, ASK]),
        (Sink.REQUEST, [ALLOW, ALLOW, ALLOW, ASK]),
        (Sink.ADDRESS, [ALLOW, DENY, DENY, DENY]),
        (Sink.MEMORY, [ALLOW, ASK, DENY, DENY]),
    ],
)
def test_the_usual_flows(may_flow, sink, verdicts):
    """without `rules`, those of `FLOWS` are used"""
    for labels, verdict in zip(SETS, verdicts, strict=True):
        assert may_flow(labels, sink).verdict == verdict


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
    """of the rules that match, the strictest gives the verdict and the reason"""
    rules = [rule(verdict, "a", why=f"it says {verdict}") for verdict in verdicts]
    strictest = max(verdicts, key=STRICT.index)
    right = Decision(strictest, f"it says {strictest}")
    assert may_flow(["a"], "write", rules) == right


def test_of_equally_strict_rules_the_first_says_why(may_flow):
    """of equally strict rules, the first gives the reason"""
    rules = [rule(ASK, "a", why="the first"), rule(ASK, "a", why="the second")]
    assert may_flow(["a"], "write", rules) == Decision(ASK, "the first")


def test_what_no_rule_speaks_of_is_allowed(may_flow):
    """if no rule matches, it is allowed, with a reason in words of your own"""
    for rules in ([], [rule(DENY, "b")]):
        verdict, why = may_flow(["a"], "write", rules)
        assert verdict == ALLOW
        assert why.strip(), "the decision has no reason"


LABELS = st.frozensets(st.sampled_from("abc"))
RULES = st.lists(
    st.builds(
        FlowRule, st.sampled_from(STRICT), LABELS, st.sampled_from(Sink), st.just("why")
    )
)


@given(some=LABELS, more=LABELS, sink=st.sampled_from(Sink), rules=RULES)
def test_one_more_label_never_allows_more(may_flow, some, more, sink, rules):
    """with any rules, a run with one more label is never allowed more"""
    before, after = (may_flow(x, sink, rules) for x in (some, some | more))
    assert STRICT.index(before.verdict) <= STRICT.index(after.verdict), (
        f"with {set(some)}: {before.verdict}; with {set(some | more)}: {after.verdict}"
    )
