"""Plausible wrong answers, each with the test that must catch it."""

from workbook.guardrails.policy import Decision, Verdict
from workbook.trust.taint import FLOWS, STRICT

ALLOWED = Decision(Verdict.ALLOW, "no rule is against it")


def matching(labels, sink, rules):
    return [r for r in rules if r.sink == sink and r.labels <= set(labels)]


def said_by(rule):
    return Decision(Verdict(rule.verdict), rule.why)


def how_strict(rule):
    return STRICT.index(rule.verdict)


def takes_the_first_rule(labels, sink, rules=FLOWS):
    found = matching(labels, sink, rules)
    return said_by(found[0]) if found else ALLOWED


def takes_the_last_rule(labels, sink, rules=FLOWS):
    found = matching(labels, sink, rules)
    return said_by(found[-1]) if found else ALLOWED


def takes_the_last_of_the_strictest(labels, sink, rules=FLOWS):
    found = matching(labels, sink, rules)
    return said_by(max(reversed(found), key=how_strict)) if found else ALLOWED


def takes_the_mildest(labels, sink, rules=FLOWS):
    found = matching(labels, sink, rules)
    return said_by(min(found, key=how_strict)) if found else ALLOWED


def wants_the_same_labels(labels, sink, rules=FLOWS):
    found = [r for r in rules if r.sink == sink and r.labels == set(labels)]
    return said_by(max(found, key=how_strict)) if found else ALLOWED


def wants_one_of_the_labels(labels, sink, rules=FLOWS):
    found = [r for r in rules if r.sink == sink and r.labels & set(labels)]
    return said_by(max(found, key=how_strict)) if found else ALLOWED


def compares_the_wrong_way_round(labels, sink, rules=FLOWS):
    found = [r for r in rules if r.sink == sink and r.labels >= set(labels)]
    return said_by(max(found, key=how_strict)) if found else ALLOWED


def forgets_the_sink(labels, sink, rules=FLOWS):
    found = [r for r in rules if r.labels <= set(labels)]
    return said_by(max(found, key=how_strict)) if found else ALLOWED


def asks_where_no_rule_speaks(labels, sink, rules=FLOWS):
    found = matching(labels, sink, rules)
    asked = Decision(Verdict.ASK, "no rule speaks of it")
    return said_by(max(found, key=how_strict)) if found else asked


def has_rules_of_its_own(labels, sink, rules=FLOWS):
    found = matching(labels, sink, FLOWS)
    return said_by(max(found, key=how_strict)) if found else ALLOWED


def gives_no_reason(labels, sink, rules=FLOWS):
    found = matching(labels, sink, rules)
    none = Decision(Verdict.ALLOW, "")
    return said_by(max(found, key=how_strict)) if found else none


WRONG = {
    takes_the_first_rule: "test_the_strictest_rule_decides",
    takes_the_last_rule: "test_the_strictest_rule_decides",
    takes_the_last_of_the_strictest: "test_of_equally_strict_rules_the_first_says_why",
    takes_the_mildest: "test_the_strictest_rule_decides",
    wants_the_same_labels: "test_a_rule_matches_where_all_its_labels_are",
    wants_one_of_the_labels: "test_a_rule_matches_where_all_its_labels_are",
    compares_the_wrong_way_round: "test_a_rule_matches_where_all_its_labels_are",
    forgets_the_sink: "test_a_rule_speaks_of_its_sink",
    asks_where_no_rule_speaks: "test_what_no_rule_speaks_of_is_allowed",
    has_rules_of_its_own: "test_the_strictest_rule_decides",
    gives_no_reason: "test_what_no_rule_speaks_of_is_allowed",
}
