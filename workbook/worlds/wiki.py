"""An encyclopedia of short articles, and the three actions of ReAct's experiments."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from workbook.worlds.text_world import (
    StepResult,
    TextWorld,
    echo,
    in_brackets,
    rows_of,
    same_letters,
)

FIRST_SENTENCES = 5
SIMILAR_TITLES = 5
LONGEST_NAME = 100  # characters of a searched name that are compared with titles


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
    article: Article | None

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
        self.task, self.article = task, None
        return f"Question: {task.text}"

    def _act(self, action: str) -> StepResult | None:
        match in_brackets(action):
            case ("search", entity):
                return StepResult(self._search(entity))
            case ("lookup", keyword):
                return StepResult(self._lookup(keyword))
            case ("finish", answer):
                given = same_letters(answer).removesuffix(".")
                is_right = given in map(same_letters, self.task.answers)
                return StepResult(f"Your answer: {answer}", float(is_right), done=True)
        return None

    def _search(self, entity: str) -> str:
        article = self.titles.get(same_letters(entity))
        self.article, self.keyword, self.position = article, "", 0
        if article is None:
            similar = "; ".join(self._similar(entity))
            return f"Could not find [{echo(entity)}]. Similar titles: {similar}."
        if self.paragraphs is not None:
            return "\n".join(article.text.split("\n\n")[: self.paragraphs])
        between = "" if article.lang in ("ja", "zh") else " "
        return between.join(split_sentences(article.text)[:FIRST_SENTENCES])

    def _lookup(self, keyword: str) -> str:
        if self.article is None:
            return "No article is open: use search[entity] with a title first."
        if keyword != self.keyword:
            self.keyword, self.position = keyword, 0
        sentences = split_sentences(self.article.text)
        text, self.position = self.lookup(sentences, keyword, self.position)
        return text

    def _similar(self, entity: str) -> list[str]:
        """Return the titles that share most pairs of letters, which any script has."""
        name = same_letters(entity)[:LONGEST_NAME]

        def alike(title: str) -> float:
            a, b = ({*zip(f" {t}", f"{t} ", strict=True)} for t in (name, title))
            is_part = bool(name) and (name in title or title in name)
            return 2 * len(a & b) / (len(a) + len(b)) + is_part

        best = sorted(self.titles, key=alike, reverse=True)[:SIMILAR_TITLES]
        return [self.titles[title].title for title in best]
