"""Plausible wrong answers to `lookup_next`, each with the test that must catch it."""


def _matches(sentences, keyword):
    wanted = keyword.strip().casefold()
    return [s for s in sentences if wanted and wanted in s.casefold()]


def _show(matches, position):
    if position >= len(matches):
        return "No more results.", position
    return f"(Result {position + 1} / {len(matches)}) {matches[position]}", position + 1


def takes_the_position_for_a_sentence(sentences, keyword, position):
    left = _matches(sentences[position:], keyword)
    matches = _matches(sentences, keyword)
    text, _ = _show(matches, len(matches) - len(left))
    return text, sentences.index(left[0]) + 1 if left else position


def minds_capital_letters(sentences, keyword, position):
    word = keyword.strip()
    return _show([s for s in sentences if word and word in s], position)


def begins_again_at_the_end(sentences, keyword, position):
    matches = _matches(sentences, keyword)
    return _show(matches, position % len(matches) if matches else position)


def lets_a_blank_match_everything(sentences, keyword, position):
    wanted = keyword.strip().casefold()
    return _show([s for s in sentences if wanted in s.casefold()], position)


WRONG = {
    takes_the_position_for_a_sentence: "test_the_next_lookup_shows_the_next_match",
    minds_capital_letters: "test_case_and_blanks_do_not_matter",
    begins_again_at_the_end: "test_there_is_an_end",
    lets_a_blank_match_everything: "test_a_blank_keyword_matches_nothing",
}
