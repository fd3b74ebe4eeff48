"""The scripted model: says its turns, and behaves as a model does around them."""

import traceback

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.listener import Listener
from workbook.models.base import Completion, ToolRequest, Usage
from workbook.models.prompts import count_tokens
from workbook.models.script import Script, ScriptExhausted

CALL = ToolRequest("add", {"a": 1}, "call_1")  # three tokens


def user(text):
    return {"role": "user", "content": text}


def test_a_turn_goes_on_behind_the_cue_of_the_prompt():
    """a label with which the prompt ends is not said again, and not counted"""
    answer = Script(["Thought: easy"]).complete("Question: 2+2\nThought:")
    assert (answer.text, answer.usage.output) == (" easy", 2)


ADD = {"name": "add", "arguments": {"a": 1}}


@pytest.mark.parametrize(
    ("turn", "text", "ids"),
    [
        (CALL, "", ["call_1"]),
        ((CALL,), "", ["call_1"]),
        ({"calls": [{**ADD, "id": "c7"}, ADD]}, "", ["c7", ""]),
        ({"text": "I add.", "calls": [ADD]}, "I add.", [""]),
    ],
)
def test_a_turn_can_ask_for_tools(turn, text, ids):
    """as requests or as a table of calls, with a text and ids or without"""
    answer = Script([turn]).chat([user("p")])
    asked = tuple(ToolRequest("add", {"a": 1}, call_id) for call_id in ids)
    assert (answer.text, answer.tool_requests) == (text, asked)
    assert answer.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    "turn",
    [ConnectionError("401"), {"raises": "ConnectionError", "message": "401"}],
)
def test_an_exception_is_raised(turn):
    """a turn can be an error; raised again, it does not collect its tracebacks"""
    script, depths = Script([turn], loop=True), []
    for _ in range(3):
        with pytest.raises(ConnectionError, match="401") as error:
            script.complete("p")
        depths.append(len(traceback.extract_tb(error.tb)))
    assert depths == [depths[0]] * 3


def test_a_turn_can_depend_on_what_is_in_sight():
    """a function turn is given the text that is left in the window"""
    script = Script([lambda seen: f"I see {seen!r}"], window_tokens=1)
    assert script.complete("12345678").text == "I see '5678'"
    nonsense = Script([lambda seen: None])
    with pytest.raises(TypeError, match=r"function returned is .* A turn is a text"):
        nonsense.complete("p")


@pytest.mark.parametrize(("window", "text"), [(100, "88 dollars"), (2, "88 yen")])
def test_drift_can_be_written_down(window, text):
    """the constraint is obeyed only while the window still holds it"""
    turn = {"if_seen": "in dollars", "then": "88 dollars", "else": "88 yen"}
    script = Script([turn], window_tokens=window)
    assert script.complete("Answer in dollars." + "…" * 20).text == text


def test_the_end_of_the_script_is_said_clearly():
    """the request that had no turn is named, with the end of its prompt"""
    script = Script([{"text": "again", "times": 2}])
    assert [script.complete("a").text for _ in range(2)] == ["again"] * 2
    with pytest.raises(ScriptExhausted) as error:
        script.complete("Question: x\nObservation: 88")
    said = str(error.value)
    assert "request 3 has no turn left, of 2 in all" in said
    assert "Observation: 88" in said


@pytest.mark.parametrize(
    ("options", "said"), [({"loop": True}, "abab"), ({"repeat_last": True}, "abbb")]
)
def test_a_script_can_go_on_for_ever(options, said):
    """a script starts again, or repeats its last turn, when told so"""
    script = Script(["a", "b"], **options)
    assert "".join(script.complete("p").text for _ in range(4)) == said


def test_usage_counts_what_was_read_before():
    """the shared start of two prompts, texts or messages, is counted as cached"""
    script = Script(["abcd", "abcdefgh", "a", "b", "c"])
    script.complete("12345678")
    assert script.complete("12345678abcd").usage == Usage(3, 2, cached=2)
    first, second = user("12"), user("345678")  # "user: 12\n": 9 characters, 3 tokens
    assert script.chat([first]).usage == Usage(3, 1, 0)
    assert script.chat([first, second]).usage == Usage(3 + 4, 1, 3)
    assert script.chat([second]).usage == Usage(4, 1, 0)


def test_a_window_bounds_the_usage():
    """a model is never billed for more than its window holds"""
    script = Script(["a", "b"], window_tokens=2)
    script.complete("1" * 40)
    usage = script.complete("1" * 44).usage
    assert (usage.input, usage.cached) == (2, 0)  # its start has moved


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text("ab", max_size=6),
            st.lists(st.text("ab", max_size=2).map(user), max_size=4),
        ),
        max_size=6,
    ),
    st.one_of(st.none(), st.integers(1, 5)),
)
def test_every_request_can_be_looked_up(prompts, window):
    """whatever was asked, in whatever order, is kept as it was, and counted before"""
    script = Script(["x"] * len(prompts), window_tokens=window)
    for prompt in prompts:
        counted = script.count(prompt)
        if isinstance(prompt, str):
            answer = script.complete(prompt, stop=["s"])
        else:
            answer = script.chat(prompt, tools=[{"type": "function"}])
        assert answer.usage.input == counted == script.count(prompt)
    assert [request.prompt for request in script.requests] == prompts
    assert script.asked == len(prompts)


@settings(deadline=None)
@given(st.text(), st.integers(1, 20))
def test_a_window_keeps_the_end(text, tokens):
    """of a text the model sees the last so many tokens, without a window all"""
    left = Script([], window_tokens=tokens).seen(text)
    assert text.endswith(left)
    assert count_tokens(left) == min(tokens, count_tokens(text))
    assert Script([]).seen(text) == text


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        ("one text", "a script is a list of turns, not one str"),
        ([3], "turn 1 is 3. A turn is a text"),
        (["ok", []], "turn 2 is"),
        ([{"txt": "typo"}], "turn 1 is"),
        ([{"text": "a", "times": -1}], "times is -1"),
        ([{"if_seen": "a", "then": 3, "else": "b"}], "turn 1, then is 3"),
        ([{"calls": []}], "turn 1 is"),
        ([{"calls": [{"name": "Add"}]}], "turn 1 is"),
        ([{"calls": [ADD], "txt": "a"}], "turn 1 is"),
        ([{"raises": "SystemExit"}], "'SystemExit' is not a built-in exception"),
        ([int], "turn 1 is"),
    ],
)
def test_a_wrong_script_is_refused_when_it_is_written(turns, message):
    """a slip in a script is named before anything is played"""
    with pytest.raises((TypeError, ValueError)) as error:
        Script(turns)
    assert message in str(error.value)


def test_a_script_can_be_played_again():
    """the copy is at its first turn, and the script keeps what it was asked"""
    script = Script(["one", "two"])
    script.complete("p")
    assert script.again().complete("q").text == "one"
    assert script.complete("p").text == "two"
    assert [request.prompt for request in script.requests] == ["p", "p"]
    assert script.at_once  # only a turn that is a function may keep somebody waiting
    assert not Script(["a", lambda seen: "b"]).at_once


# a cap for one call, and a text told while it is written


@pytest.mark.parametrize(
    ("turn", "cap", "text", "usage", "reason"),
    [
        ("abcdefghij", 0, "", Usage(1, 0), "length"),
        ("abcdefghij", 2, "abcdefgh", Usage(1, 2), "length"),
        ("abcdefghij", 3, "abcdefghij", Usage(1, 3), "stop"),
        ("abcd\nO 2", 1, "abcd", Usage(1, 1), "stop"),
        (Completion("abcd", Usage(100, 900)), 50, "abcd", Usage(100, 50), "length"),
    ],
)
def test_a_script_keeps_to_the_cap(turn, cap, text, usage, reason):
    """a turn, or its own usage, is cut after so many tokens, where stop had not"""
    told = Listener()
    answer = Script([turn]).complete("p", stop=["\nO"], max_tokens=cap, on_text=told)
    assert (answer.text, answer.finish_reason) == (text, reason)
    assert (answer.usage, "".join(told.pieces)) == (usage, text)


@pytest.mark.parametrize(("cap", "calls"), [(6, 2), (5, 1), (3, 1), (2, 0)])
def test_a_call_that_does_not_fit_is_no_call(cap, calls):
    """half a call is never made: what is left of it is dropped"""
    answer = Script([[CALL, CALL]]).chat([user("p")], max_tokens=cap)
    assert answer.tool_requests == (CALL,) * calls
    assert answer.finish_reason == ("tool_calls" if calls == 2 else "length")


def test_a_script_stops_when_it_is_told_to():
    """what was said up to then is the answer, and its tokens are counted"""
    turn, listen = Completion("abcdefghijkl", tool_requests=(CALL,)), Listener(2)
    answer = Script([turn]).chat([user("p")], on_text=listen)
    assert listen.pieces == ["abcd", "efgh"]
    assert (answer.text, answer.finish_reason) == ("abcdefgh", "cancelled")
    assert (answer.usage.output, answer.tool_requests) == (2, ())
