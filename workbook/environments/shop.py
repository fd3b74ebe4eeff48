"""A web shop in text: search, look at products, choose options, buy one.

The idea is WebShop's (Yao et al. 2022, arXiv:2207.01206); the shop is ours.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial

from workbook.environments.text_world import TextWorld, echo, rows_of, same_letters
from workbook.loop.prompting import parse_bracket_action
from workbook.loop.text_world import StepResult

SHOWN = 5  # results of a search, the best ones


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


class ShopWorld(TextWorld[ShopTask]):
    """Buy what the task asks for. One clicks a product, an option's value, a button."""

    forms = "search[query], click[…], think[…]"
    page: str  # what one sees
    clicks: dict[str, Callable[[], str]]  # what one can click, and the page it leads to
    product: Product | None
    chosen: dict[str, str]

    def _begin(self, task: ShopTask) -> str:
        return f"Your task: {task.text}.\n{self._front()}"

    def _act(self, task: ShopTask, action: str) -> StepResult | None:
        match parse_bracket_action(action.strip()):
            case ("search", query):
                return StepResult(self._results(self._find(query)))
            case ("click", target):
                name = same_letters(target)
                if name == "buy now" and self.product:
                    return self._buy(task, self.product)
                if name in self.clicks:
                    return StepResult(self.clicks[name]())
                missing = f"Nothing happens: there is no [{echo(name)}] to click here."
                return StepResult(f"{missing}\n{self.page}")
        return None

    def _find(self, query: str) -> list[Product]:
        wanted = _words(query)

        def hits(product: Product) -> int:
            title = _words(f"{product.title} {product.kind}")
            rest = _words(" ".join([*product.attributes, *product.values()]))
            return 3 * len(wanted & title) + len(wanted & rest)

        # sorted is stable: what matches equally well keeps the order of the file.
        return sorted(filter(hits, load_products()), key=hits, reverse=True)

    def _buy(self, task: ShopTask, product: Product) -> StepResult:
        chosen = self.chosen
        bought = [product.title, *(f"{n} {chosen[n]}" for n in sorted(chosen))]
        price = dollars(price_of(product, chosen))
        text = f"You bought {', '.join(bought)} for {price}."
        return StepResult(text, match_score(task, product, chosen), done=True)

    # The pages. Each says what one sees there, and keeps what can be clicked.

    def _front(self) -> str:
        self.product, self.chosen, self.clicks = None, {}, {}
        self.page = "You are on the search page. Use: search[query]"
        return self.page

    def _results(self, found: list[Product]) -> str:
        self.product, self.chosen, self.clicks = None, {}, {"back": self._front}
        here, lines = partial(self._results, found), [f"Found: {len(found)}."]
        for each in found[:SHOWN]:
            price = dollars(each.price_cents)
            lines.append(f"[{each.product_id}] {each.title}, {price}")
            self.clicks[each.product_id] = partial(self._offer, each, {}, here)
        self.page = "\n".join([*lines, "[back]"])
        return self.page

    def _offer(
        self, product: Product, chosen: dict[str, str], back: Callable[[], str]
    ) -> str:
        self.product, self.chosen, self.clicks = product, chosen, {"back": back}
        lines = [f"{product.title}, {dollars(price_of(product, chosen))}"]
        lines.append(f"About: {', '.join(product.attributes)}")
        for name, values in product.options.items():
            offers = []
            for value, cents in values.items():
                offers.append(f"[{value}]" + (f" +{dollars(cents)}" if cents else ""))
                choice = partial(self._offer, product, chosen | {name: value}, back)
                self.clicks[same_letters(value)] = choice
            taken = f" (chosen: {chosen[name]})" if name in chosen else ""
            lines.append(f"{name}: {' '.join(offers)}{taken}")
        self.page = "\n".join([*lines, "[back] [buy now]"])
        return self.page


def _words(text: str) -> set[str]:
    """Return the words of a text, a plural as its singular."""
    return {w.removesuffix("s") for w in re.findall(r"\w+", same_letters(text))}
