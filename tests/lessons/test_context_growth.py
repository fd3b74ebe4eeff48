"""How the prompt grows from call to call."""


def turn(tokens, **fields):
    """Return a `model_turn` event that read so many tokens."""
    return {"kind": "model_turn", "usage": {"input": tokens, "output": 9}, **fields}


REQUEST = {"kind": "model_request", "prompt": "…", "kept": 0}
RECORDED = [turn(230), turn(291), turn(337), turn(389), turn(440)]


def test_a_trace_without_calls_has_no_rows(context_growth):
    """without an answered call there is no row"""
    assert context_growth([{"kind": "run_started"}, REQUEST]) == []


COLUMNS = "numbers", "input tokens", "new tokens"


def assert_column(rows, place, *expected):
    """Compare one column of the rows, by its place in `COLUMNS`."""
    found = [row[place] for row in rows]
    assert found == [*expected], f"the {COLUMNS[place]} are {found}, not {[*expected]}"


def test_the_calls_are_numbered(context_growth):
    """the calls are numbered from 1"""
    assert_column(context_growth([REQUEST, *RECORDED]), 0, 1, 2, 3, 4, 5)


def test_new_is_what_the_call_before_did_not_send(context_growth):
    """new tokens are the input minus the input of the call before; all, in call 1"""
    rows = context_growth(RECORDED)
    assert_column(rows, 1, 230, 291, 337, 389, 440)
    assert_column(rows, 2, 230, 61, 46, 52, 51)


def test_the_calls_of_a_tool_do_not_count(context_growth):
    """a call with a `parent` is a tool's, not the agent's; 0 is a valid parent"""
    rows = context_growth(
        [turn(9, parent=0), turn(230), turn(167, parent=3), turn(291)]
    )
    assert_column(rows, 1, 230, 291)
    assert_column(rows[1:], 2, 61)


def test_a_history_that_was_cut_shows_below_zero(context_growth):
    """if a call sends less than the one before, its new tokens are negative"""
    rows = context_growth([turn(300), turn(180)])
    assert_column(rows[1:], 2, -120)


def test_the_events_may_be_read_only_once(context_growth):
    """`events` may be an iterator, which can be read only once"""
    expected = context_growth(RECORDED)
    assert context_growth(iter(RECORDED)) == expected
