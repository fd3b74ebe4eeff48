"""Plausible wrong answers, each with the test that must catch it."""

import re

from workbook.trust.screen import (
    PATTERNS,
    Finding,
    ScreenVerdict,
    is_mentioned,
    normalize_for_screening,
)


def looks(
    text,
    normalize,
    *,
    families=PATTERNS,
    all_of=lambda p, plain: p.finditer(plain),
    best=lambda orders: min(orders, key=re.Match.start),
    skip=is_mentioned,
    key=lambda pair: pair[0],
):
    """Screen as one should; each argument makes one mistake."""
    plain, found = normalize(text), []
    for family in families:
        of = [m for p in PATTERNS[family] for m in all_of(p, plain) if not skip(m)]
        if of:
            found.append((best(of).start(), Finding(family, best(of)[0])))
    return ScreenVerdict(tuple(finding for _, finding in sorted(found, key=key)))


def reads_the_text_as_it_is(text, normalize=normalize_for_screening):
    return looks(text, str.lower)


def normalizes_as_it_likes(text, normalize=normalize_for_screening):
    return looks(text, normalize_for_screening)


def takes_the_first_pattern(text, normalize=normalize_for_screening):
    return looks(text, normalize, best=lambda orders: orders[0])


def takes_the_longest_match(text, normalize=normalize_for_screening):
    return looks(
        text, normalize, best=lambda orders: max(orders, key=lambda m: len(m[0]))
    )


def keeps_the_order_of_the_table(text, normalize=normalize_for_screening):
    return looks(text, normalize, key=lambda pair: 0)


def sorts_by_name(text, normalize=normalize_for_screening):
    return looks(text, normalize, key=lambda pair: pair[1])


def knows_no_mentions(text, normalize=normalize_for_screening):
    return looks(text, normalize, skip=lambda match: False)


def looks_at_the_first_match_alone(text, normalize=normalize_for_screening):
    return looks(text, normalize, all_of=lambda p, t: [m] if (m := p.search(t)) else [])


def looks_at_the_beginning_alone(text, normalize=normalize_for_screening):
    return looks(text, normalize, all_of=lambda p, t: [m] if (m := p.match(t)) else [])


def returns_a_list(text, normalize=normalize_for_screening):
    return list(looks(text, normalize).findings)


def tells_every_match(text, normalize=normalize_for_screening):
    plain, found = normalize(text), []
    for family, patterns in PATTERNS.items():
        for pattern in patterns:
            for match in pattern.finditer(plain):
                if not is_mentioned(match):
                    found.append((match.start(), Finding(family, match[0])))
    return ScreenVerdict(tuple(finding for _, finding in sorted(found)))


def stops_at_the_first_family(text, normalize=normalize_for_screening):
    return ScreenVerdict(looks(text, normalize).findings[:1])


WRONG = {
    reads_the_text_as_it_is: "test_the_text_is_normalized",
    normalizes_as_it_likes: "test_the_text_is_normalized",
    takes_the_first_pattern: "test_of_a_family_the_first",
    takes_the_longest_match: "test_of_a_family_the_first",
    keeps_the_order_of_the_table: "test_the_order_is_that_of_the_text",
    sorts_by_name: "test_the_order_is_that_of_the_text",
    knows_no_mentions: "test_an_order_that_is_spoken_of_is_none",
    looks_at_the_first_match_alone: "test_an_order_that_is_spoken_of_is_none",
    looks_at_the_beginning_alone: "test_what_is_found",
    returns_a_list: "test_what_is_found",
    tells_every_match: "test_of_a_family_the_first",
    stops_at_the_first_family: "test_the_order_is_that_of_the_text",
}
