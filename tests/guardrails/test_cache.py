"""A guard that saves: the same READ is made once in a run."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.guardrails.cache import FROM_CACHE, Cached
from workbook.guardrails.machine import guarded
from workbook.models.script import Script
from workbook.tools.calls import Effect, ToolCall, ToolFailure
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool

NUMBER = {"properties": {"n": {"type": ["integer", "boolean", "number"]}}}


class Shelf:
    """A registry whose tools write down the calls that reach them."""

    def __init__(self):
        self.reached = []

        def tool(name, **about):
            def run(n=0):
                self.reached.append((name, n))
                if n == 13:
                    raise ToolFailure("unlucky", "13 is not there.", retryable=True)
                if n == -1:
                    raise KeyboardInterrupt
                return {"result": f"{name} {n}"}

            return Tool(name, "Does it.", NUMBER, run, timeout_s=None, **about)

        self.tools = ToolRegistry([
            tool("Read", repeatable=True),
            tool("Clock"),
            tool("Write", effect=Effect.WRITE, repeatable=True),
        ])  # fmt: skip
        self.cached = Cached(self.tools.run, self.tools)

    def call(self, name, n=0, call_id="c"):
        return self.cached(ToolCall(name, {"n": n}, call_id))


def test_a_write_that_never_comes_back_ends_it_too():
    """a WRITE that is given up in flight may have its effect: nothing is remembered"""
    shelf = Shelf()
    shelf.call("Read")
    with pytest.raises(KeyboardInterrupt):
        shelf.call("Write", -1)
    assert shelf.call("Read").notes == ()


CALLS = st.tuples(st.sampled_from(["Read", "Clock", "Write"]), st.sampled_from([0, 13]))


@given(st.lists(CALLS, max_size=8))
@settings(max_examples=100, deadline=None)
def test_a_cached_result_is_what_the_tool_would_have_said(calls):
    """what comes back is a true answer to this very call; nothing is kept of a WRITE"""
    shelf, wrote = Shelf(), False
    for number, (name, n) in enumerate(calls):
        seen = shelf.call(name, n, f"c{number}")
        wrote = wrote or name == "Write"
        result = None if n == 13 else {"result": f"{name} {n}"}
        assert (seen.call_id, seen.result) == (f"c{number}", result)
        asked_before = (name, n) == ("Read", 0) and (name, n) in calls[:number]
        assert (FROM_CACHE in seen.notes) is (asked_before and not wrote)


def test_a_machine_has_one_for_each_run():
    """given as `cache`, it answers within a run, and forgets before the next one"""
    shelf, read = Shelf(), "Action: Read\nAction Input: 1"
    model = Script([read, read, "Final Answer: done"], loop=True)
    machine = guarded(model, shelf.tools, cache=Cached)
    for runs in (1, 2):
        assert machine.run("?").state == "DONE"
        assert len(shelf.reached) == runs
