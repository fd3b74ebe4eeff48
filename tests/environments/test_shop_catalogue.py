"""The catalogue, and how a purchase is marked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.environments.shop import (
    BUTTONS,
    Product,
    ShopTask,
    dollars,
    load_products,
    match_score,
    price_of,
    shop_tasks,
)

BY_ID = {product.product_id: product for product in load_products()}
MUG = ShopTask("test", "mug", ("dishwasher-safe",), {"colour": "blue"}, 1200)
BLUE = {"colour": {"blue": 50}}


def as_wanted(task, product):
    """Return the wanted options as far as the product has them."""
    return {
        name: value
        for name, value in task.options.items()
        if value in product.options.get(name, {})
    }


def test_ids_and_titles_are_unique():
    """no two products have the same id or title"""
    assert len(BY_ID) == len(load_products())
    assert len({product.title for product in load_products()}) == len(BY_ID)


def test_every_product_can_be_clicked_through():
    """an option's value stands only once on a page, so that a click is clear"""
    faulty = [
        product.product_id
        for product in load_products()
        if len({*product.values(), *BUTTONS}) < len(product.values()) + len(BUTTONS)
        or product.kind not in product.title
        or product.price_cents <= 0
    ]
    assert faulty == []


def test_one_product_fulfils_each_task():
    """for each task exactly one product can earn the full mark"""
    fulfil = {
        task.slug: [
            product.product_id
            for product in load_products()
            if match_score(task, product, as_wanted(task, product)) == 1.0
        ]
        for task in shop_tasks()
    }
    assert {slug: ids for slug, ids in fulfil.items() if len(ids) != 1} == {}


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


def test_the_budget_may_be_spent_whole():
    """a price equal to the budget is within it"""
    product = Product("x", "A mug", "kitchen", "mug", 1150, ("dishwasher-safe",), BLUE)
    assert match_score(MUG, product, {"colour": "blue"}) == 1.0


@given(st.data())
def test_the_mark_lies_between_0_and_1(data):
    """whatever is bought for whatever task, the mark lies between 0 and 1"""
    task = data.draw(st.sampled_from(shop_tasks()))
    product = data.draw(st.sampled_from(load_products()))
    chosen = {
        name: data.draw(st.sampled_from(list(values)))
        for name, values in product.options.items()
    }
    assert 0.0 <= match_score(task, product, chosen) <= 1.0
    assert price_of(product, chosen) >= product.price_cents


@pytest.mark.parametrize(
    ("cents", "text"), [(0, "$0.00"), (5, "$0.05"), (450, "$4.50"), (12900, "$129.00")]
)
def test_prices_in_words(cents, text):
    """cents are written as dollars with two decimals"""
    assert dollars(cents) == text
