"""A voltmeter that is not there: noise, ranges and warm-up without a laboratory.

It is as picky as real ones: range strings must be exact, an input above the range is an
overload, the first readings drift. Its clock is simulated: a reading takes no time.
"""

import math
import random
import re
from collections.abc import Mapping
from typing import Any

from workbook.props.query_terms import normalise
from workbook.tools import Tool, ToolFailure

RANGES_V = {"200mV": 0.2, "2V": 2.0, "20V": 20.0, "200V": 200.0, "1000V": 1000.0}
MIN_INTEGRATION_S, MAX_INTEGRATION_S = 0.001, 100.0
WARM_UP_S = 10.0
_AC = re.compile("ac|~|交流", re.IGNORECASE)

CHANNELS_V = {1: 1.5021, 2: 0.0483, 3: 12.61}
"""What is connected: an AA cell, a thermocouple amplifier, a car battery."""


class Voltmeter:
    """A simulated instrument for DC, with its own clock and seeded noise.

    A reading is the true voltage, plus noise with a standard deviation of
    1e-4 · full scale / √(integration time in s), plus a warm-up drift of
    5e-3 · full scale · exp(-t / 2 s), which is left out from 10 s on.
    """

    def __init__(self, channels: Mapping[int, float] = CHANNELS_V, seed: int = 0):
        self.channels, self.clock_s = dict(channels), 0.0
        self._random = random.Random(seed)

    def wait(self, seconds: float) -> None:
        """Let simulated time pass."""
        self.clock_s += seconds

    def read(
        self, channel: int, range: str, integration_s: float = 0.1
    ) -> dict[str, Any]:
        """Take one reading in a range of `RANGES_V`, letter by letter, or AUTO."""
        if channel not in self.channels:
            hint = f"Use one of {', '.join(map(str, sorted(self.channels)))}."
            message = f"there is no channel {channel!r}."
            raise ToolFailure("unknown_channel", message, hint=hint)
        if not MIN_INTEGRATION_S <= integration_s <= MAX_INTEGRATION_S:
            message = f"the integration time is {integration_s} s."
            hint = f"Use {MIN_INTEGRATION_S} to {MAX_INTEGRATION_S:g} s."
            raise ToolFailure("integration_time", message, hint=hint)
        true_v = self.channels[channel]
        range = _range_for(range, true_v)
        started_s, full_scale = self.clock_s, RANGES_V[range]
        self.clock_s += integration_s
        if abs(true_v) > full_scale:
            above = [name for name, volts in RANGES_V.items() if volts > full_scale]
            higher = " or ".join(above) or "none is left, disconnect it"
            message = f"channel {channel} is above the range {range}."
            hint = f"Use a higher range: {higher}."
            raise ToolFailure("overload", message, hint=hint)
        noise_v = 1e-4 * full_scale / math.sqrt(integration_s)
        value_v = true_v + self._random.gauss(0.0, noise_v)
        status = "ready"
        if started_s < WARM_UP_S:
            value_v += 5e-3 * full_scale * math.exp(-started_s / 2.0)
            status = f"warming up, {WARM_UP_S - started_s:g} s left: reading drifts"
        return {
            "value_v": float(f"{value_v:.6g}"),
            "noise_v": float(f"{noise_v:.2g}"),
            "range": range,
            "integration_s": integration_s,
            "status": status,
        }

    def tool(self) -> Tool:
        """Return this instrument as a tool for one reading a call."""
        last, least, most = max(self.channels), MIN_INTEGRATION_S, MAX_INTEGRATION_S
        channel = {"type": "integer", "minimum": 1, "maximum": last}
        # No enum: the instrument has more to say about "2V AC".
        range_ = {"type": "string", "maxLength": 20}
        integration = {"type": "number", "minimum": least, "maximum": most}
        integration["description"] = "seconds"
        asked = {"channel": channel, "range": range_, "integration_s": integration}
        return Tool(
            name="Voltmeter",
            description=(
                "Reads the DC voltage of one channel per call, in volts; for AC use an "
                f"AC voltmeter. Channels 1 to {last}; ranges {', '.join(RANGES_V)} or "
                "AUTO, written exactly so; integration_s from 0.001 to 100 seconds, "
                "longer is less noisy. Readings drift for the first "
                f"{WARM_UP_S:g} s: look at status. "
                'Right: {"channel": 1, "range": "2V"}. '
                'Wrong: {"channel": [1, 2], "range": "2V"}.'
            ),
            parameters={"properties": asked, "required": ["channel", "range"]},
            run=self.read,
            timeout_s=None,
            outside=False,
            asked_by=("channel", "チャンネル", "通道"),
        )


def _range_for(asked: str, volts: float) -> str:
    """Return the range to measure in, which is the last one where none is enough."""
    if asked == "AUTO":
        holding = [name for name, full in RANGES_V.items() if abs(volts) <= full]
        return [*holding, list(RANGES_V)[-1]][0]
    if asked in RANGES_V:
        return asked
    if _AC.search(normalise(asked)):
        message = f"{asked!r} is a range for AC, and this instrument measures DC."
        raise ToolFailure("not_dc", message, hint="Use an AC voltmeter.")
    hint = f"Write it exactly like one of: {', '.join(RANGES_V)}, AUTO."
    raise ToolFailure("unknown_range", f"{asked!r} is not a range.", hint=hint)


TOOLS = {"Voltmeter": lambda: Voltmeter().tool()}
