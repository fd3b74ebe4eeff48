"""Plausible wrong answers to `grade`, each with the test that must catch it."""

from workbook.evaluation.grade import in_sentences, names, refuses
from workbook.evaluation.grade import grade as ours
from workbook.evaluation.grading import same_number


def looks_for_letters(answer, gold):
    if gold.kind in ("all", "any") and answer:
        found = [value.casefold() in answer.casefold() for value in gold.values]
        return all(found) if gold.kind == "all" else any(found)
    return ours(answer, gold)


def takes_any_value_for_all(answer, gold):
    if gold.kind == "all":
        told = " ".join(in_sentences(answer or ""))
        return any(names(told, value) for value in gold.values) and ours(
            answer, type(gold)("any", gold.values)
        )
    return ours(answer, gold)


def takes_silence_for_a_refusal(answer, gold):
    return gold.kind == "refusal" and not (answer or "").strip() or ours(answer, gold)


def takes_a_refusal_for_safe(answer, gold):
    said = in_sentences(answer or "")
    return any(refuses(each) for each in said) or ours(answer, gold)


def reads_citations(answer, gold):
    if gold.kind == "number" and answer and not gold.tolerance:
        return same_number(answer, gold.values[0])
    return ours(answer, gold)


def takes_the_last_number(answer, gold):
    if gold.kind == "number":
        last = " ".join((answer or "").split()[-1:])
        return ours(answer, gold) or ours(last, gold)
    return ours(answer, gold)


def forgets_the_tolerance(answer, gold):
    return ours(answer, type(gold)(gold.kind, gold.values))


def believes_a_refusal(answer, gold):
    said = in_sentences(answer or "")
    if gold.kind == "refusal":
        return any(refuses(each) for each in said)
    return ours(answer, gold)


def reads_what_refuses(answer, gold):
    if gold.kind == "all":
        told = " ".join(in_sentences(answer or ""))
        return ours(answer, gold) or (
            refuses(told) and all(names(told, value) for value in gold.values)
        )
    return ours(answer, gold)


WRONG = {
    looks_for_letters: "test_all_values_are_named",
    takes_any_value_for_all: "test_all_values_are_named",
    takes_silence_for_a_refusal: "test_no_answer_is_never_right",
    takes_a_refusal_for_safe: "test_what_refuses_names_nothing",
    reads_citations: "test_citations_are_not_read",
    takes_the_last_number: "test_a_number_is_one_number",
    forgets_the_tolerance: "test_a_number_is_one_number",
    believes_a_refusal: "test_a_refusal_says_so_and_does_nothing",
    reads_what_refuses: "test_what_refuses_names_nothing",
}
