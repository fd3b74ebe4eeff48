"""What the prompt cache saves on the real model, by the server's own clock."""

import pytest

from workbook.runtime.local import LocalTextModel
from workbook.stage.engines import play


@pytest.fixture(scope="module")
def measured(request):
    """Send the last two prompts of the price question, and the last one edited."""
    trace, model = play("price_question", "langchain"), LocalTextModel(max_tokens=1)
    own = [event for event in trace.of("model_request") if "parent" not in event]
    cold, appended = (trace.prompt(event["seq"]) for event in own[-2:])
    edited = appended.replace("Answer", "Answer,", 1)
    model.complete("Once upon a time")  # so that the cold prompt is cold
    prompts = {"cold": cold, "appended": appended, "edited": edited}
    replies = {case: model.complete(prompt) for case, prompt in prompts.items()}
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        for case, reply in replies.items():
            print(f"\n{case}: {reply.timings['prompt_ms']:,.0f} ms for {reply.usage}")
    return replies


def test_an_appended_turn_is_read_at_once_and_an_edited_one_is_not(measured):
    """appended: at most a fifth of the cold time; edited: at least three appended"""
    ms = {case: reply.timings["prompt_ms"] for case, reply in measured.items()}
    assert ms["appended"] <= ms["cold"] / 5
    assert ms["edited"] >= 3 * ms["appended"]


def test_what_is_appended_to_is_cached_whole(measured):
    """nearly all of the cold prompt is cached for the appended one, not the edited"""
    cold = measured["cold"].usage.input
    assert measured["appended"].usage.cached >= 0.9 * cold
    assert measured["edited"].usage.cached <= 0.1 * cold
