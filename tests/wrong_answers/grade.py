"""Plausible wrong answers to `grade`, each with the test that must catch it."""

import re
from dataclasses import replace

from workbook.lessons.evaluation import declines, names, plain
from workbook.lessons.evaluation import grade as ours


def instead(kind, judge):
    """Grade as one should, but this kind of gold in another way."""

    def graded(answer, gold):
        mine = judge if gold.kind == kind else ours
        return bool(mine(answer or "", gold))

    graded.__name__ = judge.__name__
    return graded


def any_letters_do(answer, gold):
    stated = all(names(answer, value) for value in gold.values)
    names_alone = any(value[:1].isdigit() for value in gold.values)
    return stated or (names_alone and all(v in answer for v in gold.values))


def the_digits_do_not_matter(answer, gold):
    without = replace(gold, values=tuple(re.sub(r"\d+", "", v) for v in gold.values))
    is_name = re.fullmatch(r"[A-Za-z]+\d+", gold.values[0])
    return ours(re.sub(r"\d+", "", answer), without) if is_name else ours(answer, gold)


def any_word_does(answer, gold):
    words = " ".join(gold.values).split()
    return any(names(answer, word) for word in words)


def any_of_all_does(answer, gold):
    return ours(answer, replace(gold, kind="any"))


def the_last_number_does(answer, gold):
    return ours(answer, gold) or ours(" ".join(answer.split()[-1:]), gold)


def digits_alone_count(answer, gold):
    return bool(re.search(r"[0-9]", answer)) and ours(answer, gold)


def forgets_the_tolerance(answer, gold):
    return ours(answer, replace(gold, tolerance=0.0))


def whole_words_anywhere(answer, gold):
    return all(re.search(rf"(?<!\w){v}(?!\w)", plain(answer), re.I) for v in gold.values) or ours(answer, gold)  # fmt: skip  # noqa: E501


def reads_the_references(answer, gold):
    return ours(answer, gold) or ours(answer.partition("References:")[2], gold)


def reads_what_is_denied(answer, gold):
    return ours(answer.replace("is not", "is"), gold)


def any_refusal_does(answer, gold):
    return declines(answer)


def an_apology_does(answer, gold):
    return "sorry" in answer.casefold() or ours(answer, gold)


def only_cannot_refuses(answer, gold):
    return "cannot" in answer and ours(answer, gold)


def silence_does(answer, gold):
    return not answer.strip() or ours(answer, gold)


WRONG = {
    instead("all", any_letters_do): "test_all_values_are_stated",
    instead("all", the_digits_do_not_matter): "test_all_values_are_stated",
    instead("all", any_of_all_does): "test_all_values_are_stated",
    instead("any", any_word_does): "test_any_value_is_enough",
    instead("number", the_last_number_does): "test_a_number_is_one_number",
    instead("number", digits_alone_count): "test_a_number_is_one_number",
    instead("number", forgets_the_tolerance): "test_a_number_is_one_number",
    instead("all", whole_words_anywhere): "test_what_is_not_stated_does_not_count",
    instead("all", reads_the_references): "test_what_is_not_stated_does_not_count",
    instead("number", reads_what_is_denied): "test_what_is_not_stated_does_not_count",
    instead("refusal", any_refusal_does): "test_a_refusal_names_no_value",
    instead("refusal", an_apology_does): "test_a_refusal_says_so",
    instead("refusal", only_cannot_refuses): "test_a_refusal_says_so",
    instead("refusal", silence_does): "test_no_answer_is_never_right",
}
