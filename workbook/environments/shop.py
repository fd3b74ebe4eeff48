"""A web shop in text: search, look at products, choose options, buy one.

The idea is WebShop's (Yao et al. 2022, arXiv:2207.01206); the shop is ours.
"""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from workbook.environments.text_world import TextWorld, echo, rows_of, same_letters
from workbook.loop.prompting import parse_bracket_action
from workbook.loop.text_world import StepResult

PER_PAGE = 5
BUTTONS = ("next page", "previous page", "back", "buy now")


@dataclass(frozen=True, slots=True)
class Product:
    """One product. Each value of an option adds so many cents to the price."""

    product_id: str
    title: str
    department: str
    kind: str
    price_cents: int
    attributes: tuple[str, ...]
    options: Mapping[str, Mapping[str, int]]

    def values(self) -> list[str]:
        """Return the values of all options."""
        return [value for option in self.options.values() for value in option]


@dataclass(frozen=True, slots=True)
class ShopTask:
    """What is to be bought, for `budget_cents` at the most."""

    slug: str
    kind: str
    attributes: tuple[str, ...]
    options: Mapping[str, str]
    budget_cents: int
    text: str = ""  # the goal in words


@cache
def load_products() -> tuple[Product, ...]:
    """Read the catalogue."""
    return rows_of("environments/shop.jsonl", Product)


@cache
def shop_tasks() -> tuple[ShopTask, ...]:
    """Read the shopping tasks."""
    return rows_of("environments/world_tasks.toml", ShopTask, "shop")


def dollars(cents: int) -> str:
    """Return `$4.50` for 450."""
    return f"${cents / 100:.2f}"


def price_of(product: Product, chosen: Mapping[str, str]) -> int:
    """Return the price in cents with the chosen options."""
    extras = (product.options[name][value] for name, value in chosen.items())
    return product.price_cents + sum(extras)


def match_score(task: ShopTask, product: Product, chosen: Mapping[str, str]) -> float:
    """Mark a purchase from 0.0 to 1.0, as WebShop does (arXiv:2207.01206).

    The share of the wanted attributes, options and the budget that was met, times 1 for
    the wanted kind, 0.5 for another kind of the same department, and 0 otherwise.
    """
    departments = {p.kind: p.department for p in load_products()}
    kind = 0.5 if product.department == departments[task.kind] else 0.0
    kind = 1.0 if product.kind == task.kind else kind
    met = [wanted in product.attributes for wanted in task.attributes]
    met += [chosen.get(name) == value for name, value in task.options.items()]
    met += [price_of(product, chosen) <= task.budget_cents]
    return kind * sum(met) / len(met)


@dataclass(slots=True)
class Visit:
    """Where a customer is: on the search page, at results, or at a product."""

    found: tuple[Product, ...] | None = None
    page: int = 0
    product: Product | None = None
    chosen: dict[str, str] = field(default_factory=dict)

    def listed(self) -> list[Product]:
        """Return the products of this page of results."""
        first = self.page * PER_PAGE
        shown = self.found if self.found and not self.product else ()
        return [*shown[first : first + PER_PAGE]]

    def targets(self) -> list[str]:
        """Return what can be clicked here."""
        if self.product:
            return [*self.product.values(), "back", "buy now"]
        if self.found is None:
            return []
        more = (self.page + 1) * PER_PAGE < len(self.found)
        pages = ["next page"] * more + ["previous page"] * (self.page > 0)
        return [*(product.product_id for product in self.listed()), *pages, "back"]


class ShopWorld(TextWorld[ShopTask]):
    """Buy what the task asks for. One clicks a product, an option's value, a button."""

    forms = "search[query], click[…], buy, think[…]"
    visit: Visit

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.products = list(load_products())
        random.Random(seed).shuffle(self.products)

    def _begin(self, task: ShopTask) -> str:
        self.visit = Visit()
        return f"Your task: {task.text}.\n{self._page()}"

    def _act(self, task: ShopTask, action: str) -> StepResult | None:
        if same_letters(action) == "buy":
            return self._buy(task)
        match parse_bracket_action(action.strip()):
            case ("search", query):
                self.visit = Visit(found=self._find(query))
                return StepResult(self._page())
            case ("click", target):
                return self._click(task, same_letters(target))
        return None

    def _find(self, query: str) -> tuple[Product, ...]:
        wanted = _words(query)

        def hits(product: Product) -> int:
            title = _words(f"{product.title} {product.kind}")
            rest = _words(" ".join([*product.attributes, *product.values()]))
            return 3 * len(wanted & title) + len(wanted & rest)

        # sorted is stable: what matches equally well keeps the order of the seed.
        return tuple(sorted(filter(hits, self.products), key=hits, reverse=True))

    def _click(self, task: ShopTask, target: str) -> StepResult:
        visit = self.visit
        known = {same_letters(name): name for name in visit.targets()}
        known |= {same_letters(p.title): p.product_id for p in visit.listed()}
        name = known.get(target, "")
        if not name:
            missing = f"Nothing happens: there is no [{echo(target)}] to click here."
            return StepResult(f"{missing}\n{self._page()}")
        if name == "buy now":
            return self._buy(task)
        if name == "back":
            self.visit = Visit(visit.found, visit.page) if visit.product else Visit()
        elif name in BUTTONS:
            visit.page += 1 if name == "next page" else -1
        elif visit.product:
            options = visit.product.options.items()
            visit.chosen |= {option: name for option, all_ in options if name in all_}
        else:
            [visit.product] = (p for p in self.products if p.product_id == name)
        return StepResult(self._page())

    def _buy(self, task: ShopTask) -> StepResult:
        product, chosen = self.visit.product, self.visit.chosen
        if product is None:
            return StepResult("Nothing happens: open a product before you buy.")
        bought = [product.title, *(f"{n} {chosen[n]}" for n in sorted(chosen))]
        price = dollars(price_of(product, chosen))
        text = f"You bought {', '.join(bought)} for {price}."
        return StepResult(text, match_score(task, product, chosen), done=True)

    def _page(self) -> str:
        visit = self.visit
        if visit.product:
            lines = _describe(visit.product, visit.chosen)
        elif visit.found is None:
            return "You are on the search page. Use: search[query]"
        else:
            lines = [f"Found: {len(visit.found)}. Page {visit.page + 1}."]
            for each in visit.listed():
                price = dollars(each.price_cents)
                lines.append(f"[{each.product_id}] {each.title}, {price}")
        buttons = [f"[{name}]" for name in visit.targets() if name in BUTTONS]
        return "\n".join([*lines, " ".join(buttons)])


def _words(text: str) -> set[str]:
    """Return the words of a text, a plural as its singular."""
    return {w.removesuffix("s") for w in re.findall(r"\w+", same_letters(text))}


def _describe(product: Product, chosen: Mapping[str, str]) -> list[str]:
    price = dollars(price_of(product, chosen))
    lines = [f"{product.title}, {price}", f"About: {', '.join(product.attributes)}"]
    for name, values in product.options.items():
        extras = {v: f" +{dollars(cents)}" for v, cents in values.items() if cents}
        offers = " ".join(f"[{value}]{extras.get(value, '')}" for value in values)
        taken = f" (chosen: {chosen[name]})" if name in chosen else ""
        lines.append(f"{name}: {offers}{taken}")
    return lines
