"""What was done, in a file: claimed before the effect, settled after it.

Of a claim that a crash left unsettled nothing is known: the call is not made again, its
tool is asked, or a person. At most once, and reconciled: both ends make it "exactly".
"""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock

from workbook.tools.calls import Effect, ErrorKind, Observation, ToolCall, ToolError
from workbook.tools.registry import ToolRegistry
from workbook.tools.threads import call_with_timeout
from workbook.tools.tool import Tool

COLUMNS = "key TEXT PRIMARY KEY, digest TEXT NOT NULL, result TEXT"
WAIT_S = 10.0  # for another process that is writing

OTHER = "{key} was claimed by a call with other arguments; this one was not made."
UNKNOWN = "unknown: {tool} was begun, and nobody knows whether it was done ({key})."
DONE_BEFORE = "it was done before, and is not done again"
"""The note on the result of a call that was not made."""
# After these, a WRITE may have had its effect; otherwise its tool said no before it.
UNKNOWN_AFTER = ("timeout", "tool_raised", "bad_output", "needs_person")


class LedgerError(RuntimeError):
    """The file of a ledger cannot be read or written: nothing can be claimed."""


class Claim(NamedTuple):
    """What a ledger says to whoever wants to do something."""

    verdict: str  # "run", "done", "unknown", or "other": claimed for other arguments
    result: dict[str, Any] | None = None  # of what is done


def plain(value: Any) -> Any:
    """Return JSON data in one spelling: 25 for 25.0, text in NFKC, no outer spaces.

    >>> plain({"payee": " Ａda", "amount": 25.0, "tags": ["a "]})
    {'payee': 'Ada', 'amount': 25, 'tags': ['a']}
    """
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    if isinstance(value, str):
        return unicodedata.normalize("NFKC", value).strip()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def idempotency_key(call: ToolCall, business_key: Sequence[str] = ()) -> str:
    """Return what two calls share that mean one operation: the tool and its arguments.

    Where the call has all arguments that `business_key` names, they alone count.

    >>> one = ToolCall("Pay", {"payee": "Ada", "amount": 25}, "call_1")
    >>> other = ToolCall("Pay", {"amount": 25.0, "payee": "Ada "}, "call_2")
    >>> idempotency_key(one) == idempotency_key(other)
    True
    """
    counts = call.arguments
    if business_key and all(name in counts for name in business_key):
        counts = {name: counts[name] for name in business_key}
    return json.dumps([call.name, plain(counts)], sort_keys=True)


def claim(db: sqlite3.Connection, key: str, digest: str) -> Claim:
    """Claim a key, and say whether its effect may happen now.

    "run": it is yours. "done": with its result. "unknown": it was claimed and never
    settled. "other": it was claimed with another digest: for other arguments.

    `db` is in autocommit mode (`isolation_level=None`) and has the table
    `claims(key, digest, result)`; `result` is JSON, and NULL until it is settled.
    """
    insert = "INSERT OR IGNORE INTO claims (key, digest) VALUES (?, ?)"
    if db.execute(insert, (key, digest)).rowcount == 1:  # nobody can come between
        return Claim("run")
    asked = "SELECT digest, result FROM claims WHERE key = ?"
    row = db.execute(asked, (key,)).fetchone()
    if row is None:  # it was given back after the first statement (see `forget`)
        return claim(db, key, digest)
    if row[0] != digest:
        return Claim("other")
    return Claim("unknown") if row[1] is None else Claim("done", json.loads(row[1]))


def settle(db: sqlite3.Connection, key: str, result: dict[str, Any]) -> None:
    """Keep the result of a claimed key: whoever claims it from now on is told it."""
    db.execute("UPDATE claims SET result = ? WHERE key = ?", (json.dumps(result), key))


def forget(db: sqlite3.Connection, key: str) -> None:
    """Give a claim back that surely had no effect; a settled one stays."""
    db.execute("DELETE FROM claims WHERE key = ? AND result IS NULL", (key,))


class Ledger:
    """A SQLite file for any number of threads and processes; may be a LedgerError.

    Args:
        path: of the file.
        across_runs: what was done in one run is not done again in another; otherwise
            that holds only for tools with a `business_key`.
    """

    def __init__(self, path: Path | str, across_runs: bool = True) -> None:
        self.path, self.across_runs = Path(path), across_runs
        with self.connection() as db, FileLock(f"{self.path}.lock", timeout=WAIT_S):
            # Two processes that make the file at once would be in each other's way.
            db.execute("PRAGMA journal_mode = WAL")
            db.execute(f"CREATE TABLE IF NOT EXISTS claims ({COLUMNS})")

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection of one's own, for `claim`, `settle` and `forget`."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(self.path, timeout=WAIT_S, isolation_level=None)
            with closing(db):
                db.execute("PRAGMA synchronous = FULL")  # a claim outlives a power cut
                yield db
        except (sqlite3.Error, OSError) as error:
            raise LedgerError(
                f"the ledger {self.path} cannot be read or written: {error}. Nothing is"
                " begun without it: restore a copy. Deleting it lets earlier writes"
                " happen again."
            ) from error


def once(
    ledger: Ledger,
    tools: ToolRegistry,
    run_id: str,
    make: Callable[[ToolCall], Observation],
    *,
    key: Callable[..., str] = idempotency_key,
    claim: Callable[[sqlite3.Connection, str, str], Claim] = claim,
) -> Callable[[ToolCall], Observation]:
    """Return `make` for calls whose effect must be had once; a READ is made as ever.

    A WRITE has two keys: its call_id in this run, and what it does, across runs or, as
    the ledger says, in this run; the second only where once more does harm (it is not
    `repeatable`). What is unknown is never made: the tool's `look_up` knows, or the
    error is of kind `needs_person`.
    """

    def make_once(call: ToolCall) -> Observation:
        tool = tools[call.name]
        if tool.effect is not Effect.WRITE:
            return make(call)
        whole = spelled_out(tool, call)
        digest, keys = key(whole), [json.dumps(["call", run_id, call.call_id])]
        if not tool.repeatable:
            operation = key(whole, tool.business_key)
            in_all = ledger.across_runs or tool.business_key
            in_run = json.dumps(["operation", run_id, operation])
            keys.append(operation if in_all else in_run)
        with ledger.connection() as db:
            for each in keys:
                found = claim(db, each, digest)
                if found.verdict == "other":
                    return _not_done(call, ErrorKind.DENIED, OTHER.format(key=each))
        if found.verdict == "run":
            seen = make(call)
        else:
            done = found.verdict == "done"
            if (result := found.result if done else _looked_up(tool, whole)) is None:
                told = UNKNOWN.format(tool=call.name, key=each)
                return _not_done(call, ErrorKind.NEEDS_PERSON, told)
            notes = (*call.notes, DONE_BEFORE)
            seen = Observation(call.call_id, True, result, None, call.name, notes)
        if seen.error is None or seen.error.kind not in UNKNOWN_AFTER:
            with ledger.connection() as db, db:
                db.execute("BEGIN")  # all keys are settled, or none
                for each in keys:
                    if seen.result is None:
                        forget(db, each)
                    else:
                        settle(db, each, seen.result)
        return seen

    return make_once


def spelled_out(tool: Tool, call: ToolCall) -> ToolCall:
    """Return the call with the defaults of the schema that it leaves out."""
    parts = tool.parameters["properties"].items()
    defaults = {name: part["default"] for name, part in parts if "default" in part}
    return replace(call, arguments=defaults | call.arguments)


def _looked_up(tool: Tool, call: ToolCall) -> Any:
    if tool.look_up is not None:
        with suppress(Exception):  # the other side does not answer: it cannot tell
            return call_with_timeout(tool.look_up, call.arguments, tool.timeout_s)
    return None


def _not_done(call: ToolCall, kind: ErrorKind, message: str) -> Observation:
    error = ToolError(kind, message, hint="Do not call it again: tell the user.")
    return Observation.failed(call.call_id, error, call.name)
