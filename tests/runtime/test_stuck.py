"""Stuck: an equivalent search, and a cycle at the end of a run."""

import pytest

from tests.doubles import named
from workbook.runtime.calls import Observation, ToolCall, ToolError
from workbook.runtime.stuck import Cycle, StepSeen, digest_of, step_seen

# same_search


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Population of Tokyo", "population of tokyo"),
        ("Straße", "STRASSE"),
        ("rain in Oslo", "  rain  in\tOslo\n"),
        ("ABC 2026", "ＡＢＣ　２０２６"),
        ("東京 タワー", "東京　ﾀﾜｰ"),
    ],
)
def test_how_it_is_written_does_not_count(same_search, one, other):
    """upper and lower case, spacing and full or half width do not count"""
    assert same_search({"query": one}, {"query": other}) is True


@pytest.mark.parametrize(
    ("one", "other"),
    [("report bridge author", "author bridge report"), ("東京 人口", "人口　東京")],
)
def test_the_order_of_words_does_not_count(same_search, one, other):
    """the order of words does not count"""
    assert same_search({"query": one}, {"query": other}) is True


def test_japanese_and_chinese_have_no_space_between_words(same_search):
    """each Japanese or Chinese character is a word, with spaces around it or without"""
    assert same_search({"query": "東京人口"}, {"query": "東京 人口"}) is True
    assert same_search({"query": "北京人口"}, {"query": "北 京人 口"}) is True


def test_the_name_of_the_argument_does_not_count(same_search):
    """argument names do not count: the same values may have other names"""
    assert same_search({"query": "Oslo", "k": 3}, {"n": 3, "q": "oslo"}) is True


def test_a_name_that_both_have_counts(same_search):
    """but an argument name that both calls have must have the same value in both"""
    there, back = {"to": "Oslo", "from": "Rome"}, {"to": "Rome", "from": "Oslo"}
    assert same_search(there, back) is False
    assert same_search(there, {"from": "rome", "to": "oslo"}) is True


def test_another_word_is_another_search(same_search):
    """one word more or less makes another search, even a word that is there already"""
    assert same_search({"query": "is it open"}, {"query": "is it not open"}) is False
    assert same_search({"query": "open open"}, {"query": "open"}) is False
    assert same_search({"query": "Oslo"}, {"query": ""}) is False


@pytest.mark.parametrize(
    ("one", "other"), [("3-2", "2-3"), ("1", "10"), ("12 3", "1 23"), ("2.5", "25")]
)
def test_signs_and_digits_count(same_search, one, other):
    """inside a word every sign counts, and its place: 3-2 is not 2-3, 2.5 is not 25"""
    assert same_search({"input": one}, {"input": other}) is False


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 10), (1, True), (1, "1"), (0, None), (["a", "b"], ["b", "a"])],
)
def test_what_is_no_text_is_exact(same_search, one, other):
    """values that are not text must be exactly equal: 1 is not 10, "1" or true"""
    assert same_search({"n": one}, {"n": other}) is False
    assert same_search({"n": one}, {"number": other}) is False
    limits, turned = {"low": 1, "high": 9}, {"high": 9, "low": 1}
    assert same_search({"n": limits}, {"n": turned}) is True


def test_one_argument_more_is_another_search(same_search):
    """one argument more makes another search, whatever its name"""
    assert same_search({"query": "Oslo"}, {"query": "Oslo", "page": 2}) is False
    assert same_search({"a": "Oslo", "b": "Oslo"}, {"query": "Oslo"}) is False
    assert same_search({}, {"query": "Oslo"}) is False
    assert same_search({}, {}) is True


FOUND_NOTHING = "0 hits"  # a digest is any text
EXACTLY = named("one == other", lambda one, other: one == other)


def step(name, digest=FOUND_NOTHING, **arguments):
    return StepSeen(name, arguments or {"query": name}, digest)


A, B, C, D, E = (step(name) for name in "ABCDE")
WORDED = ("rain Oslo", "Oslo rain", "rain OSLO", "oslo  rain")
SEARCHES = [step("Search", query=query) for query in WORDED]


def test_a_run_that_goes_on_is_no_cycle(find_cycle):
    """calls that do not repeat give None, and an empty list gives None"""
    assert find_cycle([]) is None
    assert find_cycle([A]) is None
    assert find_cycle([A, B, C, D, E, B, A]) is None


@pytest.mark.parametrize(
    "round_", [[A], [A, B], [A, B, C], [A, B, C, D], [A, A, B, C, E]], ids=len
)
def test_the_third_time_is_a_cycle(find_cycle, round_):
    """a cycle of one to five calls is found when it has come three times, not before"""
    run = [step("first"), *round_ * 3]
    for end in range(1, len(run)):
        assert find_cycle(run[:end]) is None
    assert find_cycle(run) == Cycle(tuple(round_), 3)


def test_the_shortest_cycle_is_returned(find_cycle):
    """return the shortest cycle: the calls of its last repetition, and `repeats`"""
    assert find_cycle([A] * 15) == Cycle((A,), 3)
    assert find_cycle([A] * 15, lengths=[2, 1]) == Cycle((A,), 3)
    assert find_cycle([A, B] * 6) == Cycle((A, B), 3)
    assert find_cycle(SEARCHES) == Cycle((SEARCHES[-1],), 3)


def test_only_the_end_counts(find_cycle):
    """only the end of the run counts: a cycle earlier in the run gives None"""
    assert find_cycle([A, A, A, B]) is None
    assert find_cycle([A, B, A, A]) is None


def test_answers_that_change_are_no_cycle(find_cycle):
    """the same call with a new digest each time is polling, not a cycle"""
    polled = [step("JobStatus", digest_of(f"{n} %"), job="export") for n in range(6)]
    assert find_cycle(polled) is None
    assert find_cycle([each for look in polled for each in (look, A)]) is None


def test_another_tool_with_the_same_arguments_is_no_cycle(find_cycle):
    """the tool must be the same too, not only arguments and digest"""
    calls = [StepSeen(tool, {"query": "x"}, FOUND_NOTHING) for tool in "ABC"]
    assert find_cycle(calls) is None


def test_arguments_are_compared_with_same(find_cycle):
    """compare arguments with `same`, which is `same_search` unless another is given"""
    assert find_cycle(SEARCHES)
    assert find_cycle(SEARCHES, same=EXACTLY) is None


def test_lengths_and_repeats_can_be_chosen(find_cycle):
    """look for cycles of given `lengths`, in any order, that came `repeats` times"""
    assert find_cycle([A, B] * 3, lengths=[1, 3]) is None
    assert find_cycle([A] * 4, repeats=5) is None
    assert find_cycle([A, B] * 2, repeats=2) == Cycle((A, B), 2)


def test_a_long_run_costs_no_more(find_cycle):
    """a run of ten thousand calls needs no more comparisons than one of a hundred"""
    compared = []

    def count(one, other):
        compared.append(one)
        return one == other

    counts = []
    for rounds in (20, 2_000):
        compared.clear()
        run = [A, A, B, A, C] * rounds
        find_cycle(run, same=named("counts comparisons", count))
        counts.append(len(compared))
    few, many = counts
    why = f"`same` was called {few} times for 100 calls, and {many} times for 10,000"
    assert many <= few, why


def test_what_is_seen_of_a_call_leaves_our_notes_out():
    """A note on a repair, or from the cache, makes no other answer of the same one."""
    call = ToolCall("Search", {"query": "x"}, "c1")
    plain = Observation("c1", True, {"result": "nothing"}, None, "Search")
    noted = Observation(
        "c2", True, {"result": "nothing"}, None, "Search", ("q: query",)
    )
    error = ToolError("timeout", "it was late")
    failed = Observation.failed("c1", error, "Search")
    assert step_seen(call, plain) == step_seen(call, noted)
    assert step_seen(call, plain) != step_seen(call, failed)


def test_a_cycle_says_what_was_repeated_and_how_often():
    """The words name each tool, its arguments and the times; long ones are clipped."""
    long, unread = step("Phone", query="x" * 500), StepSeen("", {"turn": "Well."}, "")
    words = Cycle((A, long, unread), 3).words()
    named = ('A {"query": "A"}', "Phone", "3 times", "a turn that could not be read")
    assert all(part in words for part in named)
    assert len(words) < 300
