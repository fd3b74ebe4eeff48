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
    Told,
    is_turn,
    macros,
    render,
    static_html,
    table_of,
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

        def row(*parts: Any) -> Any:
            return widgets.HBox(parts).add_class("row")

        self.choices, self.buttons = {}, {}
        for name, several in options.items():
            choice = widgets.Dropdown(options=several, description=name)
            choice.value = chosen[name]
            choice.observe(lambda _: self._choose(), "value")
            self.choices[name] = choice
        for name, (word, tooltip) in TEXTS["buttons"].items():
            button = widgets.Button(description=word, tooltip=tooltip)
            button.on_click(lambda _, name=name: self.press(name))
            self.buttons[name] = button.add_class(f"press-{name}")
        self.buttons["run"].button_style = "primary"
        self.mode = widgets.Dropdown(options=list(Mode), description="mode")
        self.mode.observe(lambda change: self.you.switch(change["new"]), "value")
        self.slider = widgets.IntSlider(min=0, max=UNKNOWN, description="events")
        self.slider.observe(self._slid, "value")
        say = lambda answer: self.you.say(answer)  # noqa: E731 - each run has its own
        self.form = Form(say, macros().asked, TEXTS["answers"])
        page = self.page = {name: widgets.HTML().add_class(name) for name in PARTS}
        left, right, beside = (
            widgets.VBox([page[name] for name in names.split()])
            for names in ("events now", "prompt turn", "pins budgets")
        )
        halves = row(left.add_class("half"), right.add_class("half").add_class("right"))
        controls = row(*self.buttons.values(), self.slider, self.mode.add_class("mode"))
        script = template("present.html").module.script(TEXTS["keys"])
        style = f"<style>{STYLE.read_text(encoding='utf-8')}</style>{script}"
        rows = [row(*self.choices.values()).add_class("choices")]
        rows[0].layout.display = "none" if self.saved is not None else "flex"
        rows += [controls, page["status"], page["question"]]
        rows += [row(page["diagram"], beside.add_class("beside")), self.form.widget]
        rows += [halves.add_class("lower"), widgets.HTML(style)]
        self.widget = widgets.VBox(rows).add_class("player").add_class("presents")
        if present:
            self.widget.add_class("presenting")

    def press(self, name: str) -> None:
        """Do what a button says; `[buttons]` of player.toml has what that is."""
        at_end = self.position == len(self.events)
        if (name == "run" and at_end) or (name in ("step", "turn") and not self.events):
            self._start()
        match name:
            case "run":
                self._seek(math.inf)
            case "step":
                self._seek(
                    1 + (self.wanted if self.wanted < math.inf else self.position)
                )
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
                self.cancel()
            case "reset":
                self.reset()

    def _turns(self) -> list[int]:
        """Return after how many events each of the agent's turns had been written."""
        return [n for n, event in enumerate(self.events, start=1) if is_turn(event)]

    def reset(self) -> None:
        """Go back to before the first event; a run that was played is forgotten."""
        self.cancel()
        with self.lock:
            self.run, self.you, self.running, self._problem = None, You(), False, ""
            self.events: list[TraceEvent] = list(self.saved or ())
            self.entries: Sequence[Punchline] = DEFAULT
            self.table = ENGINES[self.choices["engine"].value].table
            self.written = ""
            if self.saved is not None:
                self.table = table_of(self.saved)
            else:
                with suppress(ScenarioError):  # `_title` tells it
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
    def _slug(self) -> str:
        return str(self.choices["scenario"].value)

    @property
    def _may_wait(self) -> bool:
        return self.table is not None and GuardState.PENDING in self.table.states

    @property
    def _suspended(self) -> bool:
        last = self.events[-1] if self.events and not self.running else {}
        return last.get("target") == GuardState.PENDING and self.you.machine is not None

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
        with suppress(ScenarioError):
            self.mode.value = self._mode or load(self._slug).guards.mode
        self.reset()
        self.mode.layout.display = "flex" if self._may_wait else "none"

    def _start(self) -> None:
        """Play the run in a thread of its own."""
        if self.saved is not None or self.running:
            return
        self.reset()
        slug, engine, model = (choice.value for choice in self.choices.values())
        pause_s, asked = (SLOW_TURN_S, None) if model == SLOW else (0.0, model)
        if again := getattr(asked, "again", None):
            asked = again()  # a script plays from its first turn
        events = self.events

        def append(event: TraceEvent) -> None:
            with self.lock:
                if event["kind"] == Kind.MODEL_REQUEST:
                    self.written = ""
                events.append(event)
                if events is self.events:
                    if self.until_turn and is_turn(event):
                        self.wanted, self.until_turn = len(events), False
                    self._show_soon()

        run = self.run = Watched(append, pause_s)
        self.you = You(self.mode.value, self._hear, self._show)
        self._path = self.path
        if self._path is None and self._may_wait:
            self._path = self.you.home / "run.jsonl"  # from which it can go on
        options: Any = {"parts": self.parts, "path": self._path, "person": self.you}
        self._work(lambda: play(slug, engine, asked, listener=run, **options))

    def _go_on(self) -> None:
        """Go on with a run that waits in its trace: you are asked again."""
        machine, path = self.you.machine, self._path
        if self._suspended and machine is not None and path is not None:
            self._work(lambda: machine.resume(path))
            self._seek(math.inf)

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
            self.buttons["go_on"].layout.display = "flex" if self._suspended else "none"
            asks = self.you.request if here == len(self.events) else None
            told = Told(
                self._title(),
                self._problem,
                self.running,
                asks.tool.name if asks else "",
                bool(self.run and self.run.raised),
                self.written,
                self._shown,
            )
            parts = render(self.events, here, self.table, self.entries, told)
            for name, html in parts.items():
                self.page[name].value = html
            (self.widget.add_class if asks else self.widget.remove_class)("asks")
            self.form.show(asks)

    def _title(self) -> str:
        if self.saved is not None:
            return "A saved trace." if self.saved else "A trace without events."
        try:
            return f"{load(self._slug).title}. Press Run, or Step."
        except ScenarioError as error:
            return f"{type(error).__name__}: {error}. Mend it, then press Run."

    def _ipython_display_(self) -> None:
        trace, engine = Trace(tuple(self.events)), self.choices["engine"].value
        scripted = self.choices["model"].value in (SCRIPTED, SLOW)
        # A live model is not asked for a page.
        if not self.events and self.saved is None and scripted:
            script = ByScript(load(self._slug).guards.answers, self.mode.value)
            trace = play(self._slug, engine, parts=self.parts, person=script)
        title = f"{self._title().removesuffix(' Press Run, or Step.')}"
        page = static_html(trace, self.table, title)
        show_widget(self.widget, f"{title} {len(trace)} events.", page)


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
