"""Plausible wrong answers to `my_agent`, each with the test that must catch it."""

import re
from dataclasses import replace
from random import Random

from workbook.lessons.evaluation import Gold
from workbook.runtime.permission import Decision, Verdict
from workbook.measures.your_agent import action
from workbook.measures.your_agent import my_agent as good
from workbook.runtime.tools import tool

DANGEROUS = []  # what a story tells a guard in secret
DRAWN = []


def with_run(run):
    return replace(good(), tool=replace(good().tool, run=run))


def with_story(**changes):
    """Return our agent with a story that is ours, but for these fields."""

    def story(dice, danger):
        found = good().story(dice, danger)
        new = {k: v(found) if callable(v) else v for k, v in changes.items()}
        return replace(found, **new)

    return replace(good(), story=story)


def guarded_by(is_fine):
    """Return an agent whose guard goes by the rate alone, or by what was observed."""

    def look(call, observed):
        if call.name != "Convert" or is_fine(call.arguments["rate"], observed):
            return None
        return "look the rate up"

    return replace(good(), guard=look)


# The guard


def has_a_guard_that_never_fires():
    return replace(good(), guard=lambda call, observed: None)


def has_a_guard_that_refuses_everything_else():
    def look(call, observed):
        return made.guard(call, observed) if call.name in own else "not today"

    made, own = good(), ("Convert", "Rates")
    return replace(made, guard=look)


def has_a_guard_that_refuses_its_tool():
    return guarded_by(lambda rate, observed: False)


def has_a_guard_that_knows_the_wrong_number():
    return guarded_by(lambda rate, observed: rate != 1.2)


def has_a_guard_that_knows_the_range():
    return guarded_by(lambda rate, observed: 1.0 < rate < 1.18)


def has_a_guard_that_knows_the_range_after_a_lookup():
    def is_fine(rate, observed):
        return 1.0 < rate < 1.18 and any(seen.ok for seen in observed)

    return guarded_by(is_fine)


def has_a_guard_that_knows_the_dice():
    known = [thousandths / 1000 for thousandths in range(1050, 1151)]
    return guarded_by(lambda rate, observed: rate in known)


def has_a_guard_that_goes_by_the_name_of_a_tool():
    def is_fine(rate, observed):
        return "Rates" in [seen.tool for seen in observed]

    return guarded_by(is_fine)


def has_a_guard_that_takes_what_is_near():
    def is_fine(rate, observed):
        told = re.findall(r"\d+\.\d+", " ".join(seen.text() for seen in observed))
        return any(abs(float(number) - rate) < 0.05 for number in told)

    return guarded_by(is_fine)


def has_a_guard_that_only_asks_for_a_lookup():
    return guarded_by(lambda rate, observed: any(seen.ok for seen in observed))


def has_a_guard_that_the_story_tells():
    def story(dice, danger):
        drawn = good().story(dice, danger)
        if danger:
            DANGEROUS.append(drawn.turns[0])
        return drawn

    def look(call, observed):
        found = action(call.name, **call.arguments) in DANGEROUS
        return "that is made up" if found else None

    return replace(good(), story=story, guard=look)


def has_a_guard_that_goes_by_the_question():
    asked = [""]

    def story(dice, danger):
        drawn = good().story(dice, danger)
        asked[0] = f"{drawn.question} Quickly!" if danger else drawn.question
        return replace(drawn, question=asked[0])

    def look(call, observed):
        return "it was asked in a hurry" if "Quickly" in asked[0] else None

    return replace(good(), story=story, guard=look)


def has_a_guard_that_remembers():
    seen = []

    def look(call, observed):
        seen.append(call)
        return "look the rate up" if len(seen) == 1 else None

    return replace(good(), guard=look)


def has_a_guard_that_never_says_the_same():
    made, seen = good(), []

    def look(call, observed):
        seen.append(call)
        why = made.guard(call, observed)
        return why and f"{why}, as I say for the {len(seen)}th time"

    return replace(made, guard=look)


def has_a_guard_that_gives_way():
    made = good()

    def look(call, observed):
        stopped = any(not seen.ok for seen in observed)
        return None if stopped else made.guard(call, observed)

    return replace(made, guard=look)


def has_a_guard_that_counts():
    def look(call, observed):
        early = call.name == "Convert" and not observed
        return "look the rate up" if early else None

    return replace(good(), guard=look)


def has_a_guard_that_tries_first():
    made = good()

    def look(call, observed):
        if call.name == "Convert":
            made.tool.run(**call.arguments)
        return made.guard(call, observed)

    return replace(made, guard=look)


# The tool


def has_a_tool_that_tells_one_thing():
    made = with_story(gold=Gold("number", ("270",)))
    return replace(made, tool=replace(made.tool, run=lambda **_: {"result": 270}))


def has_a_tool_that_repeats_what_it_gets():
    made = with_story(gold=lambda s: Gold("all", (s.question.split()[4],)))
    run = lambda amount, rate: {"result": amount}  # noqa: E731
    return replace(made, tool=replace(made.tool, run=run))


def has_a_tool_that_looks_up_what_the_story_knows():
    table = {}

    def story(dice, danger):
        drawn = good().story(dice, danger)
        euros = int(drawn.question.split()[4])
        table[euros] = drawn.gold.values[0]
        return drawn

    run = lambda amount, rate: {"result": table[amount]}  # noqa: E731
    return replace(with_run(run), story=story)


def has_a_tool_that_nobody_calls():
    def story(dice, danger):
        drawn = good().story(dice, danger)
        return drawn if danger else replace(drawn, turns=["Final Answer: {told}"])

    return replace(good(), story=story)


def ask_the_bank(amount, rate):
    return amount * rate


def hides_a_loop_in_its_tool():
    @tool(name="Convert")
    def patient(amount: float, rate: float) -> float:
        """Asks until the bank answers."""
        for _ in range(5):
            told = ask_the_bank(amount, rate)
        return round(told, 2)

    return replace(good(), tool=patient)


def writes_in_plan_mode():
    allows = {"decide": lambda *asked: Decision(Verdict.ALLOW, "why not")}
    write = replace(good().tool, effect="write")
    return replace(good(), tool=write, parts=allows)


# The story


def has_its_answer_ready():
    def ready(story):
        return [*story.turns[:-1], f"Final Answer: {story.gold.values[0]}"]

    def story(dice, danger):
        drawn = good().story(dice, danger)
        return drawn if danger else replace(drawn, turns=ready(drawn))

    return replace(good(), story=story)


def has_one_story():
    return replace(good(), story=lambda dice, danger: good().story(Random(1), danger))


def has_a_story_that_counts():
    def story(dice, danger):
        DRAWN.append(danger)
        return good().story(dice, danger)

    return replace(good(), story=story)


def has_danger_in_each_story():
    return replace(good(), story=lambda dice, danger: good().story(dice, True))


def breaks_off_without_its_guard():
    def story(dice, danger):
        drawn = good().story(dice, danger)
        return replace(drawn, turns=drawn.turns[:1]) if danger else drawn

    return replace(good(), story=story)


def has_its_ends_swapped():
    return replace(good(), story=lambda dice, danger: good().story(dice, not danger))


def says_nothing_is_wrong():
    return with_story(gold=Gold("all"))


def forgets_what_is_right():
    return with_story(gold="270 dollars")


DIFFER, NEW = "test_its_stories_differ", "test_numbers_of_no_story"
HARMLESS, NEEDED = "test_what_is_harmless_passes", "test_the_guard_is_needed"
HOLDS, ANSWER = "test_the_guard_holds", "test_the_answer_is_the_tools"
WRONG = {
    has_a_guard_that_never_fires: HOLDS,
    has_a_guard_that_refuses_its_tool: HARMLESS,
    has_a_guard_that_refuses_everything_else: "test_other_tasks_are_left_alone",
    has_a_guard_that_knows_the_wrong_number: HOLDS,
    has_a_guard_that_knows_the_range: NEW,
    has_a_guard_that_knows_the_range_after_a_lookup: NEW,
    has_a_guard_that_knows_the_dice: NEW,
    has_a_guard_that_goes_by_the_name_of_a_tool: NEW,
    has_a_guard_that_takes_what_is_near: NEW,
    has_a_guard_that_only_asks_for_a_lookup: NEW,
    has_a_guard_that_the_story_tells: DIFFER,
    has_a_guard_that_goes_by_the_question: HOLDS,
    has_a_guard_that_remembers: HOLDS,
    has_a_guard_that_never_says_the_same: "test_each_run_is_honest",
    has_a_guard_that_gives_way: HOLDS,
    has_a_guard_that_counts: HOLDS,
    has_a_guard_that_tries_first: "test_no_loop_is_hidden",
    has_a_tool_that_tells_one_thing: ANSWER,
    has_a_tool_that_repeats_what_it_gets: ANSWER,
    has_a_tool_that_looks_up_what_the_story_knows: ANSWER,
    has_a_tool_that_nobody_calls: HARMLESS,
    hides_a_loop_in_its_tool: "test_no_loop_is_hidden",
    writes_in_plan_mode: "test_each_run_is_honest",
    has_its_answer_ready: ANSWER,
    has_one_story: DIFFER,
    has_a_story_that_counts: DIFFER,
    has_danger_in_each_story: HARMLESS,
    breaks_off_without_its_guard: NEEDED,
    has_its_ends_swapped: NEEDED,
    says_nothing_is_wrong: NEEDED,
    forgets_what_is_right: DIFFER,
}
