"""An event in words, and whose it is."""

import pytest

from workbook.runtime.journal import Journal
from workbook.views.show import (
    summary,
    turn_of,
    voice,
)


def test_messages_are_shown_with_their_roles_and_calls():
    """What a chat model is asked is read as text, the calls with it."""
    journal = Journal()
    asked = {"role": "user", "content": "2+2?"}
    calls = [{"id": "1", "type": "function", "function": {"name": "Sum"}}]
    journal.emit("model_request", prompt=[asked])
    said = {"role": "assistant", "content": "", "tool_calls": calls}
    journal.emit("model_request", prompt=[asked, said])
    first, second = map(summary, journal.trace())
    assert first == "user: 2+2?"
    assert second.startswith("(… 1 message as before)\nassistant:")
    assert '"Sum"' in second


ACTION = {"kind": "action", "thought": "a", "tool": "Sum", "input": "1"}
CALL = {"call_id": "1", "tool": "Sum", "arguments": {"n": 1}}


@pytest.mark.parametrize(
    ("fields", "chat", "turn"),
    [
        ({"text": "a\nAction: Sum\nAction Input: 1"}, False, ACTION),
        ({"text": "88"}, True, {"kind": "final", "thought": "", "answer": "88"}),
        ({"text": '{"name": "Sum"}'}, True, "malformed"),
        ({"text": "Final Answer: 8", "finish": "length"}, False, "malformed"),
        ({"text": "88", "finish": "cancelled"}, True, "malformed"),
        (
            {"text": " a ", "calls": [{"name": "Sum", "arguments": {"n": 1}}]},
            True,
            {"kind": "calls", "thought": "a", "calls": [CALL]},
        ),
        ({"text": "as you like", "turn": ACTION}, False, ACTION),
        ({"text": "as you like", "turn": None}, False, {}),
    ],
)
def test_what_a_turn_did_is_read_from_its_event(fields, chat, turn):
    """as the machine reads it, cut or whole; an engine's own reading comes first"""
    for call in fields.get("calls", ()):
        call["call_id"] = "1"
    found = turn_of({"kind": "model_turn", **fields}, chat, ["Sum"])
    assert found == turn or found.get("kind") == turn


@pytest.mark.parametrize(
    ("fields", "whose"),
    [
        ({"who": "policy", "what": "ask"}, "runtime"),
        ({"who": "policy", "what": "deny"}, "danger"),
        ({"who": "Ada", "what": "approve", "answer": {}}, "user"),
        ({"who": "user", "what": "cancel", "signal": True}, "user"),
        ({"who": "Ada", "what": "mode", "mode": "plan", "signal": True}, "user"),
        ({"who": "record", "what": "resumed", "signal": True}, "runtime"),
        ({"who": "runtime", "what": "timed_out", "stopped": True}, "danger"),
    ],
)
def test_a_decision_has_the_colour_of_whoever_decided(fields, whose):
    """a person, the runtime; what was refused or stopped is danger"""
    assert voice({"kind": "decision", "why": "", **fields}) == whose
