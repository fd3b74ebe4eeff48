"""What the prompt cache saves on the real model, by the server's own clock."""

from workbook.runtime.local import LocalTextModel
from workbook.stage.engines import play


def test_an_appended_turn_is_cached_and_an_edited_one_is_not(capsys):
    """appended: at most a fifth of the cold time; edited: at least three appended"""
    trace, model = play("price_question", "langchain"), LocalTextModel(max_tokens=1)
    own = [event for event in trace.of("model_request") if "parent" not in event]
    cold, appended = (trace.prompt(event["seq"]) for event in own[-2:])
    edited = appended.replace("Answer", "Answer,", 1)
    model.complete("Once upon a time")  # so that the cold prompt is cold
    replies = [model.complete(prompt) for prompt in (cold, appended, edited)]
    ms = [reply.timings["prompt_ms"] for reply in replies]
    cached = [reply.usage.cached for reply in replies]
    with capsys.disabled():
        print(f"\ncold, appended, edited: {ms} ms; cached: {cached} tokens")
    assert ms[1] <= ms[0] / 5
    assert ms[2] >= 3 * ms[1]
    assert cached[1] >= 0.9 * replies[0].usage.input
    assert cached[2] <= 0.1 * replies[0].usage.input
