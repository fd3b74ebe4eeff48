"""Small worlds in text in which an agent can act: an encyclopedia, a house, a shop."""

from collections.abc import Callable
from typing import Any

from workbook.environments.house import HouseWorld, house_tasks
from workbook.environments.shop import ShopWorld, shop_tasks
from workbook.environments.text_world import TextWorld
from workbook.environments.wiki import WikiWorld, wiki_tasks

WORLDS: dict[str, tuple[Callable[..., TextWorld[Any]], Callable[[], Any]]] = {
    "wiki": (WikiWorld, wiki_tasks),
    "house": (HouseWorld, house_tasks),
    "shop": (ShopWorld, shop_tasks),
}


def make_world(name: str, seed: int = 0, **parts: Any) -> TextWorld[Any]:
    """Build a world: `wiki` (which may take a `lookup`), `house` or `shop`."""
    return _part(name)[0](seed, **parts)


def tasks(world: str) -> tuple[Any, ...]:
    """Return the tasks of a world; each has a `slug` and its goal as `text`."""
    return tuple(_part(world)[1]())


def _part(name: str) -> tuple[Callable[..., TextWorld[Any]], Callable[[], Any]]:
    if name not in WORLDS:
        raise ValueError(f"there is no world {name!r}, only {', '.join(WORLDS)}")
    return WORLDS[name]
