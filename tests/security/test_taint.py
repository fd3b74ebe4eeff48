"""What may flow where: labels, and the policy under them."""

from hypothesis import example, given
from hypothesis import strategies as st

from workbook.environments.number_theory import factorial
from workbook.runtime.calculator import calculator, percent_tool
from workbook.runtime.calls import Effect
from workbook.runtime.permission import POLICY, PolicyRule, Verdict, decide
from workbook.runtime.tools import Tool
from workbook.security.taint import FLOWS, Label, Sink, may_flow, stricter

STRICT = [Verdict.ALLOW, Verdict.ASK, Verdict.DENY]
SETS = [frozenset(), {Label.OUTSIDE}, {Label.SECRET}, set(Label)]


def tool(name, effect=Effect.READ, outside=True):
    return Tool(name, f"Does {name}.", {}, dict, effect, outside=outside)


TOOLS = [
    tool("Pay", Effect.WRITE),
    tool("write_file", Effect.WRITE, outside=False),
    tool("Search"),
    tool("Clock", outside=False),
]
RULE = st.builds(
    PolicyRule,
    st.sampled_from(STRICT),
    st.sampled_from(["*", "plan", "build"]),
    st.sampled_from(["*", "read", "write"]),
    st.sampled_from(["*", "pay", "P*", "write_*", "Search", "Clock"]),
)
POLICIES = st.lists(RULE, max_size=5)


def sink_of(each):
    if each.effect is Effect.WRITE:
        return Sink.WRITE
    return Sink.REQUEST if each.outside else None


@example([PolicyRule("allow", tool="pay")], {Label.OUTSIDE}, TOOLS[0])
@given(POLICIES | st.just(POLICY), st.sampled_from(SETS), st.sampled_from(TOOLS))
def test_of_policy_and_flow_the_stricter_holds(rules, labels, each):
    """whatever the rules are, in any case, a call has the stricter of the verdicts"""
    leads = [(tool, sink_of(tool)) for tool in TOOLS]
    said = [(tool, may_flow(labels, sink)) for tool, sink in leads if sink]
    under = stricter(rules, said)
    for mode in ("plan", "build"):
        before = decide(mode, each.effect, each.name, rules).verdict
        sink = sink_of(each)
        flow = may_flow(labels, sink).verdict if sink else Verdict.ALLOW
        after = decide(mode, each.effect, each.name, under).verdict
        assert STRICT.index(after) == max(STRICT.index(before), STRICT.index(flow))


def test_a_tool_is_outside_unless_it_says_no():
    """a tool's text is taken to be a stranger's; those that only calculate say no"""
    assert tool("Page").outside
    ours = [calculator(), percent_tool(), factorial()]
    assert [each.outside for each in ours] == [False] * 3


def test_all_sinks_have_a_rule():
    """there is no sink of which no rule speaks, and no label"""
    assert {rule.sink for rule in FLOWS} == set(Sink)
    assert all(rule.labels for rule in FLOWS)
    assert set().union(*(rule.labels for rule in FLOWS)) == set(Label)
