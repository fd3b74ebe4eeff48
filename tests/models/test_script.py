"""The scripted model: says its turns, and behaves as a model does around them."""

import traceback

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.models.base import Completion, ToolRequest, Usage
from workbook.models.prompts import count_tokens
from workbook.models.script import Script, ScriptExhausted

CALL = ToolRequest("Calculator", {"input": "100*0.2"}, "call_1")


def user(text):
    return {"role": "user", "content": text}


def test_a_turn_goes_on_behind_the_cue_of_the_prompt():
    """a label with which the prompt ends is not said again, and not counted"""
    answer = Script(["Thought: easy"]).complete("Question: 2+2\nThought:")

    assert answer.text == " easy"
    assert answer.usage.output == 2


@pytest.mark.parametrize("turn", [CALL, [CALL], (CALL,)])
def test_a_turn_can_ask_for_tools(turn):
    """tool requests are handed on, with the reason `tool_calls`"""
    answer = Script([turn]).chat([user("p")])

    assert answer.tool_requests == (CALL,)
    assert answer.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    "turn",
    [
        ConnectionError("401"),
        {"raises": "ConnectionError", "message": "401"},
    ],
)
def test_an_exception_is_raised(turn):
    """a turn can be an error, as a server has them"""
    script = Script([turn, "after"])

    with pytest.raises(ConnectionError):
        script.complete("p")
    assert script.complete("p").text == "after"


def test_an_error_said_again_keeps_its_length():
    """an error that is raised many times does not collect its own tracebacks"""
    script = Script([ConnectionError("401")], repeat_last=True)
    depths = []
    for _ in range(3):
        with pytest.raises(ConnectionError) as error:
            script.complete("p")
        depths.append(len(traceback.extract_tb(error.tb)))

    assert depths == [depths[0]] * 3


def test_a_turn_can_depend_on_what_is_in_sight():
    """a function turn is given the text that is left in the window"""
    script = Script([lambda seen: f"I see {seen!r}"], window_tokens=1)

    assert script.complete("12345678").text == "I see '5678'"


@pytest.mark.parametrize("answer", [None, 3, []])
def test_a_function_turn_that_answers_nonsense_is_named(answer):
    """a function that forgot its return is told what a turn is"""
    script = Script([lambda seen: answer])

    with pytest.raises(TypeError, match=r"function returned is .* A turn is a text"):
        script.complete("p")


@pytest.mark.parametrize(("window", "text"), [(100, "88 dollars"), (2, "88 yen")])
def test_drift_can_be_written_down(window, text):
    """the constraint is obeyed only while the window still holds it"""
    turn = {"if_seen": "in dollars", "then": "88 dollars", "else": "88 yen"}
    script = Script([turn], window_tokens=window)

    assert script.complete("Answer in dollars." + "…" * 20).text == text


def test_times_repeats_a_turn():
    """`times` stands for so many equal turns"""
    script = Script([{"text": "again", "times": 44}, {"raises": "RuntimeError"}])

    assert len(script.turns) == 45


def test_the_end_of_the_script_is_said_clearly():
    """the request that had no turn is named, with the end of its prompt"""
    script = Script(["one", "two"])
    script.complete("a")
    script.complete("b")

    with pytest.raises(ScriptExhausted) as error:
        script.complete("Question: x\nObservation: 88")

    said = str(error.value)
    assert "request 3 has no turn left, of 2 in all" in said
    assert "Observation: 88" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"loop": True}, ["a", "b", "a", "b"]),
        ({"repeat_last": True}, ["a", "b", "b", "b"]),
    ],
)
def test_a_script_can_go_on_for_ever(options, said):
    """a script starts again, or repeats its last turn, when told so"""
    script = Script(["a", "b"], **options)

    assert [script.complete("p").text for _ in range(4)] == said


def test_usage_counts_what_was_read_before():
    """the shared start of two prompts is counted as cached"""
    script = Script(["abcd", "abcdefgh"])
    script.complete("12345678")

    usage = script.complete("12345678abcd").usage

    assert usage == Usage(input=3, output=2, cached=2)


def test_usage_of_messages_counts_what_was_read_before():
    """messages sent again are cached, new ones are not"""
    script = Script(["a", "b", "c"])
    first, second = user("12"), user("345678")  # "user: 12\n": 9 characters, 3 tokens
    script.chat([first])

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
    """whatever was asked, in whatever order, is kept as it was"""
    script = Script(["x"] * len(prompts), window_tokens=window)

    for prompt in prompts:
        if isinstance(prompt, str):
            script.complete(prompt, stop=["s"])
        else:
            script.chat(prompt, tools=[{"type": "function"}])

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
        ([{"message": "m"}], "turn 1 is"),
        ([{"text": "a", "times": -1}], "times is -1"),
        ([{"if_seen": "a", "then": "b"}], "if_seen, then and else"),
        ([{"if_seen": "a", "then": 3, "else": "b"}], "turn 1, then is 3"),
        ([{"text": 3}], "turn 1 is"),
        ([{"calls": []}], "turn 1 is"),
        ([{"calls": [{"name": "Add"}]}], "turn 1 is"),
        ([{"calls": [{"name": "Add", "arguments": {}, "id": 7}]}], "turn 1 is"),
        ([{"calls": [{"name": "Add", "arguments": {}}], "txt": "a"}], "turn 1 is"),
        ([{"raises": "SystemExit"}], "'SystemExit' is not a built-in exception"),
        ([{"raises": "UnicodeDecodeError"}], "takes exactly 5 arguments"),
        ([int], "turn 1 is"),
    ],
)
def test_a_wrong_script_is_refused_when_it_is_written(turns, message):
    """a slip in a script is named before anything is played"""
    with pytest.raises((TypeError, ValueError)) as error:
        Script(turns)

    assert message in str(error.value)


@pytest.mark.parametrize(
    "options",
    [{"window_tokens": 0}, {"repeat_last": True}, {"turns": []}],
)
def test_wrong_options_are_refused(options):
    """no window, two ways to go on at once, and nothing to repeat make no sense"""
    with pytest.raises(ValueError, match=r"token|starts again|no turn to repeat"):
        Script(**{"turns": ["a"], "loop": True, **options})


def test_a_turn_can_be_a_table_of_calls():
    """a table asks for tools by name and arguments, with a text and ids or without"""
    pay = {"name": "Pay", "arguments": {"amount": 25}, "id": "c7"}
    add = {"name": "Add", "arguments": {}}
    script = Script([{"calls": [pay, add]}, {"text": "I pay.", "calls": [pay]}])

    first, second = script.chat([user("p")]), script.chat([user("p")])

    asked = (ToolRequest("Pay", {"amount": 25}, "c7"), ToolRequest("Add", {}, ""))
    assert (first.text, first.tool_requests) == ("", asked)
    assert (second.text, second.tool_requests) == ("I pay.", asked[:1])
    assert second.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("turns", "at_once"),
    [([], True), (["a", CALL, OSError("x")], True), (["a", lambda seen: "b"], False)],
)
def test_a_script_says_whether_it_answers_at_once(turns, at_once):
    """only a turn that is a function may keep somebody waiting"""
    assert Script(turns).at_once is at_once


def test_a_script_can_be_played_again():
    """the copy is at its first turn, and the script keeps what it was asked"""
    script = Script(["one", "two"])
    script.complete("p")
    assert script.again().complete("q").text == "one"
    assert script.complete("p").text == "two"
    assert script.asked == 2


# a cap for one call, and a text told while it is written


@pytest.mark.parametrize(
    ("cap", "text", "reason"),
    [
        (0, "", "length"),
        (2, "abcdefgh", "length"),
        (3, "abcdefghij", "stop"),
    ],
)
def test_a_script_keeps_to_the_cap(cap, text, reason):
    """a turn is cut after so many tokens, and one that is exactly so long is whole"""
    answer = Script(["abcdefghij"]).complete("p", max_tokens=cap)
    assert (answer.text, answer.finish_reason) == (text, reason)
    assert answer.usage.output == count_tokens(text)


def test_a_stop_sequence_comes_before_the_cap():
    """a turn that stops by itself within the cap was not cut"""
    answer = Script(["abcd\nO 2"]).complete("p", stop=["\nO"], max_tokens=1)
    assert (answer.text, answer.finish_reason) == ("abcd", "stop")


@pytest.mark.parametrize(("cap", "calls"), [(6, 2), (5, 1), (3, 1), (2, 0)])
def test_a_call_that_does_not_fit_is_no_call(cap, calls):
    """half a call is never made: what is left of it is dropped"""
    call = ToolRequest("add", {"a": 1}, "call_1")  # three tokens
    answer = Script([[call, call]]).chat([user("p")], max_tokens=cap)
    assert answer.tool_requests == (call,) * calls
    assert answer.finish_reason == ("tool_calls" if calls == 2 else "length")


def test_a_turn_with_a_usage_of_its_own_keeps_to_the_cap():
    """what a scripted turn says that it cost is capped too"""
    turn = Completion("Final Answer: 6", Usage(100, 900))
    answer = Script([turn]).complete("p", max_tokens=50)
    assert (answer.usage, answer.finish_reason) == (Usage(100, 50), "length")


def test_a_script_says_its_text_in_pieces():
    """what is told while it is written is the text up to the cap, to the letter"""
    pieces = []
    answer = Script(["Thought: easy\n"]).complete(
        "p", max_tokens=3, on_text=lambda text: pieces.append(text)
    )
    assert pieces == ["Thou", "ght:", " eas"]
    assert answer.text == "Thought: eas"


def test_a_script_stops_when_it_is_told_to():
    """what was said up to then is the answer, and its tokens are counted"""
    turn, pieces = Completion("abcdefghijkl", tool_requests=(CALL,)), []

    def listen(piece):
        pieces.append(piece)
        return len(pieces) == 2

    answer = Script([turn]).chat([user("p")], on_text=listen)
    assert (answer.text, answer.finish_reason) == ("abcdefgh", "cancelled")
    assert (answer.usage.output, answer.tool_requests) == (2, ())


def test_a_script_counts_a_prompt_as_its_usage_does():
    """the tokens counted before a call are those of the usage after it"""
    script, messages = Script(["a"], repeat_last=True), [user("one")]
    for _ in range(3):
        assert script.count("a prompt") == script.complete("a prompt").usage.input
        counted = script.count(messages)
        assert counted == script.chat(messages).usage.input
        assert script.count(messages) == counted
        messages.append(user("and another"))
    narrow = Script(["a"], window_tokens=5)
    assert narrow.count("a" * 400) == narrow.complete("a" * 400).usage.input == 5
