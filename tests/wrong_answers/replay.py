"""Plausible wrong answers to `replay`, each with the test that must catch it."""

from dataclasses import replace

from workbook.runtime.replay import as_observation, as_response
from workbook.runtime.journal import Divergence
from workbook.runtime.replay import first_divergence


def played(trace, machine, told, say=None, observe=None, check=lambda: None):
    """Run the machine on the record's answers; `told` gets what it tells."""

    def tell(kind, **fields):
        told.append({"kind": kind, **fields})
        check()

    again = machine.again(
        say=say or (lambda: as_response(trace.events[len(told)])),
        observe=observe or (lambda call: as_observation(trace.events[len(told)])),
        tell=tell,
    )
    return again.run(trace.events[0]["question"])


def compared(recorded, told, end, first=0):
    seq = first_divergence(recorded, told)
    if seq is None:
        return end
    at = [events[seq] if seq < len(events) else None for events in (recorded, told)]
    raise Divergence(first + seq, *at)


def runs_it_once_more(trace, machine):
    return machine.run(trace.events[0]["question"])


def calls_the_tools_as_well(trace, machine):
    told = []

    def observe(call):
        machine.tools.run(call)
        return as_observation(trace.events[len(told)])

    end = played(trace, machine, told, observe=observe)
    return compared(trace.events, told, end)


def raises_at_the_last_difference(trace, machine):
    told = []
    end = played(trace, machine, told)
    for seq in reversed(range(max(len(trace), len(told)))):
        compared(trace.events[seq : seq + 1], told[seq : seq + 1], end, seq)
    return end


def removes_the_times_to_compare(trace, machine):
    told = []
    end = played(trace, machine, told)
    for event in trace.events:
        event.pop("at_s", None)
    return compared(trace.events, told, end)


def stops_where_the_record_ends(trace, machine):
    told = []
    end = played(trace, machine, told)
    return compared(trace.events, told[: len(trace)], end)


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


def reads_no_function_calls(trace, machine):
    told = []

    def say():
        return replace(as_response(trace.events[len(told)]), calls=())

    return compared(trace.events, told, played(trace, machine, told, say))


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
    calls_the_tools_as_well: "test_nobody_is_asked",
    raises_at_the_last_difference: "test_another_machine_diverges",
    removes_the_times_to_compare: "test_the_record_stays_as_it_is",
    stops_where_the_record_ends: "test_a_record_that_breaks_off",
    compares_only_the_ends: "test_another_machine_diverges",
    stops_at_the_shorter_one: "test_a_record_that_is_too_long",
    reads_no_function_calls: "test_it_comes_to_the_same_end",
    mixes_up_the_two: "test_a_divergence_holds_both",
    raises_while_it_runs: "test_a_record_that_breaks_off",
}
