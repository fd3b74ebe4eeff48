"""The scripted model: plays its turns, and behaves as a model does around them."""

import pytest

from tests.runtime.playing import FINAL, Asked, noted
from workbook.runtime.model import Prefilled, Response, ToolRequest, Usage
from workbook.runtime.script import Script, ScriptExhausted

CALL = ToolRequest("add", {"a": 1}, "call_1")  # three tokens


def user(text):
    return {"role": "user", "content": text}


def test_a_turn_is_a_text_calls_an_exception_or_a_function():
    """a function decides by the text that is left in the window"""
    turns = ["a", CALL, [CALL, CALL], ConnectionError("401"), lambda seen: f"{seen!r}"]
    script = Script(turns, window_tokens=1)
    assert script.complete("p").text == "a"
    assert [script.chat([user("p")]).calls for _ in range(2)] == [[CALL], [CALL, CALL]]
    with pytest.raises(ConnectionError, match="401"):
        script.complete("p")
    assert script.complete("12345678").text == "'5678'"


def test_the_end_of_the_script_is_named():
    """the request that had no turn, and the end of its prompt; or it goes on"""
    script = Script(["a", "b"])
    assert [script.complete("a").text for _ in range(2)] == ["a", "b"]
    words = r"request 3 has no turn left, of 2 in all.*Observation: 88"
    with pytest.raises(ScriptExhausted, match=words):
        script.complete("Question: x\nObservation: 88")
    for options, texts in (({"loop": True}, "abab"), ({"repeat_last": True}, "abbb")):
        script = Script(["a", "b"], **options)
        assert "".join(script.complete("p").text for _ in range(4)) == texts
        assert script.asked == 4


@pytest.mark.parametrize("turns", ["one text", [3], ["ok", []], [lambda seen: None]])
def test_a_wrong_script_is_refused(turns):
    """a slip in a script is named, where it can be before anything is played"""
    words = "not one str|(turn [12]|function returned) is .* A turn is a text"
    with pytest.raises(TypeError, match=words):
        Script(turns).complete("p")


def test_usage_counts_what_was_read_before():
    """the shared start of two prompts is cached; a window bounds what is billed"""
    script = Script(["abcd", "abcdefgh", "a", "b", "c"])
    script.complete("12345678")
    assert script.complete("12345678abcd").usage == Usage(3, 2, cached=2)
    first, second = user("12"), user("345678")  # "user: 12\n": 9 characters, 3 tokens
    assert script.chat([first]).usage == Usage(3, 1, 0)
    assert script.chat([first, second]).usage == Usage(3 + 4, 1, 3)
    assert (script.count([first]), script.count([second])) == (3, 4)
    script = Script(["a", "b"], window_tokens=2)
    script.complete("1" * 40)
    assert script.complete("1" * 44).usage == Usage(2, 1, 0)  # its start has moved


@pytest.mark.parametrize(
    ("stop", "kept"), [("\nO", "x"), (["a", "", "Ob"], "x\n"), (["c"], "x\nOba")]
)
def test_nothing_from_a_stop_sequence_on_is_kept(stop, kept):
    """a turn ends before the first place where any stop sequence begins"""
    assert Script(["x\nOba"]).complete("p", stop=stop).text == kept


@pytest.mark.parametrize(
    ("turn", "cap", "kept", "output", "finish"),
    [
        ("abcdefghij", 0, "", 0, "length"),
        ("abcdefghij", 3, "abcdefghij", 3, "stop"),
        ("abcd\nO 2", 1, "abcd", 1, "stop"),
        (Response("abcd", Usage(100, 900)), 50, "abcd", 50, "length"),
        ([CALL, CALL], 6, [CALL, CALL], 6, "tool_calls"),
        ([CALL, CALL], 5, [CALL], 5, "length"),
    ],
)
def test_a_script_keeps_to_the_cap(turn, cap, kept, output, finish):
    """a turn, or its own usage, is cut after so many tokens, and half a call is none"""
    pieces = []
    options = {"stop": ["\nO"], "max_tokens": cap, "on_text": pieces.append}
    answer = Script([turn]).complete("p", **options)
    assert (answer.text or [*answer.calls] or "", answer.finish) == (kept, finish)
    assert (answer.usage.output, "".join(pieces)) == (output, answer.text)


def test_a_turn_can_be_stopped_while_it_is_written():
    """what was written is counted; the calls that would have followed are not made"""
    pieces, turn = [], Response("abcdefghijkl", calls=[CALL])
    stop = lambda piece: pieces.append(piece) or len(pieces) == 2  # noqa: E731
    answer = Script([turn]).complete("p", on_text=stop)
    assert (answer.text, answer.finish) == ("abcdefgh", "cancelled")
    assert (answer.usage.output, list(answer.calls)) == (2, [])


def test_a_prefill_is_sent_and_precedes_the_answer():
    """the model goes on after the prefill; its turn has the prefill in it, once"""
    seen, pieces = [], []
    script = Script([lambda text: seen.append(text) or " I add. I add."])
    options = {"stop": ["\nO"], "max_tokens": 2, "on_text": pieces.append}
    answer = Prefilled(script, "Thought:").complete("1+1?\n", **options)
    assert answer.text == "".join(pieces) == "Thought: I add. "
    assert (answer.finish, seen) == ("length", ["1+1?\nThought:"])
    repeated = Script(["Thought: easy"]).complete("Question: 2+2\nThought:")
    assert repeated.text == " easy"
    plain = Prefilled(Asked(lambda request: Response("\n" + FINAL)), "Thought: t")
    assert (plain.streams, hasattr(plain, "count")) == (False, False)
    assert noted(plain).run("?").answer == "ok"
