"""Plausible wrong answers to `my_agent`, each with the test that must catch it."""

from dataclasses import replace

from workbook.guardrails.permission import Decision, Verdict
from workbook.playground.capstone import my_agent as good


def ask_the_bank(amount, rate):
    return {"result": amount * rate}


def hides_a_loop_in_its_tool():
    def patient(amount, rate):
        for _ in range(5):
            told = ask_the_bank(amount, rate)
        return told

    made = good()
    return replace(made, tool=replace(made.tool, run=patient))


def has_a_guard_that_tries_first():
    made = good()

    def look(call, observed):
        if call.name == "Convert":
            made.tool.run(**call.arguments)
        return made.guard(call, observed)

    return replace(made, guard=look)


def has_a_guard_that_never_fires():
    return replace(good(), guard=lambda call, observed: None)


def has_a_guard_that_nobody_needs():
    made = good()
    turns = [{"text": "Action: Rates\nAction Input: today"}, *made.scenario["turn"][2:]]
    return replace(made, scenario={**made.scenario, "turn": turns})


def has_a_guard_that_refuses_everything():
    def look(call, observed):
        return made.guard(call, observed) if call.name in own else "not today"

    made, own = good(), ("Convert", "Rates")
    return replace(made, guard=look)


def has_a_guard_that_remembers():
    seen = []

    def look(call, observed):
        seen.append(call)
        return "look the rate up" if len(seen) == 1 else None

    return replace(good(), guard=look)


def guarded_by(is_fine):
    """Return an agent whose guard goes by the rate alone, or by what was observed."""

    def look(call, observed):
        if call.name != "Convert" or is_fine(call.arguments["rate"], observed):
            return None
        return "look the rate up"

    return replace(good(), guard=look)


def has_a_guard_that_knows_the_wrong_number():
    return guarded_by(lambda rate, observed: rate != 1.2)


def has_a_guard_that_knows_the_right_number():
    return guarded_by(lambda rate, observed: rate == 1.08)


def has_a_guard_that_knows_what_it_was_told():
    return guarded_by(lambda rate, seen: any("1.08" in each.text() for each in seen))


def has_a_guard_that_counts():
    made = good()

    def look(call, observed):
        early = call.name == "Convert" and len(observed) < 2
        return "look the rate up" if early else None

    return replace(made, guard=look)


def waits_for_a_person():
    made = good()
    asks = {**made.scenario, "guards": {"answers": ["later"]}}
    return replace(made, tool=replace(made.tool, effect="write"), scenario=asks)


def forgets_what_is_right():
    made = good()
    scenario = {k: v for k, v in made.scenario.items() if k != "right_if"}
    return replace(made, scenario=scenario)


def writes_in_plan_mode():
    made = good()
    allows = {"decide": lambda *asked: Decision(Verdict.ALLOW, "why not")}
    return replace(made, tool=replace(made.tool, effect="write"), parts=allows)


WRONG = {
    hides_a_loop_in_its_tool: "test_no_loop_is_hidden",
    has_a_guard_that_tries_first: "test_no_loop_is_hidden",
    has_a_guard_that_never_fires: "test_the_guard_holds",
    has_a_guard_that_nobody_needs: "test_the_guard_is_needed",
    has_a_guard_that_refuses_everything: "test_other_tasks_are_left_alone",
    has_a_guard_that_remembers: "test_a_run_can_be_played_again",
    has_a_guard_that_knows_the_wrong_number: "test_the_guard_knows_no_number_by_heart",
    has_a_guard_that_knows_the_right_number: "test_the_guard_knows_no_number_by_heart",
    has_a_guard_that_knows_what_it_was_told: "test_the_guard_knows_no_number_by_heart",
    has_a_guard_that_counts: "test_the_guard_holds",
    writes_in_plan_mode: "test_a_write_is_done_once",
    waits_for_a_person: "test_each_run_is_honest",
    forgets_what_is_right: "test_it_can_be_played",
}
