"""Be the model: a run in which the learner writes the turns."""

import re
import tomllib

from workbook.paths import DATA
from workbook.runtime import turns
from workbook.runtime.turns import Label, Malformed
from workbook.stage.predict import Update, page, show_widget
from workbook.stage.shown import Part, legend_html, transcript_html
from workbook.worlds.calculator import safe_eval

TEXTS = tomllib.loads((DATA / "be_the_model.toml").read_text(encoding="utf-8"))
SEND, EXAMPLE, RESTART = TEXTS["buttons"]
TOOLS = {"Calculator": safe_eval}
Message = tuple[str, str]  # its kind and the text: error, note, done, right or wrong


class BeTheModel:
    """A run in which you write the model's turns; without widgets, its transcript."""

    answer, shown = "", 0

    def __init__(self) -> None:
        import ipywidgets as widgets

        roles = "transcript", "alert", "status"
        pages = [widgets.HTML(_dom_classes=[f"stage-{role}"]) for role in roles]
        self.page, self.alert, self.status = pages
        self.box = widgets.Textarea(description=TEXTS["label"], rows=4)
        self.box.placeholder, self.box.continuous_update = TEXTS["hint"], False
        sent = widgets.Textarea(_dom_classes=["stage-sent"])  # the page writes into it
        sent.observe(lambda now: self._send(now["new"].partition("\n")[2]), "value")
        works = {SEND: self._send, EXAMPLE: self._example, RESTART: self._restart}
        self.buttons = {name: widgets.Button(description=name) for name in works}
        for name, work in works.items():
            self.buttons[name].on_click(lambda _, work=work: work())
        self.buttons[SEND].add_class("press-send").button_style = "primary"
        present = widgets.Button(description="Present").add_class("press-present")
        head = widgets.HTML(legend_html() + page("script"))
        rows = [head, *pages, self.box.add_class("stage-text"), sent]
        rows += [widgets.HBox([*self.buttons.values(), present])]
        self.widget = widgets.VBox(rows, _dom_classes=["stage-box", "be-the-model"])
        self._replace: Update = lambda html: None
        self._restart()

    def read(self, text: str) -> list[Message]:
        """Read a turn and do what it asks for; an unreadable one is not kept."""
        if self.answer:
            return [("error", TEXTS["over"])]
        turn = turns.parse_turn(text)
        labels = [label for label, _ in turns.split_fields(text)]
        forged = Label.OBSERVATION in labels
        if isinstance(turn, Malformed):
            advice = f"Unreadable ({turn.reason}). {TEXTS['unreadable'][turn.reason]}"
            return [("error", advice)] + [("error", TEXTS["not_yours"])] * forged
        self.transcript.append(("model", turns.split_turn(text, turn)[0].strip()))
        messages = [("note", f"{TEXTS['cut']} {TEXTS['not_yours']}")] * forged
        steps = sum(label in (Label.ACTION, Label.FINAL_ANSWER) for label in labels)
        messages += [("note", TEXTS["one_step"])] * (steps > 1)
        if isinstance(turn, turns.Action):
            return [*messages, self._act(turn)]
        self.answer, price = turn.answer, TEXTS["right"]
        right = re.findall(r"\d+(?:\.\d+)?", turn.answer)[-1:] == [price]
        many = sum(who == "model" for who, _ in self.transcript)
        ended = f"The runtime read a Final Answer and stopped after turn {many}."
        verdict = "right" if right else "wrong"
        return [*messages, (verdict, f"{ended} The right answer is {price}.")]

    def _act(self, turn: turns.Action) -> Message:
        try:
            kind, observation = "done", str(TOOLS[turn.tool](turn.input))
        except KeyError:
            kind, observation = "note", f"Error: there is no tool named {turn.tool!r}."
        except Exception as error:
            kind, observation = "note", f"Error: {error}"
        self.transcript.append(("runtime", f"Observation: {observation}"))
        read = f"The runtime read Action {turn.tool!r} with input {turn.input!r}"
        then = "and wrote the Observation. It sends you everything again."
        return kind, f"{read}, {then}"

    def _send(self, text: str | None = None) -> None:
        self.box.value = self.box.value if text is None else text
        messages = self.read(self.box.value)
        if "error" not in dict(messages):  # it can be put right
            self.box.value = ""
        self._show(messages)

    def _example(self) -> None:
        if self.box.value.strip():  # what was typed stays
            self.status.value += page("example", TEXTS)
        else:
            self.box.value = TEXTS["example"].strip()
        self.box.focus()

    def _restart(self) -> None:
        self.transcript: list[Part] = [("user", f"Question: {TEXTS['question']}")]
        self.answer, self.box.value = "", ""
        self._show([])

    def _show(self, messages: list[Message]) -> None:
        self.shown += 1  # the same message twice is announced twice
        self.page.value = transcript_html(self.transcript)
        self.alert.value = page("messages", messages, True, self.shown)
        next_step = TEXTS["ended" if self.answer else "waits"]
        self.status.value = page("messages", messages, False, self.shown, next_step)
        self.buttons[SEND].disabled = bool(self.answer)
        self._text = page("elsewhere", TEXTS["elsewhere"], legend_html(), self)
        self._replace(self._text)
        self.box.focus()

    def _ipython_display_(self) -> None:
        self._replace = show_widget(self.widget, self._text)


be_the_model = BeTheModel  # what one types
