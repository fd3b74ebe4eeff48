"""Plausible wrong answers to `fit_context`, each with the test that must catch it."""

from workbook.runtime.context import (
    ContextTooSmall,
    PromptPart,
    cut,
    extract,
    loose_groups,
    replaced,
    shorten,
    size,
)


def fit(
    parts, limit, *, count=len, summarise=extract, goal=0.5, newest=True, cutting=True,
    groups=loose_groups, brief=cut, above=0.001, raises=True, share=min,
):
    """Fit them as one should; each argument makes one mistake."""
    if size(parts, count) < limit + above:
        return parts
    if cutting:
        parts = [shorten(part, limit / 4, count) for part in parts]
    left, dropped, loose = size(parts, count), [], groups(parts)
    if left < limit + above:
        return parts
    for group in loose:
        if left <= limit * (1 if newest and group is loose[-1] else goal):
            break
        dropped += group
        left -= size(group, count)
    if left > limit and raises:
        raise ContextTooSmall(f"{left} tokens are pinned, of {limit}")
    most = share(limit / 10, limit - left)
    return replaced(parts, dropped, brief(summarise(dropped), most, count))


def takes_the_limit_itself_for_too_much(parts, limit, **options):
    return fit(parts, limit, **options, above=0)


def stops_below_half(parts, limit, **options):
    return fit(parts, limit, **options, goal=0.4999)


def returns_what_does_not_fit(parts, limit, **options):
    return fit(parts, limit, **options, raises=False)


def gives_the_summary_a_tenth_whatever_is_left(parts, limit, **options):
    return fit(parts, limit, **options, share=lambda tenth, rest: tenth)


def gives_the_summary_all_that_is_left(parts, limit, **options):
    return fit(parts, limit, **options, share=lambda tenth, rest: rest)


def stops_as_soon_as_it_fits(parts, limit, **options):
    return fit(parts, limit, **options, goal=1)


def gives_up_the_newest_for_half_of_the_limit(parts, limit, **options):
    return fit(parts, limit, **options, newest=False)


def drops_turns_before_it_cuts(parts, limit, **options):
    return fit(parts, limit, **options, cutting=False)


def drops_part_by_part(parts, limit, **options):
    def each_alone(parts):
        return [[part] for part in parts if not part.pinned]

    return fit(parts, limit, **options, groups=each_alone)


def forgets_what_is_pinned(parts, limit, **options):
    loose = [PromptPart(p.text, p is parts[0], p.group, p.kind) for p in parts]
    return parts if size(parts, len) <= limit else fit(loose, limit, **options)


def leaves_no_summary(parts, limit, **options):
    return fit(parts, limit, **{**options, "summarise": lambda dropped: ""})


def takes_the_summary_as_it_comes(parts, limit, **options):
    return fit(parts, limit, **options, brief=lambda text, most, count: text)


WRONG = {
    stops_as_soon_as_it_fits: "test_turns_go_in_a_batch",
    gives_up_the_newest_for_half_of_the_limit: "test_the_newest_turn_goes_last",
    drops_turns_before_it_cuts: "test_long_observations_are_cut_first",
    drops_part_by_part: "test_a_call_stays_with_its_observation",
    forgets_what_is_pinned: "test_what_is_pinned_never_goes",
    leaves_no_summary: "test_the_oldest_are_replaced_by_a_summary",
    takes_the_summary_as_it_comes: "test_the_summary_has_its_limit_too",
    takes_the_limit_itself_for_too_much: "test_what_fits_stays",
    stops_below_half: "test_turns_go_in_a_batch",
    returns_what_does_not_fit: "test_more_pinned_than_there_is_room_for",
    gives_the_summary_all_that_is_left: "test_the_summary_has_its_limit_too",
    gives_the_summary_a_tenth_whatever_is_left: "test_the_summary_has_its_limit_too",
}
