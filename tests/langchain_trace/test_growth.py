"""How the prompt grows from call to call."""

from workbook.langchain_trace.growth import context_growth as ours
from workbook.langchain_trace.growth import plot_growth


def turn(tokens, **fields):
    """Return a `model_turn` event that read so many tokens."""
    return {"kind": "model_turn", "usage": {"input": tokens, "output": 9}, **fields}


REQUEST = {"kind": "model_request", "prompt": "…", "kept": 0}
RECORDED = [turn(230), turn(291), turn(337), turn(389), turn(440)]


def test_a_trace_without_calls_has_no_rows(context_growth):
    """without an answered call there is no row"""
    assert context_growth([{"kind": "run_started"}, REQUEST]) == []


def column(rows, place):
    """Return one column of the rows: 0 the number, 1 the tokens, 2 the new ones."""
    return [row[place] for row in rows]


def test_the_calls_are_numbered(context_growth):
    """the calls are numbered from 1"""
    numbers = column(context_growth([REQUEST, *RECORDED]), 0)
    assert numbers == [1, 2, 3, 4, 5], f"the numbers are {numbers}"


def test_new_is_what_the_call_before_did_not_send(context_growth):
    """new tokens are the input minus the input of the call before; all, in call 1"""
    rows = context_growth(RECORDED)
    assert column(rows, 1) == [230, 291, 337, 389, 440], f"the rows are {rows}"
    assert column(rows, 2) == [230, 61, 46, 52, 51], f"the rows are {rows}"


def test_the_calls_of_a_tool_do_not_count(context_growth):
    """a call with a `parent` is a tool's, not the agent's; 0 is a valid parent"""
    rows = context_growth(
        [turn(9, parent=0), turn(230), turn(167, parent=3), turn(291)]
    )
    assert column(rows, 1) == [230, 291], f"the rows are {rows}"
    assert rows[1][2] == 61, f"the rows are {rows}"


def test_a_history_that_was_cut_shows_below_zero(context_growth):
    """if a call sends less than the one before, its new tokens are negative"""
    rows = context_growth([turn(300), turn(180)])
    assert rows[1][2] == -120, f"the rows are {rows}"


def test_the_events_may_be_read_only_once(context_growth):
    """`events` may be an iterator, which can be read only once"""
    expected = context_growth(RECORDED)
    assert context_growth(iter(RECORDED)) == expected


def test_the_plot_says_how_much_was_sent_before(monkeypatch):
    """the title of the plot is its finding, and the axes have units"""
    monkeypatch.setenv("MPLBACKEND", "agg")
    ax = plot_growth(ours(RECORDED), [9, 9])
    assert ax.get_title().startswith("74% of 1,687 input")
    assert ax.get_ylabel() == "input tokens"
