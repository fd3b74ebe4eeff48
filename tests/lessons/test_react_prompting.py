"""Lesson 02: the paper's prompts, its actions, right answers, and sums to ask."""

import re

import pytest

from workbook.lessons.paper_agent import cut_observation
from workbook.lessons.react_prompting import (
    METHODS,
    Exemplar,
    PaperStep,
    arithmetic_questions,
    calculator_world,
    drawn_sums,
    exact_match,
    f1_score,
    load_exemplars,
    normalize_answer,
    render_prompt,
    same_number,
)
from workbook.worlds.catalogue import make_world, tasks

EGGS = Exemplar(
    question="How many eggs are in 7 boxes of 12?",
    answer="84",
    reasoning="12 * 7 = 84.",
    steps=(
        PaperStep("I multiply 12 by 7.", "Calculator[12 * 7]", "84"),
        PaperStep("The answer is 84.", "Finish[84]"),
    ),
)
TAXI = Exemplar("1+1?", "2", "1 + 1 = 2.", (PaperStep("It is 2.", "Finish[2]"),))

# react_prompt


ADDS = Exemplar("1+1?", "2", "", (PaperStep("I add.", "Calculator[1+1]", "2"),))


@pytest.mark.parametrize("exemplars", [[], [EGGS]], ids=["none", "one"])
def test_it_ends_with_the_question_and_an_open_thought(react_prompt, exemplars):
    """the prompt ends with a line `Question: …` and the open label `Thought 1:`"""
    prompt = react_prompt("2+2?", exemplars)
    end = "Question: 2+2?\nThought 1:"
    assert prompt.endswith(end), f"it ends with {prompt[-24:]!r}, expected is {end!r}"
    prompt = react_prompt("2+2?", exemplars, numbered=False)
    last = prompt.rpartition("Question: ")[2].replace(" 1:", ":")
    assert last == "2+2?\nThought:", f"it ends with {prompt[-24:]!r}"


def test_an_exemplar_shows_thoughts_actions_and_observations(react_prompt):
    """an exemplar: its question, thought, action and observation lines, a blank line"""
    shown = "Question: 1+1?\nThought 1: I add.\nAction 1: Calculator[1+1]\n"
    expected = f"{shown}Observation 1: 2\n\n"
    end = react_prompt("2+2?", [])
    block = react_prompt("2+2?", [ADDS]).removesuffix(end)
    assert block == expected, f"the exemplar is written as {block!r}, not {expected!r}"
    two = react_prompt("2+2?", [ADDS, ADDS])
    assert two.count("\n\nQuestion: ") == 2, "no blank line follows the first of two"


def test_without_numbers_the_labels_are_bare(react_prompt):
    """with numbered=False no label has a number"""
    prompt = react_prompt("2+2?", [ADDS], numbered=False)
    numbered = re.findall(r"(?:Thought|Action|Observation) ?\d+", prompt)
    assert numbered == [], f"these labels have a number: {numbered}"
    assert "\nThought: I add.\nAction: " in prompt, "the labels are not written so"


def test_numbers_start_again_with_each_exemplar(react_prompt):
    """step numbers count from 1 in each exemplar: Thought 1, Action 1, Thought 2, …"""
    found = re.findall(r"(Thought|Action) (\d+): ", react_prompt("2+2?", [EGGS, EGGS]))
    numbers = [int(number) for _, number in found]
    why = f"two exemplars of two steps have the numbers {numbers}"
    assert numbers == [1, 1, 2, 2, 1, 1, 2, 2], why


def test_the_last_step_has_no_observation_line(react_prompt):
    """a step with an empty observation has no Observation line"""
    prompt = react_prompt("2+2?", [TAXI])
    lines = [line for line in prompt.splitlines() if "Observation" in line]
    assert lines == [], f"the step without an observation has the line {lines}"


# parse_bracket_action


@pytest.mark.parametrize(
    "text", ["Search[kyoto]", "search[kyoto]", " SEARCH [kyoto]", "\nSearch\t[kyoto]"]
)
def test_the_verb_comes_in_any_case(parse_bracket_action, text):
    """the verb is returned in lower case, without the white space around it"""
    assert parse_bracket_action(text) == ("search", "kyoto")


def test_the_argument_keeps_its_letters(parse_bracket_action):
    """the argument keeps its letters; white space around it is removed"""
    found = parse_bracket_action("lookup[ Mt. FUJI 富士 ]")
    assert found == ("lookup", "Mt. FUJI 富士")


def test_brackets_may_be_nested(parse_bracket_action):
    """brackets may be nested: the argument ends where the first bracket is closed"""
    assert parse_bracket_action("search[a[1]]") == ("search", "a[1]")
    assert parse_bracket_action("search[[x] and [y]]") == ("search", "[x] and [y]")
    assert parse_bracket_action("search[a[1]] search[b]") == ("search", "a[1]")
    assert parse_bracket_action("search[a[b]") is None


def test_what_follows_the_bracket_is_dropped(parse_bracket_action):
    """all after the closing bracket is ignored, even a second action like Finish[]"""
    assert parse_bracket_action("finish[88].") == ("finish", "88")
    assert parse_bracket_action("finish[88] is the answer") == ("finish", "88")
    assert parse_bracket_action("finish[88]\nQuestion: [b]") == ("finish", "88")
    found = parse_bracket_action("search[kyoto] and then finish[japan]")
    assert found == ("search", "kyoto")
    assert parse_bracket_action("finish[88] and then search[kyoto]") == ("finish", "88")


def test_an_empty_argument_is_an_argument(parse_bracket_action):
    """Finish[] is an action with an empty argument"""
    assert parse_bracket_action("finish[]") == ("finish", "")


@pytest.mark.parametrize(
    "text",
    ["", "search", "search kyoto", "[kyoto]", "search[kyoto", "a b[c]", "so: a[b]"],
)
def test_anything_else_is_no_action(parse_bracket_action, text):
    """without a verb or a closed bracket, or with two words before the bracket: None"""
    assert parse_bracket_action(text) is None


# what else the package's own does


def test_each_method_shows_its_part_of_an_exemplar():
    """Standard the answer, CoT a thought before it, Act no thoughts"""
    standard, cot, act, react = (
        render_prompt(METHODS[name], "2+2?", [EGGS])
        for name in ("standard", "cot", "act", "react")
    )
    head, end = f"Question: {EGGS.question}\n", "\n\nQuestion: 2+2?\n"
    assert standard == f"{head}Answer: 84{end}Answer:"
    assert cot == f"{head}Thought: 12 * 7 = 84.\nAnswer: 84{end}Thought:"
    kept = [line for line in react.split("\n") if not line.startswith("Thought")]
    assert act == "\n".join([*kept, "Action 1:"])


WORLDS = {"arithmetic": 100, "wiki": 40, "claims": 100, "house": 100}


@pytest.mark.parametrize(("name", "tokens"), WORLDS.items())
def test_the_exemplars_are_true(name, tokens):
    """What is observed in them is what the world says; none is a task of a lesson"""
    asked = arithmetic_questions() if name == "arithmetic" else tasks(name)
    world = calculator_world(None) if name == "arithmetic" else make_world(name)
    for exemplar in load_exemplars(name):
        if name != "arithmetic":
            world.reset(tasks(name)[4])
        for step in exemplar.steps:
            result = world.step(step.action)
            seen = cut_observation(result.text, 4 * tokens)
            assert step.observation in (seen, "" if result.done else seen)
        assert result.done
        assert exemplar.answer in step.action
        assert name == "house" or exemplar.answer in exemplar.reasoning
        asked = asked[:4] if name == "house" else asked
        assert not [task for task in asked if task.text in exemplar.question]


# when an answer is right


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  New \t York\nCity ", "new york city"),
        ("$8_8^ `|~<=>%&#@*dollars+ (Saint-Denis).", "88 dollars saintdenis"),
        ("a cup of AN apple, The Theodor, Anna", "cup of apple theodor anna"),
        ("「１２３」 ＡＢＣ大学\u3000タワー。", "123 abc大学 タワー"),
        ("A.", "a"),  # a letter or a grade: one word is no article
    ],
)
def test_case_space_punctuation_articles_and_width_do_not_count(text, expected):
    """Small letters, one space between words, no punctuation in any script"""
    assert normalize_answer(text) == expected
    assert exact_match(text, f"{expected}!")
    assert not exact_match(text, f"{expected} tower")


def test_f1_counts_the_words_that_two_answers_share():
    """It is 1 for the same words, 0 for none, and between them the harmonic mean"""
    given = {"Alfred Nobel": 1.0, "nobel": 2 / 3, "the Nobel Prize": 0.5, "": 0.0}
    assert {one: f1_score(one, "Alfred Nobel") for one in given} == given


def test_an_answer_is_right_if_it_names_that_one_number():
    """Commas, currency and words are no fault; a point, a sign, a second number are"""
    right = [" $1,692.00", "There are １，６９２."]
    wrong = ["16.92", "-1692", "47 * 36 = 1692", "many", "1,69,2", "1" * 5000]
    assert [each for each in right + wrong if same_number(each, "1692")] == right


# sums


def test_the_arithmetic_questions_have_the_right_answers():
    """Twenty questions; what each of them asks for comes out as its answer"""
    answers = [int(each.answers[0]) for each in arithmetic_questions()]
    worked = [36 * 47, 3518 + 764, 905 - 378, 1728 // 12, 1234567 * 7654321, 14 * 86]
    worked += [1260 // 45, 4275 + 3860, 8120 - 2945, 42 * 318, 99999 + 88888]
    worked += [50000 - 12345, 1856 // 32, 27 * 34, 13 * 8 + 45, 25 * 48 - 390]
    assert answers == [*worked, 6 * 15 + 28, 912 // 24, 19 * 22 - 57, 250 * 3 + 38]


def test_drawn_sums_are_the_same_each_time():
    """A longer list begins with the shorter one; answers are whole numbers above 0"""
    many = drawn_sums(80)
    assert (many[:8], many[0].slug) == (drawn_sums(8), "sum001")
    assert drawn_sums(8, seed=1) != many[:8]
    assert len({q.text for q in many}) == len({q.slug for q in many}) == 80
    for question in many:
        a, b = (int(n) for n in re.findall(r"\d+", question.text))
        assert int(question.answers[0]) in {a * b, a + b, a - b, a / b}


def test_the_calculators_world():
    """It shows six digits of a fraction, and whole numbers whole"""
    world = calculator_world(None)
    shown = {"14 / 86": "0.162791", "7 / 2": "3.5", "1234567*7654321": "9449772114007"}
    assert {each: world.step(f"Calculator[{each}]").text for each in shown} == shown
