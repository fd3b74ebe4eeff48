"""The scripted model: plays its turns, and behaves as a model does around them."""

import traceback

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.runtime.playing import FINAL, Asked, act, cut, noted
from workbook.runtime.model import Prefilled, Response, ToolRequest, Usage
from workbook.runtime.replay import resume
from workbook.runtime.script import Script, ScriptExhausted, cut_at_stop

CALL = ToolRequest("add", {"a": 1}, "call_1")  # three tokens


def user(text):
    return {"role": "user", "content": text}


@pytest.mark.parametrize("turn", [CALL, [CALL], (CALL, CALL), Response(calls=[CALL])])
def test_a_turn_can_ask_for_tools(turn):
    """a call, or several, is a turn; what the model gave in it stays as it was"""
    answer = Script([turn]).chat([user("p")])
    assert (answer.text, {*map(str, answer.calls)}) == ("", {str(CALL)})


def test_an_exception_is_raised():
    """a turn can be an error; raised again, it does not collect its tracebacks"""
    script, depths = Script([ConnectionError("401")], loop=True), []
    for _ in range(3):
        with pytest.raises(ConnectionError, match="401") as error:
            script.complete("p")
        depths.append(len(traceback.extract_tb(error.tb)))
    assert depths == [depths[0]] * 3


def test_a_turn_can_depend_on_what_is_in_sight():
    """a function decides by the text that is left in the window"""
    script = Script([lambda seen: f"I see {seen!r}"], window_tokens=1)
    assert script.complete("12345678").text == "I see '5678'"
    nonsense = Script([lambda seen: None])
    with pytest.raises(TypeError, match=r"function returned is .* A turn is a text"):
        nonsense.complete("p")


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


def test_a_script_goes_by_position(tmp_path):
    """a run that is resumed by a new machine gets the turns that it would have had"""
    turns = [act("Note", 1), "Hm.", ConnectionError("down"), act("Note", 2), FINAL]
    assert noted(turns).run("?", tmp_path / "t").state == "ERROR"
    length = len((tmp_path / "t").read_bytes().splitlines())
    for lines in range(length, 1, -1):
        cut(tmp_path / "t", lines)
        end = resume(tmp_path / "t", noted(turns))
        end = end if end.state == "DONE" else resume(tmp_path / "t", noted(turns))
        assert (end.answer, len(end.run.observed)) == ("ok", 3)


@pytest.mark.parametrize("turns", ["one text", [3], ["ok", []], [{"txt": "a"}], [int]])
def test_a_wrong_script_is_refused_when_it_is_written(turns):
    """a slip in a script is named before anything is played"""
    with pytest.raises(
        TypeError, match=r"not one str|turn [12] is .* A turn is a text"
    ):
        Script(turns)


# tokens, a cap, and a text that is passed on while it is written


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


@settings(deadline=None)
@given(st.text(alphabet="ab\n", max_size=12), st.lists(st.text("ab\n", max_size=2)))
@example("aabab", ["b", "ab", "aa"])
@example("Oh. Oba", ["", "Ob"])
@example("x\nOba", "\nO")
def test_nothing_from_a_stop_sequence_on_is_kept(text, stop):
    """a turn ends before the first place where any stop sequence begins"""
    kept = cut_at_stop(text, stop)
    stop = [stop] if isinstance(stop, str) else stop  # a text alone is one
    assert text.startswith(kept)
    assert not any(sequence in kept for sequence in stop if sequence)
    assert kept == text or any(text.startswith(s, len(kept)) for s in stop if s)
    assert Script([text]).complete("p", stop=stop).text == kept


@pytest.mark.parametrize(
    ("turn", "cap", "text", "usage", "finish"),
    [
        ("abcdefghij", 0, "", Usage(1, 0), "length"),
        ("abcdefghij", 2, "abcdefgh", Usage(1, 2), "length"),
        ("abcdefghij", 3, "abcdefghij", Usage(1, 3), "stop"),
        ("abcd\nO 2", 1, "abcd", Usage(1, 1), "stop"),
        (Response("abcd", Usage(100, 900)), 50, "abcd", Usage(100, 50), "length"),
    ],
)
def test_a_script_keeps_to_the_cap(turn, cap, text, usage, finish):
    """a turn, or its own usage, is cut after so many tokens, where stop had not"""
    pieces = []
    options = {"stop": ["\nO"], "max_tokens": cap, "on_text": pieces.append}
    answer = Script([turn]).complete("p", **options)
    assert (answer.text, answer.finish) == (text, finish)
    assert (answer.usage, "".join(pieces)) == (usage, text)


def test_half_a_call_is_dropped():
    """by a cap, or because nobody wants more; what there is is counted"""
    for cap, calls in ((6, 2), (5, 1), (3, 1), (2, 0)):
        answer = Script([[CALL, CALL]]).chat([user("p")], max_tokens=cap)
        assert list(answer.calls) == [CALL] * calls
        assert answer.finish == ("tool_calls" if calls == 2 else "length")
    pieces, turn = [], Response("abcdefghijkl", calls=[CALL])
    stop = lambda piece: pieces.append(piece) or len(pieces) == 2  # noqa: E731
    answer = Script([turn]).chat([user("p")], on_text=stop)
    assert (answer.text, answer.finish) == ("abcdefgh", "cancelled")
    assert (answer.usage.output, list(answer.calls)) == (2, [])


def test_a_prefill_is_sent_and_stands_before_the_answer():
    """the model goes on after the prefill; its turn has the prefill in it, once"""
    seen, pieces = [], []
    script = Script([lambda text: seen.append(text) or " I add. I add."])
    options = {"stop": ["\nO"], "max_tokens": 2, "on_text": pieces.append}
    answer = Prefilled(script, "Thought:").complete("1+1?\n", **options)
    assert answer.text == "".join(pieces) == "Thought: I add. "
    assert (answer.finish, seen) == ("length", ["1+1?\nThought:"])
    for prompt, turn, text in (
        ("Question: 2+2\nThought:", "Thought: easy", " easy"),
        ("Thought:", "I add.", "I add."),
        ("1+1?\n", "Thought: x", "Thought: x"),
    ):
        assert Script([turn]).complete(prompt).text == text
    plain = Prefilled(Asked(lambda request: Response("\n" + FINAL)), "Thought: t")
    assert (plain.streams, hasattr(plain, "count")) == (False, False)
    assert noted(plain).run("?").answer == "ok"
