"""A machine for another job: the table and the driver know nothing of agents."""

from workbook.fsm import Rule, Table, drive

TURNSTILE = Table(
    (
        Rule("LOCKED", "coin", "OPEN", "it was paid"),
        Rule("OPEN", "push", "LOCKED", "somebody went through"),
        Rule("LOCKED", "night", "CLOSED", "the last train has gone"),
        Rule("OPEN", "night", "CLOSED", "the last train has gone"),
        *(Rule(s, "failed", "BROKEN", "it jams") for s in ("LOCKED", "OPEN")),
    ),
    start="LOCKED",
    ends={"CLOSED", "BROKEN"},
)


def test_a_turnstile_is_honest_and_runs():
    """states and events are any words; the table names its ends"""
    day = ["coin", "push", "coin", "night"]
    handlers = dict.fromkeys(("LOCKED", "OPEN"), lambda day: day.pop(0))
    told = []
    assert TURNSTILE.audit() == []
    end = drive(TURNSTILE, handlers, day, lambda rule, raised: told.append(rule.target))
    assert end == "CLOSED"
    assert told == ["OPEN", "LOCKED", "OPEN", "CLOSED"]
    assert drive(TURNSTILE, handlers, [], lambda *_: None) == "BROKEN"
    assert "LOCKED --> OPEN : coin" in TURNSTILE.mermaid("LOCKED")
    loose = Table((Rule("RED", "timer", "GREEN", "go"),), start="RED", ends={"OFF"})
    assert len(loose.audit()) == 2  # no path leads to its end
