"""An encyclopedia of short articles, and the three actions of ReAct's experiments."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from workbook.worlds.text_world import (
    StepResult,
    TextWorld,
    echo,
    in_brackets,
    rows_of,
    same_letters,
)


class Article(NamedTuple):
    """One article; its `doc_id` never changes, and a blank line ends a paragraph."""

    doc_id: str
    title: str
    text: str
    lang: str = "en"


class WikiTask(NamedTuple):
    """One question, and a shortest run to its answer (`expert`), by way of `titles`."""

    slug: str
    text: str
    answers: tuple[str, ...]
    titles: tuple[str, ...]
    hops: int
    lang: str
    expert: tuple[str, ...]


def load_articles(file: str = "wiki.jsonl") -> tuple[Article, ...]:
    """Read the articles; those of `claims_wiki.jsonl` have several paragraphs."""
    return rows_of(f"worlds/{file}", Article)


def wiki_tasks(file: str = "wiki_questions.jsonl") -> tuple[WikiTask, ...]:
    """Read the questions, or the claims of `claims.jsonl`, as in FEVER (1803.05355)."""
    return rows_of(f"worlds/{file}", WikiTask)


def split_sentences(text: str) -> tuple[str, ...]:
    """Split a text after `. ! ?` before a blank and after `。！？`."""
    return tuple(filter(str.strip, re.split(r"(?<=[.!?])\s+|(?<=[。！？])\s*", text)))


def lookup_next(
    sentences: Sequence[str], keyword: str, position: int
) -> tuple[str, int]:
    """Return the next sentence that holds `keyword`, and the new position.

    >>> lookup_next(["The Nile is long.", "It floods.", "The Nile ends."], "nile", 1)
    ('(Result 2 / 2) The Nile ends.', 2)
    """
    wanted = keyword.strip().casefold()
    matches = [s for s in sentences if wanted and wanted in s.casefold()]
    if position >= len(matches):
        return "No more results.", position
    shown = position + 1
    return f"(Result {shown} / {len(matches)}) {matches[position]}", shown


class WikiWorld(TextWorld):
    """Answer a question from the encyclopedia; an accepted answer earns 1.0.

    A search shows the first five sentences of an article, or so many `paragraphs` of
    the longer articles on which the claims are.
    """

    forms = "search[entity], lookup[string], finish[answer]"
    sentences: tuple[str, ...]  # of the open article; none before a search

    def __init__(
        self,
        lookup: Callable[..., tuple[str, int]] = lookup_next,
        paragraphs: int | None = None,
    ) -> None:
        self.lookup, self.paragraphs = lookup, paragraphs
        articles = load_articles("claims_wiki.jsonl" if paragraphs else "wiki.jsonl")
        self.titles = {same_letters(each.title): each for each in articles}

    def reset(self, task: WikiTask) -> str:
        """Begin a task and return the first observation."""
        self.task, self.sentences, self.keyword, self.position = task, (), "", 0
        return f"Question: {task.text}"

    def _act(self, action: str) -> StepResult | None:
        match in_brackets(action):
            case ("search", entity):
                return StepResult(self._search(entity))
            case ("lookup", _) if not self.sentences:
                text = "No article is open: use search[entity] with a title first."
                return StepResult(text)
            case ("lookup", keyword):
                if keyword != self.keyword:
                    self.keyword, self.position = keyword, 0
                where = self.sentences, keyword, self.position
                text, self.position = self.lookup(*where)
                return StepResult(text)
            case ("finish", answer):
                given = same_letters(answer).removesuffix(".")
                is_right = given in map(same_letters, self.task.answers)
                return StepResult(f"Your answer: {answer}", float(is_right), done=True)
        return None

    def _search(self, entity: str) -> str:
        article = self.titles.get(name := same_letters(entity))
        self.sentences = split_sentences(article.text) if article else ()
        self.keyword, self.position = "", 0
        if article is None:
            best = sorted(self.titles, key=partial(alike, name[:100]), reverse=True)[:5]
            similar = "; ".join(self.titles[title].title for title in best)
            return f"Could not find [{echo(entity)}]. Similar titles: {similar}."
        if self.paragraphs is not None:
            return "\n".join(article.text.split("\n\n")[: self.paragraphs])
        between = "" if article.lang in ("ja", "zh") else " "
        return between.join(self.sentences[:5])


def alike(name: str, title: str) -> float:
    """Return how many pairs of letters, which any script has, two names share."""
    a, b = ({*zip(f" {t}", f"{t} ", strict=True)} for t in (name, title))
    is_part = bool(name) and (name in title or title in name)
    return 2 * len(a & b) / (len(a) + len(b)) + is_part
