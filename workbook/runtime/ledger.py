"""What was done: claimed before the effect, settled after it, so that it is had once.

Of a claim that a crash left unsettled nothing is known: the call is not made again; its
tool is asked, or a person. At most once, and reconciled: both ends make it "exactly".
"""

import json
import sqlite3
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .calls import Effect, ErrorKind, Observation, ToolCall, ToolError
from .tools import Wait

OTHER = "{key} was claimed by a call with other arguments; this one was not made."
UNKNOWN = "unknown: {tool} was begun, and nobody knows whether it was done."
DONE_BEFORE = "it was done before, and is not done again"
UNKNOWN_AFTER = ("timeout", "tool_raised", "bad_output", "needs_person")
"""After these errors a WRITE may have had its effect; otherwise its tool refused."""


class LedgerError(RuntimeError):
    """The file of a ledger cannot be read or written: nothing can be claimed."""


class Claim(NamedTuple):
    """What a ledger answers to whoever wants to do something."""

    verdict: str  # "run", "done", "unknown", or "other": claimed for other arguments
    result: dict[str, Any] | None = None  # of what is done


def plain(value: Any) -> Any:
    """Return JSON data in one spelling: 25 for 25.0, text in NFKC, no outer spaces."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    if isinstance(value, str):
        return unicodedata.normalize("NFKC", value).strip()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def idempotency_key(call: ToolCall, business_key: Sequence[str] = ()) -> str:
    """Return one text for one operation: tool and arguments, or only those named."""
    counts = call.arguments
    if business_key and all(name in counts for name in business_key):
        counts = {name: counts[name] for name in business_key}
    return json.dumps([call.name, plain(counts)], sort_keys=True)


def claim(db: sqlite3.Connection, key: str, digest: str) -> Claim:
    """Claim a key, and say whether its effect may happen now."""
    insert = "INSERT OR IGNORE INTO claims (key, digest) VALUES (?, ?)"
    if db.execute(insert, (key, digest)).rowcount == 1:  # nobody can come between
        return Claim("run")
    select = "SELECT digest, result FROM claims WHERE key = ?"
    row = db.execute(select, (key,)).fetchone()
    if row is None:  # it was given back after the first statement
        return claim(db, key, digest)
    if row[0] != digest:
        return Claim("other")
    return Claim("unknown") if row[1] is None else Claim("done", json.loads(row[1]))


class Ledger:
    """A SQLite file for threads and processes; `across_runs`: for later runs too."""

    def __init__(self, path: Path | str, across_runs: bool = True) -> None:
        self.path, self.across_runs = Path(path), across_runs
        columns = "key TEXT PRIMARY KEY, digest TEXT NOT NULL, result TEXT"  # in JSON
        with self.connection() as db:
            db.execute(f"CREATE TABLE IF NOT EXISTS claims ({columns})")

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection in autocommit mode, for `claim`."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            with closing(db):
                db.execute("PRAGMA synchronous = FULL")  # a claim outlives a power cut
                yield db
        except (sqlite3.Error, OSError) as error:
            raise LedgerError(
                f"the ledger {self.path} cannot be read or written: {error}. Nothing is"
                " begun without it: restore a copy. Deleting it lets earlier writes"
                " happen again."
            ) from error

    def settle(self, keys: Sequence[str], result: dict[str, Any] | None) -> None:
        """Keep the result of a call under all its keys; None gives back all of them."""
        text = None if result is None else json.dumps(result)
        change = "UPDATE claims SET result = ?2 WHERE key = ?1"
        if result is None:  # there was no effect
            change = "DELETE FROM claims WHERE key = ?1 AND result IS ?2"
        with self.connection() as db:
            db.execute("BEGIN")
            db.executemany(change, [(key, text) for key in keys])
            db.execute("COMMIT")


class Make:
    """How a machine makes a call: each time that it is asked for."""

    def __call__(self, run: Any, call: ToolCall, wait: Wait) -> Observation:
        """Make a call, and return what came of it."""
        seen: Observation = run.tools.run(call, wait)
        return seen


class Once(Make):
    """Makes a WRITE once, and a READ each time; `ledger`: None is the run's memory."""

    # A WRITE has two keys: its call_id in this run, and what it does; the second only
    # where once more does harm (it is not `repeatable`). What is unknown is never made:
    # the tool's `look_up` knows, or the error is of kind `needs_person`.

    def __init__(self, ledger: Ledger | None = None) -> None:
        self.ledger = ledger
        self.is_settled = ledger is not None  # a call that was lost may be made again

    def __call__(self, run: Any, call: ToolCall, wait: Wait) -> Observation:
        """Make a call, or return what is known of it."""
        tool, whole = run.tools[call.name], spelled_out(run, call)
        if tool.effect is not Effect.WRITE:
            return super().__call__(run, call, wait)
        keys, found = self._keys(run, whole), Claim("run")
        if self.ledger is None:
            done, first = run.notes.get("done", ({}, 0))
            for seen in run.observed[first:]:
                made = run.calls.get(seen.call_id)  # None: it is notes
                if made and seen.ok and run.tools[made.name].effect is Effect.WRITE:
                    made = spelled_out(run, made)
                    done[self._keys(run, made)[-1]] = Claim("done", seen.result)
            run.notes["done"] = done, len(run.observed)
            found = done.get(keys[-1], found)
        else:
            digest = run.part(idempotency_key)(whole)
            with self.ledger.connection() as db:
                for key in keys:
                    found = run.part(claim)(db, key, digest)
                    if found.verdict == "other":
                        return _not_done(call, ErrorKind.DENIED, OTHER.format(key=key))
        result = found.result
        if found.verdict == "unknown" and tool.look_up is not None:
            with suppress(Exception):  # the other side cannot tell
                result = wait(partial(tool.look_up, **whole.arguments), tool.timeout_s)
        if found.verdict == "run":
            seen = super().__call__(run, call, wait)
        elif result is None:
            why = UNKNOWN.format(tool=call.name)
            return _not_done(call, ErrorKind.NEEDS_PERSON, why)
        else:
            notes = (*call.notes, DONE_BEFORE)
            seen = Observation(call.call_id, True, result, None, call.name, notes)
        if self.ledger and (seen.error is None or seen.error.kind not in UNKNOWN_AFTER):
            self.ledger.settle(keys, seen.result)
        return seen

    def _keys(self, run: Any, whole: ToolCall) -> list[str]:
        tool = run.tools[whole.name]
        keys = [json.dumps(["call", run.id, whole.call_id])]
        if tool.repeatable:
            return keys
        key = run.part(idempotency_key)(whole, tool.business_key)
        in_all = tool.business_key or (self.ledger and self.ledger.across_runs)
        return [*keys, key if in_all else json.dumps(["operation", run.id, key])]


def spelled_out(run: Any, call: ToolCall) -> ToolCall:
    """Return the call with the defaults of the schema that it leaves out."""
    parts = run.tools[call.name].parameters["properties"].items()
    defaults = {name: part["default"] for name, part in parts if "default" in part}
    return replace(call, arguments=defaults | call.arguments)


def _not_done(call: ToolCall, kind: str, message: str) -> Observation:
    error = ToolError(kind, message, hint="Do not call it again: tell the user.")
    return Observation.failed(call.call_id, error, call.name)
