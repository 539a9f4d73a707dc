"""ShoppingCart's logic."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from task_helpers import goals, judge, levels, mistakes_fail, verdicts

from ui_gym.browser.content import shop
from ui_gym.browser.tasks.shopping_cart import COUPONS, ShoppingCart, ShoppingCartParams
from ui_gym.errors import UserError

LEVELS = ("easy", "medium", "hard")

PRODUCTS = (
    shop.Product("Alma mug", "mug", 1200, 41, 30, ("blue", "red")),
    shop.Product("Moss mug", "mug", 900, 39, 80, ("red",)),
    shop.Product("Tarn mug", "mug", 1500, 45, 12, ("sand", "grey")),
    shop.Product("Juno clock", "clock", 3000, 44, 15, ("black",)),
)
PARAMS = ShoppingCartParams(
    products=PRODUCTS,
    items=(shop.Item(0, "red", 2, "name", 0), shop.Item(3, "", 1, "cheapest", 40)),
    coupon="TEATIME", delivery="standard", leftover=(), brand=0, theme=0, phrasing=0,
)  # fmt: skip
MUGS = {"product": 0, "colour": "red", "count": 2}
CLOCK = {"product": 3, "colour": "black", "count": 1}


def cart(*lines: Any) -> Any:
    return ("cart", {"lines": list(lines)})


def order(*lines: Any, coupon: str = "TEATIME", delivery: str = "standard") -> Any:
    return ("order", {"lines": list(lines), "coupon": coupon, "delivery": delivery})


test_shopping_cart_scores = verdicts(
    ShoppingCart(),
    PARAMS,
    {
        "half": (cart(MUGS), 0.25, False),
        "all in the cart": (cart(MUGS), cart(MUGS, CLOCK), 0.5, False),
        "taken out": (cart(MUGS), cart(), 0.0, False),
        "right": (order(CLOCK, MUGS), 1.0, True),
        "one lacks": (order(MUGS), 0.25, True),
        "count": (order(MUGS, {**CLOCK, "count": 2}), 0.25, True),
        "more": (order(MUGS, CLOCK, {**MUGS, "product": 1}), 1 / 3, True),
        "colour": (order({**MUGS, "colour": "blue"}, CLOCK), 1 / 6, True),
        "no coupon": (order(MUGS, CLOCK, coupon=""), 0.75, True),
        "other coupon": (order(MUGS, CLOCK, coupon="HELLO5"), 0.75, True),
        "delivery": (order(MUGS, CLOCK, delivery="express"), 0.75, True),
        "too late": (order(MUGS), order(MUGS, CLOCK), 0.25, True),
        "empty": (("order", {}), 0.0, True),
    },
)


def test_any_colours_will_do_where_none_is_named() -> None:
    params = dataclasses.replace(PARAMS, items=(shop.Item(0, "", 2, "name", 0),))
    one, other = ({**MUGS, "count": 1, "colour": colour} for colour in ("red", "blue"))
    assert judge(ShoppingCart(), params, order(one, other)).success
    assert not judge(ShoppingCart(), params, order(one)).success


def test_limits_name_another_article_than_none_would() -> None:
    assert shop.pick("mug", "cheapest", 40, PRODUCTS) == 0
    assert shop.pick("mug", "cheapest", 39, PRODUCTS) == 1
    assert shop.pick("mug", "best", 1200, PRODUCTS) == 0
    assert ("cheapest", 39) not in shop.limits("mug", PRODUCTS)
    assert ("cheapest", 41) in shop.limits("mug", PRODUCTS)
    assert {bound for kind, bound in shop.limits("mug", PRODUCTS) if kind == "best"} == {
        1000, 1100, 1200, 1300, 1400,
    }  # fmt: skip
    assert shop.limits("clock", PRODUCTS) == []


@levels(ShoppingCart)
def test_goals_name_each_thing_and_only_one_fits(task: Any) -> None:
    for params, goal in goals(task):
        assert len({params.products[item.product].group for item in params.items}) == task.items
        assert sum(item.kind != "name" for item in params.items) == task.limited
        for item in params.items:
            product = params.products[item.product]
            of_group = [each for each in params.products if each.group == product.group]
            assert shop.phrase(item, params.products) in goal
            if item.kind == "name":
                assert [each.name for each in of_group].count(product.name) == 1
                assert item.colour in product.colours or len(product.colours) == 1
            elif item.kind == "cheapest":
                fitting = [each for each in of_group if each.rating >= item.bound]
                assert [each.cents <= product.cents for each in fitting].count(True) == 1
                assert f"{item.bound / 10} or better" in goal
            else:
                fitting = [each for each in of_group if each.cents <= item.bound]
                assert [each.rating >= product.rating for each in fitting].count(True) == 1
        assert (params.coupon in COUPONS and params.coupon in goal) or "coupon" not in goal
        assert ("express" in goal, "collect" in goal) == (
            params.delivery == "express", params.delivery == "collect",
        )  # fmt: skip
        assert ("whatever else" in goal) == bool(task.leftover)
        assert not {line[0] for line in params.leftover} & {item.product for item in params.items}


def _ordered(params: ShoppingCartParams) -> Any:
    lines = [
        {
            "product": item.product,
            "colour": item.colour or params.products[item.product].colours[0],
            "count": item.count,
        }
        for item in params.items
    ]
    return order(*lines, coupon=params.coupon, delivery=params.delivery)


def test_every_group_may_be_asked_for() -> None:
    assert ShoppingCart(groups=4, items=4, limited=4, lines=2, leftover=2).draw(1).items


test_mistakes_order_something_else = mistakes_fail(
    ShoppingCart,
    lambda params: [_ordered(params)],
    lambda params: all(item.count > 0 for item in params.items),
)


def test_compact_goals_name_each_thing_its_kind_and_its_number() -> None:
    task = ShoppingCart(compact=True, items=2, leftover=1)
    for params, goal in goals(task):
        for item in params.items:
            product = params.products[item.product]
            assert product.name in shop.COMPACT_GROUPS[product.group]
            assert f"{item.count} {product.name} from {product.group}" in goal
        assert len({product.name for product in params.products}) == len(params.products)
        assert ("Express" in goal) == (params.delivery == "express")
        assert "Delete all else" in goal


def test_the_compact_page_has_neither_sizes_nor_prices() -> None:
    with pytest.raises(UserError, match="sizes is 1 and limited 0"):
        ShoppingCart(compact=True, limited=1)
    with pytest.raises(UserError, match="groups must be 2 to 3"):
        ShoppingCart(compact=True, level="easy")
