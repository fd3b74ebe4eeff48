"""Tools that the user has agreed to, by a digest of what the model reads of them.

One whose text is not the one that the user agreed to asks a person, by a row of the
policy.
"""

from collections.abc import Iterable, Mapping, Sequence

from workbook.guardrails.permission import POLICY, Decision, PolicyRule, Verdict
from workbook.security.strangers import digest
from workbook.security.taint import rules_under
from workbook.tools.tool import Tool


def changed(tools: Iterable[Tool], agreed: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the tools that are not as agreed to, by name: each "new" or "changed".

    >>> from workbook.tools.calculator import calculator
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
    tools: Iterable[Tool],
    agreed: Mapping[str, str],
    rules: Sequence[PolicyRule] = POLICY,
) -> tuple[PolicyRule, ...]:
    """Return the policy in which a tool that is not as agreed to asks a person.

    What was denied stays denied. `agreed` holds digests by name, as the caller kept
    them: `{tool.name: digest(tool) for tool in tools}`.
    """
    by_name = {tool.name: tool for tool in tools}
    for name, what in changed(by_name.values(), agreed):
        why = (
            "nobody has agreed to this tool"
            if what == "new"
            else "it is not as agreed to"
        )
        said = Decision(Verdict.ASK, why)
        rules = rules_under((), rules, [by_name[name]], lambda *_, said=said: said)
    return tuple(rules)
