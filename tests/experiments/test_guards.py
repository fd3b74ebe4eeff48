"""What lesson 06 and its lab show of rules, turns and facts."""

import pytest

from workbook.experiments import guards
from workbook.experiments.context import by_place, find_facts, trim
from workbook.runtime.budget import Budget
from workbook.runtime.context import PromptPart
from workbook.runtime.model import Model, Response
from workbook.runtime.script import Script
from workbook.runtime.stuck import StepSeen
from workbook.stage import play

POLL = [StepSeen("JobStatus", {"job": "a"}, f"{n} %") for n in range(5)]
PING = [StepSeen(name, {"q": name}, name) for name in ("Web", "Phone")] * 5


@pytest.mark.parametrize(
    ("calls", "stops"),
    [
        (POLL, [3, 5]),
        (POLL[:4], [3, None]),
        (PING, [None, 10]),
        (PING[:9], [None, None]),
    ],
)
def test_two_agents_rules_stop_where_their_sources_say(calls, stops):
    """opencode: three equal calls; gemini-cli: five repeats; no look at the answers"""
    rules = {"a": guards.opencode, "b": guards.gemini_cli}
    [row] = guards.stops({"run": calls}, rules)
    assert [*row.values()] == ["run", len(calls), *stops]


def test_a_turn_is_cut_where_the_budget_ends():
    """what the first turn read, might write and wrote, and what the run has spent"""
    budget = Budget(tokens=500)
    trace = guards.run("?", Script(["la " * 900]), budget=budget)
    turn = guards.first_turn(trace)
    assert turn["read"] + turn["may write"] == guards.spent(trace) == 500
    assert turn["wrote"] == turn["may write"]


def test_each_run_shows_its_first_calls_with_their_digests():
    """a row a run; three calls at most"""
    [row] = guards.first_calls({"poll": POLL})
    assert [*row] == ["run", *(f"call {n} → digest" for n in (1, 2, 3))]
    assert row["call 2 → digest"] == 'JobStatus {"job": "a"} → 1 %'


@pytest.mark.parametrize(("engine", "is_right"), [("fsm", False), ("guarded", True)])
def test_an_ending_says_whether_it_is_right(engine, is_right):
    """a wish that is forgotten leads to a wrong answer"""
    end = guards.ending("drift", play("drift", engine))
    assert (end["state"], end["right"]) == ("DONE", is_right)


class Knows(Model):
    """A model that finds what is asked in the words of the prompt, and nothing else."""

    def respond(self, request):
        text, _, asked = request.text.rpartition("\nIn short: ")
        return Response(text.partition(asked)[2].split(".\n")[0])


def test_each_fact_is_asked_for_at_each_place_in_both_words():
    """ten facts, five places, two wordings; a pair is a fact, not a question"""
    found = find_facts(Knows())
    assert len(found.drop_duplicates(["fact", "place", "words"])) == len(found) == 100
    assert (found["found"] == (found["words"] == "same")).all()
    head, *rows, note = repr(by_place(found)).splitlines()
    assert head == "place same words other words"
    places = ["top", "2", "3", "4", "end"]
    shares = "100 % (72 % to 100 %) 0 % (0 % to 28 %)"
    assert rows == [f"{place} {shares}" for place in places]
    assert note.endswith("the same words 10, other words 0 of 10; p = 0.002")
    tie = repr(by_place(found.assign(found=True)))
    assert tie.endswith("0, other words 0 of 10; p = 1.000")


def test_trimming_drops_the_oldest_groups_that_it_must():
    """the newest that fits stays, without a summary; what is pinned stays"""
    turns = [PromptPart(f"{n}" * 20, group=n) for n in (1, 1, 2, 2, 3)]
    parts = [PromptPart("?" * 20, pinned=True), *turns]
    assert trim(parts, 120, count=len) == parts
    assert trim(parts, 119, count=len) == [parts[0], *turns[2:]]
    assert trim(parts, 20, count=len) == parts[:1]
