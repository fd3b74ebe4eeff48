"""Lab 09's memory: notes in one file, and which of them belong to a question.

A note is data, never an order: a page may have put it there. Words are compared, and
meaning nowhere.
"""

import math
import sqlite3
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from workbook.lessons.matcher import STOP, WORD, WORDS, is_han, pairs, stem
from workbook.runtime.calls import Observation, clip
from workbook.runtime.guard import Guard
from workbook.runtime.run import Run
from workbook.runtime.table import State, Transition
from workbook.runtime.trace import Kind, Trace

K1, B = 1.2, 0.75
"""How soon more mentions of a term add little; how far a long note is marked down."""
MAX_CHARS, NOTES = 2000, 3  # of one note; the most notes that a question brings back
RECALLED = "recalled"

_LEFT_OUT = STOP | frozenset(WORDS["asking"].split())
_TABLE = """
CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT,
    text TEXT, made_at REAL, source TEXT, UNIQUE (kind, text))"""
_ADD = "INSERT OR REPLACE INTO notes VALUES (NULL, ?, ?, ?, ?) RETURNING *"


class Note(NamedTuple):
    """What is remembered, and where it comes from."""

    id: int
    kind: str  # "preference" or "note"
    text: str
    made_at: float  # seconds since 1970
    source: str = "user"  # or the trace_id of a run


def terms(text: str) -> list[str]:
    """Return the stems of a text's words, and the pairs of its Han characters."""
    found = []
    for word in WORD.findall(unicodedata.normalize("NFKC", text)):
        if is_han(word):
            found += pairs(word)
        elif word.casefold() not in _LEFT_OUT:
            found.append(stem(word))
    return found


def recall(question: str, notes: Sequence[Note], k: int = 3) -> list[Note]:
    """Return the `k` notes that fit a question best by BM25, the best first.

    Source: Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and
    Beyond" (2009), section 3.4, with Lucene's 1 + in the logarithm.
    """
    held = [Counter(terms(note.text)) for note in notes]
    mean_length = sum(counts.total() for counts in held) / (len(held) or 1)
    idf = {}
    for term in terms(question):
        n = sum(term in counts for counts in held)
        idf[term] = math.log(1 + (len(notes) - n + 0.5) / (n + 0.5))
    scored = []
    for note, counts in zip(notes, held, strict=True):
        if shared := {term: counts[term] for term in idf if term in counts}:
            spread = K1 * (1 - B + B * counts.total() / mean_length)
            score = sum(idf[t] * f * (K1 + 1) / (f + spread) for t, f in shared.items())
            scored.append((score, note))
    scored.sort(key=lambda pair: (-pair[0], -pair[1].made_at))
    return [note for _, note in scored[: max(k, 0)]]


class Memory:
    """Notes in a SQLite file, for any number of threads and processes."""

    def __init__(
        self,
        path: Path | str,
        recall: Callable[[str, Sequence[Note], int], list[Note]] = recall,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path, self.recall, self.clock = Path(path), recall, clock
        with self._file() as db:
            db.execute(_TABLE)

    def add(self, kind: str, text: str, source: str = "user") -> Note:
        """Remember a text; one that is known is not kept twice, but is new."""
        given = kind, clip(text, MAX_CHARS), self.clock(), source
        with self._file() as db:
            return Note(*db.execute(_ADD, given).fetchone())

    def add_run(self, trace: Trace) -> Note | None:
        """Remember question, tools and answer of a run that a tool brought to DONE.

        None for any other run, and for one that has read a secret.
        """
        seen = [e for e in trace.of(Kind.OBSERVATION) if e["ok"] and "parent" not in e]
        tools = dict.fromkeys(event["tool"] for event in seen if event["tool"])
        secret = any("secret" in e.get("labels", ()) for e in trace.of(Kind.DECISION))
        if secret or not tools or not trace.end or trace.end["state"] != State.DONE:
            return None
        started, answer = trace.events[0], trace.end["answer"]
        parts = [clip(part, 600) for part in (started["question"], *tools, answer)]
        return self.add("note", " → ".join(parts), started["trace_id"])

    def forget(self, id: int) -> None:
        """Delete a note, so that its words are nowhere in the file; or LookupError."""
        with self._file() as db:
            if not db.execute("DELETE FROM notes WHERE id = ?", (id,)).rowcount:
                raise LookupError(f"there is no note {id}: notes() lists them")
            db.commit()
            db.execute("VACUUM")  # no page keeps a copy of what was moved

    def notes(self) -> list[Note]:
        """Return all notes, the oldest first."""
        with self._file() as db:
            return [Note(*row) for row in db.execute("SELECT * FROM notes ORDER BY id")]

    @contextmanager
    def _file(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=10)) as db, db:
            # what is deleted is overwritten, and what VACUUM copies stays in memory
            db.executescript("PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY")
            yield db


def recalling(memory: Memory | None) -> Guard:
    """Return the guard that lets a model first read the notes that fit its question."""

    def ask(run: Run) -> str | None:
        if memory is None or "remembered" in run.notes:
            return None

        def live() -> dict[str, Any]:
            fitting = memory.recall(run.question, memory.notes(), NOTES)
            notes = [note._asdict() for note in fitting]
            why = f"{len(notes)} of its notes fit the question"
            return {"who": "memory", "what": RECALLED, "why": why, "notes": notes}

        found = run.journal.receive("decision", live)["notes"]
        run.notes["remembered"] = found
        texts = [f"{note['kind']}: {note['text']}" for note in found]
        if texts:
            run.see(Observation("", True, {"remembered": texts}, None))
        return RECALLED if texts else None

    row = Transition(State.THINK, RECALLED, State.OBSERVE, "it remembers something")
    return Guard("memory", {State.THINK: ask}, [row])
