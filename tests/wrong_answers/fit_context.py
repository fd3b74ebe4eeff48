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
    parts, limit, *, count=len, summarise=extract,
    goal=0.5, newest=True, cutting=True, groups=loose_groups, brief=cut,
):
    """Fit them as one should; each argument makes one mistake."""
    if size(parts, count) <= limit:
        return parts
    if cutting:
        parts = [shorten(part, limit / 4, count) for part in parts]
    left, dropped, loose = size(parts, count), [], groups(parts)
    if left <= limit:
        return parts
    for group in loose:
        if left <= limit * (1 if newest and group is loose[-1] else goal):
            break
        dropped += group
        left -= size(group, count)
    if left > limit:
        raise ContextTooSmall(f"{left} tokens are pinned, of {limit}")
    summary = brief(summarise(dropped), min(limit / 10, limit - left), count)
    return replaced(parts, dropped, summary)


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


def cuts_what_fits(parts, limit, **options):
    return fit([shorten(part, limit / 8, len) for part in parts], limit, **options)


WRONG = {
    stops_as_soon_as_it_fits: "test_turns_go_in_a_batch",
    gives_up_the_newest_for_half_of_the_limit: "test_the_newest_turn_goes_last",
    drops_turns_before_it_cuts: "test_long_observations_are_cut_first",
    drops_part_by_part: "test_a_call_stays_with_its_observation",
    forgets_what_is_pinned: "test_what_is_pinned_never_goes",
    leaves_no_summary: "test_the_oldest_are_replaced_by_a_summary",
    takes_the_summary_as_it_comes: "test_the_summary_has_its_limit_too",
    cuts_what_fits: "test_what_fits_stays",
}
