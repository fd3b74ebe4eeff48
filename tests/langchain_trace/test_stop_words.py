"""Stop words on the real model: what the runtime gets with them and without them."""

import pytest

from workbook.langchain_trace import stop_words
from workbook.runtime.local import LocalTextModel


@pytest.mark.in_ci
def test_the_real_model_makes_up_an_observation_without_stop_words():
    """with stop words the calculator is asked; without them its line is forged"""
    runs = stop_words.experiment(LocalTextModel(max_tokens=60))
    table = stop_words.table(runs)
    made_up, called = table.iloc[0], table.iloc[1]
    assert list(made_up) == [0, 1]
    assert called["with stop words"] >= 1
    assert called["without stop words"] == 0
    assert repr(stop_words.first_turns(runs)).count("\n> Observation:") == 1
