"""Plausible wrong answers to `lookup_next`, each with the test that must catch it."""

import re


def _matches(sentences, keyword):
    wanted = keyword.strip().casefold()
    return [s for s in sentences if wanted and wanted in s.casefold()]


def _show(matches, position, first=1):
    if position >= len(matches):
        return "No more results.", position
    shown = f"(Result {position + first} / {len(matches)}) {matches[position]}"
    return shown, position + 1


def counts_from_zero(sentences, keyword, position):
    return _show(_matches(sentences, keyword), position, first=0)


def counts_each_time_that_it_is_written(sentences, keyword, position):
    matches = _matches(sentences, keyword)
    text, new = _show(matches, position)
    times = " ".join(matches).casefold().count(keyword.strip().casefold())
    return text.replace(f"/ {len(matches)})", f"/ {times})"), new


def returns_the_place_in_the_article(sentences, keyword, position):
    matches = _matches(sentences, keyword)
    text, new = _show(matches, position)
    return text, sentences.index(matches[position]) + 1 if new > position else position


def begins_again_at_the_end(sentences, keyword, position):
    matches = _matches(sentences, keyword)
    return _show(matches, position % len(matches) if matches else position)


def minds_capital_letters(sentences, keyword, position):
    word = keyword.strip()
    return _show([s for s in sentences if word and word in s], position)


def lets_a_blank_match_everything(sentences, keyword, position):
    wanted = keyword.strip().casefold()
    return _show([s for s in sentences if wanted in s.casefold()], position)


def reads_the_keyword_as_a_pattern(sentences, keyword, position):
    wanted = keyword.strip()
    found = [s for s in sentences if wanted and re.search(wanted, s, re.IGNORECASE)]
    return _show(found, position)


WRONG = {
    counts_from_zero: "test_a_match_has_its_number",
    counts_each_time_that_it_is_written: "test_a_match_has_its_number",
    returns_the_place_in_the_article: "test_the_position_counts_matches",
    begins_again_at_the_end: "test_there_is_an_end",
    minds_capital_letters: "test_case_and_blanks_do_not_matter",
    lets_a_blank_match_everything: "test_a_blank_keyword_matches_nothing",
    reads_the_keyword_as_a_pattern: "test_the_keyword_is_text_and_no_pattern",
}
