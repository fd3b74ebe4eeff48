"""What the shop sells, what a customer wants, and how well the two match.

Data and pure functions; the pages of the shop are `shop`'s business. Money is counted
in whole cents.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workbook.worlds.base import DATA

PRODUCTS = DATA / "shop.jsonl"
TASKS = DATA / "world_tasks.toml"


@dataclass(frozen=True, slots=True)
class Product:
    """One product.

    Args:
        product_id: unique, such as `p01`.
        title: what stands in the list of results.
        department: what the kind belongs to, such as `kitchen`.
        kind: such as `mug`.
        price_cents: the price without options, in cents.
        attributes: what holds for the product whatever one chooses.
        options: name of the option to its values, each with what it adds in cents.
    """

    product_id: str
    title: str
    department: str
    kind: str
    price_cents: int
    attributes: tuple[str, ...]
    options: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class ShopTask:
    """What is to be bought, for `budget_cents` at the most."""

    slug: str
    kind: str
    attributes: tuple[str, ...]
    options: Mapping[str, str]
    budget_cents: int

    @property
    def text(self) -> str:
        """The goal in words."""
        about = ", ".join(self.attributes)
        chosen = ", ".join(f"{name} {value}" for name, value in self.options.items())
        price = dollars(self.budget_cents)
        return f"buy: {self.kind}; {about}; {chosen}; price at most {price}"


@cache
def load_products(path: Path = PRODUCTS) -> tuple[Product, ...]:
    """Read the catalogue, one JSON object a line."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return tuple(Product(**{**r, "attributes": tuple(r["attributes"])}) for r in rows)


@cache
def shop_tasks(path: Path = TASKS) -> tuple[ShopTask, ...]:
    """Read the shopping tasks."""
    rows = tomllib.loads(path.read_text("utf-8"))["shop"]
    return tuple(ShopTask(**{**r, "attributes": tuple(r["attributes"])}) for r in rows)


def dollars(cents: int) -> str:
    """Return `$4.50` for 450."""
    return f"${cents // 100}.{cents % 100:02d}"


def price_of(product: Product, chosen: Mapping[str, str]) -> int:
    """Return the price in cents with the chosen options.

    Raises:
        KeyError: the product has no such option or value.
    """
    extras = (product.options[name][value] for name, value in chosen.items())
    return product.price_cents + sum(extras)


def match_score(task: ShopTask, product: Product, chosen: Mapping[str, str]) -> float:
    """Mark a purchase from 0.0 to 1.0.

    With A the wanted attributes and O the wanted options:

        kind · (|A ∩ attributes| + |O ∩ chosen| + [price ≤ budget]) / (|A| + |O| + 1)

    where `kind` is 1 for the wanted kind of product, 0.5 for another kind of the same
    department, and 0 otherwise. An option that nobody chose does not count.

    Source: the reward of WebShop (arXiv:2207.01206), with a simpler `kind`.
    """
    departments = {p.kind: p.department for p in load_products()}
    if product.kind == task.kind:
        kind = 1.0
    else:
        kind = 0.5 if product.department == departments.get(task.kind) else 0.0
    attributes = sum(wanted in product.attributes for wanted in task.attributes)
    options = sum(chosen.get(name) == value for name, value in task.options.items())
    affordable = price_of(product, chosen) <= task.budget_cents
    parts = len(task.attributes) + len(task.options) + 1
    return kind * (attributes + options + affordable) / parts
