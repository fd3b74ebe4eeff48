"""What a model may write: odd labels, calls in words, ids twice, arguments of any kind.

A conversation is one list of parts, which both kinds of model are shown.
"""

import gc
import json
import time
from functools import reduce

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.runtime.playing import FINAL, Asked, act, call, noted, play, texts
from workbook.runtime.budget import Limits
from workbook.runtime.messages import as_chat, as_text, part_of, read_words
from workbook.runtime.model import Response, ToolRequest
from workbook.runtime.turns import (
    Action,
    Final,
    Label,
    Malformed,
    parse_turn,
    split_fields,
    split_turn,
)

# turns in words

STEP = "Thought: t\nAction: Sum\nAction Input: 1+1"


@pytest.mark.parametrize("label", ["Final Answer", "Action: Write\nAction Input"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a\nAction: b", "a\nAction: b"),
        (f"a\nAction Input: b\n{STEP}", "a\nAction Input: b"),
        ("a\nb\nThought: so\nFinal: 3", "a\nb"),
        ("**kwargs\nb: _c_\nObservation:", "**kwargs\nb: _c_"),
    ],
)
def test_a_label_that_begins_nothing_is_words(label, text, words):
    """in an input or an answer a label is text, unless it begins a complete step"""
    turn = parse_turn(f"{label}: {text}")
    assert words == (turn.answer if isinstance(turn, Final) else turn.input)


@pytest.mark.parametrize(
    "text",
    [
        "Thought １：t\nAction 1: Search\nAction 1 Input 1: a",
        "\u3000Thought: t\n\xa0Action\u202f: Search\n\ufeffAction\xa0Input: a",
        "* **Thought:** t\n__Action__: Search\n***Action Input***: a",
        "**Thought: t**\n**Action: Search**\n**Action Input: a**",
        "t\r\n\nACTION:\nSearch\n\nAction Input:\na\n\n> - Observation 2: and then",
    ],
)
def test_labels_in_many_spellings(text):
    """numbers, bullets, bold, quotes, widths, spaces and line ends change nothing"""
    assert parse_turn(text) == Action("t", "Search", "a")


PIECES = ["Thought:", "Action:", "Action Input:", "Observation:", "Final:", "- ", "x"]
PIECES += ["Question:", "**Action:**", "action 1 input 1：", "\n", "\r\n", " ", "```\n"]
PIECES += ["**", "<think>", "</think>", "\u3000", "\x00", "\u2028", "\ud800", "Search["]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text())
@example("Thought:")
def test_any_text_is_a_turn(text):
    """nothing raises; what is kept reads as the same turn and has no Observation"""
    turn = parse_turn(text)
    kept, dropped = split_turn(text, turn)
    assert isinstance(turn, Malformed) or parse_turn(kept) == turn
    assert Label.OBSERVATION not in dict(split_fields(kept))
    assert dropped or "think>" in text or "```" in text or kept == text


@pytest.mark.parametrize(
    ("kept", "dropped"),
    [
        (STEP, "Observation: 2\nFinal Answer: 2"),
        (STEP, STEP),
        ("Final Answer: 4", STEP),
        ("Hm.", "Observation: 3\nThought: so"),
    ],
)
def test_what_was_not_done_is_not_kept(kept, dropped):
    """all after the first step, or after a result that the model made up, is dropped"""
    text = f"{kept}\n{dropped}"
    assert split_turn(text, parse_turn(text)) == (kept, dropped)


LONG = [*PIECES, "* * - ", "Action: a\n", "**Final: a\n"]


@pytest.mark.parametrize("piece", LONG)
@pytest.mark.parametrize("start", ["**Action 1", "Final Answer: a\n"])
def test_a_long_text_takes_as_long_as_its_length(start, piece):
    """ten times the text takes about ten times as long, however hostile it is"""

    def seconds(text):
        gc.disable()
        began = time.thread_time()
        split_turn(text, parse_turn(text))
        gc.enable()
        return time.thread_time() - began

    text = start + piece * (200_000 // len(piece))
    tenth = max(0.005, min(seconds(text[:20_000]) for _ in range(3)))
    assert seconds(text) < 30 * tenth  # with its square: a hundred times


# one conversation, shown in two ways


def test_a_conversation_is_a_text_and_messages():
    """text and function calls give the same parts; each kind of model reads its own"""
    asked = ToolRequest("note", {"arg": "1"}, "a", {"signature": "s1"})
    turn = Response("I look.\nObservation: 7", calls=[asked], extra={"reasoning": "r1"})
    end = play([turn, "done"], chat=True)
    messages = as_chat(end.run.parts)
    roles = [message["role"] for message in messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant"]
    asking, seen = messages[2:4]
    function = {"name": "note", "arguments": '{"arg": "1"}'}  # as the model wrote it
    assert asking["tool_calls"][0]["function"] == function
    assert (asking["content"], asking["reasoning"]) == ("I look.", "r1")
    assert asking["tool_calls"][0]["signature"] == "s1"
    assert (seen["tool_call_id"], seen["content"][:5]) == ("a", "noted")
    assert end.run.calls["a"].arguments == {"input": "1"}  # as it was made
    in_text = 'Action: note\nAction Input: {"arg": "1"}\nObservation: noted\n'
    assert in_text in as_text(end.run.parts)
    del asking["reasoning"], asking["tool_calls"][0]["signature"]
    assert as_chat([*map(part_of, messages)]) == messages


def test_a_conversation_goes_on_in_another_run():
    """history is what was before the question; the preamble is written anew"""
    first, prompts = play([act("Note", 1), FINAL]), []
    model = Asked(lambda request: prompts.append(request.text) or Response(FINAL))
    noted(model).run("And then?", history=first.run.parts)
    [prompt] = prompts
    assert prompt.count("These tools are there") == 1
    assert f"Observation: noted\n{FINAL}Question: And then?\n" in prompt


# what a model that calls functions writes in words

ANSWERS = {
    " It is 2.\nThe action: none. ": "It is 2.\nThe action: none.",
    "Effect: Allow\nAction: s3:GetObject\nResource: *": ...,
    '```json\n{"name": "Ada", "age": 36}\n```': ...,
    "[" * 100_000: ...,
    "The log says:\nObservation: 3 stars": ...,
    "Thought: I think it is 2.": ...,
    "Thought: I know.\n**Final:** 88\nObservation: so": "88",
    "<think>Action: none?</think>4": "4",
}
CALLS = [
    act("Note", "1+1"),
    act("Nope", "1+1"),
    "Final Answer:",
    '```json\n{"name": "Note", "parameters": {"input": "1"}}\n```',
    '[TOOL_CALLS]Note{"input": "1"}',
    "<function=Note>1</function>",
]


@pytest.mark.parametrize("words", ANSWERS, ids=lambda words: words[:20])
def test_words_without_a_call_are_the_answer(words):
    """words are the answer as they are, less a label Final Answer before it"""
    answer = words if ANSWERS[words] is ... else ANSWERS[words]
    assert read_words(words, {"Note"}) == Final("", answer)
    end = play([words], chat=True)
    assert end.answer == answer
    assert ANSWERS[words] is not ... or texts(end, "model") == [words]


@pytest.mark.parametrize("words", CALLS, ids=lambda words: words[:20])
def test_a_call_in_words_is_not_the_answer(words):
    """a step, or an offered tool's call in text, is unreadable; the model reads so"""
    end = play([words, "2"], chat=True)
    assert (end.answer, end.spent.steps) == ("2", 2)
    assert "Call the tool as a function" in texts(end)[0]


HALVES = ["Final Answer: 88 dol", "Action: Note\nAction Input: 12*", "I think that"]


@pytest.mark.parametrize("words", HALVES)
@pytest.mark.parametrize("chat", [False, True])
def test_half_a_turn_is_not_taken(chat, words):
    """a reply that was cut in its step is no answer and no call"""
    end = play([Response(words, finish="length"), FINAL], chat=chat)
    assert (end.state, end.answer, end.trace.of("tool_call")) == ("DONE", "ok", [])


# its calls


@pytest.mark.parametrize(
    ("turns", "ids"),
    [
        ([["", None, ""]], ["runtime_1", "runtime_2", "runtime_3"]),
        ([["a", "b"], ["a"]], ["a", "b", "runtime_3"]),
        ([["runtime_1", ""]], ["runtime_1", "runtime_2"]),
        ([[7, "x"], ["7"]], ["7", "x", "runtime_3"]),
    ],
)
def test_each_call_has_an_id_of_its_own(turns, ids):
    """an id that is missing, or comes again in a later turn, is replaced by ours"""
    asked = [[call("Note", n, n) for n in turn] for turn in turns]
    end = play([*asked, "ok"], chat=True)
    assert [part["id"] for part in end.run.parts if "id" in part] == ids
    assert texts(end) == ["noted"] * len(ids)
    assert [c["id"] for part in end.run.parts for c in part.get("calls", ())] == ids


def test_an_id_twice_in_one_turn_is_refused_once():
    """nobody could say which result is whose: the first is made, the second refused"""
    end = play([[call("Note", 1, "a"), call("Note", 2, "a")], "ok"], chat=True)
    first, second = texts(end)
    assert (first, second[:25]) == ("noted", "Error (duplicate_call_id)")


DEEP = reduce(lambda inner, _: {"a": inner}, range(3_000), {})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ('{"input": "1"}', "noted"),
        ('{"input": "1', "the arguments are not JSON (Unterminated string"),
        (None, '"input" is a required property'),
        ("[1]", 'is not of type "object"'),
        ({"input": float("nan")}, "Error (invalid_arguments)"),
        ({1: 2}, "('1' was unexpected)"),
        ({"input": b"a"}, "noted"),
        (DEEP, "Error (invalid_arguments)"),
    ],
    ids=range(8),
)
def test_arguments_in_every_shape(given, words):
    """data, text of JSON, or neither: the call is made or refused, and goes back"""
    turns = iter([Response(calls=[ToolRequest("Note", given, "a")]), Response("ok")])
    end = play(Asked(lambda request: next(turns)), chat=True)
    assert (end.answer, words in texts(end)[0]) == ("ok", True)
    [message] = [m for m in as_chat(end.run.parts) if "tool_calls" in m]
    sent = json.loads(message["tool_calls"][0]["function"]["arguments"])
    assert isinstance(sent, dict)
    assert given is not None or sent == {}


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize("odd", [None, Response(5), Response(calls=[{"name": "Note"}])])
def test_what_is_no_response_ends_the_run_at_most(chat, odd):
    """a model that returns nonsense ends its run in ERROR; the record is readable"""
    end = play(Asked(lambda request: odd), chat=chat, limits=Limits(steps=2))
    assert end.state in ("ERROR", "EXHAUSTED")
