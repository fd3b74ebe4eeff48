"""An agent that pays, in a process of its own: it waits, is killed, and goes on."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from workbook.environments.payment import Payments
from workbook.paths import DATA
from workbook.traces import Trace
from workbook.wait import waiting

if TYPE_CHECKING:
    import pandas as pd

PAYING = DATA / "lessons/07/paying.py"
"""An agent that pays, as a program of its own."""
KILLED = (-9, 9)
"""How a killed process ends: on POSIX, on Windows."""


def agent(path: Path, answers: str = "", dies_at: object = "") -> str:
    """Run the paying agent on a trace, in a process of its own; return what it prints.

    It begins the run, or goes on with it. `answers` are a person's, such as "yes,no";
    without one the run waits. `dies_at` is the place where it is killed.
    """
    command = [sys.executable, str(PAYING), str(path), answers, str(dies_at)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode in KILLED:
        return f"killed at {dies_at}"
    return done.stdout.strip() or done.stderr.strip().rpartition("\n")[2]


def new_folder() -> Path:
    """Return a new folder, for a trace and what stands beside it."""
    return Path(mkdtemp())


def turns(path: Path) -> int:
    """Return how many turns of the model this trace has."""
    return len(Trace.read(path).of("model_turn"))


def paid(path: Path) -> int:
    """Return how many payments the agent of this trace has made."""
    return len(Payments(path.with_name("payments.jsonl")).made)


def decisions(path: Path) -> pd.DataFrame:
    """Return who decided what in a run."""
    import pandas as pd

    found = pd.DataFrame(Trace.read(path).of("decision"))
    return found[["who", "what", "call_id", "why"]]


def two_processes(times: int = 3) -> None:
    """Let two processes at once make the same payment with one ledger; print both."""
    folder = Path(mkdtemp())

    def one(path: Path) -> str:
        return agent(path, "yes,yes").splitlines()[0].partition("), ")[2]

    with ThreadPoolExecutor(2) as pool, waiting("two processes", times) as tick:
        for n in range(times):
            both = [folder / f"{n}" / f"run{name}.jsonl" for name in "12"]
            answers = list(pool.map(one, both))
            print(f"{paid(both[0])} paid; they say:", *answers)
            tick()


def killed_everywhere(only: Sequence[object] = ()) -> pd.DataFrame:
    """Kill your agent at each event of a payment, and inside the bank; then go on.

    Each run is a process of its own that is killed (`kill -9`). This process then goes
    on with the run from its trace.

    Args:
        only: these places, numbers of events or "claimed" or "paid"; without any, all.

    Returns:
        a row for each place: payments when it died and in the end, and the answer.
    """
    import pandas as pd

    folder = Path(mkdtemp())
    goes_on = runpy.run_path(str(PAYING))["work"]
    whole = folder / "whole" / "run.jsonl"
    print(agent(whole, "yes,yes").partition("\n")[2])  # whose parts run
    events = list(Trace.read(whole))[:-1]
    places: dict[object, str] = {e["seq"]: _about(e) for e in events}
    places |= {"claimed": "the key is claimed", "paid": "the bank has paid"}
    places = {place: places[place] for place in only or places}

    def kill(place: object) -> dict[str, Any]:
        path = folder / f"at {place}" / "run.jsonl"
        killed = agent(path, "yes,yes", place) == f"killed at {place}"
        before = paid(path)
        try:
            answer = goes_on(path, "yes,yes").answer
        except Exception as error:  # of a part of the reader's
            answer = f"{type(error).__name__}: {error}"
        found = {"killed": killed, "paid when it died": before}
        return found | {"paid in the end": paid(path), "answer": answer}

    rows = {}
    with (
        ThreadPoolExecutor(2) as pool,
        waiting("killing the agent", len(places)) as tick,
    ):
        for place, row in zip(places, pool.map(kill, places), strict=True):
            rows[place] = {"killed after": places[place], **row}
            tick()
    return pd.DataFrame(rows).T.rename_axis("at")


def _about(event: Mapping[str, Any]) -> str:
    words = [event["kind"]]
    words += [event[k] for k in ("event", "what") if event.get(k)]
    return " ".join(words)
