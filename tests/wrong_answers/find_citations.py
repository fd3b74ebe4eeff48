"""Plausible wrong answers to `find_citations`, each with the test that must catch it."""

import re

from workbook.trust.claims import BRACKETS, CODE, DOC_ID


def found(text, *, code=True, between="[,;]", once=dict.fromkeys, strip=str.strip,
          fit=DOC_ID.fullmatch, number=True, stop=False):  # fmt: skip
    """Find as one should; each argument makes one mistake."""
    text, doc_ids = CODE.sub(" ", text) if code else text, []
    for inside in BRACKETS.findall(text):
        for part in re.split(between, inside):
            if cited := fit(strip(part)):
                n = number and cited["number"]
                doc_ids.append(f"doc_{n}" if n else cited[0])
    return list(once(doc_ids))


def takes_what_stands_in_brackets(text):
    return list(dict.fromkeys(BRACKETS.findall(text)))


def knows_square_brackets_only(text):
    return [each for each in found(text) if f"【{each}】" not in text]


def counts_twice(text):
    return found(text, once=list)


def puts_them_in_order(text):
    return found(text, once=sorted)


def does_not_split(text):
    return found(text, between="$^")


def splits_at_commas_only(text):
    return found(text, between=",")


def keeps_the_blanks(text):
    return found(text, strip=str)


def keeps_the_number_bare(text):
    return found(text, number=False)


def looks_at_the_beginning_only(text):
    return found(text, fit=re.compile(r"(?P<number>\d+)|[\w:]+").match)


def reads_code(text):
    return found(text, code=False)


WRONG = {
    takes_what_stands_in_brackets: "test_several_in_one_pair_of_brackets",
    knows_square_brackets_only: "test_a_citation_is_a_doc_id_in_brackets",
    counts_twice: "test_each_once_in_the_order_of_their_mention",
    puts_them_in_order: "test_each_once_in_the_order_of_their_mention",
    does_not_split: "test_several_in_one_pair_of_brackets",
    splits_at_commas_only: "test_several_in_one_pair_of_brackets",
    keeps_the_blanks: "test_several_in_one_pair_of_brackets",
    keeps_the_number_bare: "test_a_number_is_the_document_of_that_number",
    looks_at_the_beginning_only: "test_other_words_are_no_citation",
    reads_code: "test_code_cites_nothing",
}
