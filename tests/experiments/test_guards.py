"""What lesson 06 and its lab show of rules, turns and facts."""

import pytest

from workbook.experiments import guards
from workbook.experiments.context import by_place, find_facts, trim
from workbook.runtime.budget import Budget
from workbook.runtime.context import PromptPart
from workbook.runtime.model import Model, Response
from workbook.runtime.script import Script
from workbook.runtime.stuck import StepSeen

POLL = [StepSeen("JobStatus", {"job": "a"}, f"{n} %") for n in range(5)]
PING = [StepSeen(name, {"q": name}, name) for name in ("Web", "Phone")] * 5


@pytest.mark.parametrize(
    ("calls", "rules"),
    [
        (POLL, ("after call 3", "after call 5")),
        (POLL[:4], ("after call 3", "never")),
        (PING, ("never", "after call 10")),
        (PING[:9], ("never", "never")),
    ],
)
def test_two_agents_rules_stop_where_their_sources_say(calls, rules):
    """opencode: three equal calls; gemini-cli: five repeats; no look at the answers"""
    shown = guards.stops({"run": calls}, a=guards.opencode, b=guards.gemini_cli)
    assert shown.rows == [("run", str(len(calls)), *rules)]


def test_a_turn_is_told_with_its_cap(capsys):
    """a line for each turn that came: read, may write, wrote"""
    budget = Budget(tokens=500)
    guards.tell_caps(guards.run("?", Script(["la " * 900]), budget=budget))
    [line] = capsys.readouterr().out.splitlines()
    read, cap, wrote = (int(n) for n in line.replace(",", "").split() if n.isdigit())
    assert (read + cap, wrote) == (500, cap)


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
    shown = by_place(found)
    assert shown.rows[0][1].startswith("10 of 10")
    assert shown.rows[1][5].startswith("0 of 10")
    assert shown.footer.endswith("the same words 10, other words 0 of 10; p = 0.002")
    tie = by_place(found.assign(found=True))
    assert tie.footer.endswith("0, other words 0 of 10; p = 1.000")


def test_trimming_drops_the_oldest_groups_that_it_must():
    """the newest that fits stays, without a summary; what is pinned stays"""
    turns = [PromptPart(f"{n}" * 20, group=n) for n in (1, 1, 2, 2, 3)]
    parts = [PromptPart("?" * 20, pinned=True), *turns]
    assert trim(parts, 120, count=len) == parts
    assert trim(parts, 119, count=len) == [parts[0], *turns[2:]]
    assert trim(parts, 20, count=len) == parts[:1]
