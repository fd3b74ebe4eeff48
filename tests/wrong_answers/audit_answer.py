"""Plausible wrong answers to `audit_answer`, each with the test that must catch it."""

from workbook.trust.claims import find_citations, split_claims
from workbook.trust.evidence import THRESHOLD, Support, Verdict, what_differs


def audited(answer, evidence, threshold=THRESHOLD, split=split_claims,
            cite=find_citations, *, uncited=Support.UNCITED, any_known=False,
            all_strong=False, above=False, keep_weak=False, compare=what_differs,
            make=tuple, no_search=None):  # fmt: skip
    """Audit as one should; each argument makes one mistake."""
    found, verdicts = {each.doc_id: each for each in evidence}, []
    if not found and no_search is not None:
        return no_search
    for claim in split(answer):
        cited = cite(claim)
        known = [found[each] for each in cited if each in found]
        strong = [d for d in known if d.score > threshold or
                  (d.score == threshold and not above)]  # fmt: skip
        why = "because"
        if not cited:
            kind = uncited
        elif not known if any_known else len(known) < len(cited):
            kind = Support.UNKNOWN_ID
        elif len(strong) < len(known) if all_strong else not strong:
            kind = Support.WEAK
        elif problem := compare(claim, known if keep_weak else strong):
            kind, why = Support.NOT_SAID, problem
        else:
            kind = Support.SUPPORTED
        verdicts.append(Verdict(claim, kind, make(cited), why))
    return verdicts


def passes_what_cites_nothing(answer, evidence, *args, **options):
    return audited(answer, evidence, *args, uncited=Support.SUPPORTED, **options)


def is_content_with_one_that_exists(answer, evidence, *args, **options):
    return audited(answer, evidence, *args, any_known=True, **options)


def wants_more_than_the_threshold(answer, evidence, *args, **options):
    return audited(answer, evidence, *args, above=True, **options)


def has_a_threshold_of_its_own(answer, evidence, threshold=0.3, **options):
    return audited(answer, evidence, 0.3, **options)


def does_not_read_the_documents(answer, evidence, *args, **options):
    return audited(answer, evidence, *args, compare=lambda *_: "", **options)


def lets_weak_ones_speak(answer, evidence, *args, **options):
    return audited(answer, evidence, *args, keep_weak=True, **options)


def compares_with_all_evidence(answer, evidence, *args, **options):
    every = list(evidence)
    return audited(
        answer, every, *args, compare=lambda c, _: what_differs(c, every), **options
    )


def wants_every_document_to_be_good(answer, evidence, *args, **options):
    return audited(answer, evidence, *args, all_strong=True, **options)


def wants_every_document_to_say_so(answer, evidence, *args, **options):
    def compare(claim, documents):
        return next(filter(None, (what_differs(claim, [d]) for d in documents)), "")

    return audited(answer, evidence, *args, compare=compare, **options)


def gives_a_list_of_doc_ids(answer, evidence, *args, **options):
    return audited(answer, evidence, *args, make=list, **options)


def passes_where_nothing_was_searched(answer, evidence, *args, **options):
    return audited(answer, evidence, *args, no_search=[], **options)


def takes_no_other_split(answer, evidence, threshold=THRESHOLD, split=None, cite=None):
    return audited(answer, evidence, threshold)


WRONG = {
    passes_what_cites_nothing: "test_a_claim_without_a_citation_is_uncited",
    is_content_with_one_that_exists: "test_a_document_that_nobody_found_is_an_unknown_id",
    wants_more_than_the_threshold: "test_evidence_below_the_threshold_is_weak",
    has_a_threshold_of_its_own: "test_evidence_below_the_threshold_is_weak",
    does_not_read_the_documents: "test_what_the_document_does_not_say",
    lets_weak_ones_speak: "test_what_the_document_does_not_say",
    compares_with_all_evidence: "test_what_the_document_does_not_say",
    wants_every_document_to_be_good: "test_what_a_good_document_says_is_supported",
    wants_every_document_to_say_so: "test_what_a_good_document_says_is_supported",
    gives_a_list_of_doc_ids: "test_each_claim_has_its_verdict",
    passes_where_nothing_was_searched: "test_without_evidence_no_fact_passes",
    takes_no_other_split: "test_other_claims_and_citations",
}
