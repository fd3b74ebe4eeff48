"""A scenario that is being played, and that somebody may stop.

The machine has a `cancel`. The other engines know no such thing: they ask the model
again, and the model raises, as if the user had pressed Ctrl-C there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from workbook.models.base import Completion, TextModel
from workbook.models.choice import model_name
from workbook.models.script import Script
from workbook.record.events import TraceEvent
from workbook.record.trace import Trace
from workbook.record.writer import TraceWriter
from workbook.stage.engines import (
    ENGINES,
    asked_model,
    check_engine,
    machine_for,
)
from workbook.stage.scenarios import Scenario, load
from workbook.stage.scripted_tools import interrupt, scenario_tools

SCRIPTED, SLOW, LOCAL = "scripted", "slow", "local"
SLOW_TURN_S = 1.0
MAX_TOKENS = 120


class Stoppable:
    """A model that is not asked any more once the user has said stop.

    Args:
        model: the model that is asked.
        stopped: set when the user says so.
        on_stop: called in place of a question after that.
        pause_s: how long to think before each turn, so that a run can be watched.
    """

    def __init__(
        self,
        model: TextModel,
        stopped: threading.Event,
        on_stop: Callable[[], None],
        pause_s: float = 0.0,
    ) -> None:
        self.name, self.model = model.name, model
        self.stopped, self.on_stop, self.pause_s = stopped, on_stop, pause_s
        script = getattr(model, "script", model)
        if isinstance(script, Script):  # LangChain's adapters ask for it
            self.script = script

    def complete(self, prompt: str, *, stop: Sequence[str] = ()) -> Completion:
        """Ask the model, unless the user has said stop."""
        if self.pause_s:
            self.stopped.wait(self.pause_s)
        if self.stopped.is_set():
            self.on_stop()
        return self.model.complete(prompt, stop=stop)


class LiveRun:
    """One run of a scenario on an engine.

    Args:
        slug: the scenario's name.
        engine: one of `ENGINES`.
        model: "scripted", "slow" (the script, a second a turn), "local", another
            model's name, or a model.
        listener: told each event, in the thread in which the run is played.

    Raises:
        ScenarioError: there is no such scenario or engine.
        UnknownModel: the name is a slip for one of ours.
    """

    def __init__(
        self,
        slug: str,
        engine: str,
        model: Any = SCRIPTED,
        listener: Callable[[TraceEvent], None] | None = None,
    ) -> None:
        self.scenario: Scenario = load(slug)
        check_engine(engine)
        if isinstance(model, str):
            model_name(model)
        self.engine, self.model, self.listener = engine, model, listener
        self._stopped = threading.Event()
        self._cancel: Callable[[], None] = lambda: None

    def play(self) -> Trace:
        """Play to the end and return the trace.

        Raises:
            Exception: the model cannot be had; what it says afterwards is in the trace.
        """
        on_stop = interrupt if self.engine != "fsm" else lambda: None
        pause_s = SLOW_TURN_S if self.model == SLOW else 0.0
        model = Stoppable(self._asked(), self._stopped, on_stop, pause_s)
        tools = scenario_tools(self.scenario)
        with TraceWriter(listener=self.listener) as emit:
            if self.engine == "fsm":
                machine = machine_for(self.scenario, model, tools, emit)
                self._cancel = machine.cancel
                if self._stopped.is_set():
                    machine.cancel()
                machine.run(self.scenario.question)
            else:
                ENGINES[self.engine](self.scenario, model, tools, emit)
            return emit.trace()

    def cancel(self) -> None:
        """Stop the run, at its next transition or its next question to the model."""
        self._stopped.set()
        self._cancel()

    def _asked(self) -> TextModel:
        if self.model in (None, SCRIPTED, SLOW):
            return self.scenario.script()
        options = {"max_tokens": MAX_TOKENS} if self.model == LOCAL else {}
        return asked_model(self.scenario, self.model, **options)
