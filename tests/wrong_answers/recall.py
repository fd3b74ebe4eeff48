"""Plausible wrong answers to `recall`, each with the test that must catch it."""

import math
from collections import Counter

from workbook.lessons.memory import terms


def ranked(question, notes, k=3, *, cut=terms, k1=1.2, b=0.75, repeated=False,
           idf=lambda N, n: math.log(1 + (N - n + 0.5) / (n + 0.5)), above=-math.inf,
           of_found=False, length=lambda text: len(terms(text)), zero=False,
           key=lambda pair: (-pair[0], -pair[1].made_at),
           last=lambda k: max(k, 0)):  # fmt: skip
    """Recall as one should; each argument makes one mistake."""
    held = [Counter(cut(note.text)) for note in notes]
    asked = cut(question) if repeated else list(dict.fromkeys(cut(question)))
    lengths = [length(note.text) for note in notes]
    kept = [l for l, c in zip(lengths, held) if not of_found or set(asked) & set(c)]
    mean = (sum(kept) / len(kept) if kept else 0) or 1
    weights = {t: idf(len(notes), sum(t in c for c in held)) for t in asked}
    scored = []
    for note, counts, long in zip(notes, held, lengths):
        spread = k1 * (1 - b + b * long / mean)
        score = 0.0
        for term in asked:
            if f := counts[term]:
                score += weights[term] * f * (k1 + 1) / (f + spread)
        if score > above and (zero or set(asked) & set(counts)):
            scored.append((score, note))
    scored.sort(key=key)
    return [note for _, note in scored[: last(k)]]


def recalls(**mistake):
    """Return a function that makes one of these mistakes."""
    return lambda question, notes, k=3: ranked(question, notes, k, **mistake)


def looks_for_letters(question, notes, k=3):
    asked = set(terms(question))
    found = [note for note in notes if any(t in note.text.lower() for t in asked)]
    return ranked(question, found, k, zero=True)


def reads_latin_letters_alone(text):
    return [term for term in terms(text) if term.isascii()]


def divides_by_nothing(question, notes, k=3):
    lengths = [len(terms(note.text)) for note in notes]
    [length / (sum(lengths) / len(lengths)) for length in lengths]
    return ranked(question, notes, k)


def turns_equals_round(question, notes, k=3):
    return ranked(question, notes[::-1], k)


def lets_common_terms_count_against(question, notes, k=3):
    def idf(N, n):
        return math.log((N - n + 0.5) / (n + 0.5))

    return ranked(question, notes, k, idf=idf, above=0)


SHARED = "test_a_shared_term_finds_a_note"
AT_MOST = "test_at_most_k"
EQUALS = "test_of_equals_the_newest_is_first"
RARE = "test_a_rare_term_says_more"
LONG = "test_a_long_note_is_marked_down"

WRONG = {
    recalls(zero=True): SHARED,
    looks_for_letters: SHARED,
    recalls(cut=reads_latin_letters_alone): SHARED,
    divides_by_nothing: "test_where_there_is_nothing_nothing_is_found",
    recalls(last=lambda k: k): AT_MOST,
    recalls(key=lambda pair: pair[0]): AT_MOST,
    recalls(key=lambda pair: (-pair[0], pair[1].made_at)): EQUALS,
    recalls(key=lambda pair: -pair[0]): EQUALS,
    turns_equals_round: EQUALS,
    recalls(idf=lambda N, n: 1.0): RARE,
    lets_common_terms_count_against: RARE,
    recalls(repeated=True): "test_a_term_said_twice_counts_once",
    recalls(k1=100): "test_further_mentions_add_less",
    recalls(b=0.0): LONG,
    recalls(b=1.0): LONG,
    recalls(length=len): LONG,
    recalls(of_found=True): LONG,
}
