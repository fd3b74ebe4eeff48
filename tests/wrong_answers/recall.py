"""Plausible wrong answers to `recall`, each with the test that must catch it."""

import math
from collections import Counter

from workbook.trust.recall import terms


def ranked(
    question,
    notes,
    k=3,
    *,
    cut=terms,
    idf=lambda N, n: math.log(1 + (N - n + 0.5) / (n + 0.5)),
    saturated=True,
    b=0.75,
    repeated=False,
    of_found=False,
    length=lambda text: len(terms(text)),
    zero=False,
    key=lambda pair: (-pair[0], -pair[1].made_at),
    last=lambda k: max(k, 0),
):
    """Recall as one should; each argument makes one mistake."""
    held = [Counter(cut(note.text)) for note in notes]
    asked = cut(question) if repeated else list(dict.fromkeys(cut(question)))
    lengths = [length(note.text) for note in notes]
    kept = [l for l, c in zip(lengths, held) if not of_found or set(asked) & set(c)]
    mean = (sum(kept) / len(kept) if kept else 0) or 1
    weights = {t: idf(len(notes), sum(t in c for c in held)) for t in asked}
    scored = []
    for note, counts, long in zip(notes, held, lengths):
        spread = 1.2 * (1 - b + b * long / mean)
        score = 0.0
        for term in asked:
            if f := counts[term]:
                score += weights[term] * (f * 2.2 / (f + spread) if saturated else f)
        if zero or set(asked) & set(counts):
            scored.append((score, note))
    scored.sort(key=key)
    return [note for _, note in scored[: last(k)]]


def returns_always_k(question, notes, k=3):
    return ranked(question, notes, k, zero=True)


def looks_for_letters(question, notes, k=3):
    asked = set(terms(question))
    found = [note for note in notes if any(t in note.text.lower() for t in asked)]
    return ranked(question, found, k, zero=True)


def cuts_at_blanks(question, notes, k=3):
    return ranked(question, notes, k, cut=lambda text: text.lower().split())


def divides_by_nothing(question, notes, k=3):
    lengths = [len(terms(note.text)) for note in notes]
    [length / (sum(lengths) / len(lengths)) for length in lengths]
    return ranked(question, notes, k)


def cuts_from_the_end(question, notes, k=3):
    return ranked(question, notes, k, last=lambda k: k)


def takes_the_worst(question, notes, k=3):
    return ranked(question, notes, k, key=lambda pair: pair[0])


def takes_the_oldest(question, notes, k=3):
    return ranked(question, notes, k, key=lambda pair: (-pair[0], pair[1].made_at))


def forgets_the_time(question, notes, k=3):
    return ranked(question, notes, k, key=lambda pair: -pair[0])


def turns_equals_round(question, notes, k=3):
    return ranked(question, notes[::-1], k)


def counts_every_term_alike(question, notes, k=3):
    return ranked(question, notes, k, idf=lambda N, n: 1.0)


def lets_common_terms_count_against(question, notes, k=3):
    def idf(N, n):
        return math.log((N - n + 0.5) / (n + 0.5))

    return [n for n in ranked(question, notes, len(notes), idf=idf) if any(
        idf(len(notes), sum(t in terms(m.text) for m in notes)) > 0
        for t in terms(question) if t in terms(n.text))][:max(k, 0)]


def counts_a_repeated_term_again(question, notes, k=3):
    return ranked(question, notes, k, repeated=True)


def does_not_saturate(question, notes, k=3):
    return ranked(question, notes, k, saturated=False)


def forgets_the_length(question, notes, k=3):
    return ranked(question, notes, k, b=0.0)


def divides_by_the_length(question, notes, k=3):
    return ranked(question, notes, k, b=1.0)


def measures_in_letters(question, notes, k=3):
    return ranked(question, notes, k, length=len)


def takes_the_mean_of_what_is_found(question, notes, k=3):
    return ranked(question, notes, k, of_found=True)


WRONG = {
    returns_always_k: "test_a_shared_term_finds_a_note",
    looks_for_letters: "test_a_shared_term_finds_a_note",
    cuts_at_blanks: "test_a_shared_term_finds_a_note",
    divides_by_nothing: "test_where_there_is_nothing_nothing_is_found",
    cuts_from_the_end: "test_at_most_k",
    takes_the_worst: "test_at_most_k",
    takes_the_oldest: "test_of_equals_the_newest_is_first",
    forgets_the_time: "test_of_equals_the_newest_is_first",
    turns_equals_round: "test_of_equals_the_newest_is_first",
    counts_every_term_alike: "test_a_rare_term_says_more",
    lets_common_terms_count_against: "test_a_rare_term_says_more",
    counts_a_repeated_term_again: "test_a_term_said_twice_counts_once",
    does_not_saturate: "test_further_mentions_add_less",
    forgets_the_length: "test_a_long_note_is_marked_down",
    divides_by_the_length: "test_a_long_note_is_marked_down",
    measures_in_letters: "test_of_equals_the_newest_is_first",
    takes_the_mean_of_what_is_found: "test_a_long_note_is_marked_down",
}
