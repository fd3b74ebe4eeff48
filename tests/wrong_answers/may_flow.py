"""Plausible wrong answers, each with the test that must catch it."""

from workbook.runtime.permission import Decision, Verdict
from workbook.lessons.untrusted import FLOWS, STRICT

def flows(
    *, among=None, sinks=True, matches=frozenset.issubset, nothing=None, take=None
):
    """Return a function that decides as one should; each argument makes one mistake."""

    def may_flow(labels, sink, rules=FLOWS):
        found = [r for r in (among or rules) if r.sink == sink or not sinks]
        found = [r for r in found if matches(r.labels, set(labels))]
        if not found:
            return nothing or Decision(Verdict.ALLOW, "no rule is against it")
        rule = (take or strictest)(found)
        return Decision(Verdict(rule.verdict), rule.why)

    return may_flow


def falls_back_on_the_rules_of_other_sinks(labels, sink, rules=FLOWS):
    has_its_own = any(rule.sink == sink for rule in rules)
    return flows(sinks=has_its_own)(labels, sink, rules)


def has_rules_of_its_own(labels, sink, rules=FLOWS[1:]):
    return flows()(labels, sink, rules)


def strictest(rules):
    return max(rules, key=how_strict)


def how_strict(rule):
    return STRICT.index(rule.verdict)


MATCHES = "test_a_rule_matches_where_all_its_labels_are"
STRICTEST = "test_the_strictest_rule_decides"
NOTHING = "test_what_no_rule_speaks_of_is_allowed"
LAST = "test_of_equally_strict_rules_the_first_says_why"

WRONG = {
    flows(take=lambda found: found[0]): STRICTEST,
    flows(take=lambda found: found[-1]): STRICTEST,
    flows(take=lambda found: min(found, key=how_strict)): STRICTEST,
    flows(take=lambda found: strictest(found[::-1])): LAST,
    flows(matches=frozenset.__eq__): MATCHES,
    flows(matches=frozenset.intersection): MATCHES,
    flows(matches=frozenset.issuperset): MATCHES,
    has_rules_of_its_own: "test_the_usual_flows",
    falls_back_on_the_rules_of_other_sinks: "test_a_rule_speaks_of_its_sink",
    flows(sinks=False): "test_a_rule_speaks_of_its_sink",
    flows(among=FLOWS): STRICTEST,
    flows(nothing=Decision(Verdict.ASK, "no rule matches")): NOTHING,
    flows(nothing=Decision(Verdict.ALLOW, "")): NOTHING,
}
