"""Plausible wrong answers to `decide`, each with the test that must catch it."""

from fnmatch import fnmatchcase

from workbook.runtime.permission import POLICY, Decision, Verdict
from workbook.runtime.calls import Effect


def fits(rule, mode, effect, tool):
    named = fnmatchcase(tool.casefold(), rule.tool.casefold())
    return rule.mode in ("*", mode), rule.effect in ("*", effect), named


def matching(mode, effect, tool, rules, enough=all):
    return [rule for rule in rules if enough(fits(rule, mode, effect, tool))]


def first(found, effect):
    """Decide by the first of the rules that were found."""
    for rule in found:
        return Decision(rule.verdict, rule.why)
    verdict = Verdict.DENY if effect == Effect.WRITE else Verdict.ASK
    return Decision(verdict, "no rule matches")


def lets_the_last_rule_win(mode, effect, tool, rules=POLICY):
    return first(matching(mode, effect, tool, rules)[::-1], effect)


def lets_the_strictest_rule_win(mode, effect, tool, rules=POLICY):
    order = [Verdict.DENY, Verdict.ASK, Verdict.ALLOW]
    found = matching(mode, effect, tool, rules)
    return first(sorted(found, key=lambda rule: order.index(rule.verdict)), effect)


def allows_what_nobody_thought_of(mode, effect, tool, rules=POLICY):
    found = matching(mode, effect, tool, rules)
    return first(found, effect) if found else Decision(Verdict.ALLOW, "not forbidden")


def knows_an_effect_by_its_object(mode, effect, tool, rules=POLICY):
    found = matching(mode, effect, tool, rules)
    return first(found, effect if effect is Effect.WRITE else Effect.READ)


def denies_whatever_nobody_thought_of(mode, effect, tool, rules=POLICY):
    return first(matching(mode, effect, tool, rules), Effect.WRITE)


def looks_for_the_pattern_anywhere(mode, effect, tool, rules=POLICY):
    anywhere = [rule._replace(tool=f"*{rule.tool}*") for rule in rules]
    return first(matching(mode, effect, tool, anywhere), effect)


def insists_on_the_case(mode, effect, tool, rules=POLICY):
    found = [rule for rule in rules if fnmatchcase(tool, rule.tool)]
    return first(matching(mode, effect, tool, found), effect)


def needs_one_thing_alone_to_match(mode, effect, tool, rules=POLICY):
    return first(matching(mode, effect, tool, rules, enough=any), effect)


def lets_the_name_of_a_tool_do(mode, effect, tool, rules=POLICY):
    named = [rule if rule.tool == "*" else rule._replace(mode="*") for rule in rules]
    return first(matching(mode, effect, tool, named), effect)


def has_a_policy_of_its_own(mode, effect, tool, rules=POLICY[1:]):
    return first(matching(mode, effect, tool, rules), effect)


def forgets_the_effect(mode, effect, tool, rules=POLICY):
    enough = lambda fitting: fitting[0] and fitting[2]
    return first(matching(mode, effect, tool, rules, enough), effect)


def gives_no_reason_of_its_own(mode, effect, tool, rules=POLICY):
    found = matching(mode, effect, tool, rules)
    return first(found, effect) if found else first([], effect)._replace(why="")


WRONG = {
    lets_the_last_rule_win: "test_the_first_rule_that_matches_decides",
    lets_the_strictest_rule_win: "test_the_first_rule_that_matches_decides",
    allows_what_nobody_thought_of: "test_where_no_rule_matches",
    knows_an_effect_by_its_object: "test_where_no_rule_matches",
    denies_whatever_nobody_thought_of: "test_where_no_rule_matches",
    looks_for_the_pattern_anywhere: "test_a_tool_is_a_pattern",
    insists_on_the_case: "test_the_case_of_a_name_does_not_count",
    needs_one_thing_alone_to_match: "test_a_rule_matches_in_all_that_it_names",
    lets_the_name_of_a_tool_do: "test_a_rule_matches_in_all_that_it_names",
    has_a_policy_of_its_own: "test_the_usual_rules",
    forgets_the_effect: "test_the_usual_rules",
    gives_no_reason_of_its_own: "test_a_decision_says_why",
}
