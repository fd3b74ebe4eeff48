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


def test_the_first_call_sends_everything_new(context_growth):
    """the first call has number 1, and all that it sends is new"""
    assert context_growth([REQUEST, turn(230)]) == [(1, 230, 230)]


def test_new_is_what_the_call_before_did_not_send(context_growth):
    """new tokens are the input of this call minus the input of the call before"""
    assert context_growth(RECORDED) == [
        (1, 230, 230),
        (2, 291, 61),
        (3, 337, 46),
        (4, 389, 52),
        (5, 440, 51),
    ]


def test_the_calls_of_a_tool_do_not_count(context_growth):
    """a call that a tool made has a parent, perhaps number 0, and is not the agent's"""
    events = [turn(9, parent=0), turn(230), turn(167, parent=3), turn(291)]
    assert context_growth(events) == [(1, 230, 230), (2, 291, 61)]


def test_a_history_that_was_cut_shows_below_zero(context_growth):
    """if a call sends less than the one before, its new tokens are negative"""
    assert context_growth([turn(300), turn(180)]) == [(1, 300, 300), (2, 180, -120)]


def test_the_plot_says_how_much_was_sent_before(monkeypatch):
    """the title of the plot is its finding, and the axes have units"""
    monkeypatch.setenv("MPLBACKEND", "agg")
    ax = plot_growth(ours(RECORDED), [9, 9])
    assert ax.get_title().startswith("74% of 1,687 input")
    assert ax.get_ylabel() == "input tokens"
