"""A household in text: rooms, places in them, and things to carry.

`data/worlds/house.toml` has the house and the tasks; where things lie is drawn for each
task. The idea is ALFWorld's (Shridhar et al. 2021, arXiv:2010.03768).
"""

import random
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from workbook.paths import DATA
from workbook.worlds.text_world import StepResult, TextWorld, echo, same_letters

HOUSE = tomllib.loads((DATA / "worlds/house.toml").read_text("utf-8"))
ROOMS: dict[str, list[str]] = HOUSE["rooms"]
PLACES = tuple(place for places in ROOMS.values() for place in places)
TREATMENTS: dict[str, dict[str, Any]] = HOUSE["treatments"]


@dataclass(frozen=True, slots=True)
class HouseTask:
    """How many of a kind are to lie where; `state` is clean, hot, cold, or empty."""

    slug: str
    kind: str
    place: str
    state: str = ""
    count: int = 1
    text: str = ""  # the goal in words


@dataclass(slots=True)
class Thing:
    """Something that can be carried. `place` is empty while it is in the hand."""

    name: str
    place: str
    states: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        states = f" ({', '.join(sorted(self.states))})" if self.states else ""
        return self.name + states


class HouseWorld(TextWorld):
    """Put things in their places; the reward is 1.0 as soon as the goal holds.

    The bracket forms `goto[desk 1]` and `put[cup 1] on [desk 1]` work as well.
    """

    forms = HOUSE["forms"]

    def reset(self, task: HouseTask) -> str:
        """Begin a task and return the first observation."""
        self.task, self.here, self.opened = task, "", set[str]()
        # One to three of each kind lie about, none that is wanted where it should go.
        rng, self.things = random.Random(f"0:{task.slug}"), list[Thing]()
        for kind, found_in in HOUSE["found_in"].items():
            wanted = kind == task.kind
            kinds = set(found_in) - ({task.place} if wanted else set())
            allowed = [place for place in PLACES if kind_of(place) in kinds]
            for number in range(1, rng.randint(task.count if wanted else 1, 3) + 1):
                self.things.append(Thing(f"{kind} {number}", rng.choice(allowed)))
        rooms = " ".join(f"{r.capitalize()}: {', '.join(p)}." for r, p in ROOMS.items())
        return f"You are in the hall of a house. {rooms} Your task: {task.text}."

    def _act(self, action: str) -> StepResult | None:
        words = same_letters(re.sub(r"[\[\]]", " ", action)).rstrip(". ")
        words = re.sub(r"\bthe ", "", words)
        verbs = (re.fullmatch(each, words) for each in HOUSE["verbs"])
        if not (found := next(filter(None, verbs), None)):
            return None
        text, task = self._do(**found.groupdict("")), self.task
        there = [each for each in self.things if kind_of(each.place) == task.place]
        right = [each for each in there if kind_of(each.name) == task.kind]
        states = {task.state} - {""}
        is_reached = sum(states <= each.states for each in right) >= task.count
        return StepResult(text, float(is_reached), is_reached)

    def _do(self, verb: str, name: str = "", place: str = "") -> str:
        held = next((each for each in self.things if not each.place), None)
        if verb == "inventory":
            return f"You are holding {held or 'nothing'}."
        place = place or self.here
        for reason in self._reasons(verb, name, place, held):
            return f"Nothing happens: {reason}."
        if verb == "go":
            self.here = place
        if verb in ("go", "look"):
            return self._look()
        if verb == "open":
            self.opened.add(place)
            return f"You open {place}. {self._look()}"
        thing = held or next(each for each in self.things if each.name == name)
        if verb == "take":
            thing.place = ""
            return f"You take {name} from {place}."
        if verb == "put":
            thing.place = place
            return f"You put {name} {self._into()} {place}."
        how = TREATMENTS[verb]
        thing.states = thing.states - {how["takes"]} | {how["gives"]}
        return f"You {verb} {name} with {place}."

    # The first reason is named.
    def _reasons(
        self, verb: str, name: str, place: str, held: Thing | None
    ) -> Iterator[str]:
        how = TREATMENTS.get(verb)
        if verb == "go" and place not in PLACES:
            yield f"there is no {echo(place)!r} in this house"
        if verb == "take" and held:
            yield f"your hands are full with {held}"
        if (verb == "put" or how) and (held is None or held.name != name):
            yield f"you are not holding {echo(name)!r}"
        if verb not in ("go", "look") and (not place or place != self.here):
            yield f"you are not at {echo(place)!r}"
        if verb == "open" and not self._is_closed():
            yield f"{place} is not closed"
        if verb in ("take", "put") and self._is_closed():
            yield f"{place} is closed: open it first"
        if verb == "take" and name not in [each.name for each in self._lying()]:
            yield f"there is no {echo(name)!r} at {place}"
        if how and kind_of(place) != how["place"]:
            yield f"one cannot {verb} a thing with {place}: find a {how['place']}"

    def _look(self) -> str:
        if not self.here:
            return "You are not at any place. Use: go to …"
        if self._is_closed():
            return f"You are at {self.here}. It is closed."
        things = ", ".join(map(str, self._lying())) or "nothing"
        return f"You are at {self.here}. {self._into().capitalize()} it: {things}."

    def _lying(self) -> list[Thing]:
        return [each for each in self.things if each.place == self.here]

    def _is_closed(self) -> bool:
        return kind_of(self.here) in HOUSE["closed"] and self.here not in self.opened

    def _into(self) -> str:
        return "in" if kind_of(self.here) in HOUSE["insides"] else "on"


def kind_of(name: str) -> str:
    """Return `desk` for `desk 1`."""
    return name.rpartition(" ")[0]
