"""The debug log, captured, read and marked."""

import pytest
from langchain_core.globals import get_debug, set_debug

from workbook.langchain_trace.agents import classic_agent
from workbook.langchain_trace.debug_log import capture_debug_log, read_debug_log
from workbook.models.script import Script

TURNS = ["Action: Calculator\nAction Input: 1+1", "Final Answer: <b>2</b>"]


@pytest.fixture
def log(llm_math):
    agent = classic_agent(Script(TURNS), [llm_math])
    return capture_debug_log(lambda: agent.invoke({"input": "1+1?"}))


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


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("", []),
        ('say "[llm/start] [" loud', []),
        ("[chain/error] [chain:A] [1ms] errored with error:\n'x'\n", ["chain/error"]),
        ("\x1b[32;1m[llm/start]\x1b[0m \x1b[1m[llm:X] In\x1b[0m\n{}\n", ["llm/start"]),
    ],
)
def test_only_a_line_that_begins_as_an_event_is_one(text, kinds):
    """errors are events, colours are no part of the log, other lines belong to none"""
    assert [event.kind for event in read_debug_log(text).events] == kinds


@pytest.mark.parametrize("before", [True, False])
def test_the_switch_is_put_back(before):
    """after the run debug is as it was, also when the run raised"""
    set_debug(before)
    try:
        with pytest.raises(ZeroDivisionError):
            capture_debug_log(lambda: 1 / 0)
        assert get_debug() is before
    finally:
        set_debug(False)
