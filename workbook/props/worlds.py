"""Small worlds in text in which an agent can act: an encyclopedia, a house, a shop.

They speak one protocol, `reset`, `step` and `actions`; `make_world` builds one by its
name and `tasks` lists what there is to do in it.
"""

from __future__ import annotations

from typing import Any

from workbook.props.house import HouseTask, HouseWorld, house_tasks
from workbook.props.shop import ShopTask, ShopWorld, shop_tasks
from workbook.props.text_world import StepResult, World
from workbook.props.wiki import WikiTask, WikiWorld, lookup_next, wiki_tasks

__all__ = [
    "WORLDS",
    "HouseTask",
    "HouseWorld",
    "ShopTask",
    "ShopWorld",
    "StepResult",
    "WikiTask",
    "WikiWorld",
    "World",
    "lookup_next",
    "make_world",
    "tasks",
]

WORLDS = ("wiki", "house", "shop")


def make_world(name: str, seed: int = 0) -> World:
    """Build a world: `wiki`, `house` or `shop`.

    Raises:
        ValueError: there is no world of this name.
    """
    match name:
        case "wiki":
            return WikiWorld(seed)
        case "house":
            return HouseWorld(seed)
        case "shop":
            return ShopWorld(seed)
    raise _unknown(name)


def tasks(world: str) -> tuple[Any, ...]:
    """Return the tasks of a world; each has a `slug` and its goal as `text`.

    Raises:
        ValueError: there is no world of this name.
    """
    match world:
        case "wiki":
            return wiki_tasks()
        case "house":
            return house_tasks()
        case "shop":
            return shop_tasks()
    raise _unknown(world)


def _unknown(name: str) -> ValueError:
    return ValueError(f"there is no world {name!r}: choose one of {', '.join(WORLDS)}")
