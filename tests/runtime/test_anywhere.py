"""Random runs, stopped anywhere and resumed: none above a limit, none without an end.

Both kinds of model, modes, denials, edits, compaction, time-outs, arguments that are no
JSON. `RUNS=20000 pytest tests/runtime/test_anywhere.py` makes a long search of it.
"""

import errno
import json
import math
import os
import random
from collections import Counter
from dataclasses import replace

import pytest

from tests.runtime.playing import act, assert_replayed, cut, in_memory, noted
from workbook.runtime.budget import Budget, Prices
from workbook.runtime.calls import ToolFailure
from workbook.runtime.guards import all_guards, hand_over, own_guard
from workbook.runtime.journal import Journal
from workbook.runtime.ledger import Ledger, Once
from workbook.runtime.messages import shown
from workbook.runtime.model import Response, ToolRequest, Usage
from workbook.runtime.permission import Edit, PolicyRule, no, yes
from workbook.runtime.replay import resume
from workbook.runtime.script import Script, count_tokens
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Trace
from workbook.runtime.waiting import TimedOut

RUNS = int(os.environ.get("RUNS", "200"))
BATCH = 50
PRICES = Prices("EUR", "made up", input=2, output=8, cached=2)
ANY = {"properties": {"n": {}}}
GIVEN = ["x", 0, 1, 2.5, "long text " * 8, None, [1, [2]], {"a": "\ud800"}]
ODD = ["{", "null", "", None, [1], {1: 2}, {"n": b"x"}, {"n": float("nan")}]
ODD += [{"n": 10**30}, '{"n": 1e999}', {"n": {1}}]
WORDS = ["Let me see.", *["Final Answer: " + "done " * 9] * 3, "", "\ud83d"]
RAISED = [ConnectionError("down"), TimeoutError(), KeyboardInterrupt(), TimedOut()]
STOPS = ["cut", "cancel", "full disk", "absent"]
RULES = [
    None,
    [PolicyRule("ask", tool="Look"), PolicyRule("allow")],
    [PolicyRule("deny", tool="Look"), PolicyRule("ask")],
]


class Metered(Script):
    """A script that bills all that it is sent: each part, and the schemas."""

    longest = 0  # tokens of a prompt, without the schemas

    def respond(self, request):
        reply = super().respond(request)
        size = sum(count_tokens(shown(part, request.chat)) for part in request.parts)
        self.longest = max(self.longest, size)
        size += count_tokens(json.dumps(request.tools)) if request.tools else 0
        return replace(reply, usage=Usage(size, reply.usage.output))


class Case:
    """A random run: its turns and settings by a seed; what its tools did is kept."""

    def __init__(self, seed, home):
        self.dice, self.home, self.sent = random.Random(seed), home, []
        dice = self.dice
        self.chat, self.parallel = dice.random() < 0.6, dice.random() < 0.5
        self.turns = [self.turn() for _ in range(dice.randint(1, 7))]
        self.rules, self.mode = dice.choice(RULES), dice.choice(["plan", "build"])
        answers = [yes, yes, no, lambda r: None, lambda r: Edit({"n": 7}), self.odd]
        self.answers = dice.choices(answers, k=9)
        self.limits = {"steps": dice.randint(1, 9), "tool_calls": dice.randint(0, 9)}
        self.limits["wall_s"] = 99
        for name, most in (("tokens", 3000), ("output_tokens", 400)):
            if dice.random() < 0.25:
                self.limits[name] = dice.randint(9, most)
        if dice.random() < 0.2:
            self.limits |= {"money": 0.005, "prices": PRICES}
        self.tokens = dice.choice([None, None, 140, 250])
        self.converge, self.slow = dice.random() < 0.5, dice.random() < 0.3
        self.has_ledger = dice.random() < 0.3
        self.now = 0.0

    def turn(self):
        dice = self.dice
        if dice.random() < 0.05:
            return dice.choice(RAISED)
        if dice.random() < 0.3:
            finish = dice.choice(["stop", "stop", "length", "error"])
            return Response(dice.choice(WORDS), finish=finish)
        name = dice.choice(["Look", "Look", "Send", "Nope", "look"])
        if not self.chat:
            return act(name, dice.choice(["1", "x", '{"n": 1}', "{", '{"m": 2}']))
        return [self.request() for _ in range(dice.randint(1, 4))]

    def request(self):
        dice = self.dice
        name = dice.choice(["Look", "Look", "Look", "Look", "Send", "Nope", 7])
        given = {"n": dice.choice(GIVEN)} if dice.random() < 0.7 else dice.choice(ODD)
        return ToolRequest(name, given, dice.choice(["", "", None, "a", "b"]))

    def odd(self, request):
        return Edit(self.dice.choice([{"n": float("nan")}, {1: 2}, "x"]))

    def look(self, n=None):
        if n == 1:
            raise ToolFailure("no", "not one")
        if n == "x" and self.slow:
            raise KeyboardInterrupt
        self.now += self.dice.choice([0, 0, 0, 40])
        return {"result": "It is so. " * 9}

    def send(self, n=None):
        self.sent.append(n)
        if n == 0:
            raise OSError("the line is dead")
        return {"result": "sent"}

    def clock(self):
        self.now += self.dice.choice([0, 0, 0, 0, 0, 0.5, 9])
        return self.now

    def machine(self, more=0, answers=None):
        answers = iter(self.answers if answers is None else answers)
        limits = dict(self.limits)
        for name, much in (("steps", 1), ("tool_calls", 1), ("wall_s", 200)):
            limits[name] += more * much
        person = lambda request: next(answers, yes)(request)  # noqa: E731
        options = {"converge": self.converge, "context_tokens": self.tokens}
        options |= {"rules": self.rules} if self.rules else {}
        guards = all_guards(Budget(**limits), person, self.mode, **options)
        guards += [hand_over(lambda tried: "Go on.")]
        guards += [own_guard(lambda asked, seen: "enough" if len(seen) > 9 else None)]
        make = Once(Ledger(self.home / "ledger", False)) if self.has_ledger else None
        look = Tool("Look", "Looks.", ANY, self.look, timeout_s=None)
        send = Tool("Send", "Sends.", ANY, self.send, "write", timeout_s=None)
        options = {"chat": self.chat, "parallel": self.parallel, "make": make}
        model = Metered(self.turns, repeat_last=True)
        return noted(model, [look, send], guards, **options)


def played(case, path, machine):
    """Run or resume a machine: it keeps its limits and its mode, and plays again."""
    if path.exists():
        end = resume(path, machine)
    else:
        journal = Journal(path, listener=machine.listener, clock=case.clock)
        end = machine.run("What is it?", journal=journal)
    broken = end.run.journal.broken
    assert broken is None or broken.errno == errno.ENOSPC  # as `stopping` broke it
    if broken is None:
        limits, spent, used = end.run.limits, end.spent, end.spent.usage
        assert spent.steps <= limits.steps
        assert spent.tool_calls <= limits.tool_calls
        assert used.output <= limits.output_tokens
        assert used.input + used.output <= limits.tokens
        assert limits.prices is None or PRICES.cost(used) <= limits.money
        assert end.run.machine.model.longest <= (case.tokens or math.inf)
        assert case.mode == "build" or case.rules or not case.sent
        assert_replayed(end, case.machine(), Trace.read(path))
    return end


def stopping(case, way, at):
    """Return a machine that is stopped in one of four ways at an event."""
    machine = case.machine(answers=[lambda r: None] if way == "absent" else None)

    def listener(event):
        if event["seq"] == at and way == "cancel":
            machine.cancel()
        if event["seq"] == at and way == "full disk":
            raise OSError(errno.ENOSPC, "No space left on device")

    machine.listener = listener
    return machine


def anywhere(seed):
    """Play a case, stop it up to three times, let it end; return where it ended."""
    with in_memory() as home:
        case = Case(seed, home)
        whole = played(case, home / "whole", case.machine())
        case, path, dice = Case(seed, home / "again"), home / "t", random.Random(-seed)
        for _ in range(dice.randint(1, 3)):
            way, at = dice.choice(STOPS), dice.randint(1, len(whole.trace))
            if not has_ended(path):
                played(case, path, stopping(case, way, at))
                if way == "cut":
                    cut(path, at, b'{"torn')
        for more in (1, 3, 9, 30):
            if not has_ended(path):
                played(case, path, case.machine(more, [yes] * 99))
        return Trace.read(path).events[-1].get("state", "SUSPENDED")


def has_ended(path):
    end = path.exists() and Trace.read(path).end
    return bool(end) and end["state"] in ("DONE", "STUCK")


@pytest.mark.parametrize("batch", range(0, RUNS, BATCH))
def test_stopped_anywhere_and_resumed(batch):
    """whatever happens, a run has an end, its record is honest, and plays again"""
    ends = Counter()
    for seed in range(batch, batch + BATCH):
        try:
            ends[anywhere(seed)] += 1
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
    assert len(ends) > 1
