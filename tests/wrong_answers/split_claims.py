"""Plausible wrong answers to `split_claims`, each with the test that must catch it."""

import re

from workbook.lessons.grounding import NO_FACT, OPINION, REFUSAL, TURN
from workbook.lessons.grounding import find_citations
from workbook.lessons.matcher import sentences, without_citations


def cut(answer, *, parts=sentences, bare=without_citations, opinion=True,
        refusal=True, cites=True, turn=True, cited_first=False):  # fmt: skip
    """Cut as one should; each argument makes one mistake."""
    claims = []
    for sentence in parts(answer):
        said = bare(sentence)
        hidden = opinion and OPINION.search(said)
        hidden = hidden or (refusal and REFUSAL.search(said))
        shown = (cites and find_citations(sentence)) or (turn and TURN.search(said))
        if NO_FACT.search(said) and not (cited_first and shown):
            continue
        if shown or not hidden:
            claims.append(sentence)
    return claims


def cuts(**mistake):
    """Return a function that makes one of these mistakes."""
    return lambda answer: cut(answer, **mistake)


def cuts_at_a_blank_after_a_mark(answer):
    return list(filter(None, re.split(r"(?<=[.!?])\s+", answer)))


def gives_the_sentences_without_citations(answer):
    return [without_citations(each) for each in cut(answer)]


def makes_a_set(answer):
    return list(dict.fromkeys(cut(answer)))


WRONG = {
    cuts(parts=cuts_at_a_blank_after_a_mark): "test_each_sentence_with_a_fact_is_a_claim",
    gives_the_sentences_without_citations: "test_each_sentence_with_a_fact_is_a_claim",
    cuts(bare=str): "test_what_states_no_fact_is_no_claim",
    cuts(cited_first=True): "test_what_states_no_fact_is_no_claim",
    cuts(opinion=False): "test_an_opinion_is_no_claim",
    cuts(refusal=False): "test_who_does_not_know_claims_nothing",
    cuts(cites=False): "test_what_cites_is_a_claim",
    cuts(turn=False): "test_a_fact_may_follow",
    makes_a_set: "test_none_in_nothing",
}
