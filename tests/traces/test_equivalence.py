"""Are two traces the same run? What counts, and what does not."""

import pytest

from workbook.traces.equivalence import (
    calls_of,
    equivalent,
    first_difference,
    plain_text,
)
from workbook.traces.trace import Trace
from workbook.traces.writer import TraceWriter


def calculate(expression, result, tool="Calculator", argument="expression"):
    """Return a call and its observation, as the arguments of `run_of`."""
    return tool, {argument: expression}, result


PRICE = [calculate("100*0.2", "20.0"), calculate("100-20", "80")]


def run_of(*calls, answer="88", engine="fsm", ids="call_{}", steps=True):
    """Return the trace of a run with these calls; `steps` adds the model requests."""
    write = TraceWriter(trace_id=engine)
    write("run_started", engine=engine, question="price?")
    for number, (tool, arguments, result) in enumerate(calls, start=1):
        call = {"call_id": ids.format(number), "tool": tool}
        if steps:
            write("model_request", prompt="…", kept=0)
        write("tool_call", **call, arguments=arguments)
        if result is not None:
            write("observation", **call, ok=True, text=result)
    write("run_finished", state="DONE", reason="final_answer", answer=answer)
    return write.trace()


# equivalent


def test_ids_times_and_steps_do_not_count():
    """call_ids, prompts, times and the engine's name do not matter

    perhaps: you compare events; they carry times and ids"""
    one = run_of(*PRICE)
    other = run_of(*PRICE, engine="langchain", ids="run-{}", steps=False)
    assert equivalent(one, other) is True


def test_the_name_of_an_only_argument_does_not_count():
    """{"input": "1+1"} and {"expression": "1+1"} are the same arguments"""
    one = run_of(calculate("1+1", "2"))
    other = run_of(calculate("1+1", "2", tool="calculator", argument="input"))
    assert equivalent(one, other) is True


def test_numbers_are_numbers():
    """20.0, 20 and llm-math's "Answer: 20.0" are the same observation and answer"""
    one = run_of(calculate("100*0.2", "20"), answer="88.0")
    other = run_of(calculate("100*0.2", "Answer: 20.0"), answer=" 88")
    assert equivalent(one, other) is True


# where they part


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (run_of(PRICE[0], calculate("100-30", "80")), "call 2: arguments"),
        (run_of(PRICE[0], calculate("100-20", "70")), "call 2: observation"),
        (run_of(PRICE[0], calculate("100-20", "80", "Shop")), "call 2: tool"),
        (run_of(PRICE[0]), "one has 1 call, the other 2: calculator"),
        (run_of(*PRICE, answer=None), "the answer"),
        (run_of(*reversed(PRICE)), "call 1: arguments"),
        (run_of(PRICE[0], calculate("100-20", None)), "call 2: observation"),
    ],
)
def test_the_first_difference_is_named(other, words):
    """the first thing that differs is said in a sentence, the same both ways round"""
    for pair in ((run_of(*PRICE), other), (other, run_of(*PRICE))):
        assert first_difference(*pair).startswith(words)


@pytest.mark.parametrize("answer", ["88", None])
def test_a_run_that_has_not_ended_is_no_end_without_an_answer(answer):
    """a run that goes on differs from one that ended, with an answer or with none"""
    whole = run_of(*PRICE, answer=answer)
    cut = Trace(whole.events[:-1])
    for pair in ((whole, cut), (cut, whole)):
        assert first_difference(*pair) == "one has ended, the other has not"
    assert first_difference(cut, cut) is None


def test_numbers_are_shown_as_they_are_written():
    """a sentence shows 169 and not how Python keeps it"""
    base = ("Power", {"base": 13, "to": 2}, "169")
    pairs = [
        (run_of(base), run_of(("Power", {"base": 13, "to": 3}, "169"))),
        (run_of(base), run_of(("Power", {"base": 13, "to": 2}, "none"))),
        (run_of(answer="169"), run_of(answer="196 ")),
    ]
    assert [first_difference(*pair) for pair in pairs] == [
        "call 1: arguments is {'base': 13, 'to': 2} in one, "
        "{'base': 13, 'to': 3} in the other",
        "call 1: observation is 169 in one, 'none' in the other",
        "the answer is 169 in one, 196 in the other",
    ]


# what is brought to one form


def test_a_call_inside_a_call_may_have_the_same_id():
    """an agent inside a tool begins its ids anew, and its results are its own"""
    write = TraceWriter()
    first = write("tool_call", call_id="1", tool="Planner", arguments={})
    write("tool_call", call_id="1", tool="Search", arguments={}, parent=first)
    observed = {"call_id": "1", "ok": True}
    write("observation", **observed, tool="Search", text="inner", parent=first)
    write("observation", **observed, tool="Planner", text="outer")
    assert [call.observation for call in calls_of(write.trace())] == ["outer"]


def test_notes_on_repairs_do_not_count():
    """what was repaired on the way is not part of what was observed"""
    write = TraceWriter()
    write("tool_call", call_id="1", tool="Add", arguments={"n": 1})
    write(
        "observation",
        call_id="1",
        tool="Add",
        ok=True,
        text="2\nNote: ok\nNote: so",
        notes=["ok", "so"],
    )
    assert calls_of(write.trace())[0].observation == 2


def test_json_in_an_only_argument_is_several_arguments():
    """text input that is a JSON object is the arguments that it holds"""
    one = run_of(("Power", {"input": '{"base": "2", "to": 3}'}, "8"))
    other = run_of(("Power", {"base": 2, "to": 3}, "8"))
    assert first_difference(one, other) is None


@pytest.mark.parametrize("text", ["nan", "Infinity", "1+1", "", "20 dollars"])
def test_only_finite_numbers_are_numbers(text):
    """what is not a finite number stays the text that it is"""
    assert plain_text(text) == text


@pytest.mark.parametrize(
    ("a", "b"),
    [
        *((20, "20.0"), (True, "true"), ([1, 2], "[1, 2]"), (" a ", "a")),
        ({"to": 1, "by": 2}, {"by": 2, "to": 1}),
    ],
)
def test_a_value_and_its_text_are_the_same(a, b):
    """a value and the JSON that a model would read are the same"""
    assert plain_text(a) == plain_text(b)


@pytest.mark.parametrize(("a", "b"), [(True, 1), (None, "None"), ("1", "1.1")])
def test_different_values_stay_different(a, b):
    """true is not one, and nothing is not the word for it"""
    assert plain_text(a) != plain_text(b)
