"""Plausible wrong answers, each with the test that must catch it."""

import re

from workbook.lessons.screen import PATTERNS, Finding, ScreenVerdict, is_mentioned
from workbook.lessons.screen import normalize_for_screening


def looks(
    text,
    normalize,
    *,
    all_of=lambda p, plain: p.finditer(plain),
    best=lambda orders: min(orders, key=re.Match.start),
    skip=is_mentioned,
    key=lambda pair: pair[0],
):
    """Screen as one should; each argument makes one mistake."""
    plain, found = normalize(text), []
    for family in PATTERNS:
        of = [m for p in PATTERNS[family] for m in all_of(p, plain) if not skip(m)]
        if of:
            found.append((best(of).start(), Finding(family, best(of)[0])))
    return ScreenVerdict(tuple(finding for _, finding in sorted(found, key=key)))


def screens(**mistake):
    """Return a function that makes one of these mistakes."""

    def screen(text, normalize=normalize_for_screening):
        return looks(text, normalize, **mistake)

    return screen


def reads_the_text_as_it_is(text, normalize=normalize_for_screening):
    return looks(text, str.lower)


def normalizes_as_it_likes(text, normalize=normalize_for_screening):
    return looks(text, normalize_for_screening)


def longest(orders):
    return max(orders, key=lambda match: len(match[0]))


def only(find):
    """Return a search that looks for one match alone."""
    return lambda pattern, text: [m] if (m := find(pattern, text)) else []


def reads_ascii_alone(text, normalize=normalize_for_screening):
    return looks(normalize(text).encode("ascii", "ignore").decode(), str)


def returns_none_without_an_order(text, normalize=normalize_for_screening):
    verdict = looks(text, normalize)
    return verdict if verdict.findings else None


def stops_at_the_first_family(text, normalize=normalize_for_screening):
    return ScreenVerdict(looks(text, normalize).findings[:1])


NORMALIZED = "test_the_text_is_normalized"
FIRST = "test_of_a_family_the_first"
ORDER = "test_the_order_is_that_of_the_text"
SPOKEN_OF = "test_an_order_that_is_spoken_of_is_none"

WRONG = {
    reads_the_text_as_it_is: NORMALIZED,
    normalizes_as_it_likes: NORMALIZED,
    screens(best=lambda orders: orders[0]): FIRST,
    screens(best=longest): FIRST,
    screens(key=lambda pair: 0): ORDER,
    screens(key=lambda pair: pair[1]): ORDER,
    stops_at_the_first_family: ORDER,
    screens(skip=lambda match: False): SPOKEN_OF,
    screens(all_of=only(re.Pattern.search)): SPOKEN_OF,
    screens(all_of=only(re.Pattern.match)): "test_what_is_found",
    reads_ascii_alone: "test_what_is_found",
    returns_none_without_an_order: "test_a_clean_text",
}
