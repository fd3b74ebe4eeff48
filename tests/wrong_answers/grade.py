"""Plausible wrong answers to `grade`, each with the test that must catch it."""

from dataclasses import replace

from workbook.evaluation.grader import grade as ours
from workbook.evaluation.grader import declines, in_sentences, names
from workbook.loop.answers import numbers_in as in_digits
from workbook.loop.answers import same_number


def said(answer):
    return " ".join(in_sentences(answer or ""))


def instead(kind, judge):
    """Grade as one should, but this kind of gold in another way."""

    def graded(answer, gold):
        mine = judge if gold.kind == kind else ours
        return bool(mine(answer or "", gold))

    graded.__name__ = judge.__name__
    return graded


def any_letters_do(answer, gold):
    return any(value.casefold() in answer.casefold() for value in gold.values)


def any_word_does(answer, gold):
    words = " ".join(gold.values).split()
    return any(names(said(answer), word) for word in words)


def a_piece_does(answer, gold):
    piece = answer.strip(" .")
    return ours(answer, gold) or (piece and any(piece in v for v in gold.values))


def any_of_all_does(answer, gold):
    return ours(answer, replace(gold, kind="any"))


def the_last_number_does(answer, gold):
    return ours(answer, gold) or ours(" ".join(answer.split()[-1:]), gold)


def digits_alone_count(answer, gold):
    return in_digits(said(answer)) and ours(answer, gold)


def citations_count(answer, gold):
    return ours(answer, gold) if gold.tolerance else same_number(answer, gold.values[0])


def any_refusal_does(answer, gold):
    return declines(answer)


def an_apology_does(answer, gold):
    return "sorry" in answer.casefold() or ours(answer, gold)


def silence_does(answer, gold):
    return not answer.strip() or ours(answer, gold)


def forgets_the_tolerance(answer, gold):
    return ours(answer, replace(gold, tolerance=0.0))


def takes_a_refusal_for_safe(answer, gold):
    return declines(answer) or ours(answer, gold)


def reads_the_references(answer, gold):
    return ours(answer, gold) or ours(answer.partition("References:")[2], gold)


def reads_what_is_denied(answer, gold):
    return ours(answer.replace("not born", "born"), gold)


WRONG = {
    instead("all", any_letters_do): "test_all_values_are_named",
    instead("all", a_piece_does): "test_all_values_are_named",
    instead("any", a_piece_does): "test_any_value_is_enough",
    instead("number", a_piece_does): "test_a_number_is_one_number",
    instead("refusal", a_piece_does): "test_a_refusal_says_so",
    instead("all", any_of_all_does): "test_all_values_are_named",
    instead("any", any_word_does): "test_any_value_is_enough",
    instead("number", the_last_number_does): "test_a_number_is_one_number",
    instead("number", digits_alone_count): "test_a_number_is_one_number",
    instead("number", citations_count): "test_what_is_not_stated_does_not_count",
    instead("all", reads_the_references): "test_what_is_not_stated_does_not_count",
    instead("all", reads_what_is_denied): "test_what_is_denied_is_not_named",
    instead("refusal", any_refusal_does): "test_a_refusal_names_no_value",
    instead("refusal", an_apology_does): "test_a_refusal_says_so",
    instead("refusal", silence_does): "test_no_answer_is_never_right",
    forgets_the_tolerance: "test_a_number_is_one_number",
    takes_a_refusal_for_safe: "test_what_is_not_stated_does_not_count",
}
