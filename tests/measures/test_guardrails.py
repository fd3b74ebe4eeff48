"""What lesson 06 and its lab show: runs, rules, prompts and facts."""

from functools import partial

import pytest

from workbook.measures import guardrails
from workbook.runtime.budget import Budget, budget
from workbook.runtime.model import Model, Response, Usage
from workbook.runtime.stuck import StepSeen

POLL = [StepSeen("JobStatus", {"job": "a"}, f"{n} %") for n in range(5)]
PING = [StepSeen(name, {"q": name}, name) for name in ("Web", "Phone")] * 5
OPENCODE = partial(guardrails.blind, lengths=[1], repeats=3)
GEMINI_CLI = partial(guardrails.blind, lengths=range(1, 6), repeats=5)


@pytest.mark.parametrize(
    ("calls", "opencode", "gemini_cli"),
    [
        (POLL, True, True),
        (POLL[:4], True, False),
        (POLL[:2], False, False),
        (PING, False, True),
        (PING[:9], False, False),
        ([StepSeen("Web", {"a": 1, "b": 2}, ""), StepSeen("Web", {"b": 2, "a": 1}, "")]
         * 2, False, False),
    ],
)  # fmt: skip
def test_two_agents_rules_stop_where_their_sources_say(calls, opencode, gemini_cli):
    """three equal calls; five repeats; letter by letter, with no look at the answers"""
    found = [rule(calls) is not None for rule in (OPENCODE, GEMINI_CLI)]
    assert found == [opencode, gemini_cli]


def test_a_scenario_is_played_with_the_guards_that_are_given():
    """how it ends, whether that is right, and all tokens; its own limits without any"""
    bare = guardrails.played("budget_reached_exactly")
    assert (bare["ends"]["state"], bare["ends"]["right"]) == ("DONE", True)
    few = [budget(Budget(tokens=bare["tokens"] - 1), converge=False)]
    limited = guardrails.played("budget_reached_exactly", few)
    assert limited["ends"]["right"] is False
    assert limited["tokens"] == bare["tokens"] - 1
    endless = guardrails.played("one_turn_spends_everything")["ends"]
    assert (endless["state"], endless["model_turns"]) == ("EXHAUSTED", 30)


def test_a_rule_sees_the_calls_with_digests_of_their_answers():
    """the same answer has the same digest, another one another"""
    same = guardrails.calls_of("same_call_forever")
    polled = guardrails.calls_of("polling")
    assert len({call.digest for call in same}) == 1
    assert len({call.digest for call in polled}) == len(polled) == 4


class Reads(Model):
    """A model that counts letters; it finds what is asked in the prompt's words."""

    count = staticmethod(len)

    def respond(self, request):
        text, _, asked = request.text.rpartition("\nIn short: ")
        found = text.partition(asked)[2].split(".\n")[0] if text else "."
        used = Usage(len(request.text), 1, cached=10)
        return Response(found, used, timings={"prompt_ms": 1.5})


def test_a_talk_is_sent_in_each_way():
    """eight prompts each; what was not cached was read; a way keeps to its limit"""

    def newest(parts, limit, *, count):
        return parts[-limit:]

    rows = [*guardrails.read_again(Reads(), {"one": (newest, 99), "two": (newest, 2)})]
    assert [row["turn"] for row in rows] == [*range(1, 9)] * 2
    assert all(row["read"] == row["sent"] - row["cached"] for row in rows)
    one, two = ([r["sent"] for r in rows if r["way"] == way] for way in ("one", "two"))
    assert one == sorted(one)
    assert max(two[2:]) < min(one[2:])


def test_each_fact_is_asked_for_at_each_place_in_both_words():
    """ten facts, three places, two wordings"""
    found = [*guardrails.find_facts(Reads())]
    asked = {(row["fact"], row["place"], row["words"]) for row in found}
    assert len(asked) == len(found) == 60
    assert all(row["found"] == (row["words"] == "same") for row in found)
