"""Are two traces the same run? What counts, and what does not."""

import pytest

from workbook.traces.equivalence import (
    calls_of,
    first_difference,
    plain_arguments,
    plain_text,
)
from workbook.traces.trace import Trace
from workbook.traces.writer import TraceWriter


def calculate(expression, result, tool="Calculator", argument="expression"):
    """Return a call and its observation, as the arguments of `run_of`."""
    return tool, {argument: expression}, result


FIRST, SECOND = calculate("100*0.2", "20.0"), calculate("100-20", "80")


def run_of(*calls, answer="88", ids="call_{}", steps=True):
    """Return the trace of a run with these calls; `steps` adds the model requests."""
    write = TraceWriter()
    write("run_started", engine="fsm", question="price?")
    for number, (tool, arguments, result) in enumerate(calls, start=1):
        call = {"call_id": ids.format(number), "tool": tool}
        if steps:
            write("model_request", prompt="…", kept=0)
        write("tool_call", **call, arguments=arguments)
        if result is not None:
            write("observation", **call, ok=True, text=result)
    write("run_finished", state="DONE", reason="final_answer", answer=answer)
    return write.trace()


PRICE = run_of(FIRST, SECOND)


def test_what_does_not_count():
    """neither ids, prompts and times, nor how an engine writes the same values"""
    theirs = [
        calculate("100*0.2", "Answer: 20", "calculator", "input"),
        calculate(' {"expression": "100-20"}', "80.0"),
    ]
    same = run_of(*theirs, answer=" 88.0", ids="run-{}", steps=False)
    assert first_difference(PRICE, same) is None
    two = run_of(("Power", {"input": '{"base": "2", "to": 3}'}, "8"))
    other = run_of(("Power", {"base": 2, "to": 3}, "8"))
    assert first_difference(two, other) is None


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (calculate("100-30", "80"), "arguments is '100-20' in one, '100-30'"),
        (calculate("100-20", None), "observation is '80' in one, None"),
        (calculate("100-20", "80", "Shop"), "tool is 'calculator' in one, 'shop'"),
    ],
)
def test_the_first_call_that_differs_is_named(second, words):
    """the first thing that differs is said in a sentence"""
    said = first_difference(PRICE, run_of(FIRST, second))
    assert said == f"call 2: {words} in the other"


def test_another_end_is_named():
    """fewer calls, another answer, or none: a run that goes on has not ended so"""
    few = "one has 1 call, the other 2: calculator comes first among the missing"
    for pair in ((PRICE, run_of(FIRST)), (run_of(FIRST), PRICE)):
        assert first_difference(*pair) == few
    said = first_difference(PRICE, run_of(FIRST, SECOND, answer="89 "))
    assert said == "the answer is '88' in one, '89' in the other"
    cut = Trace(PRICE.events[:-1])
    assert first_difference(PRICE, cut) == "one has ended, the other has not"
    assert first_difference(cut, cut) is None


def test_a_call_inside_a_call_may_have_the_same_id():
    """an agent inside a tool begins its ids anew, and its results are its own"""
    write = TraceWriter()
    first = write("tool_call", call_id="1", tool="Planner", arguments={})
    write("tool_call", call_id="1", tool="Search", arguments={}, parent=first)
    observed = {"call_id": "1", "ok": True}
    write("observation", **observed, tool="Search", text="inner", parent=first)
    write("observation", **observed, tool="Planner", text="outer")
    write("tool_call", call_id="1", tool="Planner", arguments={})
    write("observation", **observed, tool="Planner", text="again")
    assert [call.observation for call in calls_of(write.trace())] == ["outer", "again"]


def test_notes_on_repairs_do_not_count():
    """what was repaired on the way is not part of what was observed"""
    write, about = TraceWriter(), {"call_id": "1", "tool": "Add"}
    write("tool_call", **about, arguments={"n": 1})
    text = "2\nNote: ok\nNote: so"
    write("observation", **about, ok=True, text=text, notes=["ok", "so"])
    assert calls_of(write.trace())[0].observation == "2"


@pytest.mark.parametrize("text", ['"cat"', "[1,2]", '{"a":' * 99_999, "nan", "1+1"])
def test_a_text_stays_what_it_is(text):
    """a search in quotes is another search, and only a finite number is a number"""
    assert plain_arguments({"input": text}) == plain_text(text) == text


def test_a_value_is_the_json_that_a_model_would_read():
    """true is not one, nothing is not the word for it, the order of names is none"""
    for one, other in [(20, "20.0"), (True, "true"), ([1, 2], "[1, 2]"), (" a ", "a")]:
        assert plain_text(one) == plain_text(other)
    assert plain_text({"to": 1, "by": 2}) == plain_text({"by": 2, "to": 1})
    for one, other in [(True, 1), (None, "None"), ("1", "1.1")]:
        assert plain_text(one) != plain_text(other)
