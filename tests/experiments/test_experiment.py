"""Every question with every method, on a model whose answers are known."""

import re

from tests.experiments.watched import Watched
from workbook.experiments.experiment import (
    Trial,
    first_steps,
    paired,
    run_experiment,
    summarize,
)
from workbook.experiments.questions import (
    ArithmeticQuestion,
    calculator_world,
    drawn_sums,
)
from workbook.loop.answers import same_number
from workbook.loop.paper_agent import Attempt
from workbook.loop.prompting import PaperStep, load_exemplars
from workbook.runtime.script import Script

QUESTIONS = (
    ArithmeticQuestion("q1", "What is 2 times 3?", ("6",)),
    ArithmeticQuestion("q2", "What is 5 plus 4?", ("9",)),
)
ACT = [" Calculator[2*3]", " Finish[6]", " Calculator[5-4]", " Finish[1]"]
BOTH = ["6", "8", *ACT]  # of "standard", then of "act"


def ask(methods, model, world=calculator_world, **options):
    options = {"is_right": same_number, **options}
    exemplars = load_exemplars("arithmetic")
    return run_experiment(methods, model, QUESTIONS, exemplars, world, **options)


def trial(method, number, right, *steps):
    return Trial(f"q{number}", Attempt(method, "6" if right else "7", steps), right)


def test_every_question_is_asked_with_every_method(capsys, monkeypatch):
    """Two methods and two questions are four runs, all of one method first.

    A line a method grows by a mark a question; a wait counts all methods."""
    from workbook import wait

    made, script, waits = [], Watched(BOTH), []
    monkeypatch.setattr(wait.Waiting, "__call__", lambda self: waits.append(self.total))
    trials = ask(
        ["standard", "act"],
        script,
        world=lambda question: made.append(question.slug) or calculator_world(question),
        prompts={"act": lambda q, e, numbered: f"MINE {q}"},
    )
    assert [(o.attempt.method, o.slug, o.right) for o in trials] == [
        ("standard", "q1", True),
        ("standard", "q2", False),
        ("act", "q1", True),
        ("act", "q2", False),
    ]
    assert made == ["q1", "q2"] * 2  # each run has a world of its own
    mine = [prompt.startswith("MINE") for prompt in script.prompts]
    assert mine == [False] * 2 + [True] * 4
    assert capsys.readouterr().out == "standard ✓·\nact      ✓·\n"
    assert waits == [4] * 4


def test_the_table_counts_what_the_runs_counted():
    """A row holds right, asked, the interval, calls and tokens of a method."""
    trials = ask(["standard", "act"], Script(BOTH))
    table = summarize(trials)
    assert list(table.index) == ["standard", "act"]
    row = table.loc["act", ["right", "asked", "low %", "high %", "no answer", "calls"]]
    assert list(row) == [1, 2, 9, 91, 0, 4]
    usages = [o.attempt.usage for o in trials if o.attempt.method == "act"]
    spent = sum(each.input for each in usages), sum(each.output for each in usages)
    assert tuple(table.loc["act", ["read", "written"]]) == spent > (0, 0)


def test_a_run_that_gives_up_counts_as_no_answer():
    """Seven steps without an end are a wrong answer, and the table says which kind."""
    table = summarize(ask(["act"], Script([" Calculator[1+1]"], loop=True)))
    assert list(table.loc["act", ["right", "no answer", "calls"]]) == [0, 2, 14]


def test_two_methods_are_compared_on_the_same_questions():
    """Pairs are of one question each; a row has what each method did with it."""
    act = PaperStep(action="Calculator[2+3]", observation="5")
    react = [PaperStep("I multiply.", "Calculator[2*3]"), PaperStep("", "Finish[6]")]
    trials = [trial("act", 1, False, act), trial("act", 2, True, act)]
    trials += [trial("react", n, True, *react) for n in (1, 2)]
    found = paired(trials, "act", "react")
    assert (found.both, found.won, found.lost, found.neither) == (1, 1, 0, 0)
    rows = first_steps(trials, QUESTIONS)
    assert rows["question"].tolist() == [each.text for each in QUESTIONS]
    names = ["is right", "thinks", "does", "sees", "ends with"]
    first = rows.loc[0, [f"{who} {name}" for who in ("Act", "ReAct") for name in names]]
    assert first.tolist() == [
        *(False, "", "Calculator[2+3]", "5", "Calculator[2+3]"),
        *(True, "I multiply.", "Calculator[2*3]", "", "Finish[6]"),
    ]


def test_drawn_sums_are_the_same_each_time():
    """A longer list begins with the shorter one; answers are whole numbers above 0."""
    few, many = drawn_sums(8), drawn_sums(80)
    assert many[:8] == few
    assert few[0].slug == "sum001"
    assert drawn_sums(8, seed=1) != few
    assert len({q.text for q in many}) == len({q.slug for q in many}) == 80
    for question in many:
        a, b = (int(n) for n in re.findall(r"\d+", question.text))
        assert int(question.answers[0]) in {a * b, a + b, a - b, a // b}


def test_the_calculators_world():
    """It shows six digits of a fraction, and whole numbers whole."""
    world = calculator_world(QUESTIONS[0])
    shown = {"14 / 86": "0.162791", "7 / 2": "3.5", "1234567*7654321": "9449772114007"}
    assert {each: world.step(f"Calculator[{each}]").text for each in shown} == shown
