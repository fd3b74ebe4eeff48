"""The paper's agent: one model call a step, on any model and in any text world.

`run` answers a question with one of the four methods and says what that cost (Yao et
al., ICLR 2023, section 3). It knows no particular world. Trace events go to `emit`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from workbook.loop.naive import Emit
from workbook.loop.prompting import (
    METHODS,
    STANDARD,
    Exemplar,
    Method,
    PaperStep,
    label_of,
    parse_bracket_action,
    render_prompt,
    render_steps,
)
from workbook.loop.text_world import World, cut_observation
from workbook.runtime.model import Model, Response, Usage
from workbook.runtime.turns import (
    Action,
    Final,
    Label,
    Malformed,
    Turn,
    Unreadable,
    split_fields,
    to_dict,
)

Parse = Callable[[str], tuple[str, str] | None]  # as `parse_bracket_action`


def _ignore(kind: str, /, **fields: Any) -> None:
    """Keep no event."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """How a question was answered, and what that cost."""

    method: str
    answer: str | None  # None when the model gave none within its steps
    steps: tuple[PaperStep, ...] = ()  # empty for a method that does not act
    calls: int = 0  # of the model
    usage: Usage = field(default_factory=Usage)  # of all calls


def run(
    method: str,
    model: Model,
    question: str,
    exemplars: Sequence[Exemplar],
    world: World | None = None,
    *,
    prompt: Callable[..., str] | None = None,
    parse: Parse = parse_bracket_action,
    max_steps: int = 7,
    observation_chars: int = 400,
    emit: Emit = _ignore,
) -> Attempt:
    """Answer a question with one of the paper's methods.

    `act` and `react` act on a world; the other methods need none. After `max_steps`
    without an end there is no answer; the paper found more than 7 of no use on
    HotpotQA. Longer observations are cut at the end of a sentence. `prompt` writes the
    first prompt, from question, exemplars and `numbered` (its labels have no numbers);
    `parse` reads the actions.
    """
    if method not in METHODS:
        raise ValueError(f"{method!r} is none of the methods {', '.join(METHODS)}")
    way = METHODS[method]
    if way.acts and world is None:
        raise ValueError(f"{method} acts: give it a world with step(action)")
    write = prompt or partial(render_prompt, way)
    begin = write(question, exemplars, numbered=False)
    talk = _Talk(way, model, begin, parse, emit)
    emit("run_started", engine=f"paper_{method}", question=question)
    if way.acts and world is not None:
        answer, ended = talk.act(world, max_steps, observation_chars)
    else:
        answer = talk.answer()
        ended = answer is not None
    end = ("DONE", "final_answer") if ended else ("EXHAUSTED", "out_of_steps")
    emit("run_finished", state=end[0], reason=end[1], answer=answer)
    spent = sum((reply.usage for reply in talk.replies), Usage())
    return Attempt(method, answer, tuple(talk.steps), len(talk.replies), spent)


_ANSWER = re.compile(r"^[ \t]*+answer[ \t]*+[:：](.*)", re.IGNORECASE | re.MULTILINE)


@dataclass
class _Talk:
    """A question that a model is asked, its replies, and the steps so far."""

    method: Method
    model: Model
    begin: str  # the prompt of the first step
    parse: Parse
    emit: Emit
    steps: list[PaperStep] = field(default_factory=list)
    replies: list[Response] = field(default_factory=list)

    def answer(self) -> str | None:
        """Ask once; return the answer, if the reply has one."""
        text = self._ask(self._prompt())
        thought, answer = "", text if self.method is STANDARD else ""
        if labelled := _ANSWER.search(text):
            thought, answer = text[: labelled.start()].strip(), labelled[1]
        answer = answer.strip()
        no_answer = Malformed(Unreadable.MISSING_ANSWER, text)
        self._emit_turn(Final(thought, answer) if answer else no_answer)
        return answer or None

    def act(
        self, world: World, max_steps: int, observation_chars: int
    ) -> tuple[str | None, bool]:
        """Return the answer, and whether it came to an end."""
        answer, done = None, False
        while not done and len(self.steps) < max_steps:
            thought, action, call = self._next_step()
            verb, argument = call or (action, "")
            about = {"call_id": f"call_{len(self.steps) + 1}", "tool": verb}
            self.emit("tool_call", **about, arguments={"input": argument})
            result = world.step(f"{verb}[{argument}]" if call else action)
            seen = cut_observation(result.text, observation_chars)
            self.emit("observation", **about, ok=True, text=seen)
            self.steps.append(PaperStep(thought, action, seen))
            done = result.done or verb == "finish"
            answer = argument or None if verb == "finish" else None
        return answer, done

    def _next_step(self) -> tuple[str, str, tuple[str, str] | None]:
        """Return the next thought, action, and call; without an action, ask for one."""
        prompt = self._prompt()
        thought, action = read_step(self.method, self._ask(prompt))
        call = self._read_as(thought, action)
        if not action and "thought" in self.method.shows:
            text = self._ask(f"{prompt} {thought}\nAction:", ("\n",))
            action = text.strip().removeprefix("Action:").strip()
            call = self._read_as(thought, action)
        return thought, action, call

    def _prompt(self) -> str:
        """Return the first prompt, the steps so far, and the label to go on at."""
        label = label_of(self.method.shows[0])
        done = render_steps(self.method, self.steps, numbered=False)
        return self.begin.removesuffix(label) + done + label

    def _ask(self, prompt: str, stop: Sequence[str] = ()) -> str:
        """Ask, with the method's own stop sequences where none are given."""
        stop = stop or self.method.stop
        self.emit("model_request", prompt=prompt)
        self.replies.append(self.model.complete(prompt, stop=stop))
        return self.replies[-1].text or ""

    def _read_as(self, thought: str, action: str) -> tuple[str, str] | None:
        """Parse the action of the last reply, and emit its turn."""
        call = self.parse(action)
        verb, argument = call or (action, "")
        if not action:
            text = self.replies[-1].text or ""
            self._emit_turn(Malformed(Unreadable.NO_STEP, text))
        elif verb == "finish":
            self._emit_turn(Final(thought, argument))
        else:
            self._emit_turn(Action(thought, verb, argument))
        return call

    def _emit_turn(self, turn: Turn) -> None:
        reply = self.replies[-1]
        about = {"turn": to_dict(turn), "usage": reply.usage.to_dict()}
        self.emit("model_turn", text=reply.text or "", **about)


def read_step(method: Method, reply: str) -> tuple[str, str]:
    """Split a reply into thought and action; the action is empty when there is none.

    Only the first line of each counts, and of several steps only the first.
    """
    thought = action = ""
    for label, value in split_fields(reply):
        line = value.partition("\n")[0].strip()
        if label is Label.THOUGHT and "thought" not in method.shows:
            return "", line  # the prompt had ended with "Action:"
        if label is Label.THOUGHT and not thought:
            thought = line
        elif label is Label.ACTION:
            return thought, line
        else:
            break
    return thought, action
