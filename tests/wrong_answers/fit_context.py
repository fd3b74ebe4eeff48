"""Plausible wrong answers to `fit_context`, each with the test that must catch it."""

from workbook.guardrails.context import (
    ContextTooSmall,
    Part,
    cut,
    extract,
    loose_groups,
    replaced,
    shorten,
    size,
)


def fit(parts, limit, count, summarise, goal=0.5, newest=True, cutting=True):
    if size(parts, count) <= limit:
        return parts
    if cutting:
        parts = [shorten(part, limit / 4, count) for part in parts]
    left, dropped, loose = size(parts, count), [], loose_groups(parts)
    if left <= limit:
        return parts
    for group in loose:
        if left <= limit * (1 if newest and group is loose[-1] else goal):
            break
        dropped += group
        left -= size(group, count)
    if left > limit:
        raise ContextTooSmall(f"{left} tokens are pinned, of {limit}")
    summary = cut(summarise(dropped), min(limit / 10, limit - left), count)
    return replaced(parts, dropped, summary)


def stops_as_soon_as_it_fits(parts, limit, *, count=len, summarise=extract):
    return fit(parts, limit, count, summarise, goal=1)


def gives_up_the_newest_for_half_of_the_limit(
    parts, limit, *, count=len, summarise=extract
):
    return fit(parts, limit, count, summarise, newest=False)


def drops_turns_before_it_cuts(parts, limit, *, count=len, summarise=extract):
    return fit(parts, limit, count, summarise, cutting=False)


def drops_part_by_part(parts, limit, *, count=len, summarise=extract):
    if size(parts, count) <= limit:
        return parts
    parts = [shorten(part, limit / 4, count) for part in parts]
    left, dropped = size(parts, count), []
    for part in parts if left > limit else ():
        if not part.pinned and left > limit / 2:
            dropped.append(part)
            left -= count(part.text)
    if left > limit:
        raise ContextTooSmall(f"{left} tokens are pinned, of {limit}")
    if not dropped:
        return parts
    return replaced(parts, dropped, cut(summarise(dropped), limit / 10, count))


def forgets_what_is_pinned(parts, limit, *, count=len, summarise=extract):
    if size(parts, count) <= limit:
        return parts
    loose = [Part(p.text, p is parts[0], p.group, p.kind) for p in parts]
    return fit(loose, limit, count, summarise)


def says_nothing_when_the_pinned_are_too_much(
    parts, limit, *, count=len, summarise=extract
):
    try:
        return fit(parts, limit, count, summarise)
    except ContextTooSmall:
        return [part for part in parts if part.pinned]


def leaves_no_summary(parts, limit, *, count=len, summarise=extract):
    return fit(parts, limit, count, lambda dropped: "")


WRONG = {
    stops_as_soon_as_it_fits: "test_turns_go_in_a_batch",
    gives_up_the_newest_for_half_of_the_limit: "test_the_newest_turn_goes_last",
    drops_turns_before_it_cuts: "test_long_observations_are_cut_first",
    drops_part_by_part: "test_a_call_stays_with_its_observation",
    forgets_what_is_pinned: "test_what_is_pinned_never_goes",
    says_nothing_when_the_pinned_are_too_much: "test_more_pinned_than_there_is_room_for",
    leaves_no_summary: "test_the_oldest_are_replaced_by_a_summary",
}
