"""The player steps through the trace of a run, and asks where it waits for a person.

`player("price_question", "guarded")` plays a scenario into a file. A response of the
form resumes the run in that file: nothing waits in a thread.
"""

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from workbook.choice import model_name
from workbook.runtime import permission
from workbook.runtime.machine import Machine
from workbook.runtime.replay import resume
from workbook.runtime.table import Table
from workbook.runtime.trace import Trace
from workbook.stage import steps
from workbook.stage.engines import LOOPS, find_engine, play
from workbook.stage.machines import Given, machine_for
from workbook.stage.predict import Update, show_widget
from workbook.stage.scenarios import Scenario, ScenarioError, load
from workbook.wait import waiting

BUTTONS = {"run": "Run", "back": "Back", "step": "Step", "turn": "Turn"}
BUTTONS |= {"end": "To the end", "again": "Play again", "home": "To the start"}
RESPONSES = {"approve": "Approve", "edit": "Edit", "reject": "Reject"}
RESPONSES |= {"later": "Not now"}
SPEEDS = {"1 event a second": 1000, "2 a second": 500, "5 a second": 200}


def as_json(arguments: Any) -> str:
    """Return arguments as the form shows them."""
    return json.dumps(arguments, indent=1, ensure_ascii=False)


class Player:
    """A run of a scenario, or a trace, to step through.

    Args:
        scenario: its name, see `slugs()`; `engine` is one of `ENGINES`.
        model: asked in place of the script: "local", a hosted model's name, or a model.
        trace: shown in place of a scenario.
        parts: functions in place of the package's: `your_parts("decide")`.

    With a live model the run begins as Run or Step is first pressed.
    """

    events: steps.Events = ()
    machine: Any = None  # of an engine that has one
    table: Table | None = None  # of a trace, which has no machine
    request: Any = None  # to a person, the last one
    response: permission.Answer | None = None  # of the form, to the next request
    _replace: Update | None = None  # of what a page without widgets shows
    position, problem, refused = 0, "", ""

    def __init__(
        self,
        scenario: str = "price_question",
        engine: str = "fsm",
        model: Any = None,
        trace: Trace | None = None,
        parts: Given | None = None,
    ) -> None:
        if isinstance(model, str):
            model_name(model)  # a wrong name is reported here, as the next two
        self.slug, self.entries = scenario, load(scenario).punchline
        self.engine, self.model = find_engine(engine), model
        self.trace, self.parts = trace, parts or {}
        self._build()
        if trace is not None:
            self.events, self.table = trace.events, steps.table_at(trace.events)
        elif model in (None, "scripted") or hasattr(model, "again"):
            self.begin()
        self.go(0)

    def _build(self) -> None:
        """Make the widgets."""
        import ipywidgets as w

        def buttons(
            names: dict[str, str], press: Callable[[str], None]
        ) -> Iterator[Any]:
            for name, word in names.items():
                button = w.Button(description=word).add_class(f"press-{name}")
                button.on_click(lambda _, name=name: press(name))
                yield button

        def box(name: str, *parts: Any) -> Any:
            return w.HBox(parts).add_class(name)

        self.page = {name: w.HTML().add_class(name) for name in steps.PARTS}
        status, asked, phases, budgets, pins, asks, prompt, lately = self.page.values()
        self.run, *others = buttons(BUTTONS, self.press)
        self.clock = w.Play().add_class("clock")  # it ticks in the browser
        self.slider = w.IntSlider(description="event")
        for each in (self.clock, self.slider):
            each.observe(self._moved, "value")
        word, plays = (self.run, "description"), (self.clock, "playing")
        w.dlink(plays, word, lambda is_playing: "Pause" if is_playing else "Run")
        speed = w.Dropdown(options=SPEEDS, value=500, description="speed")
        w.dlink((speed, "value"), (self.clock, "interval"))
        large = w.Checkbox(description="large", indent=False).add_class("enlarge")
        controls = [self.run, *others, speed, self.slider, large, self.clock]
        self.states, self.log = w.Output().add_class("states"), w.Output()
        self.field, self.limits = w.BoundedIntText, dict[str, Any]()
        self.budgets = box("limits", budgets)
        self.arguments = w.Textarea(description="arguments", rows=5)
        self.why = w.Text(description="why")
        answers = box("row", self.why, *buttons(RESPONSES, self.respond))
        self.form = w.VBox([box("row", asks, self.arguments), answers])
        rows = [box("controls", *controls), status, self.log, asked]
        rows += [self.states, phases, self.budgets, pins]
        rows += [self.form.add_class("approval"), box("halves", prompt, lately)]
        rows += [w.HTML(steps.write("script"))]
        self.widget = w.VBox(rows).add_class("player")

    def press(self, name: str) -> None:
        """Do what a button names."""
        was_playing, self.problem = self.clock.playing, ""
        if self.trace is None and (name == "again" or not self.events):
            self.begin()
        end = len(self.events)
        turns = [n for n, e in enumerate(self.events, 1) if e["kind"] == "model_turn"]
        later = [n for n in turns if n > self.position]
        places = {"back": self.position - 1, "step": self.position + 1, "end": end}
        places |= {"turn": [*later, end][0], "again": 0, "home": 0}
        if name == "run" and self.position == end and not steps.waits_for(self.events):
            places["run"] = 0
        self.go(places.get(name, self.position))
        plays = name == "again" or (name == "run" and not was_playing)
        self.clock.playing = plays  # last: at its end no clock starts

    def _moved(self, change: Any) -> None:
        is_late = change["owner"] is self.clock and not self.clock.playing
        goes_back = change["new"] < self.position
        if change["new"] != self.position and not (is_late and goes_back):
            self.go(change["new"])

    def begin(self) -> None:
        """Play the scenario anew."""
        self.events, self.machine, self.request, self.refused = (), None, None, ""
        self.home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.path = Path(self.home.name) / "run.jsonl"
        self._wait(self._play)

    def _play(self) -> None:
        self.entries = load(self.slug).punchline
        model = getattr(self.model, "again", lambda: self.model)()
        limits = {name: field.value for name, field in self.limits.items()}

        def make(scenario: Scenario, home: Path) -> Machine:
            about: Any = {"engine": self.engine, "model": model, "parts": self.parts}
            about |= {"ask": self._ask, "limits": limits}
            self.machine = machine = machine_for(scenario, home, **about)
            return machine

        about: Any = {"parts": self.parts, "path": self.path}
        about["make"] = None if self.engine in LOOPS else make
        play(self.slug, self.engine, model, **about)

    def _ask(self, request: permission.Request) -> permission.Answer | None:
        """Return the form's response, once; None: the run waits in its file."""
        response, self.response, self.request = self.response, None, request
        self.refused = request.problem
        return response

    def _wait(self, go: Callable[[], object]) -> None:
        """Do what may take long, in the kernel's own thread: its ■ stops it."""
        self.problem, self.log.outputs = "", ()
        log = self.log if self._replace else nullcontext()
        with log:  # it ends what is raised in it
            try:
                with waiting("playing the run"):
                    go()
            except KeyboardInterrupt:
                self.problem = "You stopped this run."
            except ScenarioError as error:  # a sentence about the scenario's file
                self.problem = f"{error}. Fix it, then press Play again."
            except Exception as error:
                self.problem = f"{type(error).__name__}: {error}"
        if self.path.exists():
            self.events = Trace.read(self.path).events
        for name, _, limit in steps.budgets_at(self.events):
            if limit is not None and name not in self.limits:
                about: Any = {"value": limit, "min": 1, "max": 10**7}
                field = self.field(description=name.replace("_", " "), **about)
                self.limits[name] = field
        self.budgets.children = [self.budgets.children[0], *self.limits.values()]
        if self._replace:
            self._replace(self._as_text())

    def go(self, position: int) -> None:
        """Show the run after so many events."""
        self.position = max(0, min(position, len(self.events)))
        is_end = self.position == len(self.events)
        if is_end:  # the browser's clock stops before it can be started again
            self.clock.playing = False
        waits = steps.waits_for(self.events) if is_end else None
        is_asked = bool(waits and self.request and not self.problem)
        about: Any = {"problem": self.problem, "refused": self.refused}
        about |= {"waits": waits, "asks": is_asked}
        table = self.machine.table if self.machine else self.table
        html = steps.page(self.events, self.position, table, self.entries, **about)
        for name, part in self.page.items():
            part.value = html[name]
        self.clock.max = self.slider.max = max(1, len(self.events))
        self.clock.value = self.slider.value = self.position
        data = {"text/vnd.mermaid": html["diagram"], "text/plain": html["diagram"]}
        picture = {"output_type": "display_data", "data": data, "metadata": {}}
        if self.states.outputs != (shown := (picture,) if table else ()):
            self.states.outputs = shown
        if is_asked and not self.refused and self.form.layout.display == "none":
            self.arguments.value = as_json(self.request.call.arguments)
        self.form.layout.display = "flex" if is_asked else "none"

    def respond(self, pressed: str) -> None:
        """Send the form's response to the run, which goes on in its file."""
        self.problem = self.refused = ""
        if pressed == "later":
            self.problem = "Not now: the run waits in its file, and Run asks again."
        elif problem := self._answer(pressed):
            self.refused = problem
        else:
            self._wait(lambda: resume(self.path, self.machine))
        self.go(self.position)
        if not self.refused:
            self.clock.playing = pressed != "later"  # after the clock knows the new end
            self.run.focus()

    def _answer(self, pressed: str) -> str:
        """Keep the response of a person, or return why it cannot be sent."""
        call, text = self.request.call, self.arguments.value
        about: Any = {"who": "you", "why": self.why.value}
        if pressed == "reject":
            self.response = permission.Reject(**about)
        elif pressed == "approve":
            if text != as_json(call.arguments):
                return "The arguments were changed: press Edit, or put them back."
            digest = permission.digest_of_call(call)
            self.response = permission.Approve(call.call_id, digest, **about)
        else:
            try:
                arguments = json.loads(text)
            except (ValueError, RecursionError) as error:
                return f"This is not JSON: {error}. Nothing was sent."
            if not isinstance(arguments, dict):
                form = '{"name": "value"}'
                return f"Arguments are an object, as {form}. Nothing was sent."
            self.response = permission.Edit(arguments, call.call_id, **about)
        return ""

    def _as_text(self) -> str:
        return steps.write("as_text", self.events, steps.refused_at(self.events))

    def _ipython_display_(self) -> None:
        self._replace = show_widget(self.widget, self._as_text())


player = Player  # what one types
