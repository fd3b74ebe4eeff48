"""The shop: search, pages, options, buying, and how a purchase is marked."""

from dataclasses import replace

import pytest

from workbook.environments.shop import (
    SHOWN,
    ShopTask,
    ShopWorld,
    dollars,
    load_products,
    match_score,
    price_of,
    shop_tasks,
)

TASK = shop_tasks()[0]  # an insulated red water bottle of 750 ml
BY_ID = {product.product_id: product for product in load_products()}
MUG = ShopTask("test", "mug", ("dishwasher-safe",), {"colour": "blue"}, 1200)
EXPERT = {
    "shop-01": ("insulated water bottle", "p01", "red", "750 ml"),
    "shop-02": ("microwave-safe mug", "p05", "blue"),
    "shop-03": ("kettle automatic shut-off", "p08", "black", "1.7 l"),
    "shop-04": ("organic cotton t-shirt", "p11", "navy", "M"),
    "shop-05": ("waterproof hooded jacket", "p14", "yellow", "L"),
    "shop-06": ("warm socks", "p17", "grey", "3 pairs"),
    "shop-07": ("recycled notebook", "p21", "brown", "A4"),
    "shop-08": ("refillable pen", "p24", "blue ink"),
    "shop-09": ("wireless headphones", "p27", "black"),
    "shop-10": ("desk lamp adjustable arm", "p29", "red", "UK plug"),
    "shop-11": ("backpack laptop sleeve", "p34", "navy", "28 l"),
    "shop-12": ("foldable windproof umbrella", "p38", "yellow"),
}


@pytest.fixture
def shop():
    """A shop with a task begun."""
    world = ShopWorld()
    world.reset(TASK)
    return world


def say(world, *actions):
    """Take actions and return the last observation."""
    return [world.step(action).text for action in actions][-1]


@pytest.mark.parametrize("task", shop_tasks(), ids=lambda t: t.slug)
def test_the_expert_buys_what_is_wanted(task):
    """the expert finds, chooses and buys what is wanted, for the full reward"""
    query, product_id, *options = EXPERT[task.slug]
    world = ShopWorld()
    assert task.text in world.reset(task)
    assert f"[{product_id}]" in say(world, f"search[{query}]")
    say(world, f"click[{product_id}]", *(f"click[{value}]" for value in options))
    result = world.step("click[buy now]")
    assert (result.reward, result.done) == (1.0, True)


@pytest.mark.parametrize("task", shop_tasks(), ids=lambda t: t.slug)
def test_the_words_of_a_goal_say_its_fields(task):
    """a goal in words names the kind, attributes, options and the budget"""
    options = [f"{name} {value}" for name, value in task.options.items()]
    said = [task.kind, *task.attributes, *options, dollars(task.budget_cents)]
    assert all(word in task.text for word in said)


def test_the_five_best_results_are_shown(shop):
    """a search shows the five best results, the best first, and how many there are"""
    page = say(shop, "search[black]")
    assert page.count("[p") == SHOWN
    assert int(page.removeprefix("Found: ").partition(".")[0]) > SHOWN
    lines = say(shop, "search[stovetop kettles]").splitlines()  # as the singular
    assert lines[1].startswith("[p09] Isle stovetop kettle")
    assert say(shop, "search[jackets]") == say(shop, "search[jacket]")
    assert "\n[p14] North rain jacket" in say(shop, "search[rain]")[:45]
    assert say(shop, "search[submarine]").startswith("Found: 0.")


def test_a_product_page_shows_options_and_price(shop):
    """a product's page shows attributes, options, what is chosen, and the price"""
    page = say(shop, "search[steel bottle]", "click[p01]")
    for part in ("insulated", "$18.00", "[750 ml] +$4.00"):
        assert part in page
    page = say(shop, "click[750 ML]", "click[blue]", "click[red]")
    for part in ("$22.00", "(chosen: 750 ml)", "(chosen: red)"):
        assert part in page
    assert shop.chosen == {"size": "750 ml", "colour": "red"}


def test_back_goes_one_page_back(shop):
    """back leads from a product to its results, and forgets what was chosen"""
    results = say(shop, "search[mug]")
    assert say(shop, "click[p05]", "click[blue]", "click[back]") == results
    assert say(shop, "click[p05]").startswith("Ember stoneware mug")
    assert shop.chosen == {}
    assert "search page" in say(shop, "click[back]", "click[back]")


def test_what_is_not_on_the_page_cannot_be_clicked(shop):
    """a click on what is not on the page changes nothing and shows the page again"""
    page = say(shop, "search[mug]")
    text = say(shop, "click[p13]")
    assert text == f"Nothing happens: there is no [p13] to click here.\n{page}"
    assert say(shop, "click[buy now]").startswith("Nothing happens")
    assert not shop.done


def test_buying_ends_the_run(shop):
    """buying ends the run, with part of the reward for part of the match"""
    say(shop, "search[steel bottle]", "click[p01]", "click[red]")
    result = shop.step("click[Buy Now]")
    assert (result.done, result.reward) == (True, 3 / 4)  # the size was not chosen
    assert "for $18.00" in result.text


# the catalogue and the mark


def test_every_product_can_be_reached(shop):
    """every product is found by its title, and each thing to click is there once"""
    assert len({product.title for product in load_products()}) == len(BY_ID)
    for product in load_products():
        page = say(shop, f"search[{product.title}]", f"click[{product.product_id}]")
        assert page.startswith(product.title)
        clicks = [*product.values(), "back", "buy now"]
        assert len(set(clicks)) == len(clicks)
        assert product.kind in product.title


def test_one_product_fulfils_each_task():
    """for each task exactly one product can earn the full mark"""
    for task in shop_tasks():
        found = []
        for product in load_products():
            wanted = task.options.items()
            chosen = {k: v for k, v in wanted if v in product.options.get(k, {})}
            found += [product] * (match_score(task, product, chosen) == 1.0)
        assert len(found) == 1, task.slug


@pytest.mark.parametrize(
    ("product_id", "chosen", "mark"),
    [
        ("p05", {"colour": "blue"}, 1.0),
        ("p05", {"colour": "grey"}, 2 / 3),
        ("p05", {}, 2 / 3),
        ("p05", {"colour": "blue", "size": "400 ml"}, 2 / 3),  # 13 dollars: too dear
        ("p06", {"colour": "white"}, 1 / 3),
        ("p01", {"colour": "blue"}, 0.5 * 2 / 3),  # a bottle from the same department
        ("p13", {}, 0.0),  # a shirt
    ],
)
def test_parts_of_the_mark(product_id, chosen, mark):
    """each attribute, each option and the price count alike; the kind is a factor"""
    assert match_score(MUG, BY_ID[product_id], chosen) == pytest.approx(mark)
    spent = replace(MUG, budget_cents=price_of(BY_ID[product_id], chosen))
    assert match_score(spent, BY_ID[product_id], chosen) >= mark  # may be spent whole
