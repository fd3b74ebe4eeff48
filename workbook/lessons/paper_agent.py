"""The paper's agent, an experiment with it, and two methods that help each other.

The agent asks a model with one of the four methods of `react_prompting`. Those that act
do so in a world of text; which one does not matter here.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from itertools import product
from typing import Any

from workbook.lessons import react_prompting as prompting
from workbook.lessons.react_prompting import Exemplar, PaperStep, exact_match
from workbook.runtime.model import Model, Response, Usage
from workbook.runtime.script import CHARS_PER_TOKEN
from workbook.runtime.turns import Label, split_fields
from workbook.wait import waiting
from workbook.worlds.text_world import World


def paper_agent(
    method: str,
    model: Model,
    question: str,
    exemplars: Sequence[Exemplar],
    world: World | None = None,
    *,
    actor: Model | None = None,
    caps: Mapping[str, int] = {},
    prompt: Callable[..., str] | None = None,
    parse: Callable[[str], tuple[str, str] | None] = prompting.parse_bracket_action,
    max_steps: int = 7,
) -> dict[str, Any]:
    """Answer with one of `METHODS`; return answer, reward, steps, calls and usage.

    Args:
        world: where the method acts.
        actor: writes the actions in calls of their own, two a step of ReAct.
        caps: the most tokens of a thought, an action, an observation (100, each taken
            for four characters).
        prompt: writes the first prompt, of question, exemplars and `numbered`.
        parse: reads the actions.
    """
    shows, stop = prompting.METHODS[method], prompting.STOPS[method]
    steps, replies = list[PaperStep](), list[Response]()
    label, thinks = prompting.label_of(shows[0]), "thought" in shows
    write = prompt or partial(prompting.render_prompt, shows)
    begin = write(question, exemplars, numbered=False).removesuffix(label)

    def ask(asked: Model, end: str, stop: Sequence[str], *writes: str) -> str:
        whole = begin + prompting.render_steps(shows, steps, numbered=False) + end
        most = sum(caps.get(field, 0) for field in writes) or None
        replies.append(asked.complete(whole, stop=stop, max_tokens=most))
        return replies[-1].text

    def result(answer: str | None, reward: float = 0.0) -> dict[str, Any]:
        usage = sum((reply.usage for reply in replies), Usage())
        row = {"answer": answer or None, "reward": reward, "steps": steps}
        return row | {"calls": len(replies), "usage": usage}

    if "action" not in shows:
        reply = ask(model, label, stop)
        labelled = _ANSWER.search(reply)
        alone = "" if "reasoning" in shows else reply
        return result((labelled[1] if labelled else alone).strip())
    assert world is not None, f"{method} acts: give it a world"
    writes = shows[:-1]
    if actor and thinks:
        stop, writes = ("\nAction", *stop), ("thought",)
    while len(steps) < max_steps:
        thought, action = read_step(thinks, ask(model, label, stop, *writes))
        if thinks and not action:
            reply = ask(actor or model, f"{label} {thought}\nAction:", "\n", "action")
            action = reply.strip().removeprefix("Action:").strip()
        verb, argument = parse(action) or ("", "")
        seen = world.step(f"{verb}[{argument}]" if verb else action)
        most = caps.get("observation", 100) * CHARS_PER_TOKEN
        steps.append(PaperStep(thought, action, cut_observation(seen.text, most)))
        if seen.done or verb == "finish":
            return result(argument if verb == "finish" else None, seen.reward)
    return result(None)


def read_step(thinks: bool, reply: str) -> tuple[str, str]:
    """Return the first thought and the first action of a reply, one line of each."""
    thought = ""
    for label, value in split_fields(reply):
        line = value.partition("\n")[0].strip()
        if label is Label.ACTION or not thinks:
            return thought, line
        if label is not Label.THOUGHT:
            break
        thought = thought or line
    return thought, ""


_ANSWER = re.compile(r"^[ \t]*+answer[ \t]*+[:：](.*)", re.IGNORECASE | re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*(?=\s|\Z)|[。！？][」』）]*")


def cut_observation(text: str, limit: int) -> str:
    """Return the whole sentences at the start of a text that fit into `limit`.

    >>> cut_observation("Kyoto is a city. It was a capital.", 20)
    'Kyoto is a city.'
    """
    if len(text) <= limit:
        return text
    head = text[: limit + 1]  # one more: what follows a point decides what it ends
    ends = [end.end() for end in _SENTENCE_END.finditer(head) if end.end() <= limit]
    return text[: ends[-1]] if ends else head.rpartition(" ")[0] or text[:limit]


def experiment(
    methods: Iterable[str],
    model: Model,
    questions: Sequence[Any],
    exemplars: Sequence[Exemplar],
    world: Callable[[Any], World],
    *,
    is_right: Callable[[str, str], bool] = exact_match,
    prompts: Mapping[str, Callable[..., str]] = {},
    **options: Any,
) -> list[dict[str, Any]]:
    """Ask every question with every method; return a row for each of the runs.

    `world` makes the world of a question, `prompts` has a function by method that
    writes the first prompt; the options are those of `paper_agent`.
    """
    runs, rows = [*product(methods, questions)], []
    with waiting("questions", total=len(runs)) as tick:
        for method, question in runs:  # of one method first: the model's cache holds
            asked = method, model, question.text, exemplars, world(question)
            row = paper_agent(*asked, prompt=prompts.get(method), **options)
            given, golds = row["answer"], question.answers
            right = given is not None and any(is_right(given, gold) for gold in golds)
            rows.append({"method": method, "slug": question.slug, "right": right} | row)
            tick()
    return rows


class Order(StrEnum):
    """Which method answers first (section 3.2 of the paper)."""

    REACT_TO_COT_SC = "ReAct → CoT-SC"
    COT_SC_TO_REACT = "CoT-SC → ReAct"


def majority(votes: Iterable[str | None]) -> tuple[str | None, int]:
    """Return the answer that most samples give, as first spelled, and its count.

    >>> majority(["Kyoto", "Nara", "kyoto.", None])
    ('Kyoto', 2)
    """
    groups: dict[str, list[str]] = {}  # votes by their normalised answer
    for vote in filter(None, votes):
        groups.setdefault(prompting.normalize_answer(vote), []).append(vote)
    groups.pop("", None)
    most = max(groups.values(), key=len, default=[])  # of a tie, the first
    return (most[0], len(most)) if most else (None, 0)


def back_off(
    order: Order, react_answer: str | None, votes: Sequence[str | None]
) -> str | None:
    """Return the answer that the two methods give together.

    >>> back_off(Order.REACT_TO_COT_SC, None, ["88", "88", "90"])
    '88'
    """
    winner, count = majority(votes)
    if order is Order.REACT_TO_COT_SC:
        return winner if react_answer is None else react_answer
    return react_answer if winner is None or count < len(votes) / 2 else winner
