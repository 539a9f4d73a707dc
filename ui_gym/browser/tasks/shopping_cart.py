"""Shopping cart: buy the named things, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import shop
from ui_gym.browser.content.choices import lookalike
from ui_gym.browser.content.phrases import listing
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import PATCH, Family, Steps, by_level, whole
from ui_gym.browser.moves import click, fill, reveal
from ui_gym.contract.action import Action
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

COUPONS = {"WINTER10": 10, "HELLO5": 5, "SNOWDAY": 8, "THANKS12": 12, "FRIENDS15": 15, "TEATIME": 7}
"""All that the shop takes, and how many per cent each is worth."""

DELIVERIES = {
    "standard": "",
    "express": " Have it delivered by express.",
    "collect": " Choose to collect it in the store.",
}
"""How an order comes, and what a goal says of it; the first is chosen already."""

BRANDS, THEMES = 4, 6

GOALS = (
    "Order {items}.{coupon}{delivery}{leftover}",
    "Buy {items}, and place the order.{coupon}{delivery}{leftover}",
    "I need {items}. Please order them for me.{coupon}{delivery}{leftover}",
)
COUPON = " Use the coupon {}."
LEFTOVER = " Take out of the cart whatever else is in it."

COMPACT_PLACES = 3
"""Patches by which the compact page's content may be moved down, and one more."""
COMPACT_GOALS = ("Order {items}{delivery}.{leftover}", "Buy {items}{delivery}.{leftover}")
COMPACT_LEFTOVER = " Delete all else."


@dataclass(frozen=True)
class ShoppingCartParams:
    """All that varies between episodes."""

    products: tuple[shop.Product, ...]
    items: tuple[shop.Item, ...]
    """What to buy: no product twice."""
    coupon: str
    """The one to use, or nothing."""
    delivery: str
    leftover: tuple[tuple[int, str, int], ...]
    """What is in the cart already: product, colour, count."""
    brand: int
    """Compact: how far the page's content is moved down, in patches."""
    theme: int
    phrasing: int


@register("ShoppingCart", suite="browser", category="shop", difficulty="medium", max_steps=38)
class ShoppingCart(Family[ShoppingCartParams]):
    """Buy things in a shop: find them, put them into the cart, and place the order.

    ## Description
    A shop for things of the house, with kinds of goods at the side, a search box, an order of
    sorting, a page for every article, and a cart. The goal names what to buy and how many: by name
    (sizes look alike) and colour, or as the cheapest with a good rating, or as the best within a
    budget. It may ask for a coupon, for a kind of delivery, and that the cart be cleared of what
    lay in it before. The compact page has neither prices, colours, coupons nor a search box.

    ## Action space
    Clicking, typing and scrolling is all that is needed.

    ## Rewards
    1 for an order of exactly the things asked for, with the coupon and the delivery asked for
    (where none are: no coupon, standard delivery). 0.75 if only coupon or delivery are wrong.
    Otherwise, and before the order, half the share of the things that are in the cart as asked;
    things that were not asked for lower it. With ``reward="progress"``, the score's increments.

    ## Starting state
    The shop's first page with all its goods, in no order; the cart is empty, or (hard) not.

    ## Episode end
    Termination: an order was placed. `max_steps` is 18 at the level easy, 38 at medium, 54 at hard.

    ## Arguments
    | `groups` | easy 4, medium 5, hard 6 (compact: 3) | kinds of goods, 2 to 8, compact to 3 |
    | `lines` | easy 2, medium 2, hard 3 (compact: 3) | names within a kind, 2 to 4 |
    | `sizes` | easy 1, medium 2, hard 2 (compact: 1) | sizes of each name, 1 or 2 |
    | `items` | easy 1, medium 2, hard 3 (compact: 1) | different things to buy, 1 to 4, compact 2 |
    | `limited` | easy 0, medium 0, hard 1 (compact: 0) | how many of them are named by a limit |
    | `extras` | easy 0, medium 1, hard 1 (compact: 1) | 1: there may be a coupon and a delivery |
    | `leftover` | easy 0, medium 0, hard 1 (compact: 0) | in the cart already, 0 to 2, compact 1 |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "shopping_cart.html"
    mistakes = ("count", "delivery", "lookalike")
    groups: int = whole(2, len(shop.GROUPS), easy=4, medium=5, hard=6)
    lines: int = whole(2, 4, easy=2, medium=2, hard=3)
    sizes: int = whole(1, 2, easy=1, medium=2, hard=2)
    items: int = by_level(easy=1, medium=2, hard=3)
    limited: int = by_level(easy=0, medium=0, hard=1)
    extras: int = whole(0, 1, easy=0, medium=1, hard=1)
    leftover: int = whole(0, 2, easy=0, medium=0, hard=1)
    compact_values = {
        "groups": 3, "lines": 3, "sizes": 1, "items": 1, "limited": 0, "extras": 1, "leftover": 0,
    }  # fmt: skip

    def prepare(self) -> None:
        if self.compact:
            self.check_range("groups", self.groups, 2, len(shop.COMPACT_GROUPS))
            self.check_range("items", self.items, 1, 2)
            self.check_range("leftover", self.leftover, 0, 1)
            if self.sizes > 1 or self.limited:
                raise UserError(
                    "ShoppingCart: the compact page has neither sizes nor prices; sizes is 1 and "
                    "limited 0"
                )
            steps = 3 + shop.COMPACT_COUNT - 1
            self.max_steps = 2 * (2 + steps * self.items + self.extras + self.leftover)
            return
        self.check_range("items", self.items, 1, min(4, self.groups))
        self.check_range("limited", self.limited, 0, self.items)
        self.max_steps = 4 + 14 * self.items + 6 * self.extras + 2 * self.leftover

    def sample(self, rng: Generator) -> ShoppingCartParams:
        if self.compact:
            return self._sample_compact(rng)
        products = shop.stock(self.groups, self.lines, self.sizes, rng)
        while len(shop.groups_with_limits(products)) < self.limited:
            products = shop.stock(self.groups, self.lines, self.sizes, rng)
        items = shop.wishes(self.items, self.limited, products, rng)
        besides = [i for i in range(len(products)) if i not in {item.product for item in items}]
        left = [int(i) for i in rng.choice(besides, size=self.leftover, replace=False)]
        delivery = pick(rng, tuple(DELIVERIES)) if self.extras else "standard"
        return ShoppingCartParams(
            products=products,
            items=items,
            coupon=pick(rng, tuple(COUPONS)) if self.extras and rng.random() < 0.6 else "",
            delivery=delivery,
            leftover=tuple((i, products[i].colours[0], int(rng.integers(1, 3))) for i in left),
            brand=int(rng.integers(BRANDS)),
            theme=int(rng.integers(THEMES)),
            phrasing=int(rng.integers(len(GOALS))),
        )

    def _sample_compact(self, rng: Generator) -> ShoppingCartParams:
        products = shop.compact_stock(self.groups, self.lines, rng)
        items = [
            replace(item, count=1 + item.count % shop.COMPACT_COUNT)
            for item in shop.wishes(self.items, 0, products, rng)
        ]
        besides = [i for i in range(len(products)) if i not in {item.product for item in items}]
        left = [int(i) for i in rng.choice(besides, size=self.leftover, replace=False)]
        return ShoppingCartParams(
            products=products,
            items=tuple(items),
            coupon="",
            delivery="express" if self.extras and rng.random() < 0.5 else "standard",
            leftover=tuple((i, "", 1) for i in left),
            brand=int(rng.integers(COMPACT_PLACES)),
            theme=0,
            phrasing=int(rng.integers(len(COMPACT_GOALS))),
        )

    def goal(self, params: ShoppingCartParams) -> str:
        if self.compact:
            wanted = [(item.count, params.products[item.product]) for item in params.items]
            return COMPACT_GOALS[params.phrasing].format(
                items=listing([f"{count} {one.name} from {one.group}" for count, one in wanted]),
                delivery=" by Express" if params.delivery == "express" else "",
                leftover=COMPACT_LEFTOVER if params.leftover else "",
            )
        return GOALS[params.phrasing].format(
            items=listing(shop.phrase(item, params.products) for item in params.items),
            coupon=COUPON.format(params.coupon) if params.coupon else "",
            delivery=DELIVERIES[params.delivery],
            leftover=LEFTOVER if params.leftover else "",
        )

    def page_params(self, params: ShoppingCartParams) -> dict[str, Any]:
        # Any shop knows its goods, its coupons and what its customers left in their carts.
        groups = {key: group.plural.capitalize() for key, group in shop.GROUPS.items()}
        return {
            "products": [asdict(product) for product in params.products],
            "groups": {key: key for key in shop.COMPACT_GROUPS} if self.compact else groups,
            "coupons": COUPONS,
            "cart": params.leftover,
            "brand": params.brand,
            "theme": params.theme,
            "place": PATCH * params.brand,
        }

    def judge(
        self, device: BrowserDevice, params: ShoppingCartParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        share = 0.0
        for event in device.events:
            if event.type not in ("cart", "order"):
                continue
            share = _share(event.data.get("lines", ()), params.items)
            if event.type == "cart":
                continue
            if share < 1:
                return Verdict(share / 2, done=True, notes="ordered, but not what was asked for")
            for name in ("coupon", "delivery"):
                if event.data.get(name) != getattr(params, name):
                    told = f"ordered with the {name} {event.data.get(name)!r}"
                    return Verdict(0.75, done=True, notes=told)
            return Verdict(1.0, done=True, notes="ordered as asked")
        return Verdict(share / 2, notes="not ordered yet")

    def oracle(self, device: BrowserDevice, params: ShoppingCartParams) -> Steps:
        for item in params.items:
            yield from self._add(device, params.products[item.product], item)
        yield Demo(click(device, "#cart"), "Cart" if self.compact else "All is in the cart.")
        for product, _, _ in params.leftover:
            left = f"{params.products[product].name} is left from before."
            thought = "Delete" if self.compact else left
            yield Demo(click(device, f"[data-remove='{product}']"), thought)
        if params.coupon:
            yield from fill(device, "#coupon", params.coupon)
            yield click(device, "#apply")
        if params.delivery != "standard":
            yield Demo(click(device, f"#delivery-{params.delivery}"), params.delivery.capitalize())
        yield Demo(click(device, "#order"), "Order" if self.compact else "Place the order.")

    def misread(
        self, params: ShoppingCartParams, mistake: str, rng: Generator
    ) -> ShoppingCartParams:
        """``count``: one more of the first thing, or one less. ``delivery``: express, or where that
        is asked for, standard. ``lookalike``: the first thing is taken for the one of its kind
        whose name is most alike."""
        if mistake == "delivery":
            other = "standard" if params.delivery == "express" else "express"
            return replace(params, delivery=other)
        first, *others = params.items
        if mistake == "count":
            step = -1 if first.count > 1 and rng.random() < 0.5 else 1
            wrong = replace(first, count=first.count + step)
        else:
            wrong = _lookalike(first, params.products)
        return replace(params, items=(wrong, *others))

    def blind_rate(self, params: ShoppingCartParams) -> float:
        """Any things of the shop, in any number and colour."""
        rate = 1.0
        for left, _ in enumerate(params.items):
            most = shop.COMPACT_COUNT if self.compact else shop.MOST_COUNT
            rate /= (len(params.products) - left) * most
        return rate

    def _add(self, device: BrowserDevice, product: shop.Product, item: shop.Item) -> Steps:
        """Find a thing, choose its colour and number, and put it into the cart."""
        if self.compact:
            if device.state()["group"] != product.group:
                yield Demo(click(device, f"#group-{product.group}"), product.group)
            yield Demo(click(device, f"#product-{item.product}"), product.name)
            for _ in range(item.count - 1):
                yield Demo(click(device, "#count-more"), "+")
            yield Demo(click(device, "#add"), "Add")
            return
        yield click(device, f"#group-{product.group}")
        card = f"#product-{item.product}"
        yield from reveal(device, card, "#shelf")
        yield Demo(click(device, f"{card} .name"), f"{item.count} x {product.name}")
        if item.colour and item.colour != product.colours[0]:
            yield click(device, f"#colour-{item.colour}")
        for _ in range(item.count - 1):
            yield click(device, "#count-more")
        yield click(device, "#add")


def _share(lines: Sequence[Mapping[str, Any]], items: Sequence[shop.Item]) -> float:
    """How much of what is in the cart and of what should be is right, 0 to 1."""
    coloured = {item.product for item in items if item.colour}
    wanted = {(item.product, item.colour): item.count for item in items}
    there: Counter[tuple[Any, Any]] = Counter()
    for line in lines:
        product = line.get("product")
        there[product, line.get("colour") if product in coloured else ""] += line.get("count", 0)
    right = sum(there[key] == count for key, count in wanted.items())
    return right / len({*wanted, *there})


def _lookalike(item: shop.Item, products: Sequence[shop.Product]) -> shop.Item:
    group = products[item.product].group
    besides = [i for i, product in enumerate(products) if product.group != group]
    names = [product.name for product in products]
    other = lookalike(names[item.product], names, besides)
    colours = products[other].colours
    colour = item.colour if item.colour in colours else colours[0]
    return replace(item, product=other, colour=colour)
