"""What is remembered from one run to the next: in one file, and nowhere else.

What the user prefers, and short notes of runs that went well. A memory is data, never
an order: it is told to a model as what came from outside, for a page may have put it
there. What is forgotten is gone from the file; what the disk keeps of it is not ours.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from workbook.grounding.recall import Note, Recall, recall
from workbook.runtime.calls import clip
from workbook.runtime.table import State
from workbook.runtime.trace import Kind, Trace

KINDS = ("preference", "note")
MAX_CHARS = 2000  # of one note
PART_CHARS = 600  # of a run's question, of its tools, of its answer
WAIT_S = 10.0  # for another process that is writing

TABLE = """
CREATE TABLE IF NOT EXISTS notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given to another note
    kind TEXT NOT NULL, text TEXT NOT NULL, made_at REAL NOT NULL, source TEXT NOT NULL,
    UNIQUE (kind, text))"""
ADD = """
INSERT INTO notes (kind, text, made_at, source) VALUES (?, ?, ?, ?)
ON CONFLICT (kind, text)
DO UPDATE SET made_at = excluded.made_at, source = excluded.source RETURNING *"""
# What is deleted is overwritten, and what VACUUM copies on its way stays in memory.
FORGETFUL = "PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;"


def note_of(trace: Trace) -> str | None:
    """Return a run's question, the tools that answered it, and its answer; or None.

    None unless it ended in DONE, and a tool had a result: nothing else has shown that
    it works. That it is right, nobody has checked. None as well for a run that had read
    a secret: what is remembered is told again.
    """
    if trace.end is None or trace.end["state"] != State.DONE:
        return None
    if any("secret" in event.get("labels", ()) for event in trace.of(Kind.DECISION)):
        return None
    seen = [e for e in trace.of(Kind.OBSERVATION) if e["ok"] and "parent" not in e]
    if not (tools := dict.fromkeys(event["tool"] for event in seen if event["tool"])):
        return None
    question = trace.of(Kind.RUN_STARTED)[0]["question"]
    parts = question, ", ".join(tools), trace.end["answer"]
    return " → ".join(clip(part, PART_CHARS) for part in parts)


class Memory:
    """Notes in a SQLite file, for any number of threads and processes.

    Every method may raise what sqlite3 does, for a file that cannot be used.

    Args:
        path: the file; it is made where there is none.
        recall: how `recall` finds what belongs to a question.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        recall: Recall = recall,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path, self.way, self.clock = Path(path), recall, clock
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._transaction() as db:
            db.execute(TABLE)

    def add(self, kind: str, text: str, source: str = "user") -> Note:
        """Remember a text, as it is; one that is known is not kept twice, but is new.

        ValueError for a kind that is not one of `KINDS`, and for a text that is empty
        or has more than `MAX_CHARS` characters.
        """
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is not a kind of note: {' or '.join(KINDS)}")
        if not isinstance(text, str) or not 0 < len(text.strip()) <= MAX_CHARS:
            said = f"a note has a text of 1 to {MAX_CHARS:,} characters"
            raise ValueError(f"{said}, and this is {clip(repr(text), 40)}")
        with self._transaction() as db:
            return Note(*db.execute(ADD, (kind, text, self.clock(), source)).fetchone())

    def add_run(self, trace: Trace) -> Note | None:
        """Remember the note of a run, with its trace_id; None for one without."""
        text = note_of(trace)
        return self.add("note", text, trace.events[0]["trace_id"]) if text else None

    def forget(self, id: int) -> None:
        """Delete a note, so that its words are nowhere in the file; or LookupError."""
        with self._transaction() as db:
            if not db.execute("DELETE FROM notes WHERE id = ?", (id,)).rowcount:
                said = "notes() lists those there are"
                raise LookupError(f"there is no note {id}: {said}")
            db.commit()
            db.execute("VACUUM")  # no page keeps a copy of what was moved

    def notes(self) -> list[Note]:
        """Return all notes, in the order in which they came."""
        with self._transaction() as db:
            return [Note(*row) for row in db.execute("SELECT * FROM notes ORDER BY id")]

    def recall(self, question: str, k: int = 3) -> list[Note]:
        """Return at most `k` notes that belong to a question, the best first."""
        return self.way(question, self.notes(), k)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection of one's own; all of what is done there holds, or none."""
        db = sqlite3.connect(self.path, timeout=WAIT_S, isolation_level=None)
        with closing(db):
            db.executescript(FORGETFUL)
            with db:  # COMMIT at its end; ROLLBACK where something raises
                db.execute("BEGIN IMMEDIATE")
                yield db
