"""Small worlds in text in which an agent can act: an encyclopedia, a house, a shop."""

from typing import Any

from workbook.environments.house import HouseWorld, house_tasks
from workbook.environments.shop import ShopWorld, shop_tasks
from workbook.environments.text_world import TextWorld
from workbook.environments.wiki import WikiWorld, wiki_tasks

WORLDS: dict[str, Any] = {"wiki": WikiWorld, "house": HouseWorld, "shop": ShopWorld}
TASKS: dict[str, Any] = {"wiki": wiki_tasks, "house": house_tasks, "shop": shop_tasks}


def make_world(name: str, **parts: Any) -> TextWorld[Any]:
    """Build a world: `wiki` (which may take a `lookup`), `house` or `shop`."""
    world: TextWorld[Any] = WORLDS[name](**parts)
    return world


def tasks(world: str) -> tuple[Any, ...]:
    """Return the tasks of a world; each has a `slug` and its goal as `text`."""
    return tuple(TASKS[world]())
