"""The player: a run, step by step, with the lit state and the exact prompt.

`player("endless_retry", engine="fsm")` is all one types. It plays a scenario and shows
the run as it goes on, or a trace that was saved: `player(trace=Trace.read(path))`.
"""

from __future__ import annotations

import threading
from typing import Any

from workbook.fsm.table import CORE, Table
from workbook.record.events import TraceEvent
from workbook.record.show import MIME_TYPE
from workbook.record.trace import Trace
from workbook.stage import player_parts as parts
from workbook.stage.live_run import SCRIPTED, SLOW, LiveRun
from workbook.stage.playback import Playback
from workbook.stage.player_view import BUTTONS, PlayerView
from workbook.stage.scenarios import ScenarioError, load

REFRESH_S = 0.1


class Player:
    """What the buttons do; where widgets do not run, the trace as a table.

    Args:
        scenario: its name, see `slugs()`.
        engine: one of `ENGINES`.
        model: a name, or a model; None plays the scenario's script.
        trace: a saved run to show in place of playing one.
        table: the machine's, for the diagram.
    """

    playback: Playback
    run: LiveRun | None = None

    def __init__(
        self,
        scenario: str = "price_question",
        engine: str = "fsm",
        model: Any = None,
        trace: Trace | None = None,
        table: Table = CORE,
    ) -> None:
        LiveRun(scenario, engine, model)  # a wrong name is told here
        if not isinstance(trace, Trace | None):
            raise TypeError(
                f"trace takes a Trace, not a {type(trace).__name__}:"
                " player(trace=Trace.read('run.jsonl'))"
            )
        self.table, self.saved = table, trace
        self._thread: threading.Thread | None = None
        chosen = (scenario, engine, SCRIPTED if model is None else model)
        work = {name: getattr(self, name) for name in BUTTONS if name != "run"}
        work |= {"run": self.play, "choose": self.reset, "seek": self.seek}
        self.view = PlayerView(chosen, trace is None, work)
        self._forget()
        self._show()

    def play(self) -> None:
        """Run: start, or go on to the end and follow what is still to come."""
        if self.playback.at_end and self._can_start():
            self._start()
        self.playback.follow()
        self._show()

    def step(self) -> None:
        """See one more event; the first step plays the run."""
        if not self.playback.events and self._can_start():
            self._start()
        self.playback.forward()
        self._show()

    def back(self) -> None:
        """See one less."""
        self.playback.back()
        self._show()

    def seek(self, position: int) -> None:
        """See so many events."""
        self.playback.seek(position)
        self._show()

    def reset(self) -> None:
        """Go back to before the first event; a run that was played is forgotten."""
        self._forget()
        self._show()

    def cancel(self) -> None:
        """Stop the run that is going on."""
        if self.run is not None:
            self.run.cancel()
        self._show()

    @property
    def running(self) -> bool:
        """Whether a run is going on."""
        return self._thread is not None and self._thread.is_alive()

    def join(self, timeout_s: float = 60.0) -> None:
        """Wait until the run has ended, and show its end."""
        if self._thread is not None:
            self._thread.join(timeout_s)
        self._show()

    def _can_start(self) -> bool:
        return self.saved is None and not self.running

    def _start(self) -> None:
        """Play the run in a thread of its own, and another one that shows it."""
        self._forget()
        playback, changed = self.playback, threading.Event()

        def listen(event: TraceEvent) -> None:
            playback.add(event)
            changed.set()

        def work() -> None:
            try:
                run.play()
            except BaseException as error:  # what it was belongs on the page
                if run is self.run:
                    self._problem = f"{type(error).__name__}: {error}"
            finally:
                changed.set()

        try:
            run = LiveRun(*self._chosen(), listener=listen)
        except ScenarioError as error:  # its file has been edited since
            self._problem = f"{type(error).__name__}: {error}"
            return
        self.run = run
        thread = self._thread = threading.Thread(target=work, daemon=True)
        thread.start()
        watch = (thread, changed)
        threading.Thread(target=self._keep_up, args=watch, daemon=True).start()

    def _keep_up(self, thread: threading.Thread, changed: threading.Event) -> None:
        """Show what is new, at most ten times a second, as long as the run goes on."""
        while thread.is_alive():
            changed.wait()
            changed.clear()
            thread.join(REFRESH_S)
            if thread is self._thread:
                self._show()
        if thread is self._thread:  # it may have ended while it was being shown
            self._show()

    def _forget(self) -> None:
        if self.run is not None:
            self.run.cancel()
        self.run = self._thread = None
        self._problem = ""
        engine = "" if self.saved is not None else self.view.engine.value
        self.playback = Playback.of(self.saved or Trace(()), self.table, engine)

    def _chosen(self) -> tuple[str, str, Any]:
        slug, engine, model = (choice.value for choice in self.view.choices)
        return slug, engine, model

    def _show(self) -> None:
        self.view.show(self.playback, self.running, self._told())

    def _told(self) -> str:
        playback = self.playback
        if self._problem:
            return self._problem
        if not playback.events:
            if self.running:
                return "Getting ready…"
            if self.saved is not None:
                return self._title()
            try:
                return f"{self._title()} Press Run, or Step."
            except ScenarioError as error:
                return f"{type(error).__name__}: {error}. Mend it, then press Run."
        place = f"{playback.position} of {len(playback.events)} events"
        if self.running:
            return f"{place} so far; the run goes on."
        return f"{place}: {playback.lit or 'not begun'}."

    def _title(self) -> str:
        if self.saved is not None:
            return "A saved trace." if len(self.saved) else "A trace without events."
        return f"{load(self.view.scenario.value).title}."

    def static(self) -> Playback:
        """Return what a page without widgets shows: the run to its end.

        A script is played for it. A live model is not asked.
        """
        slug, engine, model = self._chosen()
        kept = self.saved is not None or self.playback.events
        if kept or model not in (SCRIPTED, SLOW):
            events = Trace(tuple(self.playback.events))
        else:
            events = LiveRun(slug, engine, SCRIPTED).play()
        playback = Playback.of(events, self.table, engine)
        playback.follow()
        return playback

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        playback = self.static()
        bundle = self.view.widget._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        return {
            **data,
            "text/html": parts.static_html(playback, self._title()),
            MIME_TYPE: playback.diagram(),
            "text/plain": f"{self._title()} {len(playback.events)} events.",
        }


def player(
    scenario: str = "price_question",
    engine: str = "fsm",
    model: Any = None,
    trace: Trace | None = None,
    table: Table = CORE,
) -> Player:
    """Show a run step by step.

    Args:
        scenario: its name, see `slugs()`.
        engine: "naive", "langchain" or "fsm".
        model: "local", "slow" (the script, a turn a second), a hosted model's name, or
            a model; None plays the script.
        trace: a saved run, `Trace.read(path)`, in place of a scenario.
        table: the table of the machine, for the diagram.

    Raises:
        ScenarioError: there is no such scenario or engine.
        UnknownModel: the model's name is a slip for one of ours.
    """
    return Player(scenario, engine, model, trace, table)
