"""What the prompt cache saves on the real model, by the server's own clock."""

import pytest

from workbook.langchain_trace.growth import caching_experiment
from workbook.runtime.local import LocalTextModel
from workbook.stage.engines import play


@pytest.fixture(scope="module")
def measured():
    """Send the three prompts of the price question, once; return the table."""
    model = LocalTextModel(max_tokens=1)
    return caching_experiment(model, play("price_question", "langchain"))


def test_an_appended_turn_is_read_at_once_and_an_edited_one_is_not(measured, capsys):
    """appended: at most a fifth of the cold time; edited: at least three appended"""
    ms = measured.set_index("case")["prompt_ms"]
    with capsys.disabled():
        for row in measured.itertuples():
            print(
                f"\n{row.case}: {row.prompt_ms:,.0f} ms for {row.input_tokens} tokens, "
                f"{row.cached_tokens} of them cached",
                end="",
            )
        print()
    assert ms["appended"] <= ms["cold"] / 5
    assert ms["edited"] >= 3 * ms["appended"]


def test_what_is_appended_to_is_cached_whole(measured):
    """nearly all of the cold prompt is cached for the appended one, not the edited"""
    rows = measured.set_index("case")
    cold = rows.loc["cold", "input_tokens"]
    assert rows.loc["appended", "cached_tokens"] >= 0.9 * cold
    assert rows.loc["edited", "cached_tokens"] <= 0.1 * cold
