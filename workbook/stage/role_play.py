"""Be the model: a run in which the learner writes the turns.

`Session` is the runtime and knows no widget: it reads a turn, runs the tool and writes
the Observation, exactly as the loop of lesson 01 does. `be_the_model` puts a text box
in front of it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbook.loop.turns import Action, Final, Malformed, Unreadable, parse_turn

if TYPE_CHECKING:
    import ipywidgets

QUESTION = (
    "A product costs $100. First 20% is taken off, then 10% is added. "
    "What is the final price?"
)
EXAMPLE = "Thought: First I need 20% of 100.\nAction: Calculator\nAction Input: 100*0.2"
ADVICE = {
    Unreadable.EMPTY: "Your turn is empty. A model may do that; a run cannot go on "
    "from it.",
    Unreadable.NO_STEP: "There is no step in it. Write a line that starts with "
    "“Action:” and one that starts with “Action Input:”, or one that starts with "
    "“Final Answer:”.",
    Unreadable.MISSING_INPUT: "There is an “Action:”, but no “Action Input:” line "
    "after it. The runtime knows which tool, and not what to give it.",
    Unreadable.MISSING_TOOL: "No “Action:” line names a tool before the input.",
    Unreadable.MISSING_ANSWER: "There is a “Final Answer:” with nothing behind it.",
}
NOT_YOURS = "An Observation is not yours to write: it is what a tool answered."
_OBSERVATION = re.compile(
    r"^[ \t>#*_-]*observation[ \t*_]*\d*[ \t*_]*[:：]", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True)
class Line:
    """A part of the transcript and who wrote it: `user`, `model` or `runtime`."""

    who: str
    text: str


@dataclass
class Session:
    """One run with a person in the model's place.

    Args:
        tools: name to function of the text after `Action Input:`.
        question: the user's question.
        expected: the right answer, to compare a final answer with.
    """

    tools: Mapping[str, Callable[[str], object]]
    question: str = QUESTION
    expected: str = "88"
    transcript: list[Line] = field(default_factory=list)
    answer: str | None = None
    turns: int = 0

    def __post_init__(self) -> None:
        self.transcript = [Line("user", f"Question: {self.question}")]

    def send(self, text: str) -> list[str]:
        """Read one turn and do what it asks for.

        Returns:
            What the runtime did, a sentence each. An unreadable turn changes nothing.
        """
        if self.answer is not None:
            return ["The run is over. Start again for another one."]
        turn = parse_turn(text)
        if isinstance(turn, Malformed):
            advice = [f"Unreadable ({turn.reason}). {ADVICE[turn.reason]}"]
            return advice + [NOT_YOURS] * bool(_OBSERVATION.search(text))
        self.turns += 1
        said = self._refuse_observation(text)
        if isinstance(turn, Final):
            return said + self._finish(turn)
        return said + self._act(turn)

    def _refuse_observation(self, text: str) -> list[str]:
        match = _OBSERVATION.search(text)
        kept = text[: match.start()] if match else text
        self.transcript.append(Line("model", kept.strip()))
        if match is None:
            return []
        return [
            f"You wrote an Observation. The runtime cut your text there. {NOT_YOURS}"
        ]

    def _act(self, turn: Action) -> list[str]:
        tool = self.tools.get(turn.tool)
        if tool is None:
            names = ", ".join(self.tools)
            observation = (
                f"Error: there is no tool named {turn.tool!r}. Tools: {names}."
            )
            done = "found no such tool, and wrote that"
        else:
            try:
                observation = str(tool(turn.input))
                done = "ran it, and wrote what came back"
            except Exception as error:
                observation = f"Error: {error}"
                done = "ran it, and wrote what went wrong"
        self.transcript.append(Line("runtime", f"Observation: {observation}"))
        return [
            f"The runtime read Action {turn.tool!r} with input {turn.input!r}, {done} "
            "as the Observation. Now it sends you everything again."
        ]

    def _finish(self, turn: Final) -> list[str]:
        self.answer = turn.answer
        right = re.findall(r"\d+(?:\.\d+)?", turn.answer)[-1:] == [self.expected]
        verdict = "That is right." if right else f"The right answer is {self.expected}."
        return [
            f"The runtime read a Final Answer and stopped after {self.turns} "
            f"turn{'s' if self.turns != 1 else ''}. {verdict}"
        ]

    @property
    def next_step(self) -> str:
        """What happens next, in a sentence."""
        if self.answer is not None:
            return "Nothing: the run has ended. The runtime hands the answer back."
        return (
            "The runtime has sent you the transcript and waits for your text. Write a "
            "Thought and an Action with its input, or a Final Answer."
        )

    def to_html(self) -> str:
        """Return the transcript; everything that anybody wrote is escaped."""
        return "".join(
            f"<div class='mathjax_ignore' style='{_STYLE}{_COLOURS[line.who]}'>"
            f"<small><b>{line.who}</b></small>\n{html.escape(line.text)}</div>"
            for line in self.transcript
        )


_STYLE = (
    "margin:2px 0;padding:2px 8px;white-space:pre-wrap;line-height:1.4;"
    "font-family:monospace;border-left:4px solid "
)
_COLOURS = {"user": "#888888", "model": "#1f77b4", "runtime": "#2ca02c"}


class BeTheModel:
    """The widget. Where widgets do not run it shows the transcript as it stands."""

    def __init__(self, session: Session) -> None:
        import ipywidgets as widgets

        self.session = session
        wide = widgets.Layout(width="98%")
        self.transcript = widgets.HTML(layout=wide)
        self.next = widgets.HTML(layout=wide)
        self.said = widgets.HTML(layout=wide)
        self.box = widgets.Textarea(
            placeholder="Thought: …\nAction: Calculator\nAction Input: …",
            rows=4,
            layout=wide,
        )
        send = widgets.Button(description="Send my turn", button_style="primary")
        example = widgets.Button(description="Show me one turn")
        again = widgets.Button(description="Start again")
        send.on_click(lambda _: self._send())
        example.on_click(lambda _: setattr(self.box, "value", EXAMPLE))
        again.on_click(lambda _: self._restart())
        self.widget: ipywidgets.VBox = widgets.VBox(
            [
                self.transcript,
                self.next,
                self.box,
                widgets.HBox([send, example, again]),
                self.said,
            ]
        )
        self.widget.add_class("be-the-model")
        self._show([])

    def _send(self) -> None:
        before = len(self.session.transcript)
        said = self.session.send(self.box.value)
        if len(self.session.transcript) > before:
            self.box.value = ""
        self._show(said)

    def _restart(self) -> None:
        self.session = Session(
            self.session.tools, self.session.question, self.session.expected
        )
        self.box.value = ""
        self._show([])

    def _show(self, said: list[str]) -> None:
        self.transcript.value = self.session.to_html()
        self.next.value = f"<b>Next:</b> {html.escape(self.session.next_step)}"
        self.said.value = "".join(f"<p>{html.escape(line)}</p>" for line in said)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        static = (
            "<p><i>This is a widget; open the notebook in JupyterLab to type.</i></p>"
            + self.session.to_html()
        )
        bundle = self.widget._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        return {**data, "text/html": static, "text/plain": self.session.next_step}


def be_the_model(session: Session | None = None) -> BeTheModel:
    """Show a run in which you write the model's turns.

    Args:
        session: another question or other tools than the price question's calculator.
    """
    if session is None:
        from workbook.tools.calculator import safe_eval

        session = Session({"Calculator": safe_eval})
    return BeTheModel(session)
