"""Plausible wrong answers to `decide`, each with the test that must catch it."""

from fnmatch import fnmatchcase

from workbook.guardrails.policy import POLICY, Decision, Verdict
from workbook.tools.calls import Effect


def matches(rule, mode, effect, tool):
    named = fnmatchcase(tool.casefold(), rule.tool.casefold())
    return rule.mode in ("*", mode) and rule.effect in ("*", effect) and named


def otherwise(effect):
    verdict = Verdict.DENY if effect == Effect.WRITE else Verdict.ASK
    return Decision(verdict, "no rule speaks of it")


def lets_the_last_rule_win(mode, effect, tool, rules=POLICY):
    found = [rule for rule in rules if matches(rule, mode, effect, tool)]
    return Decision(found[-1].verdict, found[-1].why) if found else otherwise(effect)


def lets_the_strictest_rule_win(mode, effect, tool, rules=POLICY):
    order = [Verdict.DENY, Verdict.ASK, Verdict.ALLOW]
    found = [rule for rule in rules if matches(rule, mode, effect, tool)]
    found.sort(key=lambda rule: order.index(rule.verdict))
    return Decision(found[0].verdict, found[0].why) if found else otherwise(effect)


def allows_what_nobody_thought_of(mode, effect, tool, rules=POLICY):
    for rule in rules:
        if matches(rule, mode, effect, tool):
            return Decision(rule.verdict, rule.why)
    return Decision(Verdict.ALLOW, "nobody forbids it")


def denies_whatever_nobody_thought_of(mode, effect, tool, rules=POLICY):
    for rule in rules:
        if matches(rule, mode, effect, tool):
            return Decision(rule.verdict, rule.why)
    return Decision(Verdict.DENY, "nobody allows it")


def looks_for_the_pattern_anywhere(mode, effect, tool, rules=POLICY):
    for rule in rules:
        named = rule.tool.strip("*").casefold() in tool.casefold()
        if rule.mode in ("*", mode) and rule.effect in ("*", effect) and named:
            return Decision(rule.verdict, rule.why)
    return otherwise(effect)


def insists_on_the_case(mode, effect, tool, rules=POLICY):
    for rule in rules:
        named = fnmatchcase(tool, rule.tool)
        if rule.mode in ("*", mode) and rule.effect in ("*", effect) and named:
            return Decision(rule.verdict, rule.why)
    return otherwise(effect)


def needs_one_thing_alone_to_match(mode, effect, tool, rules=POLICY):
    for rule in rules:
        named = fnmatchcase(tool.casefold(), rule.tool.casefold())
        if rule.mode == mode or rule.effect == effect or named:
            return Decision(rule.verdict, rule.why)
    return otherwise(effect)


def forgets_the_mode(mode, effect, tool, rules=POLICY):
    for rule in rules:
        named = fnmatchcase(tool.casefold(), rule.tool.casefold())
        if rule.effect in ("*", effect) and named:
            return Decision(rule.verdict, rule.why)
    return otherwise(effect)


def always_uses_the_usual_rules(mode, effect, tool, rules=POLICY):
    for rule in POLICY:
        if matches(rule, mode, effect, tool):
            return Decision(rule.verdict, rule.why)
    return otherwise(effect)


WRONG = {
    lets_the_last_rule_win: "test_the_first_rule_that_matches_decides",
    lets_the_strictest_rule_win: "test_the_first_rule_that_matches_decides",
    allows_what_nobody_thought_of: "test_where_no_rule_matches",
    denies_whatever_nobody_thought_of: "test_where_no_rule_matches",
    looks_for_the_pattern_anywhere: "test_a_tool_is_a_pattern",
    insists_on_the_case: "test_the_case_of_a_name_does_not_count",
    needs_one_thing_alone_to_match: "test_a_rule_matches_in_all_that_it_names",
    forgets_the_mode: "test_the_usual_rules",
    always_uses_the_usual_rules: "test_the_first_rule_that_matches_decides",
}
