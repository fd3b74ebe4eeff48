"""An agent that pays, as a program of its own: python paying.py TRACE ANSWERS DIES_AT.

It goes on with the run in the file TRACE, or begins it; bank and ledger stand beside
it. ANSWERS are a person's, in order, such as yes,no: without one the run waits. DIES_AT
is where it is killed: the number of an event, or "claimed", or "paid".
"""

import os
import sys
from dataclasses import replace
from pathlib import Path

from workbook import your_parts
from workbook.runtime.guards import all_guards
from workbook.runtime.journal import Journal
from workbook.runtime.ledger import Ledger, Once
from workbook.runtime.machine import Machine
from workbook.runtime.permission import Approve, Reject, digest_of_call
from workbook.runtime.replay import resume
from workbook.runtime.script import Script
from workbook.stage.scenarios import load
from workbook.worlds.payment import Payments

PARTS = your_parts("decide", "approve", "idempotency_key", "claim")


def work(path, answers="", dies_at=""):
    """Begin or go on; return how it ended."""
    path, given, task = Path(path), iter(answers.split(",")), load("payment_twice")
    account = Payments(path.with_name("payments.db"))

    def reached(place):
        if str(place) == dies_at:
            os.kill(os.getpid(), 9)  # no handler, no goodbye

    def pay(**arguments):
        reached("claimed")  # in the ledger; the bank knows nothing yet
        receipt = account.pay(**arguments)
        reached("paid")  # the bank has done it; the ledger does not know
        return receipt

    def you(request):
        call = request.call
        yes = Approve(call.call_id, digest_of_call(call), who="you")
        return {"yes": yes, "no": Reject("one is enough", "you")}.get(next(given, ""))

    tools, guards = [replace(account.tool(), run=pay)], all_guards(person=you)
    make = Once(Ledger(path.with_name("ledger.db")))
    machine = Machine(Script(task.turns), tools, guards, parts=PARTS, make=make)
    if path.exists():
        return resume(path, machine)
    journal = Journal(path, listener=lambda event: reached(event["seq"]))
    return machine.run(task.question, journal=journal)


if __name__ == "__main__":
    end = work(*sys.argv[1:])
    answer = end.answer or "no answer"
    print(f"process {os.getpid()}: {end.state} ({end.reason}), {answer}")
    print(PARTS.line())
