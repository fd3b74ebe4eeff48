"""A household in text: rooms, places that open and close, and things to carry.

One walks to a place, sees what is there, takes one thing at a time, cleans, heats or
cools it, and puts it where it belongs. Where the things lie at first is drawn from the
seed. The idea is ALFWorld's (Shridhar et al. 2021, arXiv:2010.03768).
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workbook.paths import DATA
from workbook.props.text_world import StepResult, TextWorld, echo, same_letters

TASKS = DATA / "world_tasks.toml"

ROOMS: dict[str, tuple[str, ...]] = {
    "kitchen": (
        "counter 1",
        "cupboard 1",
        "cupboard 2",
        "fridge 1",
        "microwave 1",
        "sink 1",
    ),
    "living room": ("shelf 1", "sofa 1", "table 1"),
    "study": ("desk 1", "drawer 1", "drawer 2", "shelf 2"),
    "bedroom": ("bed 1", "drawer 3", "wardrobe 1"),
}
PLACES = tuple(place for places in ROOMS.values() for place in places)
CLOSABLE = frozenset({"cupboard", "drawer", "fridge", "microwave", "wardrobe"})
ONE_PUTS_IN = CLOSABLE | {"sink"}

FOUND_IN: dict[str, tuple[str, ...]] = {
    "apple": ("counter", "fridge", "table", "desk"),
    "book": ("shelf", "desk", "sofa", "bed", "drawer", "table"),
    "bowl": ("cupboard", "counter", "shelf", "table"),
    "cup": ("cupboard", "counter", "table", "desk", "sink"),
    "egg": ("fridge", "counter", "cupboard"),
    "knife": ("counter", "sink", "table"),
    "pen": ("desk", "drawer", "shelf", "sofa"),
    "pillow": ("bed", "sofa", "wardrobe"),
    "plate": ("cupboard", "counter", "table", "sink"),
    "potato": ("counter", "fridge", "cupboard", "sink"),
    "tomato": ("counter", "fridge", "table"),
}
WASHABLE = frozenset({"apple", "bowl", "cup", "knife", "plate", "potato", "tomato"})
HEATABLE = frozenset({"apple", "bowl", "cup", "egg", "plate", "potato", "tomato"})
TREATMENTS = {
    "clean": ("sink", WASHABLE),
    "heat": ("microwave", HEATABLE),
    "cool": ("fridge", HEATABLE),
}
"""Verb to the kind of place it needs and the kinds of thing it works on."""

COUNTS = {1: "one", 2: "two", 3: "three"}


@dataclass(frozen=True, slots=True)
class HouseTask:
    """What is to lie where, and in what state.

    Args:
        slug: unique, such as `house-01`.
        kind: the kind of thing, a key of `FOUND_IN`.
        place: the kind of place, such as `desk`.
        state: `clean`, `hot`, `cold`, or empty when any will do.
        count: how many of them, 1 to 3.
    """

    slug: str
    kind: str
    place: str
    state: str = ""
    count: int = 1

    @property
    def text(self) -> str:
        """The goal in words: "put a clean cup on the desk"."""
        into = "in" if self.place in ONE_PUTS_IN else "on"
        name = f"{self.state} {self.kind}".strip()
        if self.count == 1:
            article = "an" if name[0] in "aeiou" else "a"
            return f"put {article} {name} {into} the {self.place}"
        plural = name + ("es" if name.endswith("o") else "s")
        if name.endswith("fe"):
            plural = name[:-2] + "ves"
        return (
            f"find {COUNTS[self.count]} {plural} and put them {into} the {self.place}"
        )


@cache
def house_tasks(path: Path = TASKS) -> tuple[HouseTask, ...]:
    """Read the household tasks."""
    rows = tomllib.loads(path.read_text("utf-8"))["house"]
    return tuple(HouseTask(**row) for row in rows)


@dataclass(slots=True)
class Thing:
    """Something one can carry. `place` is None while it is in the hand."""

    name: str
    kind: str
    place: str | None
    clean: bool = False
    warmth: str = ""  # "", "hot" or "cold"

    def has(self, state: str) -> bool:
        """Whether it is in this state; any thing is in the empty one."""
        return not state or state == self.warmth or (state == "clean" and self.clean)

    def __str__(self) -> str:
        states = [s for s in ("clean" if self.clean else "", self.warmth) if s]
        return f"{self.name} ({', '.join(states)})" if states else self.name


def kind_of(name: str) -> str:
    """Return `desk` for `desk 1`."""
    return name.rpartition(" ")[0]


def lay_out(rng: random.Random, task: HouseTask) -> list[Thing]:
    """Lay one to three of each kind about, none that is wanted where it should go."""
    things = []
    for kind, places in FOUND_IN.items():
        least = task.count if kind == task.kind else 1
        allowed = [
            place
            for place in PLACES
            if kind_of(place) in places
            and not (kind == task.kind and kind_of(place) == task.place)
        ]
        for number in range(1, rng.randint(least, 3) + 1):
            things.append(Thing(f"{kind} {number}", kind, rng.choice(allowed)))
    return things


class HouseWorld(TextWorld[HouseTask]):
    """Put things in their places.

    `go to …` a place or a room · `take … from …` · `open …` · `close …` ·
    `put … in/on …` · `clean … with …` (a sink) · `heat … with …` (a microwave) ·
    `cool … with …` (a fridge) · `look` · `inventory` · `think: …`

    Names may leave the number out when it is clear which is meant; the first one is
    taken. What cannot be done is answered with "Nothing happens" and the reason. The
    reward is 1.0 as soon as the goal holds, which also ends the run.

    Args:
        seed: where the things lie at first; each task has a layout of its own.
    """

    name = "house"

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.here = ""
        self.things: list[Thing] = []
        self.open: set[str] = set()
        self._verbs: tuple[tuple[re.Pattern[str], Callable[..., str]], ...] = tuple(
            (re.compile(pattern, re.DOTALL), do)
            for pattern, do in (
                (r"go to (.*)", self._go),
                (r"take (.*) from (.*)", self._take),
                (r"(open|close) (.*)", self._swing),
                (r"put (.*?) (?:in/on|into|onto|in|on) (.*)", self._put),
                (r"(clean|heat|cool) (.*) with (.*)", self._treat),
                (r"look", self._look),
                (r"inventory", self._inventory),
            )
        )

    # What every world does.

    def _begin(self, task: HouseTask) -> str:
        self.here = ""
        self.open = set()
        self.things = lay_out(random.Random(f"{self.seed}:{task.slug}"), task)
        rooms = " ".join(f"{r.capitalize()}: {', '.join(p)}." for r, p in ROOMS.items())
        return f"You are in the hall of a house. {rooms} Your task: {task.text}."

    def _act(self, task: HouseTask, action: str) -> StepResult | None:
        said = same_letters(action).rstrip(".")
        for pattern, do in self._verbs:
            if match := pattern.fullmatch(said):
                text = do(*(part.removeprefix("the ") for part in match.groups()))
                done = self._reached(task)
                return StepResult(text, float(done), done)
        return None

    def _legal(self, task: HouseTask) -> tuple[str, ...]:
        here, held = self.here, self._held()
        legal = [f"go to {place}" for place in PLACES if place != here]
        if here and kind_of(here) in CLOSABLE:
            legal.append(f"close {here}" if here in self.open else f"open {here}")
        if here and not held:
            legal += [f"take {thing.name} from {here}" for thing in self._visible(here)]
        if here and held:
            legal += [f"put {held.name} in/on {here}"] if self._reachable(here) else []
            legal += [
                f"{verb} {held.name} with {here}"
                for verb, (tool, kinds) in TREATMENTS.items()
                if kind_of(here) == tool and held.kind in kinds
            ]
        return (*legal, "look", "inventory", "think: …")

    def _forms(self) -> str:
        return (
            "go to …, take … from …, open …, close …, put … in/on …, clean … with …, "
            "heat … with …, cool … with …, look, inventory, think: …"
        )

    def _reached(self, task: HouseTask) -> bool:
        there = [
            thing
            for thing in self.things
            if thing.kind == task.kind
            and thing.has(task.state)
            and thing.place is not None
            and kind_of(thing.place) == task.place
        ]
        return len(there) >= task.count

    # The verbs. Each returns what one sees then.

    def _go(self, name: str) -> str:
        if name in ROOMS:
            self.here = ""
            return f"You are in the {name}. There: {', '.join(ROOMS[name])}."
        place = _named(name, PLACES)
        if place is None:
            return _nothing(f"there is no {echo(name)!r} in this house")
        self.here = place
        return self._look()

    def _take(self, thing_name: str, place_name: str) -> str:
        if held := self._held():
            return _nothing(f"your hands are full with {held.name}")
        if trouble := self._not_at(place_name):
            return _nothing(trouble)
        if not self._reachable(self.here):
            return _nothing(f"{self.here} is closed")
        lying = {thing.name: thing for thing in self._visible(self.here)}
        name = _named(thing_name, tuple(lying))
        if name is None:
            return _nothing(f"there is no {echo(thing_name)!r} at {self.here}")
        lying[name].place = None
        return f"You take {name} from {self.here}."

    def _swing(self, verb: str, name: str) -> str:
        to_open = verb == "open"
        if trouble := self._not_at(name):
            return _nothing(trouble)
        if kind_of(self.here) not in CLOSABLE:
            return _nothing(f"{self.here} cannot be opened or closed")
        if (self.here in self.open) == to_open:
            return _nothing(f"{self.here} is already {'open' if to_open else 'closed'}")
        (self.open.add if to_open else self.open.discard)(self.here)
        return f"You {verb} {self.here}." + (f" {self._contents()}" if to_open else "")

    def _put(self, thing_name: str, place_name: str) -> str:
        held = self._held()
        if held is None or _named(thing_name, (held.name,)) is None:
            return _nothing(f"you are not holding {echo(thing_name)!r}")
        if trouble := self._not_at(place_name):
            return _nothing(trouble)
        if not self._reachable(self.here):
            return _nothing(f"{self.here} is closed")
        held.place = self.here
        into = "in" if kind_of(self.here) in ONE_PUTS_IN else "on"
        return f"You put {held.name} {into} {self.here}."

    def _treat(self, verb: str, thing_name: str, place_name: str) -> str:
        tool, kinds = TREATMENTS[verb]
        held = self._held()
        if held is None or _named(thing_name, (held.name,)) is None:
            return _nothing(f"you are not holding {echo(thing_name)!r}")
        if trouble := self._not_at(place_name):
            return _nothing(trouble)
        if kind_of(self.here) != tool:
            return _nothing(
                f"one cannot {verb} a thing with {self.here}: find a {tool}"
            )
        if held.kind not in kinds:
            return _nothing(f"one cannot {verb} a {held.kind}")
        if verb == "clean":
            held.clean = True
        else:
            held.warmth = "hot" if verb == "heat" else "cold"
        return f"You {verb} {held.name} with {self.here}."

    def _look(self) -> str:
        if not self.here:
            return "You are not at any place. Use: go to …"
        return f"You are at {self.here}. {self._contents()}"

    def _inventory(self) -> str:
        held = self._held()
        return f"You are holding {held}." if held else "You are holding nothing."

    # What is where.

    def _held(self) -> Thing | None:
        return next((thing for thing in self.things if thing.place is None), None)

    def _reachable(self, place: str) -> bool:
        return kind_of(place) not in CLOSABLE or place in self.open

    def _visible(self, place: str) -> list[Thing]:
        if not self._reachable(place):
            return []
        return [thing for thing in self.things if thing.place == place]

    def _contents(self) -> str:
        if not self._reachable(self.here):
            return "It is closed."
        where = "In" if kind_of(self.here) in ONE_PUTS_IN else "On"
        things = ", ".join(str(t) for t in self._visible(self.here)) or "nothing"
        return f"{where} it: {things}."

    def _not_at(self, name: str) -> str:
        place = self.here if _named(name, (self.here,)) else _named(name, PLACES)
        if place is None:
            return f"there is no {echo(name)!r} in this house"
        return "" if place == self.here else f"you are not at {place}"


def _nothing(reason: str) -> str:
    return f"Nothing happens: {reason}."


def _named(name: str, among: tuple[str, ...]) -> str | None:
    """Return the full name that is meant: itself, or the first of that kind."""
    if name in among:
        return name
    return next((full for full in among if full and kind_of(full) == name), None)
