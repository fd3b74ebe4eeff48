"""The player: a run, step by step, with the lit state and the exact prompt.

`player("endless_retry", engine="fsm")` plays a scenario and shows the run meanwhile;
`player(trace=Trace.read(path))` shows a trace that was saved.
"""

import math
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbook.guardrails.permission import Mode
from workbook.guardrails.table import GuardState
from workbook.models.choice import UnknownModel, model_health, model_name
from workbook.playground.engines import ENGINES, GALLERY, Listener, find_engine, play
from workbook.playground.machines import ByScript, Given
from workbook.playground.person import You
from workbook.playground.playback import TEXTS, Playback
from workbook.playground.player_view import (
    BUTTONS,
    PlayerView,
    show_widget,
    static_html,
)
from workbook.playground.scenarios import ScenarioError, load, slugs, wing_of
from workbook.traces import Kind, Trace, TraceEvent

SCRIPTED, SLOW, LOCAL = "scripted", "slow", "local"
SLOW_TURN_S = 1.0
REFRESH_S = 0.1
FIRST_EVENT_S = 1.0  # as long is one waited for
DEFAULT_HOSTED = "gpt-4o-mini"


class Watched:
    """A run's listener: pauses before turns; once stopped, raises as Ctrl-C would."""

    def __init__(self, listener: Listener, pause_s: float = 0.0) -> None:
        self.listener, self.pause_s = listener, pause_s
        self._said, self.raised = threading.Event(), False

    def stop(self) -> None:
        """End the run at its next event, or at once where it pauses."""
        self._said.set()

    def __call__(self, event: TraceEvent) -> None:
        self.listener(event)
        if event["kind"] == Kind.MODEL_REQUEST:
            self._said.wait(self.pause_s)
        over = self.raised or event["kind"] == Kind.RUN_FINISHED
        if self._said.is_set() and not over:
            self.raised = True
            raise KeyboardInterrupt("stopped by the user")


class Player:
    """A run, step by step; where widgets do not run, the trace as a table.

    Args:
        scenario: its name, see `slugs()`; `engine` is one of `ENGINES`.
        model: "local", "slow" (the script, a turn a second), a hosted model's name, or
            a model; None plays the script.
        trace: a saved run, `Trace.read(path)`, in place of a scenario.
        parts: functions in place of the package's: `your_parts("decide")`.
        mode: "plan" or "build", in which a guarded run begins; None: the scenario's.
        path: where the trace of a run is written as well, as JSONL.
        present: whether it fills the window, for a class; the key P switches.

    A script that is given is played from its first turn in each run. A guarded engine
    asks you, who look at it, about calls that a rule wants a person for.
    """

    run: Watched | None = None
    you = You()  # nobody, before a run
    _thread: threading.Thread | None = None

    def __init__(
        self,
        scenario: str = "price_question",
        engine: str = "fsm",
        model: Any = None,
        trace: Trace | None = None,
        parts: Given | None = None,
        mode: str | None = None,
        path: Path | str | None = None,
        present: bool = False,
    ) -> None:
        load(scenario)  # a wrong name is told here
        find_engine(engine)
        if isinstance(model, str):
            model_name(model)
        if not isinstance(trace, Trace | None):
            wrong = f"trace takes a Trace, not a {type(trace).__name__}"
            raise TypeError(f"{wrong}: player(trace=Trace.read('run.jsonl'))")
        if mode not in (None, *Mode):
            raise ValueError(f"mode is {mode!r}: a run plans ('plan') or builds")
        self.saved, self.parts, self.mode, self.path = trace, parts, mode, path
        asked = SCRIPTED if model is None else model
        engines, models = list(dict.fromkeys([*GALLERY, engine])), model_options(asked)
        there = slugs(wing_of(scenario))
        options = {"scenario": there, "engine": engines, "model": models}
        chosen = (scenario, engine, asked)
        self.view = PlayerView(
            options, chosen, trace is None, lambda said: self.you.say(said)
        )
        for name in BUTTONS:
            work = self.play if name == "run" else getattr(self, name)
            self.view.buttons[name].on_click(lambda _, do=work: do())
        for dropdown in self.view.choices.values():
            dropdown.observe(lambda _: self._choose(), "value")
        self.view.mode.observe(lambda change: self.you.switch(change["new"]), "value")
        self.view.slider.observe(self._slid, "value")
        self.view.present(present)
        self._choose()

    def play(self) -> None:
        """Run: start, or go on to the end and follow what is still to come."""
        if self.playback.at_end:
            self._start()
        self.playback.seek(math.inf)
        self._show()

    def step(self) -> None:
        """See one more event; the first step plays the run."""
        if not self.playback.events:
            self._start()
        self.playback.move(1)
        self._show()

    def turn(self) -> None:
        """See the model's next turn; the first one plays the run."""
        if not self.playback.events:
            self._start()
        self.playback.next_turn()
        self._show()

    def back(self) -> None:
        """See one less."""
        self.playback.move(-1)
        self._show()

    def turn_back(self) -> None:
        """See the turn before."""
        self.playback.last_turn()
        self._show()

    def present(self) -> None:
        """Fill the window, for a class, or be a part of the page again."""
        self.view.present(not self.view.presenting)
        self._show()

    def reset(self) -> None:
        """Go back to before the first event; a run that was played is forgotten."""
        self.cancel()
        self.run, self._thread, self._problem = None, None, ""
        if self.saved is not None:
            self.playback = Playback.of(self.saved)
        else:
            self.playback = Playback(table=ENGINES[self._chosen()[1]].table)
            with suppress(ScenarioError):
                pinned = load(self._chosen()[0]).punchline
                self.playback.punchline = pinned or self.playback.punchline
        self._show()

    def cancel(self) -> None:
        """Stop the run that is going on."""
        if self.run is not None:
            self.run.stop()
            self.you.stop()

    @property
    def running(self) -> bool:
        """Whether a run is going on."""
        return self._thread is not None and self._thread.is_alive()

    def _ipython_display_(self) -> None:
        events = self.playback.events
        slug, engine, model = self._chosen()
        # A live model is not asked for a page.
        if not events and self.saved is None and model in (SCRIPTED, SLOW):
            script = ByScript(load(slug).guards.answers, self.view.mode.value)
            events = list(play(slug, engine, parts=self.parts, person=script))
        playback = Playback(events, math.inf, self.playback.table)
        told = f"{self._title()} {len(playback.events)} events."
        show_widget(self.view.widget, told, static_html(playback, self._title()))

    def _slid(self, change: Any) -> None:
        if not self.view.showing:
            self.playback.seek(change["new"])
            self._show()

    def _choose(self) -> None:
        """Make ready for what has been chosen now."""
        slug, engine, _ = self._chosen()
        with suppress(ScenarioError):  # `_told` tells it
            self.view.mode.value = self.mode or load(slug).guards.mode
        has_modes = GuardState.POLICY in getattr(ENGINES[engine].table, "states", ())
        self.view.mode.layout.display = "flex" if has_modes else "none"
        self.reset()

    def _start(self) -> None:
        """Play the run in a thread of its own, and let another one show it."""
        if self.saved is not None or self.running:
            return
        self.reset()
        slug, engine, model = self._chosen()
        pause_s, asked = (SLOW_TURN_S, None) if model == SLOW else (0.0, model)
        if again := getattr(asked, "again", None):
            asked = again()  # a script plays from its first turn
        run = self.run = Watched(self.playback.add, pause_s)
        mode = self.view.mode.value
        self.you = You(mode, self.playback.hear, self._show)
        options: Any = {"parts": self.parts, "path": self.path, "person": self.you}

        def work() -> None:
            try:
                play(slug, engine, asked, listener=run, **options)
            except BaseException as error:  # what it was belongs on the page
                if run is self.run:
                    self._problem = f"{type(error).__name__}: {error}"

        thread = self._thread = threading.Thread(target=work, daemon=True)
        thread.start()
        until = time.monotonic() + FIRST_EVENT_S  # so that a step has one to show
        while (
            not self.playback.events and thread.is_alive() and time.monotonic() < until
        ):
            thread.join(0.01)
        threading.Thread(target=self._keep_up, args=(thread,), daemon=True).start()

    def _keep_up(self, thread: threading.Thread) -> None:
        """Show what is new, ten times a second, until the end has been shown."""
        running = True
        while running:
            thread.join(REFRESH_S)
            running = thread.is_alive()
            if thread is self._thread:
                self._show()

    def _chosen(self) -> list[Any]:
        return [choice.value for choice in self.view.choices.values()]

    def _show(self) -> None:
        with self.view.lock:  # or what is told was true before another thread's turn
            asked = self.you.request if self.running and not self._untold else None
            self.view.show(self.playback, self.running, self._told(), asked)

    @property
    def _untold(self) -> bool:
        """Whether a class has not come to where the run is, which is not told."""
        return self.view.presenting and not self.playback.at_end

    def _told(self) -> str:
        playback = self.playback
        if self._problem:
            return self._problem
        if playback.events:
            place = f"{playback.position} of {len(playback.events)} events"
            phase = playback.phase
            if self.running and not self._untold:
                told = f"{place} so far; the run "
                if self.you.request:
                    return f"{told}waits for you: {self.you.request.tool.name}."
                return f"{told}goes on{f': {phase}' * playback.at_end}."
            stopped = " You stopped this run." * bool(self.run and self.run.raised)
            if playback.used_up:
                return f"{place}: {TEXTS['used_up']}"
            now = f"{playback.lit or 'not begun'}{f' ({phase})' if phase else ''}"
            return f"{place}: {now}.{stopped}"
        if self.running:
            return "Getting ready…"
        try:
            return self._title() + " Press Run, or Step." * (self.saved is None)
        except ScenarioError as error:
            return f"{type(error).__name__}: {error}. Mend it, then press Run."

    def _title(self) -> str:
        if self.saved is None:
            return f"{load(self._chosen()[0]).title}."
        return "A saved trace." if len(self.saved) else "A trace without events."


def model_options(chosen: Any) -> list[tuple[str, Any]]:
    """Return the models that can be chosen: names on view, and what they stand for."""
    options: list[tuple[str, Any]] = [
        ("scripted", SCRIPTED),
        ("scripted, a turn a second", SLOW),
        ("local: SmolLM2 in this process", LOCAL),
    ]
    if model_health(DEFAULT_HOSTED)[0]:  # it has a key, or an endpoint of its own
        named = SCRIPTED
        with suppress(UnknownModel):  # the lesson's first cell has said so
            named = model_name()
        hosted = DEFAULT_HOSTED if named in (SCRIPTED, LOCAL) else named
        options.append((f"hosted: {hosted}", hosted))
    if not isinstance(chosen, str):
        options.append((f"given: {getattr(chosen, 'name', 'a model')}", chosen))
    elif chosen not in [value for _, value in options]:
        options.append((f"hosted: {chosen}", chosen))
    return options


player = Player  # what one types
