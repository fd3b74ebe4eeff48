"""The simulated voltmeter: exact ranges, noise that shrinks, and a warm-up."""

import statistics

import pytest

from workbook.props.voltmeter import RANGES_V, WARM_UP_S, Voltmeter
from workbook.tools.calls import ToolCall, ToolFailure
from workbook.tools.registry import ToolRegistry


def warm(seed=0):
    meter = Voltmeter(seed=seed)
    meter.wait(WARM_UP_S)
    return meter


def spread(meter, integration_s):
    readings = [meter.read(1, "2V", integration_s)["value_v"] for _ in range(200)]
    return statistics.stdev(readings)


def test_the_same_seed_gives_the_same_readings():
    """the same seed and the same calls give the same readings"""
    one, other = Voltmeter(seed=3), Voltmeter(seed=3)
    assert [one.read(1, "2V") for _ in range(5)] == [
        other.read(1, "2V") for _ in range(5)
    ]


def test_another_seed_gives_other_readings():
    """another seed gives other noise"""
    assert warm(1).read(1, "2V")["value_v"] != warm(2).read(1, "2V")["value_v"]


def test_a_hundred_times_the_integration_is_a_tenth_of_the_noise():
    """noise shrinks with the square root of the integration time"""
    ratio = spread(warm(), 0.01) / spread(warm(), 1.0)
    assert ratio == pytest.approx(10, rel=0.2)


def test_the_clock_is_simulated():
    """a reading moves the instrument's clock by its integration time"""
    meter = Voltmeter()
    meter.read(1, "2V", 100.0)
    assert meter.clock_s == 100.0


def test_a_cold_instrument_drifts_and_says_so():
    """the first readings are too high, and the status says that it warms up"""
    cold = Voltmeter().read(1, "2V", 0.1)
    assert cold["value_v"] - 1.5021 == pytest.approx(0.01, rel=0.2)
    assert cold["status"].startswith("warming up, 10 s left")


def test_a_warm_instrument_is_ready():
    """after the warm-up the reading is right and the status is ready"""
    reading = warm().read(1, "2V", 1.0)
    assert reading["status"] == "ready"
    assert reading["value_v"] == pytest.approx(1.5021, abs=5 * reading["noise_v"])


def test_it_is_warm_after_ten_seconds_of_its_own_clock():
    """ten seconds of the instrument's own clock warm it up, and no second less"""
    meter = Voltmeter()
    meter.wait(9.5)
    assert "warming up, 0.5 s left" in meter.read(1, "2V", 0.5)["status"]
    assert meter.read(1, "2V")["status"] == "ready"


@pytest.mark.parametrize(("channel", "picked"), [(1, "2V"), (2, "200mV"), (3, "20V")])
def test_auto_picks_the_lowest_range_that_holds_the_value(channel, picked):
    """AUTO measures in the lowest range that holds the value, and says which"""
    by_itself, by_hand = warm().read(channel, "AUTO"), warm().read(channel, picked)
    assert by_itself["range"] == picked
    assert by_itself == by_hand


@pytest.mark.parametrize(
    ("volts", "picked"), [(2.0, "2V"), (-2.0, "2V"), (2.01, "20V"), (0.0, "200mV")]
)
def test_auto_at_the_edge_of_a_range(volts, picked):
    """a full range still holds the value, of either sign; above it the next does"""
    assert Voltmeter({1: volts}).read(1, "AUTO")["range"] == picked


@pytest.mark.parametrize("text", ["AUTO", "1000V"])
def test_what_no_range_holds_is_to_be_disconnected(text):
    """above the last range there is none to pick, by hand or by AUTO"""
    with pytest.raises(ToolFailure, match="above the range 1000V") as failure:
        Voltmeter({1: 1500.0}).read(1, text)
    assert failure.value.error.kind == "overload"
    assert "disconnect" in failure.value.error.hint


@pytest.mark.parametrize(
    "text", ["2V AC", "200mVAC", "AC", "ac", "VAC", "2Vac", "ＡＣ", "2V~", "交流2V"]
)
def test_ac_is_another_instruments_work(text):
    """a range for AC is refused: this one measures DC, and the hint names the other"""
    registry = ToolRegistry([Voltmeter().tool()])
    call = ToolCall("Voltmeter", {"channel": 1, "range": text}, "call_1")
    error = registry.run(call).error
    assert (error.kind, error.retryable) == ("not_dc", False)
    assert "DC" in error.message
    assert "AC voltmeter" in error.hint


def test_the_description_says_what_it_is_for():
    """the model reads that it measures DC, knows AUTO, and warms up for ten seconds"""
    text = Voltmeter().tool().description
    assert all(part in text for part in ("DC", "AC voltmeter", "AUTO", "10 s"))


@pytest.mark.parametrize(
    "text", ["auto", "2V DC", "2 V", "2v", "2", "2volts", "2V ", "２V", "0.2V"]
)
def test_a_range_must_be_exact(text):
    """a range string that is not exact is refused, and the exact ones are listed"""
    with pytest.raises(ToolFailure) as failure:
        Voltmeter().read(1, text)
    assert failure.value.error.kind == "unknown_range"
    assert all(name in failure.value.error.hint for name in (*RANGES_V, "AUTO"))


def test_overload_names_a_higher_range():
    """a voltage above the range is an overload that names the ranges above"""
    with pytest.raises(ToolFailure) as failure:
        Voltmeter().read(3, "2V")
    assert failure.value.error.kind == "overload"
    assert failure.value.error.hint == "Use a higher range: 20V or 200V or 1000V."


@pytest.mark.parametrize("channel", [0, 4, -1, "1"])
def test_an_unknown_channel_is_named(channel):
    """a channel that is not there is refused, and those that are there are listed"""
    with pytest.raises(ToolFailure, match="there is no channel") as failure:
        Voltmeter().read(channel, "2V")
    assert failure.value.error.hint == "Use one of 1, 2, 3."


@pytest.mark.parametrize("seconds", [0.001, 100.0])
def test_the_limits_of_the_integration_time_are_allowed(seconds):
    """0.001 s and 100 s are allowed"""
    assert Voltmeter().read(1, "2V", seconds)["integration_s"] == seconds


@pytest.mark.parametrize("seconds", [0.0, 0.0009, 100.1, -1.0, float("nan")])
def test_other_integration_times_are_refused(seconds):
    """an integration time outside of 0.001 to 100 s is refused"""
    with pytest.raises(ToolFailure) as failure:
        Voltmeter().read(1, "2V", seconds)
    assert failure.value.error.kind == "integration_time"


def test_a_refused_reading_takes_no_time():
    """a refused call leaves the clock where it was"""
    meter = Voltmeter()
    with pytest.raises(ToolFailure):
        meter.read(1, "2 volts")
    assert meter.clock_s == 0.0


@pytest.mark.parametrize(
    "arguments",
    [
        {"channel": 1, "range": 2},
        {"channel": 1, "range": "2 volts" * 100},
        {"channel": 9, "range": "2V"},
        {"channel": [1, 2], "range": "2V"},
        {"channel": 1},
        {"channel": 1, "range": "2V", "integration_s": 1000},
    ],
)
def test_the_schema_refuses_the_rest(arguments):
    """as a tool, the instrument refuses before it is asked"""
    registry = ToolRegistry([Voltmeter().tool()])
    observation = registry.run(ToolCall("Voltmeter", arguments, "call_1"))
    assert observation.error.kind == "invalid_arguments"


def test_an_overload_is_an_observation():
    """as a tool, an overload is an error observation with the way out"""
    registry = ToolRegistry([Voltmeter().tool()])
    call = ToolCall("Voltmeter", {"channel": 3, "range": "2V"}, "call_1")
    assert "Use a higher range" in registry.run(call).text()
