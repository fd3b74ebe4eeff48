"""Which notes belong to a question? By the words that they share, or by their meaning.

A note is data, whoever wrote it: nothing here follows what it says.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import mul, sub
from statistics import fmean

from workbook.grounding.words import HAN, STOP, WORDS, fold, pairs, stem

K1, B = 1.2, 0.75
"""How soon more mentions of a term add little; how far a long note is marked down."""

_TERM = re.compile(rf"[{HAN}]+|[ァ-ヺー]+|(?:(?![{HAN}\u3040-\u30ff])[^\W_])+")
_LEFT_OUT = STOP | frozenset(WORDS["asking"].split())


@dataclass(frozen=True, slots=True)
class Note:
    """What is remembered, and who said it."""

    id: int
    kind: str  # "preference" or "note"
    text: str
    made_at: float  # seconds since 1970
    source: str = "user"  # or the trace_id of the run that it comes from


Recall = Callable[[str, Sequence[Note], int], list[Note]]
"""A question, the notes, and how many to return at most; the best comes first."""


def terms(text: str) -> list[str]:
    """Return what of a text can be looked up, in order: its words, without "the".

    Of a word its beginning, in small letters; of Japanese and Chinese the pairs of
    neighbouring characters. What stands in hiragana is left out.

    >>> terms("Which seats do I prefer?"), terms("窓側の席")
    (['seat', 'prefe'], ['窓側', '席'])
    """
    found = []
    for word in _TERM.findall(unicodedata.normalize("NFKC", text)):
        if word[0] >= "\u3005":
            found += pairs(word)
        elif (small := fold(word)) not in _LEFT_OUT:
            found.append(stem(small))
    return found


def recall(question: str, notes: Sequence[Note], k: int = 3) -> list[Note]:
    """Return the `k` notes that fit a question best, by BM25, the best first.

    A note gets, for each term of the question, once, that it mentions f times:
    idf · f · (k1 + 1) / (f + k1 · (1 - b + b · length / mean length)), where n of the
    N notes have the term, and idf = ln(1 + (N - n + 0.5) / (n + 0.5)). Lengths are in
    terms. Of equals the newest comes first; what shares no term is not returned.

    Source: Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and
    Beyond" (2009), section 3.4; the 1 + in the logarithm is Lucene's, so that a term of
    most notes does not count against them.

    >>> tea, seat = Note(1, "note", "Tea, no sugar", 0), Note(2, "note", "A seat", 0)
    >>> recall("Which seat?", [tea, seat]) == [seat]
    True
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


class RecallByMeaning:
    """A recall by embeddings: the notes whose vectors point where the question's does.

    What all notes have in common is taken away first, then the cosine is compared;
    embeddings of a language model all point much the same way. Something is always
    nearest: notes are returned to any question. A vector is kept as long as its note.

    Source: Mu et al., "All-but-the-Top" (2018), arXiv:1702.01417, the first step.
    """

    def __init__(self, embed: Callable[[list[str]], list[list[float]]]) -> None:
        self.embed = embed
        self.vectors: dict[str, list[float]] = {}

    def __call__(self, question: str, notes: Sequence[Note], k: int = 3) -> list[Note]:
        """Return the `k` nearest notes, the nearest first."""
        if not notes or not question.strip():
            return []
        new = list({note.text for note in notes} - set(self.vectors))
        asked, *found = self.embed([question, *new])
        known = {**self.vectors, **dict(zip(new, found, strict=True))}
        self.vectors = {note.text: known[note.text] for note in notes}
        common = [fmean(axis) for axis in zip(*self.vectors.values(), strict=True)]
        near = {t: _cosine(asked, v, common) for t, v in self.vectors.items()}
        ranked = sorted(notes, key=lambda note: (-near[note.text], -note.made_at))
        return ranked[: max(k, 0)]


def _cosine(one: list[float], other: list[float], origin: list[float]) -> float:
    """Return the cosine between two vectors, as seen from a third one."""
    a, b = list(map(sub, one, origin)), list(map(sub, other, origin))
    return sum(map(mul, a, b), 0.0) / (math.hypot(*a) * math.hypot(*b) or 1.0)
