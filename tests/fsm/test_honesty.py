"""Whatever its model says and its tools do: what a run and its trace promise."""

import itertools
import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fsm.playing import ACT, FINAL, play
from workbook.fsm import CORE, FunctionCalls, Limits, State, TextTurns
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.tools.calls import ToolFailure


class NastyError(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Signal(BaseException):
    """Raised by a library that means to get past every `except Exception`."""


errors = [ConnectionError("down"), NastyError(), SystemExit(2), Signal("now")]
raised = st.sampled_from([*errors, KeyboardInterrupt(), MemoryError()])
odd = [None, True, -0.0, 0.5, 1e308, 10**400, -(10**400), 2**64, "", "\ud800", "\x00"]
edges = st.recursive(
    st.sampled_from(odd),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("na"), inner)
    ),
    max_leaves=4,
)
arguments = st.sampled_from(
    [{"n": 1}, {"n": "2"}, {"m": 1, "k": 2}, {}, None, '{"n": 1}', [1]]
) | st.fixed_dictionaries({"n": edges})
requests = st.builds(
    ToolRequest,
    st.sampled_from(["Roll", "roll", "Nope", ""]),
    arguments,
    st.sampled_from(["", "a", "b", "c", "call_1", None, 7]),
)
text_turns = st.one_of(
    st.sampled_from([ACT.format(n) for n in ("1", "one", "[1, 2]", "{", "")]),
    st.builds(lambda n: ACT.format(json.dumps({"n": n})), edges),
    st.sampled_from([ACT.format(1) + "\nObservation: 9\nFinal Answer: 9", "Action: x"]),
    st.sampled_from([FINAL, "Thought: hm", "", "Action: Nope\nAction Input: 1"]),
    st.text(max_size=30),
    raised,
)
chat_turns = st.one_of(
    st.lists(requests, min_size=1, max_size=4), st.sampled_from(["7", "", " "]), raised
)
outcomes = st.lists(
    st.sampled_from(
        [
            *({"result": 1}, {"a": [1]}, "no dict", {"x": {1, 2}}, {"x": float("nan")}),
            *(ZeroDivisionError("by zero"), ToolFailure("busy", "later"), NastyError()),
            *(SystemExit(1), Signal("now"), KeyboardInterrupt(), "late"),
        ]
    ),
    min_size=1,
    max_size=4,
)
scripts = st.one_of(
    st.tuples(st.just(TextTurns), st.lists(text_turns, max_size=6)),
    st.tuples(st.just(FunctionCalls), st.lists(chat_turns, max_size=6)),
)
limits = st.builds(
    Limits,
    st.sampled_from([1, 1.5, 2, 4]),
    st.sampled_from([0, 1, 2.5, 4]),
    st.just(50.0),
)


@settings(max_examples=300, deadline=None)
@given(scripts, outcomes, limits)
def test_every_run_is_honest(script, outcomes, limits):
    """any model, any tools: one end, within budget, no gap, one observation a call"""
    adapter, turns = script
    now, ran, results = [0.0], [], itertools.cycle(outcomes)

    def run(n):
        ran.append(n)
        result = next(results)
        if isinstance(result, BaseException):
            raise result
        if result == "late":
            now[0] += 60
        return result

    model = Script(turns)
    options = {"limits": limits, "adapter": adapter, "clock": lambda: now[0]}
    end, _ = play(model, run, **options)
    theirs = "Exhausted|Connection|Nasty|SystemExit|Signal|Memory"
    assert end.state != State.ERROR or re.search(theirs, end.message)
    assert model.asked == end.spent.steps <= limits.steps
    assert len(ran) <= end.spent.tool_calls <= limits.tool_calls


def test_the_diagrams_edges_are_the_tables_rows():
    """the arrows of the diagram are the rows of the table, one for one"""
    diagram = CORE.mermaid(State.THINK)
    arrows = re.findall(r"^ +(\w+) --> (\w+) : (\S+)$", diagram, re.MULTILINE)
    assert sorted(arrows) == sorted((r.source, r.target, r.event) for r in CORE.rules)
    assert re.findall(r"\[\*\] --> (\w+)", diagram) == [CORE.start]
    assert set(re.findall(r"(\w+) --> \[\*\]", diagram)) == CORE.ends
