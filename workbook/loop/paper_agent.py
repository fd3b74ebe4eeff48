"""The paper's agent: one model call a step, on any model and in any text world.

`run` answers a question with one of the four methods and says what that cost (Yao et
al., ICLR 2023, section 3). It knows no particular world. Trace events go to `emit`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from workbook.loop.naive import Emit, ignore
from workbook.loop.prompting import (
    METHODS,
    STANDARD,
    Exemplar,
    Method,
    PaperStep,
    parse_bracket_action,
    render_prompt,
)
from workbook.loop.text_world import World, cut_observation
from workbook.loop.turns import (
    Action,
    Final,
    Label,
    Malformed,
    Turn,
    Unreadable,
    split_fields,
)
from workbook.models.base import ChatModel, Completion, TextModel, Usage

MAX_STEPS = 7
"""The paper's limit on HotpotQA; more steps did not make it better there."""

OBSERVATION_CHARS = 400

CHAT_REQUEST = "Continue this text with its next lines and nothing else.\n\n"


@dataclass(frozen=True, slots=True)
class Attempt:
    """How a question was answered, and what that cost.

    Args:
        method: the method's name.
        answer: None when the model gave none within its steps.
        steps: what was done; empty for a method that does not act.
        calls: model calls.
        usage: tokens of all calls.
        reward: the world's, from 0 to 1; 0 without a world.
    """

    method: str
    answer: str | None
    steps: tuple[PaperStep, ...] = ()
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    reward: float = 0.0


def run(
    method: str | Method,
    model: TextModel | ChatModel,
    question: str,
    exemplars: Sequence[Exemplar],
    world: World | None = None,
    *,
    numbered: bool = True,
    max_steps: int = MAX_STEPS,
    observation_chars: int = OBSERVATION_CHARS,
    emit: Emit = ignore,
) -> Attempt:
    """Answer a question with one of the paper's methods.

    Args:
        method: `standard`, `cot`, `act` or `react`.
        model: continues the prompt; a model that only chats is asked to continue it.
        question: the question.
        exemplars: what the prompt shows before it.
        world: what `act` and `react` act on; the other methods need none.
        numbered: whether steps carry numbers.
        max_steps: after so many steps without an end, the attempt has no answer.
        observation_chars: longer observations are cut at the end of a sentence.
        emit: is told what happens, as trace events.

    Raises:
        ValueError: no such method, or a method that acts was given no world.
    """
    if isinstance(method, str):
        if method not in METHODS:
            raise ValueError(f"{method!r} is none of the methods {', '.join(METHODS)}")
        method = METHODS[method]
    if method.acts and world is None:
        raise ValueError(f"{method.name} acts: give it a world with step(action)")
    emit("run_started", engine=f"paper_{method.name}", question=question)
    asked = _Asked(model, emit)
    if method.acts and world is not None:
        talk = _Talk(method, question, exemplars, numbered)
        attempt, ended = _act(talk, asked, world, max_steps, observation_chars)
    else:
        attempt = _answer_at_once(method, asked, question, exemplars)
        ended = attempt.answer is not None
    emit(
        "run_finished",
        state="DONE" if ended else "EXHAUSTED",
        reason="final_answer" if ended else "out_of_steps",
        answer=attempt.answer,
    )
    return attempt


class _Asked:
    """Asks the model, counts what it costs, and tells the trace."""

    def __init__(self, model: TextModel | ChatModel, emit: Emit) -> None:
        self.model = model
        self.emit = emit
        self.calls = 0
        self.usage = Usage()
        self.reply = Completion("")

    def __call__(self, prompt: str, stop: Sequence[str]) -> str:
        self.emit("model_request", prompt=prompt, stop=list(stop))
        if isinstance(self.model, TextModel):
            self.reply = self.model.complete(prompt, stop=stop)
        else:
            message = {"role": "user", "content": CHAT_REQUEST + prompt}
            self.reply = self.model.chat([message], stop=stop)  # type: ignore[list-item]
        self.calls += 1
        self.usage += self.reply.usage
        return self.reply.text

    def read_as(self, turn: Turn) -> None:
        """Tell the trace what the reply was read as."""
        kind = type(turn).__name__.lower()
        self.emit(
            "model_turn",
            text=self.reply.text,
            turn={"kind": kind, **asdict(turn)},
            usage=asdict(self.reply.usage),
        )


# One answer, at once: Standard and CoT


_ANSWER = re.compile(r"^[ \t]*+answer[ \t]*+[:：](.*)", re.IGNORECASE | re.MULTILINE)


def _answer_at_once(
    method: Method, asked: _Asked, question: str, exemplars: Sequence[Exemplar]
) -> Attempt:
    prompt = render_prompt(method, question, exemplars)
    reply = asked(prompt, method.stop_sequences(1, numbered=False))
    labelled = _ANSWER.search(reply)
    thought = reply[: labelled.start()] if labelled else reply
    answer = labelled[1] if labelled else reply if method is STANDARD else ""
    answer = answer.strip()
    asked.read_as(
        Final("" if method is STANDARD else thought.strip(), answer)
        if answer
        else Malformed(Unreadable.MISSING_ANSWER, reply)
    )
    return Attempt(method.name, answer or None, (), asked.calls, asked.usage)


# Step by step: Act and ReAct


@dataclass
class _Talk:
    """A question and what has been done for it."""

    method: Method
    question: str
    exemplars: Sequence[Exemplar]
    numbered: bool
    steps: list[PaperStep] = field(default_factory=list)

    def prompt(self) -> str:
        return render_prompt(
            self.method,
            self.question,
            self.exemplars,
            steps=self.steps,
            numbered=self.numbered,
        )

    def next_number(self) -> int:
        return len(self.steps) + 1


def _act(
    talk: _Talk, asked: _Asked, world: World, max_steps: int, observation_chars: int
) -> tuple[Attempt, bool]:
    answer, reward, done = None, 0.0, False
    while not done and len(talk.steps) < max_steps:
        call_id = f"call_{talk.next_number()}"
        thought, action = _next_step(talk, asked)
        call = parse_bracket_action(action)
        verb, argument = call or (action, "")
        finished = verb == "finish"
        asked.emit(
            "tool_call", call_id=call_id, tool=verb, arguments={"input": argument}
        )
        result = world.step(f"{verb}[{argument}]" if call else action)
        seen = cut_observation(result.text, observation_chars)
        asked.emit("observation", call_id=call_id, tool=verb, ok=True, text=seen)
        talk.steps.append(PaperStep(thought, action, seen))
        answer = (argument or None) if finished else None
        reward, done = result.reward, result.done or finished
    cost = (tuple(talk.steps), asked.calls, asked.usage)
    return Attempt(talk.method.name, answer, *cost, reward), done


def _next_step(talk: _Talk, asked: _Asked) -> tuple[str, str]:
    """Return the next thought and action; ask a second time when there is no action."""
    prompt, number = talk.prompt(), talk.next_number()
    stop = talk.method.stop_sequences(number, numbered=talk.numbered)
    reply = asked(prompt, stop)
    thought, action = read_step(talk.method, reply)
    asked.read_as(_turn(thought, action, reply))
    if action or "thought" not in talk.method.shows:
        return thought, action
    label = f"Action {number}:" if talk.numbered else "Action:"
    reply = asked(f"{prompt} {thought}\n{label}", ("\n",))
    action = reply.strip().removeprefix(label).strip()
    asked.read_as(_turn(thought, action, reply))
    return thought, action


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


def _turn(thought: str, action: str, reply: str) -> Turn:
    if not action:
        return Malformed(Unreadable.NO_STEP, reply)
    verb, argument = parse_bracket_action(action) or (action, "")
    if verb == "finish":
        return Final(thought, argument)
    return Action(thought, verb, argument)
