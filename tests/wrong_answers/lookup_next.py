"""Plausible wrong answers to `lookup_next`, each with the test that must catch it."""


def takes_the_position_for_a_sentence(sentences, keyword, position):
    wanted = keyword.strip().casefold()
    total = sum(wanted in s.casefold() for s in sentences if wanted)
    for index in range(position, len(sentences)):
        if wanted and wanted in sentences[index].casefold():
            before = sum(wanted in s.casefold() for s in sentences[:index])
            return f"(Result {before + 1} / {total}) {sentences[index]}", index + 1
    return "No more results.", position


def minds_capital_letters(sentences, keyword, position):
    matches = [s for s in sentences if keyword.strip() and keyword.strip() in s]
    if position >= len(matches):
        return "No more results.", position
    text = f"(Result {position + 1} / {len(matches)}) {matches[position]}"
    return text, position + 1


def begins_again_at_the_end(sentences, keyword, position):
    wanted = keyword.strip().casefold()
    matches = [s for s in sentences if wanted and wanted in s.casefold()]
    if not matches:
        return "No more results.", position
    here = position % len(matches)
    return f"(Result {here + 1} / {len(matches)}) {matches[here]}", here + 1


def counts_from_zero(sentences, keyword, position):
    wanted = keyword.strip().casefold()
    matches = [s for s in sentences if wanted and wanted in s.casefold()]
    if position >= len(matches):
        return "No more results.", position
    return f"(Result {position} / {len(matches)}) {matches[position]}", position + 1


def lets_a_blank_match_everything(sentences, keyword, position):
    matches = [s for s in sentences if keyword.strip().casefold() in s.casefold()]
    if position >= len(matches):
        return "No more results.", position
    text = f"(Result {position + 1} / {len(matches)}) {matches[position]}"
    return text, position + 1


WRONG = {
    takes_the_position_for_a_sentence: "test_the_next_lookup_shows_the_next_match",
    minds_capital_letters: "test_case_and_blanks_do_not_matter",
    begins_again_at_the_end: "test_there_is_an_end",
    counts_from_zero: "test_the_first_lookup_shows_the_first_match",
    lets_a_blank_match_everything: "test_a_blank_keyword_matches_nothing",
}
