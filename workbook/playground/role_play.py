"""Be the model: a run in which the learner writes the turns.

`Session` is the runtime and knows no widget: it reads a turn, runs the tool and writes
the Observation, as the loop of lesson 01 does. Its texts are `data/be_the_model.toml`.
"""

import html
import re
import tomllib
from collections.abc import Callable, Mapping

from workbook.exercises.display import show_widget
from workbook.pages import template
from workbook.paths import DATA
from workbook.playground.view import instead
from workbook.runtime.calculator import safe_eval
from workbook.runtime.turns import (
    Action,
    Final,
    Label,
    Malformed,
    parse_turn,
    split_fields,
    split_turn,
)
from workbook.views.show import VOICES

TEXTS = tomllib.loads((DATA / "be_the_model.toml").read_text(encoding="utf-8"))
LINES = "white-space:pre-wrap;line-height:1.4;margin:4px 0"


class Session:
    """One run with a person in the model's place; `transcript` is who wrote what."""

    def __init__(self, tools: Mapping[str, Callable[[str], object]]) -> None:
        self.tools = tools
        self.transcript = [("user", f"Question: {TEXTS['question']}")]
        self.answer: str | None = None

    def send(self, text: str) -> list[str]:
        """Read a turn, do what it asks for, and say so; keep no unreadable one."""
        if self.answer is not None:
            return [TEXTS["over"]]
        turn = parse_turn(text)
        labels = [label for label, _ in split_fields(text)]
        forged = Label.OBSERVATION in labels
        if isinstance(turn, Malformed):
            advice = f"Unreadable ({turn.reason}). {TEXTS['unreadable'][turn.reason]}"
            return [advice, TEXTS["not_yours"]] if forged else [advice]
        kept, _ = split_turn(text, turn)
        self.transcript.append(("model", kept.strip()))
        done = self._finish(turn) if isinstance(turn, Final) else self._act(turn)
        steps = sum(label in (Label.ACTION, Label.FINAL_ANSWER) for label in labels)
        cut = [f"{TEXTS['cut']} {TEXTS['not_yours']}"] if forged else []
        return [*cut, *[TEXTS["one_step"]] * (steps > 1), done]

    def _act(self, turn: Action) -> str:
        if turn.tool not in self.tools:
            names = ", ".join(self.tools)
            observation = f"Error: there is no tool named {turn.tool!r}. Use {names}."
            done = "found no such tool, and wrote that"
        else:
            try:
                observation = str(self.tools[turn.tool](turn.input))
                done = "ran it, and wrote what came back"
            except Exception as error:
                observation = f"Error: {error}"
                done = "ran it, and wrote what went wrong"
        self.transcript.append(("runtime", f"Observation: {observation}"))
        return (
            f"The runtime read Action {turn.tool!r} with input {turn.input!r}, {done} "
            "as the Observation. Now it sends you everything again."
        )

    def _finish(self, turn: Final) -> str:
        self.answer, right = turn.answer, TEXTS["right"]
        found = re.findall(r"\d+(?:\.\d+)?", turn.answer)[-1:] == [right]
        verdict = "That is right." if found else f"The right answer is {right}."
        turns = sum(who == "model" for who, _ in self.transcript)
        many = "1 turn" if turns == 1 else f"{turns} turns"
        return f"The runtime read a Final Answer and stopped after {many}. {verdict}"

    @property
    def next_step(self) -> str:
        """What happens next, in a sentence."""
        return str(TEXTS["waits" if self.answer is None else "ended"])

    def to_html(self) -> str:
        """Return the transcript; everything that anybody wrote is escaped."""
        shown = template("shown.html").module.transcript
        return str(shown(self.transcript, VOICES))


class BeTheModel:
    """A run in which you write the model's turns; without widgets, its transcript."""

    def __init__(self, session: Session | None = None) -> None:
        import ipywidgets as widgets

        self.session, self._shown = session or Session({"Calculator": safe_eval}), 0
        wide = widgets.Layout(width="98%")
        self.transcript, self.next, self.said = (
            widgets.HTML(layout=wide) for _ in range(3)
        )
        self.transcript.add_class("transcript")
        self.box = widgets.Textarea(
            description=TEXTS["label"], placeholder=TEXTS["hint"], rows=4, layout=wide
        )
        self.box.style.description_width = "90px"
        self.buttons = {
            words: widgets.Button(description=words) for words in TEXTS["buttons"]
        }
        works = (self._send, self._example, self._restart)
        for button, work in zip(self.buttons.values(), works, strict=True):
            button.on_click(lambda _, do=work: do())
        self.buttons[TEXTS["buttons"][0]].button_style = "primary"
        present = widgets.Button(description="Present").add_class("press-present")
        script = template("present.html").module.script()
        rows = [self.transcript, self.said, self.next, self.box]
        rows += [widgets.HBox([*self.buttons.values(), present]), widgets.HTML(script)]
        self.widget = widgets.VBox(rows).add_class("be-the-model").add_class("presents")
        self._show([])

    def _send(self) -> None:
        before = len(self.session.transcript)
        said = self.session.send(self.box.value)
        if len(self.session.transcript) > before:
            self.box.value = ""
        self._show(said)

    def _example(self) -> None:
        if self.box.value.strip():  # what was typed stays
            self._show([TEXTS["for_example"] + TEXTS["example"]])
        else:
            self.box.value = TEXTS["example"].strip()
            self._show([])

    def _restart(self) -> None:
        self.session, self.box.value = Session(self.session.tools), ""
        self._show([])

    def _show(self, said: list[str]) -> None:
        self.transcript.value = self.session.to_html()
        next_step = html.escape(self.session.next_step)
        self.next.value = f"<p style='{LINES}'><b>Next:</b> {next_step}</p>"
        lines = (f"<p style='{LINES}'>{html.escape(s)}</p>" for s in said)
        self._shown += 1  # so a page knows that its kernel has answered
        opening = f"<div role='status' data-shown='{self._shown}'>"
        self.said.value = f"{opening}{''.join(lines)}</div>"
        self.buttons[TEXTS["buttons"][0]].disabled = self.session.answer is not None
        self.box.focus()

    def _ipython_display_(self) -> None:
        elsewhere = f"<i>{TEXTS['elsewhere']}</i>{self.session.to_html()}"
        show_widget(self.widget, TEXTS["question"], instead(elsewhere))


be_the_model = BeTheModel  # what one types
