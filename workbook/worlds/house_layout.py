"""What the household is made of: rooms, places, kinds of things, and goals.

Data first, and one function that lays the things out by chance. How one moves about in
it is `house`'s business.
"""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workbook.worlds.base import DATA

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
