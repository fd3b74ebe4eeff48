"""A recorded run, played again: to its end, or from where it died.

`machine` is a `workbook.fsm.Machine` here, made as the recorded one was: where that
one's `TraceWriter` was given secrets, so is its hook's.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from workbook.traces.events import TraceError
from workbook.traces.recording import Recorded
from workbook.traces.redaction import secrets_in
from workbook.traces.trace import Trace


def replay(trace: Trace, machine: Any) -> Any:
    """Play a recorded run again, and return the `RunResult` to which it comes.

    The machine must be made as the recorded one was: table, tools, limits, rules. Its
    model and its tools are not called, nor is anybody asked. What was counted or
    approved with a secret in it, and an end that a hook made, cannot be told again.

    Raises:
        Divergence: this machine does something else.
        TraceError: the record has no end to come to, or is damaged.
    """
    record = Recorded(trace, secrets=secrets_of(machine))
    exit = machine.run(record.question, record)
    record.is_through()
    return exit


def resume(path: Path | str, machine: Any) -> Any:
    """Go on with a run that died or waits, in its own file, and return its `RunResult`.

    What the record holds is not asked, paid or done again; a call whose answer was lost
    is made again, and the trace says so. A call with a secret that the record hides is
    not made. A run that ended because it could not be written goes on as well. The
    listener of the machine's hook gets each event that is new.

    Raises:
        TraceError: this is no trace, or its run has ended.
        Divergence: this machine does something else than the record says.
    """
    told: dict[str, Any] = {"secrets": secrets_of(machine)}
    told["listener"] = getattr(machine.hook, "listener", None)
    with Recorded(path, machine.live, **told) as record:
        if record.end is not None:
            state = record.end["state"]
            raise TraceError(f"the run in {path} has ended in {state}: begin a new one")
        exit = machine.run(record.question, record)
        if record.diverged is not None:
            raise record.diverged
        return exit


def secrets_of(machine: Any) -> Any:
    """Return the secrets of a machine's hook, or else those of the environment."""
    return getattr(machine.hook, "secrets", secrets_in(os.environ))
