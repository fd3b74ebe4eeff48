"""The player: a run, step by step, with the lit state and the exact prompt.

`player("endless_retry", engine="fsm")` plays a scenario and shows the run meanwhile;
`player(trace=Trace.read(path))` shows a trace that was saved. A listener appends each
event, `render` makes the page of them, and the widgets show it.
"""

import math
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from workbook.choice import model_name
from workbook.exercises.display import show_widget
from workbook.playground.engines import ENGINES, GALLERY, find_engine, play
from workbook.playground.machines import Given
from workbook.playground.person import You
from workbook.playground.punchline import DEFAULT, Punchline
from workbook.playground.render import is_turn, render, static_html, table_of
from workbook.playground.scenarios import ScenarioError, load, slugs, wing_of
from workbook.playground.view import SCRIPTED, View, instead, model_options
from workbook.runtime.permission import SUSPENDED
from workbook.runtime.replay import resume
from workbook.runtime.trace import Event, Kind, Trace

SHOWN_AFTER_S = 0.1  # of many events that come at once, the page shows the last


class Player:
    """A run, step by step; where widgets do not run, the trace as a table.

    Args:
        scenario: its name, see `slugs()`; `engine` is one of `ENGINES`.
        model: "local", a hosted model's name, or a model; None plays the script.
        trace: a saved run, `Trace.read(path)`, in place of a scenario.
        parts: functions in place of the package's: `your_parts("decide")`.

    A script that is given is played from its first turn in each run. A guarded engine
    asks you, who look at it, about calls that a rule wants a person for.
    """

    def __init__(
        self,
        scenario: str = "price_question",
        engine: str = "fsm",
        model: Any = None,
        trace: Trace | None = None,
        parts: Given | None = None,
    ) -> None:
        load(scenario)  # a wrong name is told here
        find_engine(engine)
        if isinstance(model, str):
            model_name(model)
        if not isinstance(trace, Trace | None):
            wrong = f"trace takes a Trace, not a {type(trace).__name__}"
            raise TypeError(f"{wrong}: player(trace=Trace.read('run.jsonl'))")
        self.saved, self.parts = trace, parts
        self.you, self.running, self.lock = You(), False, threading.RLock()
        self._timer: threading.Timer | None = None
        self._shown = 0
        asked = SCRIPTED if model is None else model
        engines = list(dict.fromkeys([*GALLERY, "guarded", "grounded", engine]))
        options = {
            "scenario": (slugs(wing_of(scenario)), scenario),
            "engine": (engines, engine),
            "model": (model_options(asked), asked),
        }
        view = self.view = View(options, self.press, lambda said: self.you.say(said))
        for choice in view.choices.values():
            choice.observe(lambda _: self._choose(), "value")
        view.mode.observe(lambda change: self.you.switch(change["new"]), "value")
        view.slider.observe(self._slid, "value")
        if trace is not None:
            view.chosen.layout.display = "none"
        self._choose()

    def press(self, name: str) -> None:
        """Do what a button says; `[buttons]` of player.toml has what that is."""
        at_end = self.position == len(self.events)
        if (name == "run" and at_end) or (name in ("step", "turn") and not self.events):
            self._start()
        match name:
            case "run":
                self._seek(math.inf)
            case "step":
                waits = self.position < self.wanted < math.inf  # pressed before, too
                self._seek(1 + (self.wanted if waits else self.position))
            case "back":
                self._seek(self.position - 1)
            case "turn":
                later = [n for n in self._turns() if n > self.position]
                self._seek(later[0] if later else math.inf, until_turn=not later)
            case "turn_back":
                before = [n for n in self._turns() if n < self.position]
                self._seek(max(before, default=0))
            case "go_on":
                self._go_on()
            case "cancel":
                self.you.stop()
            case "reset":
                self.reset()

    def _turns(self) -> list[int]:
        """Return after how many events each of the agent's turns had been written."""
        return [n for n, event in enumerate(self.events, start=1) if is_turn(event)]

    def reset(self) -> None:
        """Go back to before the first event; a run that was played is forgotten."""
        self.you.stop()
        with self.lock:
            self.you, self.running, self._problem = You(), False, ""
            self.events: list[Event] = list(self.saved or ())
            self.entries: Sequence[Punchline] = DEFAULT
            self.table = ENGINES[self.view.choices["engine"].value].table
            self.written = ""
            if self.saved is not None:
                self.table = table_of(self.saved)
            else:
                with suppress(ScenarioError):  # `_title` tells it
                    self.entries = load(self._slug).punchline or DEFAULT
            self._seek(0)

    @property
    def position(self) -> int:
        """How many events have been seen."""
        return int(min(self.wanted, len(self.events)))

    @property
    def _slug(self) -> str:
        return str(self.view.choices["scenario"].value)

    @property
    def _may_wait(self) -> bool:
        return self.table is not None and SUSPENDED in self.table.states

    @property
    def _suspended(self) -> bool:
        last = self.events[-1] if self.events and not self.running else {}
        return last.get("target") == SUSPENDED and self.you.machine is not None

    def _seek(self, position: float, until_turn: bool = False) -> None:
        """See so many events, as soon as they are there; infinity is all of them."""
        if not self.running:
            position = min(position, len(self.events))
        self.wanted, self.until_turn = max(0, position), until_turn
        self._show()

    def _slid(self, change: Any) -> None:
        if not self.view.showing:
            self._seek(change["new"])

    def _choose(self) -> None:
        """Make ready for what has been chosen now."""
        with suppress(ScenarioError):
            self.view.mode.value = load(self._slug).guards.mode
        self.reset()
        self.view.mode.layout.display = "flex" if self._may_wait else "none"

    def _start(self) -> None:
        """Play the run in a thread of its own."""
        if self.saved is not None or self.running:
            return
        self.reset()
        slug, engine, model = (choice.value for choice in self.view.choices.values())
        if again := getattr(model, "again", None):
            model = again()  # a script plays from its first turn
        events = self.events

        def append(event: Event) -> None:
            with self.lock:
                if event["kind"] == Kind.MODEL_REQUEST:
                    self.written = ""
                events.append(event)
                if events is self.events:
                    if self.until_turn and is_turn(event):
                        self.wanted, self.until_turn = len(events), False
                    self._show_soon()

        you = self.you = You(self.view.mode.value, self._hear, self._show, append)
        path = you.home / "run.jsonl" if self._may_wait else None
        options: Any = {"parts": self.parts, "path": path, "person": you}
        self._work(lambda: play(slug, engine, model, listener=you.sees, **options))

    def _go_on(self) -> None:
        """Go on with a run that waits in its trace: you are asked again."""
        you, machine = self.you, self.you.machine
        if self._suspended and machine is not None:
            path = you.home / "run.jsonl"
            self._work(lambda: resume(path, machine, listener=you.sees))
            self._seek(math.inf)

    def _work(self, go: Callable[[], object]) -> None:
        you, self.running = self.you, True

        def work() -> None:
            problem = ""
            try:
                go()
            except BaseException as error:  # what it was belongs on the page
                problem = f"{type(error).__name__}: {error}"
            with self.lock:
                if you is self.you:
                    self.running, self._problem = False, problem
                    self._show()

        self._thread = threading.Thread(target=work, daemon=True)
        self._thread.start()

    def _hear(self, piece: str) -> None:
        self.written += piece
        self._show_soon()

    def _show_soon(self) -> None:
        with self.lock:
            if self._timer is None:
                self._timer = threading.Timer(SHOWN_AFTER_S, self._show)
                self._timer.daemon = True
                self._timer.start()

    def _show(self) -> None:
        """Bring everything on view up to date. Any thread may call it."""
        with self.lock:  # or what is told was true before another thread's turn
            self._timer, here = None, self.position
            self._shown += 1
            self.view.buttons["cancel"].disabled = not self.running
            shown = "flex" if self._suspended else "none"
            self.view.buttons["go_on"].layout.display = shown
            asks = self.you.request if here == len(self.events) else None
            told: dict[str, object] = {"title": self._title(), "problem": self._problem}
            told |= {"running": self.running, "stopped": self.you.raised}
            told |= {"waits": asks.tool.name if asks else "", "written": self.written}
            told |= {"shown": self._shown}
            parts = render(self.events, here, self.table, self.entries, **told)
            self.view.show(parts, here, len(self.events), asks)

    def _title(self) -> str:
        if self.saved is not None:
            return "A saved trace." if self.saved else "A trace without events."
        try:
            return f"{load(self._slug).title}. Press Run, or Step."
        except ScenarioError as error:
            return f"{type(error).__name__}: {error}. Mend it, then press Run."

    def _ipython_display_(self) -> None:
        trace, engine = Trace(tuple(self.events)), self.view.choices["engine"].value
        # A live model is not asked for a page.
        scripted = self.view.choices["model"].value == SCRIPTED
        if not self.events and self.saved is None and scripted:
            trace = play(self._slug, engine, parts=self.parts)
        title = self._title().removesuffix(" Press Run, or Step.")
        page = static_html(trace, self.table, title)
        told = f"{title} {len(trace)} events."
        show_widget(self.view.widget, told, instead(page))


player = Player  # what one types
