"""Plausible wrong answers to `audit_answer`, each with the test that must catch it."""

from workbook.lessons.grounding import find_citations, split_claims
from workbook.lessons.grounding import THRESHOLD, Support, Verdict, what_differs


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


def audits(**mistake):
    """Return a function that makes one of these mistakes."""

    def audit_answer(answer, evidence, *args, **options):
        return audited(answer, evidence, *args, **options, **mistake)

    return audit_answer


def has_a_threshold_of_its_own(answer, evidence, threshold=0.3, **options):
    return audited(answer, evidence, 0.3, **options)


def compares_with_all_evidence(answer, evidence, *args, **options):
    every = list(evidence)
    return audited(
        answer, every, *args, compare=lambda c, _: what_differs(c, every), **options
    )


def supports_what_a_document_says(answer, evidence, *args, **options):
    every = list(evidence)
    return [
        verdict._replace(kind=Support.SUPPORTED)
        if verdict.kind == Support.UNCITED and not what_differs(verdict.claim, every)
        else verdict
        for verdict in audited(answer, every, *args, **options)
    ]


def each_says_so(claim, documents):
    return next(filter(None, (what_differs(claim, [d]) for d in documents)), "")


def takes_no_other_split(answer, evidence, threshold=THRESHOLD, split=None, cite=None):
    return audited(answer, evidence, threshold)


WEAK = "test_evidence_below_the_threshold_is_weak"
NOT_SAID = "test_what_the_document_does_not_say"
SUPPORTED = "test_what_a_good_document_says_is_supported"

WRONG = {
    supports_what_a_document_says: "test_a_claim_without_a_citation_is_uncited",
    audits(uncited=Support.SUPPORTED): "test_a_claim_without_a_citation_is_uncited",
    audits(any_known=True): "test_a_document_that_nobody_found_is_an_unknown_id",
    audits(above=True): WEAK,
    has_a_threshold_of_its_own: WEAK,
    audits(compare=lambda *_: ""): NOT_SAID,
    audits(keep_weak=True): NOT_SAID,
    compares_with_all_evidence: NOT_SAID,
    audits(all_strong=True): SUPPORTED,
    audits(compare=each_says_so): SUPPORTED,
    audits(make=list): "test_each_claim_has_its_verdict",
    audits(no_search=[]): "test_without_evidence_no_fact_passes",
    takes_no_other_split: "test_other_claims_and_citations",
}
