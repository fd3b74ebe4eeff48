"""The paper's prompts, written; its actions, read."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.loop.prompting import (
    ACT,
    COT,
    EXEMPLARS,
    REACT,
    STANDARD,
    Exemplar,
    PaperStep,
    load_exemplars,
    render_prompt,
)
from workbook.loop.prompting import parse_bracket_action as ours
from workbook.loop.text_world import cut_observation

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
    assert prompt.endswith("Question: 2+2?\nThought 1:"), f"it is {prompt!r}"
    prompt = react_prompt("2+2?", exemplars, numbered=False)
    last = prompt.rpartition("Question: ")[2].replace(" 1:", ":")
    assert last == "2+2?\nThought:", f"with numbered=False it is {prompt!r}"


def test_an_exemplar_shows_thoughts_actions_and_observations(react_prompt):
    """an exemplar: its question, thought, action and observation lines, a blank line"""
    shown = "Question: 1+1?\nThought 1: I add.\nAction 1: Calculator[1+1]\n"
    expected = f"{shown}Observation 1: 2\n\n"
    end = react_prompt("2+2?", [])
    block = react_prompt("2+2?", [ADDS]).removesuffix(end)
    assert block == expected, f"the exemplar is written as {block!r}, not {expected!r}"
    two = react_prompt("2+2?", [ADDS, ADDS])
    assert two.count("\n\nQuestion: ") == 2, f"two exemplars are written as {two!r}"


def test_without_numbers_the_labels_are_bare(react_prompt):
    """with numbered=False no label has a number"""
    prompt = react_prompt("2+2?", [ADDS], numbered=False)
    numbered = re.findall(r"(?:Thought|Action|Observation) ?\d+", prompt)
    assert numbered == [], f"these labels have a number: {numbered}"
    assert "\nThought: I add.\nAction: " in prompt, f"the prompt is {prompt!r}"


def test_numbers_start_again_with_each_exemplar(react_prompt):
    """step numbers count from 1 in each exemplar: Thought 1, Action 1, Thought 2, …"""
    found = re.findall(r"(Thought|Action) (\d+): ", react_prompt("2+2?", [EGGS, EGGS]))
    numbers = [int(number) for _, number in found]
    assert numbers == [1, 1, 2, 2, 1, 1, 2, 2], (
        f"two exemplars of two steps have the numbers {numbers}"
    )


def test_the_last_step_has_no_observation_line(react_prompt):
    """a step with an empty observation has no Observation line"""
    prompt = react_prompt("2+2?", [TAXI])
    assert "Observation" not in prompt, f"the prompt is {prompt!r}"


# parse_bracket_action


@pytest.mark.parametrize(
    "text", ["Search[kyoto]", "search[kyoto]", " SEARCH [kyoto]", "\nSearch\t[kyoto]"]
)
def test_the_verb_comes_in_any_case(parse_bracket_action, text):
    """the verb is returned in lower case, without the white space around it"""
    assert parse_bracket_action(text) == ("search", "kyoto")


def test_the_argument_keeps_its_letters(parse_bracket_action):
    """the argument keeps its letters; white space around it is removed"""
    assert parse_bracket_action("lookup[ Mt. FUJI 富士 ]") == (
        "lookup",
        "Mt. FUJI 富士",
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("search[a[1]]", ("search", "a[1]")),
        ("search[[x] and [y]]", ("search", "[x] and [y]")),
        ("search[a[1]] search[b]", ("search", "a[1]")),
        ("search[a[b]", None),
    ],
)
def test_brackets_may_be_nested(parse_bracket_action, text, expected):
    """brackets may be nested: the argument ends where the first bracket is closed"""
    assert parse_bracket_action(text) == expected


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("finish[88].", ("finish", "88")),
        ("finish[88] is the answer", ("finish", "88")),
        ("finish[88]\nQuestion: [b]", ("finish", "88")),
        ("search[kyoto] and then finish[japan]", ("search", "kyoto")),
        ("finish[88] and then search[kyoto]", ("finish", "88")),
    ],
)
def test_what_follows_the_bracket_is_dropped(parse_bracket_action, text, first):
    """all after the closing bracket is ignored, even a second action like Finish[]"""
    assert parse_bracket_action(text) == first


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


# the four ways to ask


@pytest.mark.parametrize(
    ("method", "shown", "label"),
    [
        (STANDARD, "Answer: 2\n", "Answer:"),
        (COT, "Thought: 1 + 1 = 2.\nAnswer: 2\n", "Thought:"),
    ],
)
def test_a_method_that_does_not_act_shows_an_answer(method, shown, label):
    """Standard shows the answer only; CoT shows one thought before it."""
    expected = f"Question: 1+1?\n{shown}\nQuestion: 2+2?\n{label}"
    assert render_prompt(method, "2+2?", [TAXI]) == expected


def test_act_leaves_the_thoughts_out():
    """Act shows what ReAct shows, without the thoughts."""
    react = render_prompt(REACT, "2+2?", [EGGS])
    kept = [line for line in react.split("\n") if not line.startswith("Thought")]
    assert render_prompt(ACT, "2+2?", [EGGS]) == "\n".join(kept) + "\nAction 1:"


# the exemplars


@pytest.mark.parametrize("name", ["arithmetic", "wiki"])
def test_every_exemplar_finishes_with_its_answer(name):
    """Each exemplar's last action is Finish with its answer, and only that one."""
    for exemplar in load_exemplars(name):
        *before, last = exemplar.steps
        assert last == PaperStep(last.thought, f"Finish[{exemplar.answer}]")
        assert all(step.thought and step.action and step.observation for step in before)
        assert exemplar.answer in exemplar.reasoning


def test_the_arithmetic_exemplars_calculate_right():
    """What an arithmetic exemplar shows as observed is what a calculator says."""
    from workbook.runtime.calculator import safe_eval

    for exemplar in load_exemplars("arithmetic"):
        for step in exemplar.steps[:-1]:
            expression = step.action.removeprefix("Calculator[").removesuffix("]")
            assert str(safe_eval(expression)) == step.observation


def test_the_wiki_exemplars_show_what_the_wiki_says():
    """What a wiki exemplar shows as observed is the wiki's text, cut to 160."""
    from workbook.environments.wiki import WikiWorld, wiki_tasks

    world = WikiWorld()
    for exemplar in load_exemplars("wiki"):
        world.reset(wiki_tasks()[0])
        for step in exemplar.steps[:-1]:
            assert cut_observation(world.step(step.action).text, 160) == (
                step.observation
            )


def arithmetic():
    """Return the rows of the arithmetic set."""
    lines = (EXEMPLARS.parent / "arithmetic.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_no_exemplar_gives_a_task_away():
    """No question of the wiki tasks or of the arithmetic set is an exemplar."""
    from workbook.environments.wiki import wiki_tasks

    asked = {row["text"] for row in arithmetic()}
    asked |= {task.text for task in wiki_tasks()}
    shown = {e.question for n in ("arithmetic", "wiki") for e in load_exemplars(n)}
    assert not asked & shown


@given(st.text(alphabet="Se[] \n京1", max_size=40))
@settings(max_examples=200, deadline=None)
def test_an_action_that_is_read_is_in_the_text(text):
    """Whatever the text, an action that is read stands in it, brackets and all."""
    call = ours(text)
    if call is not None:
        verb, argument = call
        assert verb in text.lower()
        assert argument in text
        assert argument.count("[") == argument.count("]")


def test_the_arithmetic_questions_have_the_right_answers():
    """Twenty questions, each with its own id, and known sums come out right."""
    gold = {row["slug"]: row["answers"][0] for row in arithmetic()}
    worked = [36 * 47, 3518 + 764, 905 - 378, 1728 // 12, 1234567 * 7654321, 14 * 86]
    worked += [1260 // 45, 4275 + 3860, 8120 - 2945, 42 * 318, 99999 + 88888]
    worked += [50000 - 12345, 1856 // 32, 27 * 34, 13 * 8 + 45, 25 * 48 - 390]
    worked += [6 * 15 + 28, (640 + 272) // 24, 19 * 22 - 57, 250 * 3 + 38]
    assert list(gold.values()) == [str(number) for number in worked]
