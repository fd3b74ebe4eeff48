"""Plausible wrong answers to `replay`, each with the test that must catch it."""

from workbook.runtime.model import Response
from workbook.runtime.replay import as_observation, as_response
from workbook.runtime.journal import Divergence
from workbook.runtime.replay import first_divergence


def played(trace, machine, told, say=None, check=lambda: None):
    """Run the machine on the record's answers; `told` gets what it tells."""

    def tell(kind, **fields):
        told.append({"kind": kind, **fields})
        check()

    again = machine.again(
        say=say or (lambda: as_response(trace.events[len(told)])),
        observe=lambda call: as_observation(trace.events[len(told)]),
        tell=tell,
    )
    return again.run(trace.events[0]["question"])


def compared(recorded, told, end):
    seq = first_divergence(recorded, told)
    if seq is None:
        return end
    at = [events[seq] if seq < len(events) else None for events in (recorded, told)]
    raise Divergence(seq, *at)


def runs_it_once_more(trace, machine):
    return machine.run(trace.events[0]["question"])


def compares_only_the_ends(trace, machine):
    told = []
    end = played(trace, machine, told)
    if end.state != trace.events[-1].get("state"):
        raise Divergence(len(trace) - 1, trace.events[-1], told[-1])
    return end


def stops_at_the_shorter_one(trace, machine):
    told = []
    end = played(trace, machine, told)
    return compared(trace.events[: len(told)], told, end)


def reads_the_text_alone(trace, machine):
    told = []
    end = played(trace, machine, told, lambda: Response(trace.events[len(told)]["text"]))
    return compared(trace.events, told, end)


def mixes_up_the_two(trace, machine):
    told = []
    end = played(trace, machine, told)
    return compared(told, trace.events, end)


def raises_while_it_runs(trace, machine):
    told = []

    def check():  # what is raised here ends the run, and is not seen outside
        compared(trace.events[: len(told)], told, None)

    return played(trace, machine, told, check=check)


WRONG = {
    runs_it_once_more: "test_nobody_is_asked",
    compares_only_the_ends: "test_another_machine_diverges",
    stops_at_the_shorter_one: "test_a_record_that_is_too_long",
    reads_the_text_alone: "test_it_comes_to_the_same_end",
    mixes_up_the_two: "test_a_divergence_holds_both",
    raises_while_it_runs: "test_a_record_that_breaks_off",
}
