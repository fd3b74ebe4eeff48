"""Plausible wrong answers to `replay`, each with the test that must catch it."""

from workbook.record.answers import as_completion, as_observation
from workbook.record.divergence import Divergence, first_divergence


def runs_it_once_more(trace, machine):
    return machine.run(trace.events[0]["question"])


def believes_the_machine(trace, machine):
    told = []
    again = machine.again(
        say=lambda: as_completion(trace.events[len(told)]),
        observe=lambda call: as_observation(trace.events[len(told)]),
        tell=lambda kind, **fields: told.append(kind),
    )
    return again.run(trace.events[0]["question"])


def takes_the_turns_one_by_one(trace, machine):
    """Answers from the record, but compares how the runs end and nothing before."""
    told = []
    turns = iter(trace.of("model_turn"))
    seen = {e["call_id"]: e for e in trace.of("observation")}
    again = machine.again(
        say=lambda: as_completion(next(turns)),
        observe=lambda call: as_observation(seen[call.call_id]),
        tell=lambda kind, **fields: told.append({"kind": kind, **fields}),
    )
    exit = again.run(trace.events[0]["question"])
    if exit.state != trace.events[-1].get("state"):
        raise Divergence(len(trace) - 1, trace.events[-1], told[-1])
    return exit


def stops_at_the_shorter_one(trace, machine):
    told = []

    def coming():
        return trace.events[len(told)]

    again = machine.again(
        say=lambda: as_completion(coming()),
        observe=lambda call: as_observation(coming()),
        tell=lambda kind, **fields: told.append({"kind": kind, **fields}),
    )
    exit = again.run(trace.events[0]["question"])
    seq = first_divergence(trace.events[: len(told)], told)
    if seq is not None:
        expected = trace.events[seq] if seq < len(trace) else None
        raise Divergence(seq, expected, told[seq])
    return exit


def raises_while_it_runs(trace, machine):
    """Raises in `tell`, which the machine takes for a failure of its hook."""
    told = []

    def tell(kind, **fields):
        told.append({"kind": kind, **fields})
        seq = first_divergence(trace.events[: len(told)], told)
        if seq is not None:
            raise Divergence(seq, trace.events[seq], told[seq])

    again = machine.again(
        say=lambda: as_completion(trace.events[len(told)]),
        observe=lambda call: as_observation(trace.events[len(told)]),
        tell=tell,
    )
    return again.run(trace.events[0]["question"])


WRONG = {
    runs_it_once_more: "test_nobody_is_asked",
    believes_the_machine: "test_another_machine_diverges",
    takes_the_turns_one_by_one: "test_a_divergence_holds_both",
    raises_while_it_runs: "test_another_machine_diverges",
    stops_at_the_shorter_one: "test_a_record_that_is_too_long",
}
