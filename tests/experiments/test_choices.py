"""Which tool a model chooses: the menus, the questions and what is counted."""

import pytest

from tests.experiments.watched import Watched
from workbook.environments.number_theory import factorial
from workbook.experiments.choices import (
    NAMES,
    NEXT,
    TOOLS,
    choose,
    first_call,
    menus,
    one_of,
)


def test_a_swapped_menu_has_the_text_of_the_next_tool():
    """Only what the title names is swapped."""
    found = menus()
    for name in NAMES:
        (arguments, about), (others, another) = TOOLS[name], TOOLS[NEXT[name]]
        assert [menu.get(name) for menu in found.values()] == [
            f"{name}({arguments}): {about}",
            f"{name}({arguments}): {another}",
            f"{name}({others}): {another}",
            None,
        ]
    shown = found["names that say nothing"]
    assert one_of(shown) == 'root ::= " ToolA" | " ToolB" | " ToolC"'


@pytest.mark.parametrize("title", menus())
@pytest.mark.parametrize("line", [1, 2, 3])
def test_a_model_that_prefers_a_place_is_right_by_chance(title, line):
    """Each tool is in each place for a third of its questions: 12 of 36 are right."""
    says = lambda prompt: f" {prompt.splitlines()[line].partition('(')[0]}"  # noqa: E731
    model = Watched([says], repeat_last=True)
    chosen = choose(model, menus()[title])
    assert len(model.prompts) == len(set(model.prompts)) == 36
    assert sum(right == choice for right, choice in chosen) == 12


def test_a_first_call_is_bound_and_run():
    """What the schema allows is run; what it refuses is no call, but an observation."""
    call, seen = first_call(factorial(), "5")
    assert (call.arguments, seen) == ({"n": 5}, "120")
    call, seen = first_call(factorial(), "30")
    assert call is None
    assert "greater than the maximum" in seen
