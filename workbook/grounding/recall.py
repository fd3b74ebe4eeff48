"""Which notes belong to a question? Those that share its words.

A note is data, whoever wrote it: nothing here follows what it says.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
