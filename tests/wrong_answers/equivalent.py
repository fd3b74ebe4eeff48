"""Plausible wrong answers to `equivalent`, each with the test that must catch it."""

from workbook.record.equivalence import calls_of, plain_text


def compares_the_events(trace_a, trace_b):
    return trace_a.events == trace_b.events


def compares_the_answers_alone(trace_a, trace_b):
    a, b = trace_a.end, trace_b.end
    if a is None or b is None:
        return a is b
    return plain_text(a["answer"]) == plain_text(b["answer"])


def stops_with_the_shorter_one(trace_a, trace_b):
    pairs = zip(calls_of(trace_a), calls_of(trace_b))
    a, b = trace_a.end, trace_b.end
    if a is None or b is None:
        return a is b
    same = plain_text(a["answer"]) == plain_text(b["answer"])
    return same and all(one == other for one, other in pairs)


def forgets_the_answer(trace_a, trace_b):
    return calls_of(trace_a) == calls_of(trace_b)


def ignores_the_order(trace_a, trace_b):
    a, b = trace_a.end, trace_b.end
    if a is None or b is None:
        return a is b
    same = plain_text(a["answer"]) == plain_text(b["answer"])
    return same and sorted(map(str, calls_of(trace_a))) == sorted(
        map(str, calls_of(trace_b))
    )


WRONG = {
    compares_the_events: "test_ids_times_and_steps_do_not_count",
    compares_the_answers_alone: "test_tool_arguments_and_observation_count",
    stops_with_the_shorter_one: "test_how_often_counts",
    forgets_the_answer: "test_the_answer_counts",
    ignores_the_order: "test_the_order_counts",
}
