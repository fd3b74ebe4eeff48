"""Plausible wrong answers to `split_claims`, each with the test that must catch it."""

import re

from workbook.trust.claims import (
    NO_FACT,
    OPINION,
    REFUSAL,
    TURN,
    find_citations,
    sentences,
    without_citations,
)


def cut(
    answer,
    *,
    parts=sentences,
    bare=without_citations,
    no_fact=NO_FACT,
    opinion=True,
    refusal=True,
    number=True,
    digits=lambda sentence, said: said,
    cites=True,
    turn=True,
    cited_first=False,
):
    """Cut as one should; each argument makes one mistake."""
    claims = []
    for sentence in parts(answer):
        said = bare(sentence)
        has_number = number and re.search(r"\d", digits(sentence, said))
        hidden = opinion and OPINION.search(said) and not has_number
        hidden = hidden or (refusal and REFUSAL.search(said))
        shown = (cites and find_citations(sentence)) or (turn and TURN.search(said))
        if no_fact.search(said) and not (cited_first and shown):
            continue
        if shown or not hidden:
            claims.append(sentence)
    return claims


def cuts_at_every_full_stop(answer):
    def parts(text):
        return [part + "." for part in text.rstrip(".").split(". ")]

    return cut(answer, parts=parts)


def gives_the_sentences_without_citations(answer):
    return [without_citations(each) for each in cut(answer)]


def takes_every_sentence(answer):
    return sentences(answer)


def looks_for_no_fact_with_citations(answer):
    return cut(answer, bare=str)


def takes_a_question_that_cites(answer):
    return cut(answer, cited_first=True)


def keeps_opinions(answer):
    return cut(answer, opinion=False)


def leaves_out_opinions_with_numbers(answer):
    return cut(answer, number=False)


def keeps_refusals(answer):
    return cut(answer, refusal=False)


def forgets_what_cites(answer):
    return cut(answer, cites=False)


def forgets_but(answer):
    return cut(answer, turn=False)


def makes_a_set(answer):
    return list(dict.fromkeys(cut(answer)))


WRONG = {
    cuts_at_every_full_stop: "test_each_sentence_with_a_fact_is_a_claim",
    gives_the_sentences_without_citations: "test_each_sentence_with_a_fact_is_a_claim",
    takes_every_sentence: "test_what_states_no_fact_is_no_claim",
    looks_for_no_fact_with_citations: "test_what_states_no_fact_is_no_claim",
    takes_a_question_that_cites: "test_what_states_no_fact_is_no_claim",
    keeps_opinions: "test_an_opinion_is_no_claim",
    leaves_out_opinions_with_numbers: "test_an_opinion_with_a_number_is_one",
    keeps_refusals: "test_who_does_not_know_claims_nothing",
    forgets_what_cites: "test_what_cites_is_a_claim",
    forgets_but: "test_a_fact_may_follow",
    makes_a_set: "test_none_in_nothing",
}
