"""A household in text: rooms, places in them, and things to carry.

What the house has is in `data/environments/house.toml`; where the things lie at first
is drawn, for each task anew. The idea is ALFWorld's (Shridhar et al. 2021,
arXiv:2010.03768).
"""

import random
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from workbook.environments.text_world import TextWorld, echo, rows_of, same_letters
from workbook.loop.text_world import StepResult
from workbook.paths import DATA

HOUSE = tomllib.loads((DATA / "environments/house.toml").read_text("utf-8"))
ROOMS: dict[str, list[str]] = HOUSE["rooms"]
PLACES = tuple(place for places in ROOMS.values() for place in places)


@dataclass(frozen=True, slots=True)
class HouseTask:
    """How many of a kind are to lie where; `state` is clean, hot, cold, or empty."""

    slug: str
    kind: str
    place: str
    state: str = ""
    count: int = 1
    text: str = ""  # the goal in words


@cache
def house_tasks() -> tuple[HouseTask, ...]:
    """Read the household tasks."""
    return rows_of("environments/world_tasks.toml", HouseTask, "house")


@dataclass(slots=True)
class Thing:
    """Something one can carry. `place` is None while it is in the hand."""

    name: str
    place: str | None
    states: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        states = f" ({', '.join(sorted(self.states))})" if self.states else ""
        return self.name + states


def kind_of(name: str) -> str:
    """Return `desk` for `desk 1`."""
    return name.rpartition(" ")[0]


def lay_out(rng: random.Random, task: HouseTask) -> list[Thing]:
    """Lay one to three of each kind about, none that is wanted where it should go."""
    things = []
    for kind, found_in in HOUSE["found_in"].items():
        wanted = kind == task.kind
        kinds = set(found_in) - ({task.place} if wanted else set())
        allowed = [place for place in PLACES if kind_of(place) in kinds]
        for number in range(1, rng.randint(task.count if wanted else 1, 3) + 1):
            things.append(Thing(f"{kind} {number}", rng.choice(allowed)))
    return things


class _NothingHappens(Exception):  # noqa: N818 - an answer of the house, no mistake
    """Why an action has no effect."""


class HouseWorld(TextWorld[HouseTask]):
    """Put things in their places; the reward is 1.0 as soon as the goal holds."""

    forms = (
        "go to …, take … from …, put … in/on …, clean … with …, heat … with …, "
        "cool … with …, look, inventory, think: …"
    )
    here: str
    things: list[Thing]

    def _begin(self, task: HouseTask) -> str:
        self.here = ""
        self.things = lay_out(random.Random(f"0:{task.slug}"), task)
        rooms = " ".join(f"{r.capitalize()}: {', '.join(p)}." for r, p in ROOMS.items())
        return f"You are in the hall of a house. {rooms} Your task: {task.text}."

    def _act(self, task: HouseTask, action: str) -> StepResult | None:
        said = same_letters(action).rstrip(".")
        for pattern, do in _VERBS.items():
            if match := re.fullmatch(pattern, said, re.DOTALL):
                names = (part.removeprefix("the ") for part in match.groups())
                try:
                    text = do(self, *names)
                except _NothingHappens as reason:
                    text = f"Nothing happens: {reason}."
                done = self._reached(task)
                return StepResult(text, float(done), done)
        return None

    def _reached(self, task: HouseTask) -> bool:
        wanted = {task.state} - {""}
        there = [t for t in self.things if kind_of(t.place or "") == task.place]
        right = [t for t in there if kind_of(t.name) == task.kind]
        return sum(wanted <= thing.states for thing in right) >= task.count

    # The verbs. Each returns what one sees then, or raises why nothing happens.

    def _go(self, name: str) -> str:
        if name in ROOMS:
            self.here = ""
            return f"You are in the {name}. There: {', '.join(ROOMS[name])}."
        _unless(name in PLACES, f"there is no {echo(name)!r} in this house")
        self.here = name
        return self._look()

    def _look(self) -> str:
        if not self.here:
            return "You are not at any place. Use: go to …"
        things = [str(thing) for thing in self.things if thing.place == self.here]
        seen = f"{self._into().capitalize()} it: {', '.join(things) or 'nothing'}."
        return f"You are at {self.here}. {seen}"

    def _take(self, thing: str, place: str) -> str:
        held = self._held()
        _unless(not held, f"your hands are full with {held and held.name}")
        self._must_be_at(place)
        lying = {each.name: each for each in self.things if each.place == place}
        _unless(thing in lying, f"there is no {echo(thing)!r} at {place}")
        lying[thing].place = None
        return f"You take {thing} from {place}."

    def _put(self, thing: str, place: str) -> str:
        held = self._must_hold(thing)
        self._must_be_at(place)
        held.place = place
        return f"You put {thing} {self._into()} {place}."

    def _treat(self, verb: str, thing: str, place: str) -> str:
        how = HOUSE["treatments"][verb]
        held = self._must_hold(thing)
        self._must_be_at(place)
        wrong = f"one cannot {verb} a thing with {self.here}: find a {how['place']}"
        _unless(kind_of(self.here) == how["place"], wrong)
        kind = kind_of(thing)
        _unless(kind in how["kinds"], f"one cannot {verb} a {kind}")
        held.states = held.states - {how["takes"]} | {how["gives"]}
        return f"You {verb} {thing} with {place}."

    def _must_be_at(self, name: str) -> None:
        _unless(name == self.here, f"you are not at {echo(name)!r}")

    def _must_hold(self, name: str) -> Thing:
        held = self._held()
        if held is None or held.name != name:
            raise _NothingHappens(f"you are not holding {echo(name)!r}")
        return held

    def _held(self) -> Thing | None:
        return next((thing for thing in self.things if thing.place is None), None)

    def _into(self) -> str:
        return "in" if kind_of(self.here) in HOUSE["insides"] else "on"


_VERBS: dict[str, Callable[..., str]] = {
    r"go to (.*)": HouseWorld._go,
    r"take (.*) from (.*)": HouseWorld._take,
    r"put (.*?) (?:in/on|into|onto|in|on) (.*)": HouseWorld._put,
    r"(clean|heat|cool) (.*) with (.*)": HouseWorld._treat,
    r"look": HouseWorld._look,
    r"inventory": lambda house: f"You are holding {house._held() or 'nothing'}.",
}


def _unless(allowed: object, why: str) -> None:
    if not allowed:
        raise _NothingHappens(why)
