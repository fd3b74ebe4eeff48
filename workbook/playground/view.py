"""The widgets of the player, and the form in which a person answers about a call."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from workbook.choice import UnknownModel, model_name
from workbook.pages import template
from workbook.paths import DATA
from workbook.playground.person import answered, shown_arguments
from workbook.playground.render import PARTS, TEXTS, macros
from workbook.runtime.permission import Answer, Mode, Request

SCRIPTED, LOCAL = "scripted", "local"
STYLE = DATA / "pages/player.css"
UNKNOWN = 999  # events before a run: to `End`, the first maximum is the end for ever


class View:
    """What is on view. `press` is told the name of a button, `say` what you answer.

    Args:
        options: what can be chosen, and what is, by name.
    """

    def __init__(
        self,
        options: Mapping[str, tuple[Any, Any]],
        press: Callable[[str], None],
        say: Callable[[Answer | None], object],
    ) -> None:
        import ipywidgets as widgets

        def row(*parts: Any) -> Any:
            return widgets.HBox(parts).add_class("row")

        self.choices = {
            name: widgets.Dropdown(options=several, value=one, description=name)
            for name, (several, one) in options.items()
        }
        self.buttons = {}
        for name, (word, tooltip) in TEXTS["buttons"].items():
            button = widgets.Button(description=word, tooltip=tooltip)
            button.on_click(lambda _, name=name: press(name))
            self.buttons[name] = button.add_class(f"press-{name}")
        self.buttons["run"].button_style = "primary"
        self.mode = widgets.Dropdown(options=list(Mode), description="mode")
        self.slider = widgets.IntSlider(min=0, max=UNKNOWN, description="events")
        self.showing = False  # that the slider moves is then nobody's wish
        self.form = Form(say)
        page = self.page = {name: widgets.HTML().add_class(name) for name in PARTS}
        left, right, beside = (
            widgets.VBox([page[name] for name in names.split()])
            for names in ("events now", "prompt turn", "pins budgets")
        )
        halves = row(left.add_class("half"), right.add_class("half").add_class("right"))
        controls = row(*self.buttons.values(), self.slider, self.mode.add_class("mode"))
        script = template("present.html").module.script(TEXTS["keys"])
        style = f"<style>{STYLE.read_text(encoding='utf-8')}</style>{script}"
        self.chosen = row(*self.choices.values()).add_class("choices")
        rows = [self.chosen, controls, page["status"], page["question"]]
        rows += [row(page["diagram"], beside.add_class("beside")), self.form.widget]
        rows += [halves.add_class("lower"), widgets.HTML(style)]
        self.widget = widgets.VBox(rows).add_class("player").add_class("presents")

    def show(
        self, parts: Mapping[str, str], position: int, events: int, asks: Request | None
    ) -> None:
        """Bring everything on view up to date."""
        self.showing = True
        self.slider.max = max(events, self.slider.value)
        self.slider.value = position
        self.slider.max = events or UNKNOWN
        self.showing = False
        for name, html in parts.items():
            self.page[name].value = html
        (self.widget.add_class if asks else self.widget.remove_class)("asks")
        self.form.show(asks)


class Form:
    """The widgets of an answer, which `say` is told; on view while a request waits."""

    def __init__(self, say: Callable[[Answer | None], object]) -> None:
        import ipywidgets as widgets

        self._say = say
        self.request: Request | None = None
        wide = widgets.Layout(width="98%")
        self.about = widgets.HTML()
        self.arguments = widgets.Textarea(description="arguments", rows=4, layout=wide)
        self.why = widgets.Text(description="why", layout=wide)
        self.buttons = {}
        for said, (words, tooltip) in TEXTS["answers"].items():
            button = widgets.Button(description=words, tooltip=tooltip)
            button.on_click(lambda _, said=said: self.answer(said))
            self.buttons[said] = button.add_class(f"press-{said}")
        row = widgets.HBox([*self.buttons.values()]).add_class("row")
        parts = [self.about, self.arguments, self.why, row]
        self.widget = widgets.VBox(parts).add_class("approval")
        self.widget.layout.display = "none"

    def show(self, request: Request | None) -> None:
        """Show what waits; of an edit that was refused, the text as it was left."""
        if request is self.request:
            return
        self.request = request
        self.widget.layout.display = "none" if request is None else "flex"
        if request is not None:
            if not request.problem:
                self.arguments.value, self.why.value = shown_arguments(request), ""
            self._tell(request, request.problem)

    def answer(self, said: str) -> None:
        """Say it, or show in words why it cannot be taken so."""
        if (request := self.request) is None:
            return
        text, why = self.arguments.value, self.why.value
        answer: Any = answered(request, said, text, why)
        if isinstance(answer, str):
            self._tell(request, answer)
        else:
            self._say(answer)

    def _tell(self, request: Request, problem: str) -> None:
        self.about.value = str(macros().asked(request, problem))
        self.arguments.focus()


def instead(page: str) -> str:
    """Return what is shown where a widget is gone: it says so, above a page."""
    return str(template("present.html").module.instead(TEXTS["instead"], page))


def model_options(chosen: Any) -> list[tuple[str, Any]]:
    """Return the models that can be chosen: names on view, and what they stand for."""
    options = [("scripted", SCRIPTED), ("local: SmolLM2 in this process", LOCAL)]
    if not isinstance(chosen, str):
        return [*options, (f"given: {getattr(chosen, 'name', 'a model')}", chosen)]
    hosted = {chosen}
    with suppress(UnknownModel):  # the lesson's first cell has said so
        hosted.add(model_name())
    names = sorted(hosted - {SCRIPTED, LOCAL})
    return [*options, *((f"hosted: {name}", name) for name in names)]
