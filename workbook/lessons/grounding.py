"""Lesson 09: which sentences of an answer state a fact, and does their source say so?

An audit asks three questions of each claim, in this order: is there such a document,
is its score good enough, and does it say so? The matcher compares the words.
"""

import math
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from workbook.lessons import matcher
from workbook.lessons.matcher import WORDS, addresses_in, compared, facts, sentences
from workbook.lessons.memory import Memory, recalling
from workbook.runtime.calls import Observation, ToolError
from workbook.runtime.guard import Guard
from workbook.runtime.messages import CHAT_PREAMBLE, TEXT_PREAMBLE
from workbook.runtime.run import Run
from workbook.runtime.table import State, Transition, exits
from workbook.runtime.tools import Tool, ToolRegistry

# Citations and claims

DOC_ID = re.compile(
    r"(?:(?i:doc)[ _-]?(?=\d{1,6}\Z)|(?=\d{1,3}\Z))(?P<number>\d+)"
    r"|[A-Za-z][\w-]*:[\w.:/-]+|[a-z]+[_-]?\d+"
)
"""A whole doc_id; its group `number` is the 3 of "3", "Doc 3" and "doc_3"."""
CODE = re.compile(r"(?s)```.*?```|`[^`\n]*`|[A-Za-z0-9_)]\[\d{1,3}\b[^\]\n]{0,200}\]")
"""Code, where brackets cite nothing: between backquotes, or an index, `rows[1]`."""


def find_citations(text: str) -> list[str]:
    """Return the doc_ids that a text cites, each once: [w068], 【doc_3】, [3]."""
    text, found = unicodedata.normalize("NFKC", CODE.sub(" ", text)), []
    for inside in matcher.BRACKETS.findall(text):
        for part in re.split("[,;、]", inside):
            if cited := DOC_ID.fullmatch(part.strip()):
                found.append(f"doc_{cited['number']}" if cited["number"] else cited[0])
    return list(dict.fromkeys(found))


def _any_of(name: str) -> re.Pattern[str]:
    """Return a table's lines as one pattern, for sentences of up to 400 letters."""
    pattern = "|".join(WORDS[name].strip().split("\n"))
    for part in ("VERB", "EXCUSE"):
        pattern = pattern.replace(part, WORDS[part])
    return re.compile(rf"\A(?=.{{0,400}}\Z).*?(?:{pattern})", re.IGNORECASE)


NO_FACT, OPINION, REFUSAL, TURN = map(
    _any_of, ("no_facts", "opinions", "refusals", "turns")
)


def split_claims(answer: str) -> list[str]:
    """Return the sentences of an answer that state a fact, each with its citations."""
    claims = []
    for sentence in sentences(re.sub(r"(?s)```.*?```", "\n\n", answer)):
        bare = matcher.without_citations(sentence)
        no_claim = OPINION.search(bare) or REFUSAL.search(bare)
        says_more = find_citations(sentence) or TURN.search(bare)
        if not NO_FACT.search(bare) and (says_more or not no_claim):
            claims.append(sentence)
    return claims


# Documents, and what they say of a claim

MOST_CHARS = 2000  # of a claim that is looked up
MOST_READ = 10_000  # characters of a document
_PRONOUN = re.compile(r"(?i:\b(?:s?he|it|they|hi[sm]|her|its|their|them|this)\b)")
_AND = re.compile(r",? (?:and|but|while|who|which|where|whose|when) |; |, |[，、；]")


class Document(NamedTuple):
    """What the searches of one run showed of a document; its best score, 0 to 1."""

    doc_id: str
    title: str
    score: float
    text: str


def evidence_of(observations: Iterable[Observation]) -> list[Document]:
    """Return the documents that a run's searches gave, each doc_id once, best score."""
    found: dict[str, Document] = {}
    for observation in observations:
        results = (observation.result or {}).get("results")
        for each in results if isinstance(results, list) else ():
            match each:
                case {"doc_id": str(doc_id), "score": int() | float() as score}:
                    title, text = str(each.get("title", "")), str(each.get("text", ""))
                    old = found.get(doc_id, Document(doc_id, title, 0.0, ""))
                    text = old.text if text in old.text else f"{old.text}\n\n{text}"
                    best = max(old.score, float(score))  # NaN is not more
                    text = text.strip()[:MOST_READ]
                    found[doc_id] = Document(doc_id, title, best, text)
    return list(found.values())


@lru_cache(maxsize=100)
def _passages(document: Document) -> list[tuple[str, matcher.Facts, dict[str, str]]]:
    """Return each sentence with its facts and the title's words.

    The years of its neighbours count as its own, and so do, if it has a pronoun, the
    names of the sentence before and of the first one.
    """
    found, title = sentences(document.text), facts(document.title)
    passages = []
    for i, each in enumerate(found):
        said = facts(re.sub(r"\A(?:He|She|It)\b", document.title, each))
        near = [facts(one) for one in found[max(0, i - 1) : i + 2]]
        years = {n for one in near for n in one.numbers if matcher.is_year(n)}
        before = (found[0], found[max(0, i - 1)]) if _PRONOUN.search(each) else ()
        names = {*said.words, *title.words}.union(*(facts(one).words for one in before))
        said = said._replace(names=names, numbers=said.numbers | title.numbers | years)
        passages.append((f"{document.doc_id} says “{each}”", said, title.words))
    return passages


def _parts(claim: str) -> list[str]:
    """Return the parts of "a and b", of which each holds two things to look up."""
    parts, size = [""], 0
    for piece in _AND.split(claim):
        if size > 1:
            parts, size = [*parts, ""], 0
        parts[-1] += f" {piece}"
        found = facts(piece)
        size += len(found.words) + len(found.numbers) + any(u for _, u in found.numbers)
    return parts


def what_differs(claim: str, documents: Iterable[Document]) -> str:
    """Return how the documents' best sentence differs from a claim; "" if it does not.

    >>> fuji = Document("d1", "Mount Fuji", 1.0, "It is in Japan. It is 3,776 m high.")
    >>> what_differs("Mount Fuji is 3,767 m high.", [fuji])
    'd1 says “It is 3,776 m high.”: not 3767 m'
    """
    claim = matcher.without_citations(claim)
    if len(claim) > MOST_CHARS:
        return f"{len(claim):,} characters in one sentence: state one fact in each"
    passages = [passage for each in documents for passage in _passages(each)]
    wanted = facts(claim)
    if not passages or not (wanted.words or wanted.numbers):
        return "it says nothing that can be looked up: write the fact out"
    letters = {c for _, said, _ in passages for word in said.names for c in word}
    han = [word for word in wanted.words if matcher.is_han(word) and len(word) > 1]
    if len(strange := [word for word in han if not letters & set(word)]) > 1:
        return f"none of the characters {' '.join(sorted(strange))} in it"

    def differences(wanted: matcher.Facts) -> str:
        found = [(says, *compared(wanted, said, its)) for says, said, its in passages]
        says, _, wrong = max(found, key=lambda row: (row[1], not row[2]))
        return f"{says}: {'; '.join(wrong)}" if wrong else ""

    whole, parts = differences(wanted), _parts(claim)
    is_said = len(parts) > 1 and not any(differences(facts(part)) for part in parts)
    return "" if is_said else whole


# The audit, and what its threshold costs

THRESHOLD = 0.3
"""The least score of a document that counts. `calibrate` shows what it costs."""


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


def audit_answer(
    answer: str,
    evidence: Iterable[Document],
    threshold: float = THRESHOLD,
    split: Callable[[str], list[str]] = split_claims,
    cite: Callable[[str], list[str]] = find_citations,
) -> list[Verdict]:
    """Return a verdict on each claim of an answer; none where it states no fact."""
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
            kind, why = Support.SUPPORTED, "a document that it cites says so"
        verdicts.append(Verdict(claim, kind, cited, why))
    return verdicts


class Cost(NamedTuple):
    """What a threshold does: the share of the right refused, of the wrong accepted."""

    threshold: float
    right_refused: float
    wrong_accepted: float


def calibrate(pairs: Iterable[tuple[float, bool]]) -> list[Cost]:
    """Return a row for each score that occurs, the lowest first, and for infinity."""
    known = sorted(pairs)
    right = [score for score, is_right in known if is_right]
    wrong = [score for score, is_right in known if not is_right]
    if not right or not wrong:
        raise ValueError(f"{len(right)} right and {len(wrong)} wrong: give one of each")
    rows = []
    for at in (*dict.fromkeys(score for score, _ in known), math.inf):
        refused = bisect_left(right, at) / len(right)
        accepted = (len(wrong) - bisect_left(wrong, at)) / len(wrong)
        rows.append(Cost(at, refused, accepted))
    return rows


# VERIFY: the state before DONE

VERIFY, REFUSED, UNSUPPORTED = "VERIFY", "REFUSED", "unsupported"
TRIES = 2  # how many times an answer goes back to the model
HOW_TO_CITE = (
    "After each sentence that states a fact, write the doc_id of the document that "
    "says so, like this: [doc_3]. Cite only documents that a search has given you, and "
    "state only what they say. If they do not say it, say that you do not know."
)


def citing_preamble(tools: Iterable[Tool], chat: bool = False) -> str:
    """Return the usual text before the question, and how to cite."""
    if chat:
        return f"{CHAT_PREAMBLE}\n{HOW_TO_CITE}\n\n"
    usual = TEXT_PREAMBLE.format(tools=ToolRegistry(tools).describe()).rstrip()
    return f"{usual}\n{HOW_TO_CITE}\n\n"


def references(answer: str, evidence: Iterable[Document]) -> str:
    """Return the list of what an answer cites; a title with an address is left out."""
    titles = {each.doc_id: each.title for each in evidence}
    cited = [doc_id for doc_id in find_citations(answer) if doc_id in titles]
    shown = {i: "" if addresses_in(titles[i]) else f" {titles[i]}" for i in cited}
    return "\n".join(f"[{doc_id}]{title}" for doc_id, title in shown.items())


def grounding(memory: Memory | None = None) -> list[Guard]:
    """Return the guard that lets a supported answer out, and the one of a memory.

    In a machine's list they come before `taint` and `budget`.
    """
    why_refused = "the documents that were found do not support an answer"
    rows = [
        Transition(State.THINK, "final_answer", VERIFY, "is it true?"),
        Transition(VERIFY, "supported", State.DONE, "the evidence says so"),
        Transition(VERIFY, UNSUPPORTED, State.OBSERVE, "the model reads which claims"),
        Transition(VERIFY, "unanswerable", REFUSED, why_refused),
        *exits(VERIFY),
    ]
    own = Guard("grounding", {}, rows, {VERIFY: _verify}, {"tries": TRIES}, [REFUSED])
    return [recalling(memory), own]


def _verify(run: Run) -> str:
    """Audit the answer: it goes out, or back to the model, or is given up."""
    answer, evidence = run.answer or "", evidence_of(run.observed)
    functions = {"split": run.part(split_claims), "cite": run.part(find_citations)}
    verdicts = list(run.part(audit_answer)(answer, evidence, **functions))
    failed = [each for each in verdicts if each.kind != Support.SUPPORTED]
    reasons = "; ".join(f"{each.claim} ({each.kind}: {each.why})" for each in failed)
    what = UNSUPPORTED if failed else "supported"
    why = reasons or f"{len(verdicts)} claims, {len(evidence)} documents"
    shown = [{**each._asdict(), "doc_ids": list(each.doc_ids)} for each in verdicts]
    run.journal.emit("decision", who="audit", what=what, why=why, verdicts=shown)
    if not failed:
        listed = references(answer, evidence)
        run.answer = f"{answer}\n\nReferences:\n{listed}" if listed else answer
        return what
    sent_back = run.notes.get("sent_back", 0)
    if sent_back >= run.settings["grounding"]["tries"] or run.forced:
        return "unanswerable"
    run.notes["sent_back"] = sent_back + 1
    run.see(Observation.failed("", ToolError(UNSUPPORTED, reasons, hint=HOW_TO_CITE)))
    return what
