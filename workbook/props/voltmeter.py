"""A voltmeter that is not there: noise, ranges and warm-up without a laboratory.

The instrument is picky in the way that real ones are: range strings must be exact, an
input above the range is an overload, and the first readings drift. Its clock is
simulated: a reading of 100 s takes no time and moves the clock by 100 s.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

from workbook.tools.calls import ToolFailure
from workbook.tools.tool import Tool

RANGES_V = {"200mV": 0.2, "2V": 2.0, "20V": 20.0, "200V": 200.0, "1000V": 1000.0}
"""Range strings, exactly as the instrument wants them, and full scale in volts."""

MIN_INTEGRATION_S, MAX_INTEGRATION_S = 0.001, 100.0
WARM_UP_S = 60.0
_DRIFT = 5e-3  # of full scale when switched on
_DRIFT_DECAY_S = 12.0
_NOISE = 1e-4  # of full scale, standard deviation at 1 s of integration

CHANNELS_V = {1: 1.5021, 2: 0.0483, 3: 12.61}
"""What is connected: an AA cell, a thermocouple amplifier, a car battery."""


class Voltmeter:
    """A simulated instrument with its own clock and seeded noise.

    Args:
        channels: true voltage of each channel, in volts.
        seed: the same seed and the same calls give the same readings.

    A reading is the true voltage, plus noise with a standard deviation of
    1e-4 · full scale / √(integration time in s), plus a warm-up drift of
    5e-3 · full scale · exp(-t / 12 s), which is left out from 60 s on.
    """

    def __init__(self, channels: Mapping[int, float] = CHANNELS_V, seed: int = 0):
        self.channels = dict(channels)
        self.clock_s = 0.0
        self._random = random.Random(seed)

    def wait(self, seconds: float) -> None:
        """Let simulated time pass."""
        self.clock_s += seconds

    def read(
        self, channel: int, range: str, integration_s: float = 0.1
    ) -> dict[str, Any]:
        """Take one reading.

        Args:
            channel: an input of the instrument.
            range: a key of `RANGES_V`, letter by letter.
            integration_s: seconds over which it averages, 0.001 to 100.

        Returns:
            `value_v` and `noise_v` (standard deviation) in volts, `status`.

        Raises:
            ToolFailure: `unknown_channel`, `unknown_range`, `integration_time` or
                `overload`.
        """
        self._check(channel, range, integration_s)
        full_scale, true_v = RANGES_V[range], self.channels[channel]
        started_s = self.clock_s
        self.clock_s += integration_s
        if abs(true_v) > full_scale:
            above = [name for name, volts in RANGES_V.items() if volts > full_scale]
            higher = " or ".join(above) or "none is left, disconnect it"
            message = f"channel {channel} is above the range {range}."
            hint = f"Use a higher range: {higher}."
            raise ToolFailure("overload", message, hint=hint)
        noise_v = _NOISE * full_scale / math.sqrt(integration_s)
        value_v = true_v + self._random.gauss(0.0, noise_v)
        status = "ready"
        if started_s < WARM_UP_S:
            value_v += _DRIFT * full_scale * math.exp(-started_s / _DRIFT_DECAY_S)
            status = f"warming up, {WARM_UP_S - started_s:g} s left: reading drifts"
        return {
            "value_v": float(f"{value_v:.6g}"),
            "noise_v": float(f"{noise_v:.2g}"),
            "range": range,
            "integration_s": integration_s,
            "status": status,
        }

    def _check(self, channel: int, range: str, integration_s: float) -> None:
        if channel not in self.channels:
            message = f"there is no channel {channel!r}."
            hint = f"Use one of {', '.join(map(str, sorted(self.channels)))}."
            raise ToolFailure("unknown_channel", message, hint=hint)
        if range not in RANGES_V:
            hint = f"Write it exactly like one of: {', '.join(RANGES_V)}."
            raise ToolFailure("unknown_range", f"{range!r} is not a range.", hint=hint)
        if not MIN_INTEGRATION_S <= integration_s <= MAX_INTEGRATION_S:
            message = f"the integration time is {integration_s} s."
            hint = f"Use {MIN_INTEGRATION_S} to {MAX_INTEGRATION_S:g} s."
            raise ToolFailure("integration_time", message, hint=hint)

    def tool(self) -> Tool:
        """Return this instrument as a tool for one reading a call."""
        last = max(self.channels)
        return Tool(
            name="Voltmeter",
            description=(
                "Reads the voltage of one channel per call, in volts. Channels 1 to "
                f"{last}; ranges 200mV, 2V, 20V, 200V, 1000V, written "
                "exactly so; integration_s from 0.001 to 100 seconds, longer is less "
                "noisy. Readings drift for the first 60 s: look at status. "
                'Right: {"channel": 1, "range": "2V"}. '
                'Wrong: {"channel": [1, 2], "range": "2 volts"}.'
            ),
            parameters={
                "type": "object",
                "properties": {
                    "channel": {"type": "integer", "minimum": 1, "maximum": last},
                    "range": {"type": "string", "enum": list(RANGES_V)},
                    "integration_s": {
                        "type": "number",
                        "minimum": MIN_INTEGRATION_S,
                        "maximum": MAX_INTEGRATION_S,
                        "description": "seconds",
                    },
                },
                "required": ["channel", "range"],
            },
            run=self.read,
            timeout_s=None,
            asked_by=("channel", "チャンネル", "通道"),
        )


TOOLS = {"Voltmeter": lambda: Voltmeter().tool()}
