"""The shop: search, pages, options, buying."""

import pytest

from workbook.environments.shop import PER_PAGE, ShopWorld, load_products, shop_tasks

TASK = shop_tasks()[0]  # an insulated red water bottle of 750 ml

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


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("task", shop_tasks(), ids=lambda t: t.slug)
def test_the_expert_buys_what_is_wanted(task, seed):
    """the expert finds, chooses and buys what is wanted, for the full reward"""
    query, product_id, *options = EXPERT[task.slug]
    world = ShopWorld(seed)
    assert task.text in world.reset(task)
    assert f"[{product_id}]" in say(world, f"search[{query}]")
    say(world, f"click[{product_id}]", *(f"click[{value}]" for value in options))
    result = world.step("click[buy now]")
    assert (result.reward, result.done) == (1.0, True)


def test_results_come_in_pages(shop):
    """results come five a page, and together they are all that were found"""
    first = say(shop, "search[black]")
    second = say(shop, "click[next page]")
    assert first.count("[p") == PER_PAGE
    assert "[next page]" in first
    assert "[previous page]" not in first
    assert "[previous page]" in second
    assert "Page 2" in second
    assert say(shop, "click[previous page]") == first


def test_five_results_are_one_page():
    """there is no next page when all results are on the first"""
    world = ShopWorld()
    world.products = load_products()[:PER_PAGE]
    world.reset(TASK)
    page = say(world, "search[bottle mug]")
    assert page.startswith("Found: 5.")
    assert "[next page]" not in page


def test_a_plural_finds_the_singular(shop):
    """a search for jackets finds each jacket"""
    assert say(shop, "search[jackets]") == say(shop, "search[jacket]")


def test_the_best_match_comes_first(shop):
    """a product that has more of the words comes first"""
    lines = say(shop, "search[stovetop kettle]").splitlines()
    assert lines[1].startswith("[p09] Isle stovetop kettle")


def test_nothing_found(shop):
    """a search without results says so, and one can go on"""
    assert say(shop, "search[submarine]").startswith("Found: 0.")
    assert "search[query]" in say(shop, "click[back]")


def test_a_seed_orders_what_matches_equally():
    """the seed decides the order of results that match equally well"""
    orders = set()
    for seed in range(5):
        world = ShopWorld(seed)
        world.reset(TASK)
        orders.add(say(world, "search[headphones]"))
    assert len(orders) > 1


def test_a_product_page_shows_options_and_price(shop):
    """a product's page shows attributes, options, what is chosen, and the price"""
    page = say(shop, "search[steel bottle]", "click[p01]")
    assert "insulated" in page
    assert "$18.00" in page
    assert "[750 ml] +$4.00" in page
    page = say(shop, "click[750 ML]")
    assert "$22.00" in page
    assert "(chosen: 750 ml)" in page


def test_another_choice_replaces_the_first(shop):
    """of one option one value is chosen, the last one"""
    say(shop, "search[steel bottle]", "click[p01]", "click[red]", "click[blue]")
    assert shop.visit.chosen == {"colour": "blue"}


def test_back_goes_one_page_back(shop):
    """back leads from a product to its results, and from there to the search"""
    results = say(shop, "search[mug]")
    assert say(shop, "click[p05]", "click[back]") == results
    assert "search page" in say(shop, "click[back]")


def test_choices_are_forgotten_on_leaving(shop):
    """what was chosen for one product is not chosen for the next"""
    say(shop, "search[mug]", "click[p05]", "click[blue]", "click[back]", "click[p05]")
    assert shop.visit.chosen == {}


def test_a_title_can_be_clicked(shop):
    """a product can be opened by its title too"""
    page = say(shop, "search[mug]", "click[Fern enamel mug]")
    assert page.startswith("Fern enamel mug")


def test_what_is_not_on_the_page_cannot_be_clicked(shop):
    """a click on what is not on the page changes nothing and shows the page again"""
    page = say(shop, "search[mug]")
    text = say(shop, "click[p13]")
    assert text == f"Nothing happens: there is no [p13] to click here.\n{page}"


@pytest.mark.parametrize("action", ["buy", "Buy", "click[Buy Now]"])
def test_buying_ends_the_run(shop, action):
    """buying ends the run, with part of the reward for part of the match"""
    say(shop, "search[steel bottle]", "click[p01]", "click[red]")
    result = shop.step(action)
    assert result.done
    assert result.reward == pytest.approx(3 / 4)  # the size was not chosen
    assert "for $18.00" in result.text


def test_nothing_to_buy_yet(shop):
    """without an open product there is nothing to buy"""
    assert "open a product" in say(shop, "buy")
    assert not shop.done


def test_every_product_can_be_reached():
    """every product is found by its title"""
    world = ShopWorld()
    world.reset(TASK)
    for product in load_products():
        page = say(world, f"search[{product.title}]", f"click[{product.product_id}]")
        assert page.startswith(product.title)
