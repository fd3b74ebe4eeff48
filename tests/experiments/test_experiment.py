"""Every question with every method, on a model whose answers are known."""

import re

import pytest

from workbook.environments.wiki import wiki_tasks
from workbook.experiments.experiment import (
    Trial,
    first_searches,
    marks,
    paired,
    right_alone,
    run_experiment,
    summarize,
)
from workbook.experiments.questions import (
    ArithmeticQuestion,
    arithmetic_questions,
    calculator_world,
    drawn_sums,
    wiki_world,
)
from workbook.loop.answers import same_number
from workbook.loop.paper_agent import Attempt
from workbook.loop.prompting import PaperStep, load_exemplars
from workbook.models.base import Completion, Usage
from workbook.models.script import Script

QUESTIONS = (
    ArithmeticQuestion("q1", "What is 2 times 3?", ("6",), 1),
    ArithmeticQuestion("q2", "What is 5 plus 4?", ("9",), 1),
)
ACT = [" Calculator[2*3]", " Finish[6]", " Calculator[5-4]", " Finish[1]"]
BOTH = ["6", "8", *ACT]  # of "standard", then of "act"


def ask(methods, turns, world=calculator_world, **options):
    options = {"is_right": same_number, "progress": None, **options}
    exemplars = load_exemplars("arithmetic")
    model = turns if hasattr(turns, "complete") else Script(turns)
    return run_experiment(methods, model, QUESTIONS, exemplars, world, **options)


def trial(method, number, right, *steps):
    attempt = Attempt(method, "6" if right else "7", steps)
    return Trial(method, f"q{number}", attempt, right, 0.0)


def test_every_question_is_asked_with_every_method():
    """Two methods and two questions are four runs, all of one method first."""
    made, script = [], Script(BOTH)
    trials = ask(
        ["standard", "act"],
        script,
        world=lambda question: made.append(question.slug) or calculator_world(question),
        prompts={"act": lambda q, e, numbered: f"MINE {q}"},
    )
    assert [(o.method, o.slug, o.right) for o in trials] == [
        ("standard", "q1", True),
        ("standard", "q2", False),
        ("act", "q1", True),
        ("act", "q2", False),
    ]
    assert made == ["q1", "q2"] * 2  # each run has a world of its own
    mine = [request.prompt.startswith("MINE") for request in script.requests]
    assert mine == [False] * 2 + [True] * 4


def test_the_answer_and_its_cost_are_kept():
    """A trial holds the steps, the calls and the tokens of its run."""
    trials = ask(["act"], ACT)
    assert [(o.attempt.answer, o.attempt.calls) for o in trials] == [("6", 2), ("1", 2)]
    assert trials[0].attempt.steps[0].observation == "6"
    assert all(o.attempt.usage.input > 0 for o in trials)


def test_the_models_own_time_is_added_up():
    """Seconds are what the server says it needed for reading and writing."""
    timings = {"prompt_ms": 1500.0, "predicted_ms": 500.0}
    turns = [Completion("6", Usage(10, 1), timings=timings)] * 2
    assert [o.seconds for o in ask(["standard"], turns)] == [2.0, 2.0]


def test_the_table_counts_what_the_runs_counted():
    """A row holds right, asked, the interval, calls and tokens of a method."""
    trials = ask(["standard", "act"], BOTH)
    table = summarize(trials)
    assert list(table.index) == ["standard", "act"]
    row = table.loc["act", ["right", "asked", "low %", "high %", "no answer", "calls"]]
    assert list(row) == [1, 2, 9, 91, 0, 4]
    read = sum(o.attempt.usage.input for o in trials if o.method == "act")
    assert table.loc["act", "read"] == read
    with pytest.raises(ValueError, match="no trials"):
        summarize([])


def test_a_run_that_gives_up_counts_as_no_answer():
    """Seven steps without an end are a wrong answer, and the table says which kind."""
    table = summarize(ask(["act"], Script([" Calculator[1+1]"], loop=True)))
    assert list(table.loc["act", ["right", "no answer", "calls"]]) == [0, 2, 14]


def test_while_one_waits_questions_are_counted(capsys, monkeypatch):
    """A line a method grows by a mark a question; a wait counts all methods."""
    from workbook import wait

    seen = []
    monkeypatch.setattr(wait.Waiting, "__call__", lambda self: seen.append(self.total))
    ask(["standard", "act"], BOTH, progress=marks)
    assert capsys.readouterr().out == "standard ✓·\nact      ✓·\n"
    assert seen == [4] * 4


def test_two_methods_are_compared_on_the_same_questions():
    """Pairs are of one question each; a row has who was right alone, and by what."""
    act = PaperStep(action="Calculator[2+3]")
    react = PaperStep("I multiply.", "Calculator[2*3]")
    trials = [trial("act", 1, False, act), trial("act", 2, True, act)]
    trials += [trial("react", n, True, react) for n in (1, 2)]
    found = paired(trials, "act", "react")
    assert (found.both, found.won, found.lost, found.neither) == (1, 1, 0, 0)
    ((who, question, *did),) = right_alone(trials, QUESTIONS)
    assert (who, question) == ("ReAct", QUESTIONS[0].text)
    assert did == [act.action, react.thought, react.action]


def test_first_searches_are_compared_by_whether_they_opened_an_article():
    """A first search that only names similar titles opened nothing."""
    none, some = "Could not find [x]. Similar titles: y.", "Kyoto is a city."
    react = [PaperStep("a", "Search[y]", some), PaperStep("b", "Finish[6]")]
    trials = [trial("act", 1, False, PaperStep("", "Search[x]", none))]
    found, rows = first_searches(
        [*trials, trial("react", 1, True, *react)], QUESTIONS[:1]
    )
    assert (found.won, found.lost) == (1, 0)
    asked = QUESTIONS[0].text
    assert rows == [(asked, "6", "x", "y", some, "Finish[6]")]


@pytest.mark.parametrize(
    ("methods", "questions", "message"),
    [(["reason"], QUESTIONS, "none of the methods"), (["act"], (), "no questions")],
)
def test_a_mistake_is_told_before_the_model_is_asked(methods, questions, message):
    """A method that does not exist, or no question, costs no model call."""
    script = Script(["6"])
    with pytest.raises(ValueError, match=message):
        run_experiment(methods, script, questions, (), calculator_world)
    assert script.requests == []


def test_the_twenty_questions_are_twenty_sums():
    """Twenty questions with different names, each answered by one number."""
    questions = arithmetic_questions()
    assert len({q.slug for q in questions}) == len(questions) == 20
    assert all(same_number(q.answers[0], q.answers[0]) for q in questions)


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


def test_a_wiki_world_is_open_at_its_question():
    """A wiki question opens the encyclopedia, in which it can be answered."""
    task = wiki_tasks()[0]
    world = wiki_world(task)
    assert [world.step(action).reward for action in task.expert][-1] == 1.0


def test_the_calculators_world():
    """It shows six digits of a fraction, and whole numbers whole."""
    world = calculator_world(QUESTIONS[0])
    shown = {"14 / 86": "0.162791", "7 / 2": "3.5", "1234567*7654321": "9449772114007"}
    assert {each: world.step(f"Calculator[{each}]").text for each in shown} == shown
