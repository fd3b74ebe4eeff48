"""The player steps through the trace of a run, and asks where it waits for a person.

`player("price_question", "guarded")` plays a scenario into a file. A response of the
form resumes the run in that file: nothing waits in a thread.
"""

import asyncio
import json
import tempfile
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from workbook.choice import model_name
from workbook.runtime.machine import Machine
from workbook.runtime.permission import (
    Answer,
    Approve,
    Edit,
    Reject,
    Request,
    digest_of_call,
)
from workbook.runtime.replay import resume
from workbook.runtime.trace import Kind, Trace
from workbook.stage.engines import LOOPS, find_engine, play
from workbook.stage.machines import Given, machine_for
from workbook.stage.scenarios import Scenario, ScenarioError, load
from workbook.stage.steps import (
    PARTS,
    Events,
    budgets_at,
    diagram,
    macros,
    page,
    refused_at,
    table_at,
    waits_for,
)
from workbook.wait import waiting

BUTTONS = {"run": "Run", "back": "Back", "step": "Step", "turn": "Turn"}
BUTTONS |= {"end": "To the end", "again": "Play again", "home": "To the start"}
RESPONSES = {"approve": "Approve", "edit": "Edit", "reject": "Reject"}
RESPONSES |= {"later": "Not now"}
SPEEDS = {"1 event a second": 1000, "2 a second": 500, "5 a second": 200}
POLL_S = 0.3  # between two looks at a file that grows


def response_to(request: Request, pressed: str, text: str, why: str) -> Answer | str:
    """Return the response of a person, or in words why it cannot be sent.

    `pressed` is approve, edit or reject; `text` are the arguments as the form has them.
    """
    call = request.call
    if pressed == "reject":
        return Reject(why, who="you")
    if pressed == "approve":
        if text != as_json(call.arguments):
            return "The arguments were changed: press Edit, or put them back."
        return Approve(call.call_id, digest_of_call(call), who="you", why=why)
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"This is not JSON: {error}. Nothing was sent."
    if not isinstance(arguments, dict):
        return 'Arguments are an object, as {"name": "value"}. Nothing was sent.'
    return Edit(arguments, call.call_id, who="you", why=why)


def as_json(arguments: Any) -> str:
    """Return arguments as the form shows them."""
    return json.dumps(arguments, indent=1, ensure_ascii=False)


class Player:
    """A run of a scenario, or a trace, to step through.

    Args:
        scenario: its name, see `slugs()`; `engine` is one of `ENGINES`.
        model: asked in place of the script: "local", a hosted model's name, or a model.
        trace: a trace, or the path of one, in place of a scenario.
        parts: functions in place of the package's: `your_parts("decide")`.

    With a live model the run begins as Run or Step is first pressed.
    """

    machine: Any = None
    request: Any = None  # to a person, the last one
    response: Answer | None = None  # of the form, to the next request
    saved: Any = None  # what a page without widgets shows
    events: Events = ()
    position, problem, refused = 0, "", ""

    def __init__(
        self,
        scenario: str = "price_question",
        engine: str = "fsm",
        model: Any = None,
        trace: Trace | Path | str | None = None,
        parts: Given | None = None,
    ) -> None:
        if isinstance(model, str):
            model_name(model)  # a wrong name is reported here, as the next two
        self.slug, self.entries = scenario, load(scenario).punchline
        self.engine, self.model = find_engine(engine), model
        self.trace, self.parts = trace, parts or {}
        folder = tempfile.TemporaryDirectory()
        weakref.finalize(self, folder.cleanup)
        self.home = Path(folder.name)
        self._build()
        if trace or model in (None, "scripted") or hasattr(model, "again"):
            self.begin()
        self.go(0)

    def _build(self) -> None:
        """Make the widgets."""
        import ipywidgets as w

        def buttons(names: dict[str, str], press: Callable[[str], None]) -> list[Any]:
            made = [w.Button(description=word) for word in names.values()]
            for name, button in zip(names, made, strict=True):
                button.on_click(lambda _, name=name: press(name))
                button.add_class(f"press-{name}")
            return made

        def box(name: str, *parts: Any) -> Any:
            return w.HBox(parts).add_class(name)

        self.page = {name: w.HTML().add_class(name) for name in PARTS}
        status, asked, phases, budgets, pins, asks, prompt, lately = self.page.values()
        self.run, *others = buttons(BUTTONS, self.press)
        self.clock = w.Play().add_class("clock")  # it ticks in the browser
        self.slider = w.IntSlider(description="event")
        for each in (self.clock, self.slider):
            each.observe(self._moved, "value")
        self.clock.observe(self._name_run, "playing")
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
        rows += [w.HTML(str(macros().script()))]
        self.widget = w.VBox(rows).add_class("player")

    def press(self, name: str) -> None:
        """Do what a button names."""
        was_playing, self.problem = self.clock.playing, ""
        if name == "again" or not self.events:
            self.begin()
        end = len(self.events)
        turns = [n for n, e in enumerate(self.events, 1) if e["kind"] == "model_turn"]
        later = [n for n in turns if n > self.position]
        places = {"back": self.position - 1, "step": self.position + 1, "end": end}
        places |= {"turn": [*later, end][0], "again": 0, "home": 0}
        if name == "run" and self.position == end and not waits_for(self.events):
            places["run"] = 0
        self.go(places.get(name, self.position))
        plays = name == "again" or (name == "run" and not was_playing)
        self.clock.playing = plays  # last: at its end no clock starts

    def _moved(self, change: Any) -> None:
        late = change["owner"] is self.clock and not self.clock.playing
        if change["new"] > self.position or (
            change["new"] < self.position and not late
        ):
            self.go(change["new"])

    def _name_run(self, change: Any) -> None:
        self.run.description = "Pause" if change["new"] else "Run"

    def begin(self) -> None:
        """Play the scenario, or read the trace, anew."""
        self.events, self.machine, self.request, self.refused = (), None, None, ""
        self.path = Path(tempfile.mkdtemp(dir=self.home)) / "run.jsonl"
        self._wait(self._play if self.trace is None else self._read)

    def _play(self) -> None:
        self.entries = load(self.slug).punchline
        self.asked = getattr(self.model, "again", lambda: self.model)()
        about: Any = {"parts": self.parts, "path": self.path}
        about |= {} if self.engine in LOOPS else {"make": self._machine}
        play(self.slug, self.engine, self.asked, **about)

    def _machine(self, scenario: Scenario, home: Path) -> Machine:
        """Return the machine that plays, with the limits that the page has."""
        about: Any = {"engine": self.engine, "model": self.asked, "parts": self.parts}
        about["limits"] = {name: field.value for name, field in self.limits.items()}
        machine = machine_for(scenario, home, ask=self._ask, **about)
        self.machine = machine
        return machine

    def _ask(self, request: Request) -> Answer | None:
        """Return the form's response, once; None: the run waits in its file."""
        response, self.response, self.request = self.response, None, request
        self.refused = request.problem
        return response

    def _wait(self, go: Callable[[], object]) -> None:
        """Do what may take long, in the kernel's own thread: its ■ stops it."""
        self.problem, self.log.outputs = "", ()
        with self.log if self.saved else nullcontext():  # it ends what is raised in it
            try:
                with waiting("playing the run"):
                    go()
            except KeyboardInterrupt:
                self.problem = "You stopped this run."
            except ScenarioError as error:  # a sentence about the scenario's file
                self.problem = f"{error}. Fix it, then press Play again."
            except Exception as error:
                self.problem = f"{type(error).__name__}: {error}"
        self._read()
        if self.saved:
            self.saved.update(self._as_text(), raw=True)

    def _read(self) -> None:
        """Read the events that the trace has by now."""
        path = self.path if self.trace is None else self.trace
        if isinstance(path, Trace):
            self.events = path.events
        elif Path(path).exists():
            self.events = Trace.read(path).events
        for name, _, limit in budgets_at(self.events):
            if limit is not None and name not in self.limits and self.trace is None:
                about: Any = {"value": limit, "min": 1, "max": 10**7}
                field = self.field(description=name.replace("_", " "), **about)
                self.limits[name] = field
        self.budgets.children = [self.budgets.children[0], *self.limits.values()]

    async def _follow(self) -> None:
        """Read the file again and again until its run has ended; stay at its end."""
        while not (self.events and self.events[-1]["kind"] == Kind.RUN_FINISHED):
            await asyncio.sleep(POLL_S)
            before = len(self.events)
            self._read()
            if before != (now := len(self.events)):
                self.go(now if self.position == before else self.position)

    def go(self, position: int) -> None:
        """Show the run after so many events."""
        self.position = max(0, min(position, len(self.events)))
        table = self.machine.table if self.machine else table_at(self.events)
        is_end = self.position == len(self.events)
        if is_end:  # the browser's clock stops before it can be started again
            self.clock.playing = False
        waits = waits_for(self.events) if is_end else None
        is_asked = bool(waits and self.request and not self.problem)
        about: Any = {"problem": self.problem, "refused": self.refused}
        about |= {"waits": waits, "trace": self.trace is not None}
        html = page(
            self.events, self.position, table, self.entries, asks=is_asked, **about
        )
        for name, part in self.page.items():
            part.value = html[name]
        self.clock.max = self.slider.max = max(1, len(self.events))
        self.clock.value = self.slider.value = self.position
        source = diagram(self.events[: self.position], table) if table else ""
        data = {"text/vnd.mermaid": source, "text/plain": source}
        picture = {"output_type": "display_data", "data": data, "metadata": {}}
        if self.states.outputs != (shown := (picture,) if table else ()):
            self.states.outputs = shown
        if is_asked and not self.refused and self.form.layout.display == "none":
            self.arguments.value = as_json(self.request.call.arguments)
        self.form.layout.display = "flex" if is_asked else "none"

    def respond(self, pressed: str) -> None:
        """Send the form's response to the run, which goes on in its file."""
        self.problem = self.refused = ""
        text, why = self.arguments.value, self.why.value
        if pressed == "later":
            self.problem = "Not now: the run waits in its file, and Run asks again."
        elif isinstance(made := response_to(self.request, pressed, text, why), str):
            self.refused = made
        else:
            self.response = made
            self._wait(lambda: resume(self.path, self.machine))
        self.go(self.position)
        if not self.refused:
            self.clock.playing = pressed != "later"  # after the clock knows the new end
            self.run.focus()

    def _as_text(self) -> dict[str, str]:
        html = str(macros().as_text(self.events, refused_at(self.events)))
        return {"text/html": html, "text/plain": f"A run of {len(self.events)} events."}

    def _ipython_display_(self) -> None:
        from IPython import display

        show: Any = display.display
        show(self.widget._repr_mimebundle_() | {"text/plain": "A player."}, raw=True)
        self.saved = show(self._as_text(), raw=True, display_id=True)
        if isinstance(self.trace, Path | str):
            self.task = asyncio.ensure_future(self._follow())


player = Player  # what one types
