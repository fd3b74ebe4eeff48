"""A rule that a machine breaks is shown by the smallest script that breaks it."""

from workbook.evaluation.smallest import smallest_script
from workbook.fsm import CORE, Event, Limits, Machine, State, Transition
from workbook.models.script import Script
from workbook.tools.calculator import calculator
from workbook.tools.registry import ToolRegistry

ANSWER, HM = "Final Answer: 4", "Hm."
ACT, WRONG = "Action: Calculator\nAction Input: 2+2", "Action: Nope\nAction Input: 1"
TURNS = [ANSWER, HM, ACT, WRONG]


def ends_without_an_answer(table):
    """Return whether a script ends in DONE without an answer, on such a table."""

    def breaks(script):
        model = Script(script, repeat_last=True)
        tools, limits = ToolRegistry([calculator()]), Limits(steps=4, tool_calls=3)
        end = Machine(model, tools, table, limits=limits).run("2+2?")
        return end.state == "DONE" and end.answer is None

    return breaks


def test_a_planted_bug_has_a_smallest_script():
    """A row that calls an empty-handed end DONE is shown by the one turn it takes."""
    planted = CORE.with_rules(
        Transition(State.THINK, Event.UNREADABLE_TURN, State.DONE, "planted")
    )
    assert smallest_script(TURNS, ends_without_an_answer(planted)) == [HM]


def test_what_takes_several_turns_is_shrunk_too():
    """What breaks after two calls only is shown by those, and the simplest end."""
    planted = CORE.with_rules(
        Transition(State.EXECUTE_TOOL, Event.OUT_OF_TOOL_CALLS, State.DONE, "planted")
    )
    script = smallest_script(TURNS, ends_without_an_answer(planted))
    assert script == [ACT]  # its last turn is repeated, to the limit of three calls


def test_an_honest_table_has_none():
    """Where no script breaks the rule there is none to show."""
    assert smallest_script(TURNS, ends_without_an_answer(CORE), tries=300) is None


def test_the_shortest_of_those_that_break():
    """Each turn that can go is gone, and each that stays is needed."""
    found = smallest_script(TURNS, lambda script: script.count(ACT) >= 2)
    assert found == [ACT, ACT]
