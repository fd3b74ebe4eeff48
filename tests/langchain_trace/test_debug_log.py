"""The debug log: kept, marked and shown."""

import pytest

from workbook.langchain_trace.agents import classic_agent
from workbook.langchain_trace.debug_log import DebugLog
from workbook.runtime.script import Script

TURNS = ["Action: Calculator\nAction Input: 1+1", "Final Answer: <b>2</b>"]


def kept(turns, tool):
    log = DebugLog()
    agent = classic_agent(Script(turns), [tool])
    agent.invoke({"input": "1+1?"}, config={"callbacks": [log]})
    return log


@pytest.fixture
def log(llm_math):
    return kept(TURNS, llm_math)


def test_a_run_of_two_calls_prints_more_than_a_hundred_lines(log):
    """two calls of the agent, one of the calculator: 18 events, a page and more"""
    assert log.lines > 100
    assert len(log.events) == 18
    assert [log.count(f"llm/{end}") for end in ("start", "end")] == [3, 3]


def test_the_four_places_are_marked(log):
    """the first prompt, turn and tool call, and the first scratchpad with a step"""
    found = {event.place: event for event in log.events if event.place}
    assert list(found) == ["first prompt", "turn", "tool", "scratchpad"]
    assert found["first prompt"].text.endswith("\nQuestion: 1+1?\nThought:")
    assert found["turn"].text == TURNS[0]
    assert found["tool"].text == "1+1"
    assert f"{TURNS[0]}\nObservation: Answer: 2\nThought:" in found["scratchpad"].text


def test_what_runs_inside_is_shown_deeper(log):
    """an event is one line, indented by what it runs inside of, with its mark"""
    lines = repr(log).splitlines()
    assert len(lines) == len(log.events)
    assert lines[3] == (
        "    llm/end TextModelLLM: Action: Calculator Action Input: 1+1   <- turn"
    )
    assert lines[8].startswith("        llm/start TextModelLLM: Translate a math")


def test_the_page_escapes_what_a_model_wrote(log):
    """each event unfolds, and what it holds is text"""
    page = log._repr_html_()
    assert page.count("<details") == len(log.events)
    assert "<b>2</b>" not in page
    assert "&lt;b&gt;2&lt;/b&gt;" in page


def test_an_error_is_an_event(llm_math):
    """a run that is cut off by an exception is in the log, with what was raised"""
    log = DebugLog()
    agent = classic_agent(Script([TimeoutError("late")]), [llm_math])
    with pytest.raises(TimeoutError):
        agent.invoke({"input": "1+1?"}, config={"callbacks": [log]})
    assert "late" in next(e.line for e in log.events if e.kind == "llm/error")
