"""What of a run stays in view, once it has happened: the point of a demo.

A scenario's file says it in `[[punchline]]`; where it says nothing, how the run ended
stays. This module knows events, and no page.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from workbook.runtime.trace import Event, Kind
from workbook.views.show import call, summary, turn_of

MOST = 4  # that stay in view: of more, the first one and the last ones
Text = Annotated[str, Field(min_length=1)]


class Punchline(BaseModel):
    """Which events stay in view, and what of each.

    `label` stands before it, with the event's number among those in place of `{n}`.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    label: Text
    kind: Kind = Field(strict=False)  # the file has its word
    fields: dict[str, str | int | float | bool] = {}  # that the event has
    says: re.Pattern[str] | None = None  # found in its text; its first group is shown
    latest: bool = False  # only the last of them stays
    nested: bool = False  # those that a tool caused, and not the agent

    def found(self, event: Event) -> str | None:
        """Return what of an event stays in view, or None where it is another one."""
        same = event["kind"] == self.kind and ("parent" in event) == self.nested
        if not same or any(event.get(k) != v for k, v in self.fields.items()):
            return None
        text = told(event)
        if self.says is None:
            return text
        if (match := self.says.search(text)) is None:
            return None
        return (match[min(self.says.groups, 1)] or "").strip()


DEFAULT = (Punchline(label="the end", kind=Kind.RUN_FINISHED),)


def told(event: Mapping[str, Any]) -> str:
    """Return an event's own words, without what a list of events adds to them."""
    if event["kind"] == Kind.MODEL_TURN:
        calls = turn_of(dict(event)).get("calls", ())
        asked = [call(each["tool"], each["arguments"]) for each in calls]
        return "\n".join(filter(None, [event["text"], *asked]))
    return summary(dict(event))


def pins(entries: Sequence[Punchline], seen: Iterable[Event]) -> list[tuple[str, str]]:
    """Return what stays in view, at most `MOST`: of each its label and its text."""
    found: list[tuple[str, str]] = []
    events = list(seen)
    for entry in entries:
        texts = [text for event in events if (text := entry.found(event)) is not None]
        numbered = list(enumerate(texts, start=1))[-1 if entry.latest else 0 :]
        found += [(entry.label.replace("{n}", str(n)), text) for n, text in numbered]
    return found if len(found) <= MOST else [found[0], *found[1 - MOST :]]
