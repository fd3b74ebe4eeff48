"""What a step costs in a long run, and what of it is writing the trace."""

import gc
import math

import orjson
import pytest

from workbook.fsm import Limits, Machine
from workbook.models.script import Script
from workbook.record.replay import replay
from workbook.record.trace import Trace
from workbook.record.writer import TraceWriter
from workbook.stage.overhead import machine_run, seconds_of
from workbook.tools.calculator import calculator
from workbook.tools.registry import ToolRegistry

RUNS = {10: 30, 100: 10, 1_000: 3, 10_000: 1}
"""Steps of a run, and how many runs are timed."""

ATTEMPTS = 3
GOALS = {1_000: 1.5, 10_000: 3}
"""Times the cost per step of 100 steps that a step of a longer run may have.

The prompt is one text that grows by `+=`. At 10,000 steps it holds half a megabyte, and
each step copies it: only a trick would make that flat.
"""


def machine_seconds(steps, path):
    """Return the processor time of a run with its trace on disk."""
    ends = []
    run = machine_run(steps, path)
    gc.collect()  # what an earlier run left behind
    took = seconds_of(lambda: ends.append(run()))
    assert (ends[0].answer, ends[0].spent.steps) == ("done", steps)
    return took


def floor_seconds(path, copy):
    """Return the processor time of serialising and writing a trace's events."""
    events = Trace.read(path).events

    gc.collect()
    with open(copy, "wb", buffering=0) as file:

        def write():
            for event in events:
                file.write(orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE))

        return seconds_of(write)


def measure(folder):
    """Return microseconds per step by steps, of the machine and of its floor: the best.

    The short runs come before the long ones, which leave their events in memory.
    """
    machine, floor = {}, {}
    for steps, runs in RUNS.items():
        paths = [folder / f"{steps}_{run}.jsonl" for run in range(runs)]
        scale = 1e6 / steps
        machine[steps] = scale * min(machine_seconds(steps, path) for path in paths)
        copy = folder / "copy.jsonl"
        floor[steps] = scale * min(
            floor_seconds(path, copy.with_stem(f"copy_{steps}_{n}"))
            for n, path in enumerate(paths[:5])
        )
    return machine, floor


def table(machine, floor):
    lines = [f"{'steps':>7}{'machine, µs per step':>22}{'its floor':>11}{'times':>7}"]
    for steps in RUNS:
        ratio = machine[steps] / floor[steps]
        lines.append(
            f"{steps:7,}{machine[steps]:22.0f}{floor[steps]:11.1f}{ratio:7.1f}"
        )
    return "\n".join(lines)


@pytest.fixture(scope="module")
def costs(tmp_path_factory):
    """Measure until a step of a long run costs little more, three times at the most."""
    for _ in range(ATTEMPTS):
        machine, floor = measure(tmp_path_factory.mktemp("growth"))
        if all(machine[n] <= goal * machine[100] for n, goal in GOALS.items()):
            break
    return machine, floor


def test_a_step_of_a_long_run_costs_what_a_step_of_a_short_one_does(costs, capsys):
    """per step, 1,000 steps cost at most 1.5 times what 100 do, 10,000 at most 3"""
    machine, floor = costs
    with capsys.disabled():
        print(f"\n{table(machine, floor)}")
    assert all(machine[n] <= goal * machine[100] for n, goal in GOALS.items())


def test_the_floor_is_below_the_machine(costs):
    """writing the events is a part of what the machine does, and not the whole"""
    machine, floor = costs
    assert all(0 < floor[steps] < machine[steps] for steps in RUNS)


TURN = "Action: Calculator\nAction Input: 1+{}"


def replay_seconds(steps):
    """Return the least processor time of replaying a run, per event of it."""
    most, hook = Limits(math.inf, math.inf, math.inf), TraceWriter()
    turns = [*map(TURN.format, range(steps)), "Final Answer: done"]
    machine = Machine(
        Script(turns), ToolRegistry([calculator()]), limits=most, hook=hook
    )
    machine.run("Is it done?")
    took = []
    for _ in range(5):
        gc.collect()
        took.append(seconds_of(lambda: replay(hook.trace(), machine)))
    return min(took) / len(hook.events)


def test_an_event_of_a_long_run_is_replayed_as_fast(capsys):
    """per event, the replay of 2,000 steps costs at most 1.5 times that of 200"""
    short, long = replay_seconds(200), replay_seconds(2_000)
    with capsys.disabled():
        print(f"\nreplay: {1e6 * short:.0f} and {1e6 * long:.0f} µs per event")
    assert long <= 1.5 * short
