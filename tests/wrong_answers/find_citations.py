"""Plausible wrong answers to `find_citations`, each with the test that must catch it."""

import re

from workbook.lessons.grounding import CODE, DOC_ID
from workbook.lessons.matcher import BRACKETS


def found(text, *, code=True, between="[,;]", once=dict.fromkeys, strip=str.strip,
          fit=DOC_ID.fullmatch, number=True):  # fmt: skip
    """Find as one should; each argument makes one mistake."""
    text, doc_ids = CODE.sub(" ", text) if code else text, []
    for inside in BRACKETS.findall(text):
        for part in re.split(between, inside):
            if cited := fit(strip(part)):
                n = number and cited["number"]
                doc_ids.append(f"doc_{n}" if n else cited[0])
    return list(once(doc_ids))


def finds(**mistake):
    """Return a function that makes one of these mistakes."""
    return lambda text: found(text, **mistake)


def knows_square_brackets_only(text):
    return [each for each in found(text) if f"【{each}】" not in text]


def takes_a_digit_alone_for_a_number(text):
    found_ids = found(text, number=False)
    ids = [f"doc_{each}" if each.isdigit() else each for each in found_ids]
    return list(dict.fromkeys(ids))


def leaves_out_brackets_with_other_words(text):
    for inside in BRACKETS.findall(text):
        parts = [part.strip() for part in re.split("[,;]", inside)]
        if not all(map(DOC_ID.fullmatch, parts)):
            text = text.replace(inside, "")
    return found(text)


ONCE = "test_each_once_in_the_order_of_their_mention"
SEVERAL = "test_several_in_one_pair_of_brackets"

WRONG = {
    knows_square_brackets_only: "test_a_citation_is_a_doc_id_in_brackets",
    finds(once=list): ONCE,
    finds(once=sorted): ONCE,
    finds(between="$^"): SEVERAL,
    finds(between=","): SEVERAL,
    finds(strip=str): SEVERAL,
    takes_a_digit_alone_for_a_number: "test_a_number_is_the_document_of_that_number",
    finds(number=False): "test_a_number_is_the_document_of_that_number",
    leaves_out_brackets_with_other_words: "test_other_words_are_no_citation",
    finds(code=False): "test_code_cites_nothing",
}
