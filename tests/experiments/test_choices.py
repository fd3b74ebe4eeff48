"""Which tool a model chooses: the menus, the questions and what is counted."""

import pytest

from workbook.environments.number_theory import factorial
from workbook.experiments.choices import (
    NAMES,
    NEXT,
    TOOLS,
    choose,
    first_call,
    lab_data,
    menus,
    one_of,
)
from workbook.models.base import Completion


class Asked:
    """A model that chooses the name on one line of its menu, and keeps the prompts."""

    name = "asked"

    def __init__(self, line):
        self.line, self.prompts = line, []

    def complete(self, prompt, **options):
        self.prompts.append(prompt)
        return Completion(f" {prompt.splitlines()[self.line].partition('(')[0]}")


def test_each_tool_has_twelve_questions_of_its_own():
    """No tool is asked for more often than another, and no question twice."""
    questions = lab_data("which_tool")
    assert {name: len(asked) for name, asked in questions.items()} == dict.fromkeys(
        NAMES, 12
    )
    assert len({each for asked in questions.values() for each in asked}) == 36


def test_a_swapped_menu_has_the_text_of_the_next_tool():
    """Only what the title names is swapped."""
    found = menus()
    for name in NAMES:
        arguments, about = TOOLS[name]
        others, another = TOOLS[NEXT[name]]
        assert found["as it should be"][name] == f"{name}({arguments}): {about}"
        assert found["descriptions swapped"][name] == f"{name}({arguments}): {another}"
        swapped = found["all but the names swapped"][name]
        assert swapped == f"{name}({others}): {another}"
    assert [*found["names that say nothing"]] == ["ToolA", "ToolB", "ToolC"]


@pytest.mark.parametrize("title", menus())
@pytest.mark.parametrize("line", [1, 2, 3])
def test_a_model_that_prefers_a_place_is_right_by_chance(title, line):
    """Each tool is in each place for a third of its questions: 12 of 36 are right."""
    model = Asked(line)
    chosen = choose(model, menus()[title])
    assert len(model.prompts) == len({*model.prompts}) == 36
    assert sum(right == choice for right, choice in chosen) == 12


def test_the_grammar_allows_the_shown_names():
    """The model can write one of the names that the menu shows"""
    grammar = one_of(menus()["names that say nothing"])
    assert grammar == 'root ::= " ToolA" | " ToolB" | " ToolC"'


def test_a_first_call_is_bound_and_run():
    """What the schema allows is run; what it refuses is no call, but an observation."""
    call, seen = first_call(factorial(), "5")
    assert (call.arguments, seen) == ({"n": 5}, "120")
    call, seen = first_call(factorial(), "30")
    assert call is None
    assert "greater than the maximum" in seen
