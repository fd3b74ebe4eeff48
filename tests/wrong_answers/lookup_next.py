"""Plausible wrong answers to `lookup_next`, each with words that its failure must show."""


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
    takes_the_position_for_a_sentence: "counts matches shown, not sentences passed",
    minds_capital_letters: "capital letters",
    begins_again_at_the_end: "after the last match there are no more results",
    counts_from_zero: "counted from 1",
    lets_a_blank_match_everything: "a blank keyword matches nothing",
}
