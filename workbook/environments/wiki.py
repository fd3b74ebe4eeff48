"""An encyclopedia of short articles, and the three actions of ReAct's experiments."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from workbook.environments.text_world import TextWorld, echo, rows_of, same_letters
from workbook.loop.answers import exact_match
from workbook.loop.prompting import parse_bracket_action
from workbook.loop.text_world import StepResult

FIRST_SENTENCES = 5
SIMILAR_TITLES = 5
Lookup = Callable[[Sequence[str], str, int], tuple[str, int]]  # as `lookup_next`
LONGEST_NAME = 100  # characters of a searched name that are compared with titles


@dataclass(frozen=True, slots=True)
class Article:
    """One article. Its `doc_id` is its own for ever: one cites by it."""

    doc_id: str
    title: str
    text: str
    lang: str = "en"
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WikiTask:
    """One question, and a shortest run to its answer (`expert`), by way of `titles`."""

    slug: str
    text: str
    answers: tuple[str, ...]
    titles: tuple[str, ...]
    hops: int
    lang: str
    expert: tuple[str, ...]


@cache
def load_articles() -> tuple[Article, ...]:
    """Read the articles."""
    return rows_of("environments/wiki.jsonl", Article)


@cache
def wiki_tasks() -> tuple[WikiTask, ...]:
    """Read the questions: the one-hop ones first, then the two-hop ones."""
    return rows_of("environments/wiki_questions.jsonl", WikiTask)


def split_sentences(text: str) -> tuple[str, ...]:
    """Split a text after `. ! ?` before a blank and after `。！？`."""
    return tuple(filter(str.strip, re.split(r"(?<=[.!?])\s+|(?<=[。！？])\s*", text)))


def lookup_next(
    sentences: Sequence[str], keyword: str, position: int
) -> tuple[str, int]:
    """Return the next sentence that holds `keyword`, and the new position.

    As "find in page" does, each call shows one match more: `"(Result i / n) sentence"`,
    i from 1 to n, where `position` is how many were shown before; after the last match
    `"No more results."` and the position as it was. Capital and small letters count as
    the same; a blank keyword matches nothing.

    >>> lookup_next(["The Nile is long.", "It floods.", "The Nile ends."], "nile", 1)
    ('(Result 2 / 2) The Nile ends.', 2)

    Source: the `lookup` action of ReAct (arXiv:2210.03629, section 3.1).
    """
    wanted = keyword.strip().casefold()
    matches = [s for s in sentences if wanted and wanted in s.casefold()]
    if position >= len(matches):
        return "No more results.", position
    shown = position + 1
    return f"(Result {shown} / {len(matches)}) {matches[position]}", shown


class WikiWorld(TextWorld[WikiTask]):
    """Answer a question from the encyclopedia; an accepted one earns 1.0."""

    forms = "search[entity], lookup[string], finish[answer]"

    def __init__(self, lookup: Lookup = lookup_next) -> None:
        super().__init__()
        self._next = lookup

    def _begin(self, task: WikiTask) -> str:
        self._turn_to(None)
        return f"Question: {task.text}"

    def _act(self, task: WikiTask, action: str) -> StepResult | None:
        match parse_bracket_action(action.strip()):
            case ("search", entity):
                return StepResult(self._search(entity))
            case ("lookup", keyword):
                return StepResult(self._lookup(keyword))
            case ("finish", answer):
                right = any(exact_match(answer, gold) for gold in task.answers)
                return StepResult(f"Your answer: {answer}", float(right), done=True)
        return None

    def _turn_to(self, article: Article | None) -> None:
        self._open, self._keyword, self._position = article, "", 0

    def _search(self, entity: str) -> str:
        article = _by_title().get(same_letters(entity))
        self._turn_to(article)
        if article is None:
            similar = "; ".join(_similar(entity))
            return f"Could not find [{echo(entity)}]. Similar titles: {similar}."
        between = "" if article.lang in ("ja", "zh") else " "
        return between.join(split_sentences(article.text)[:FIRST_SENTENCES])

    def _lookup(self, keyword: str) -> str:
        if self._open is None:
            return "No article is open: use search[entity] with a title first."
        if keyword != self._keyword:
            self._keyword, self._position = keyword, 0
        sentences = split_sentences(self._open.text)
        text, self._position = self._next(sentences, keyword, self._position)
        return text


@cache
def _by_title() -> dict[str, Article]:
    return {same_letters(each.title): each for each in load_articles()}


def _similar(entity: str) -> list[str]:
    """Return the titles that share most pairs of letters, which any script has."""
    name = same_letters(entity)[:LONGEST_NAME]

    def alike(title: str) -> float:
        a, b = ({*zip(f" {each}", f"{each} ", strict=True)} for each in (name, title))
        held = bool(name) and (name in title or title in name)
        return 2 * len(a & b) / (len(a) + len(b)) + held

    # sorted is stable: titles that are equally alike keep the order of the file.
    best = sorted(_by_title(), key=alike, reverse=True)[:SIMILAR_TITLES]
    return [_by_title()[title].title for title in best]
