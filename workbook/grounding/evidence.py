"""Is it true? Each claim of an answer, held against what its run has seen.

Three questions, in this order: is there such a document, is its score good enough, and
does it say so? A score says how well a document fits a query, not whether it is right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from workbook.grounding.addresses import addresses_in
from workbook.grounding.claims import (
    find_citations,
    sentences,
    split_claims,
    without_citations,
)
from workbook.grounding.comparison import Facts, compared, facts
from workbook.grounding.words import is_han
from workbook.runtime.calls import Observation

THRESHOLD = 0.3
"""The least score of a document that counts. `calibrate` shows what it costs."""

MOST_CHARS = 2000  # of a claim that is looked up at all
MOST_READ = 10_000  # characters of a document
YEAR = 1000  # such a number, or a larger one, may stand in the next sentence
_PRONOUN = re.compile(
    r"\b(?:he|she|it|they|his|her|its|their|him|them|this|there)\b", re.IGNORECASE
)
"""A word that may be somebody of this sentence, of the one before, or the title."""
_IT = re.compile(r"\A(?:He|She|It)\b")
_AND = re.compile(r",? (?:and|but|while|who|which|where|whose|when) |; |, |[，、；]")


@dataclass(frozen=True, slots=True)
class Document:
    """What the searches of one run showed of a document; its best score, 0 to 1."""

    doc_id: str
    title: str
    score: float
    text: str


class Support(StrEnum):
    """What the audit says of a claim."""

    UNCITED = "uncited"
    UNKNOWN_ID = "unknown id"
    WEAK = "weak"
    NOT_SAID = "not what it says"
    SUPPORTED = "supported"


class Verdict(NamedTuple):
    """What came of one claim, and why, in a sentence."""

    claim: str
    kind: Support
    doc_ids: tuple[str, ...]
    why: str


def evidence_of(observations: Iterable[Observation]) -> list[Document]:
    """Return the documents that a run's searches gave, each doc_id once.

    A search's result is {"results": [{doc_id, title, score, text}]}. Texts that several
    searches showed of one document are put together; its best score counts. Of a text
    the first `MOST_READ` characters are read.
    """
    found: dict[str, Document] = {}
    for observation in observations:
        results = (observation.result or {}).get("results")
        for each in results if isinstance(results, list) else ():
            match each:
                case {"doc_id": str(doc_id), "score": int() | float() as score}:
                    title, text = str(each.get("title", "")), str(each.get("text", ""))
                    old = found.get(doc_id, Document(doc_id, title, 0.0, ""))
                    texts = [old.text, *([] if text in old.text else [text])]
                    score = max(old.score, float(score))  # NaN is not more
                    text = "\n\n".join(texts)[:MOST_READ]
                    found[doc_id] = Document(doc_id, title, score, text)
    return list(found.values())


def audit_answer(
    answer: str,
    evidence: Iterable[Document],
    threshold: float = THRESHOLD,
    split: Callable[[str], list[str]] = split_claims,
    cite: Callable[[str], list[str]] = find_citations,
) -> list[Verdict]:
    """Return a verdict on each claim of an answer; none where it states no fact.

    A claim must cite, only what the run has seen, and at least one document with a
    score of `threshold` or more that says so: in one sentence, or "a and b" in two.
    What cannot be looked up is not supported: a bare "yes", a word in another language.
    """
    found = {each.doc_id: each for each in evidence}
    verdicts = []
    for claim in split(answer):
        cited = tuple(cite(claim))
        known = [found[doc_id] for doc_id in cited if doc_id in found]
        strong = [each for each in known if each.score >= threshold]
        if not cited:
            kind, why = Support.UNCITED, "it cites no document"
        elif len(known) < len(cited):
            unknown = [doc_id for doc_id in cited if doc_id not in found]
            kind, why = Support.UNKNOWN_ID, f"no search found {', '.join(unknown)}"
        elif not strong:
            best = max(each.score for each in known)
            kind, why = Support.WEAK, f"its score, {best:.2f}, is below {threshold:g}"
        elif problem := what_differs(claim, strong):
            kind, why = Support.NOT_SAID, problem
        else:
            names = " and ".join(each.doc_id for each in strong)
            kind, why = Support.SUPPORTED, f"a sentence of {names} says so"
        if not found:
            why = "no search was made, or none found anything"
        verdicts.append(Verdict(claim, kind, cited, why))
    return verdicts


def what_differs(claim: str, documents: Iterable[Document]) -> str:
    """Return how the documents' best sentence differs from a claim; "" if it does not.

    >>> fuji = Document("d1", "Mount Fuji", 1.0, "It is in Japan. It is 3,776 m high.")
    >>> what_differs("Mount Fuji is 3,767 m high.", [fuji])
    'd1 says “It is 3,776 m high.”: not 3767 m'
    """
    claim, passages = without_citations(claim), list[tuple[str, Facts, Facts]]()
    if len(claim) > MOST_CHARS:
        return f"{len(claim):,} characters in one sentence: state one fact in each"
    for each in documents:
        passages += _passages(each)
    wanted = facts(claim)
    if not passages or not (wanted.words or wanted.numbers):
        return "it says nothing that can be looked up: write the fact out"
    known = set[str]().union(*(said.spelled for _, said, _ in passages))
    strange = [word for word in wanted.words if is_han(word) and not known & set(word)]
    if len([word for word in strange if len(word) > 1]) > 1:
        return f"none of the characters {' '.join(sorted(strange))} in it"

    def differences(wanted: Facts) -> str:
        found = [
            (says, *compared(wanted, said, title)) for says, said, title in passages
        ]
        says, _, wrong = max(found, key=lambda row: (row[1], not row[2]))
        return f"{says}: {'; '.join(wrong)}" if wrong else ""

    whole, parts = differences(wanted), _parts(claim)
    if len(parts) > 1 and not any(differences(facts(part)) for part in parts):
        return ""
    return whole


@lru_cache(maxsize=100)
def _passages(document: Document) -> list[tuple[str, Facts, Facts]]:
    """Return what can be compared of each sentence, and of the title.

    The title counts as said in each, and is who a "He" or "It" at the beginning means.
    So do the years of both neighbours; and, where a sentence has a pronoun, the names
    of the one before and of the first one, which says what the document is about.
    """
    title, told = document.title, sentences(document.text)
    own = [facts(sentence) for sentence in told]
    passages = []
    for i, sentence in enumerate(told):
        said = facts(f"{title}. {sentence}")
        around = set().union(*(each.numbers for each in own[max(0, i - 1) : i + 2]))
        numbers = said.numbers | {each for each in around if each[0] >= YEAR}
        spelled, subject = said.spelled, facts(_IT.sub(title, sentence)).subject
        if _PRONOUN.search(sentence):
            spelled = spelled | own[max(0, i - 1)].spelled | own[0].spelled
        said = said._replace(subject=subject, numbers=numbers, spelled=spelled)
        passages.append((f"{document.doc_id} says “{sentence}”", said, facts(title)))
    return passages


def _parts(claim: str) -> list[str]:
    """Return the parts of "a and b", of which each holds two things to look up."""
    parts, size = [""], 0
    for piece in _AND.split(claim):
        if size > 1:
            parts, size = [*parts, ""], 0
        parts[-1] += f" {piece}"
        found = facts(piece)
        size += len(found.words) + len(found.numbers)
        size += any(unit for _, unit in found.numbers)
    return parts


def references(answer: str, evidence: Iterable[Document]) -> str:
    """Return the list of what an answer cites, a line a document; "" for none.

    The runtime writes it: a model's own list may name what nobody has seen. A title is
    a stranger's text: one with an address in it is left out.
    """
    documents = {each.doc_id: each for each in evidence}
    cited = [documents[i] for i in find_citations(answer) if i in documents]
    titles = [("" if addresses_in(d.title) else f" {d.title}") for d in cited]
    return "\n".join(f"[{d.doc_id}]{t}" for d, t in zip(cited, titles, strict=True))
