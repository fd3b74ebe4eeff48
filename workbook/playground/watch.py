"""The player: a run, step by step, with the lit state and the exact prompt.

`player("endless_retry", engine="fsm")` plays a scenario and shows the run meanwhile;
`player(trace=Trace.read(path))` shows a trace that was saved. A listener appends each
event, `render` makes the page of them, and the widgets show it.
"""

import math
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbook.guardrails.permission import Mode
from workbook.guardrails.table import GuardState
from workbook.models.choice import UnknownModel, model_health, model_name
from workbook.pages import template
from workbook.paths import DATA
from workbook.playground.engines import ENGINES, GALLERY, Listener, find_engine, play
from workbook.playground.machines import ByScript, Given
from workbook.playground.person import Form, You
from workbook.playground.punchline import DEFAULT, Punchline
from workbook.playground.render import (
    PARTS,
    TEXTS,
    is_turn,
    lit,
    macros,
    phase,
    render,
    static_html,
    table_of,
    used_up,
)
from workbook.playground.scenarios import ScenarioError, load, slugs, wing_of
from workbook.traces import Kind, Trace, TraceEvent

SCRIPTED, SLOW, LOCAL = "scripted", "slow", "local"
SLOW_TURN_S = 1.0
SHOWN_AFTER_S = 0.1  # of many events that come at once, the page shows the last
UNKNOWN = 999  # events before a run: to `End`, the first maximum is the end for ever
DEFAULT_HOSTED = "gpt-4o-mini"
STYLE = DATA / "pages/player.css"


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
        self.saved, self.parts, self._mode, self.path = trace, parts, mode, path
        self.run: Watched | None = None
        self.you, self.running, self.lock = You(), False, threading.RLock()
        self._timer: threading.Timer | None = None
        self._shown, self._setting = 0, False  # that the slider moves is no wish then
        asked = SCRIPTED if model is None else model
        engines = list(dict.fromkeys([*GALLERY, engine]))
        options = {"scenario": slugs(wing_of(scenario)), "engine": engines}
        chosen = {"scenario": scenario, "engine": engine, "model": asked}
        self._make_widgets(options | {"model": model_options(asked)}, chosen, present)
        self._choose()

    def _make_widgets(
        self, options: dict[str, list[Any]], chosen: dict[str, Any], present: bool
    ) -> None:
        import ipywidgets as widgets

        self.choices = {
            name: widgets.Dropdown(
                options=several, value=chosen[name], description=name
            )
            for name, several in options.items()
        }
        self.mode = widgets.Dropdown(options=list(Mode), description="mode")
        self.slider = widgets.IntSlider(min=0, max=UNKNOWN, description="events")
        self.buttons = {}
        for name, (word, tooltip) in TEXTS["buttons"].items():
            self.buttons[name] = widgets.Button(description=word, tooltip=tooltip)
            self.buttons[name].add_class(f"press-{name}")
            if name != "present":  # which the page does itself
                work = self.play if name == "run" else getattr(self, name)
                self.buttons[name].on_click(lambda _, do=work: do())
        self.buttons["run"].button_style = "primary"
        for dropdown in self.choices.values():
            dropdown.observe(lambda _: self._choose(), "value")
        self.mode.observe(lambda change: self.you.switch(change["new"]), "value")
        self.slider.observe(self._slid, "value")
        self.form = Form(
            lambda answer: self.you.say(answer), macros().asked, TEXTS["answers"]
        )
        self.status = widgets.HTML().add_class("status")
        parts = self.page = {name: widgets.HTML().add_class(name) for name in PARTS}
        lower = (("events", "now"), ("prompt", "turn"))
        halves = [
            widgets.VBox([parts[n] for n in two]).add_class("half") for two in lower
        ]
        halves[1].add_class("right")
        script = template("present.html").module.script(TEXTS["keys"])
        style = f"<style>{STYLE.read_text(encoding='utf-8')}</style>{script}"

        def row(*parts: Any, name: str = "row") -> Any:
            return widgets.HBox(parts).add_class("row").add_class(name)

        controls = row(*self.buttons.values(), self.slider, self.mode.add_class("mode"))
        beside = widgets.VBox([parts["pins"], parts["budgets"]]).add_class("beside")
        rows = (
            []
            if self.saved is not None
            else [row(*self.choices.values(), name="choices")]
        )
        rows += [controls, self.status, parts["question"]]
        rows += [row(parts["diagram"], beside), self.form.widget]
        rows += [row(*halves, name="lower"), widgets.HTML(style)]
        self.widget = widgets.VBox(rows).add_class("player").add_class("presents")
        if present:
            self.widget.add_class("presenting")

    def play(self) -> None:
        """Run: start, or go on to the end and follow what is still to come."""
        if self.position == len(self.events):
            self._start()
        self._seek(math.inf)

    def step(self) -> None:
        """See one more event; the first step plays the run."""
        self._begin()
        pressed = self.position if self.wanted == math.inf else self.wanted
        self._seek(pressed + 1)

    def turn(self) -> None:
        """See the model's next turn; the first one plays the run."""
        self._begin()
        with self.lock:
            later = [n for n in self._turns() if n > self.position]
            self._seek(later[0] if later else math.inf, until_turn=not later)

    def back(self) -> None:
        """See one less."""
        self._seek(self.position - 1)

    def turn_back(self) -> None:
        """See the turn before."""
        self._seek(max([n for n in self._turns() if n < self.position], default=0))

    def go_on(self) -> None:
        """Go on with a run that waits in its trace: you are asked again."""
        machine, path = self.you.machine, self._path
        if self._suspended and machine is not None and path is not None:
            self._work(lambda: machine.resume(path))
            self._seek(math.inf)

    def reset(self) -> None:
        """Go back to before the first event; a run that was played is forgotten."""
        self.cancel()
        with self.lock:
            self.run, self.you, self.running, self._problem = None, You(), False, ""
            self.written = ""
            self.entries: Sequence[Punchline] = DEFAULT
            self._path: Path | str | None = None
            self.events: list[TraceEvent] = list(self.saved or ())
            if self.saved is not None:
                self.table = table_of(self.saved)
            else:
                self.table = ENGINES[self.choices["engine"].value].table
                with suppress(ScenarioError):
                    self.entries = load(self._slug).punchline or DEFAULT
            self._seek(0)

    def cancel(self) -> None:
        """Stop the run that is going on."""
        if self.run is not None:
            self.run.stop()
            self.you.stop()

    @property
    def position(self) -> int:
        """How many events have been seen."""
        return int(min(self.wanted, len(self.events)))

    @property
    def seen(self) -> list[TraceEvent]:
        """The events up to here."""
        return self.events[: self.position]

    @property
    def _slug(self) -> str:
        return str(self.choices["scenario"].value)

    @property
    def _may_wait(self) -> bool:
        return self.table is not None and GuardState.PENDING in self.table.states

    @property
    def _suspended(self) -> bool:
        last = self.events[-1] if self.events else {}
        return not self.running and last.get("target") == GuardState.PENDING

    def _turns(self) -> list[int]:
        """Return after how many events each of the agent's turns had been written."""
        return [n for n, event in enumerate(self.events, start=1) if is_turn(event)]

    def _seek(self, position: float, until_turn: bool = False) -> None:
        """See so many events, as soon as they are there; infinity is all of them."""
        if not self.running:
            position = min(position, len(self.events))
        self.wanted, self.until_turn = max(0, position), until_turn
        self._show()

    def _slid(self, change: Any) -> None:
        if not self._setting:
            self._seek(change["new"])

    def _choose(self) -> None:
        """Make ready for what has been chosen now."""
        with suppress(ScenarioError):  # `_told` tells it
            self.mode.value = self._mode or load(self._slug).guards.mode
        self.reset()
        self.mode.layout.display = "flex" if self._may_wait else "none"

    def _begin(self) -> None:
        if not self.events:
            self._start()

    def _start(self) -> None:
        """Play the run in a thread of its own."""
        if self.saved is not None or self.running:
            return
        self.reset()
        slug, engine, model = (choice.value for choice in self.choices.values())
        pause_s, asked = (SLOW_TURN_S, None) if model == SLOW else (0.0, model)
        if again := getattr(asked, "again", None):
            asked = again()  # a script plays from its first turn
        events, self._path = self.events, self.path

        def append(event: TraceEvent) -> None:
            with self.lock:
                if event["kind"] == Kind.MODEL_REQUEST:
                    self.written = ""
                events.append(event)
                if self.until_turn and is_turn(event):
                    self.wanted, self.until_turn = len(events), False
            if events is self.events:
                self._show_soon()

        self.run = Watched(append, pause_s)
        self.you = You(self.mode.value, self._hear, self._show)
        if self._path is None and self._may_wait:
            self._path = self.you.home / "run.jsonl"  # from which it can go on
        options: Any = {"parts": self.parts, "path": self._path, "person": self.you}
        listener = self.run
        self._work(lambda: play(slug, engine, asked, listener=listener, **options))

    def _work(self, go: Callable[[], object]) -> None:
        run, self.running = self.run, True

        def work() -> None:
            problem = ""
            try:
                go()
            except BaseException as error:  # what it was belongs on the page
                problem = f"{type(error).__name__}: {error}"
            with self.lock:
                if run is self.run:
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
            self._timer, self._setting, here = None, True, self.position
            self._shown += 1
            self.slider.max = max(len(self.events), self.slider.value)
            self.slider.value = here
            self.slider.max = len(self.events) or UNKNOWN
            self._setting = False
            self.buttons["cancel"].disabled = not self.running
            can = self._suspended and self.you.machine is not None
            self.buttons["go_on"].layout.display = "flex" if can else "none"
            status = macros().status(self._told(), used_up(self.seen), self._shown)
            self.status.value = str(status).strip()
            known: Any = {"entries": self.entries, "written": self.written}
            parts = render(self.events, here, self.table, **known)
            for name, html in parts.items():
                self.page[name].value = html
            asks = self.you.request if here == len(self.events) else None
            (self.widget.add_class if asks else self.widget.remove_class)("asks")
            self.form.show(asks)

    def _told(self) -> str:
        if self._problem:
            return self._problem
        seen, at_end = self.seen, self.position == len(self.events)
        if self.events:
            place = f"{len(seen)} of {len(self.events)} events"
            now = phase(seen, self.table)
            if self.running and at_end and self.you.request:
                return (
                    f"{place} so far; it waits for you: {self.you.request.tool.name}."
                )
            if self.running:
                doing = f": {now}" if now and at_end else ""
                return f"{place} so far; the run goes on{doing}."
            stopped = " You stopped this run." * bool(self.run and self.run.raised)
            if used_up(seen):
                return f"{place}: {TEXTS['used_up']}"
            state = lit(seen, self.table) or "not begun"
            return f"{place}: {state}{f' ({now})' if now else ''}.{stopped}"
        if self.running:
            return "Getting ready…"
        try:
            return self._title() + " Press Run, or Step." * (self.saved is None)
        except ScenarioError as error:
            return f"{type(error).__name__}: {error}. Mend it, then press Run."

    def _title(self) -> str:
        if self.saved is None:
            return f"{load(self._slug).title}."
        return "A saved trace." if len(self.saved) else "A trace without events."

    def _ipython_display_(self) -> None:
        trace, engine = Trace(tuple(self.events)), self.choices["engine"].value
        scripted = self.choices["model"].value in (SCRIPTED, SLOW)
        # A live model is not asked for a page.
        if not self.events and self.saved is None and scripted:
            script = ByScript(load(self._slug).guards.answers, self.mode.value)
            trace = play(self._slug, engine, parts=self.parts, person=script)
        told = f"{self._title()} {len(trace)} events."
        show_widget(self.widget, told, static_html(trace, self.table, self._title()))


def show_widget(widget: Any, title: str, elsewhere: str) -> None:
    """Show a widget and, as an output of its own, what pages without widgets show.

    Of two kinds of one output JupyterLab takes the widget, even where it is gone.
    """
    from IPython.display import display

    page = template("present.html").module.instead(TEXTS["instead"], elsewhere)
    for shown in (widget._repr_mimebundle_(), {"text/html": str(page)}):
        display(shown | {"text/plain": title}, raw=True)  # type: ignore[no-untyped-call]


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
