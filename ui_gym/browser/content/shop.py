"""The goods of the made-up shop, and how the wished-for ones are named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.browser.content.data import table
from ui_gym.browser.content.phrases import money, number
from ui_gym.contract import draws


@dataclass(frozen=True)
class Group:
    """A kind of goods: its singular and plural, two sizes, and the range of its prices ($)."""

    noun: str
    plural: str
    sizes: tuple[str, str]
    prices: tuple[int, int]


GROUPS = {key: Group(**written) for key, written in table("shop")["groups"].items()}
LINES: tuple[str, ...] = table("shop")["lines"]
COLOURS: tuple[str, ...] = table("shop")["colours"]
MOST_COUNT = 4
"""Of one thing to buy."""

COMPACT_GROUPS = {
    "Food": ("Apple", "Bread", "Egg", "Jam", "Milk", "Nut", "Oil", "Rice", "Tea"),
    "Home": ("Candle", "Glass", "Hat", "Lamp", "Soap", "Vase", "Wool", "Yarn"),
    "Work": ("Desk", "Flag", "Ink", "Key", "Pen"),
}
"""The kinds of goods on the compact page, and what there is of each."""
COMPACT_COUNT = 2


@dataclass(frozen=True)
class Product:
    """One article; its id is its index in the catalogue."""

    name: str
    group: str
    cents: int
    rating: int
    """Tenths of a star: no two of a group have the same, nor the same price."""
    reviews: int
    colours: tuple[str, ...]
    """The first is chosen already on the product's page."""


@dataclass(frozen=True)
class Item:
    """One thing to buy."""

    product: int
    colour: str
    """Nothing where any will do."""
    count: int
    kind: str
    """How it is named: ``"name"``, ``"cheapest"`` or ``"best"``."""
    bound: int
    """The lowest rating for the cheapest, the highest price in cents for the best, else 0."""


def stock(groups: int, lines: int, sizes: int, rng: np.random.Generator) -> tuple[Product, ...]:
    """A catalogue of `groups` x `lines` x `sizes` articles, in an order of its own."""
    made = []
    for key in rng.choice(tuple(GROUPS), size=groups, replace=False):
        group = GROUPS[str(key)]
        names = [
            f"{line} {group.noun}" + (f", {size}" if sizes > 1 else "")
            for line in rng.choice(LINES, size=lines, replace=False)
            for size in group.sizes[:sizes]
        ]
        low, high = group.prices
        prices = rng.choice(np.arange(2 * low, 2 * high), size=len(names), replace=False)
        ratings = rng.choice(np.arange(36, 50), size=len(names), replace=False)
        for name, price, rating in zip(names, prices, ratings, strict=True):
            colours = rng.permutation(COLOURS)[: int(rng.integers(1, 4))]
            made.append(
                Product(
                    name=name,
                    group=str(key),
                    cents=50 * int(price),
                    rating=int(rating),
                    reviews=int(rng.integers(12, 900)),
                    colours=tuple(str(colour) for colour in colours),
                )
            )
    return tuple(made[i] for i in rng.permutation(len(made)))


def compact_stock(groups: int, lines: int, rng: np.random.Generator) -> tuple[Product, ...]:
    """A catalogue of `groups` x `lines` articles for the compact page, which tells names alone."""
    made = [
        Product(name=str(name), group=str(key), cents=100, rating=40, reviews=1, colours=("",))
        for key in rng.choice(tuple(COMPACT_GROUPS), size=groups, replace=False)
        for name in rng.choice(COMPACT_GROUPS[str(key)], size=lines, replace=False)
    ]
    return tuple(made[i] for i in rng.permutation(len(made)))


def wishes(
    count: int, limited: int, products: Sequence[Product], rng: np.random.Generator
) -> tuple[Item, ...]:
    """Things of unlike kinds to buy, `limited` of them named by a limit, in their own order."""
    items = []
    for group in rng.choice(groups_with_limits(products), size=limited, replace=False):
        found = limits(str(group), products)
        kind, bound = draws.pick(rng, found)
        many = int(rng.integers(1, 3))
        items.append(Item(pick(str(group), kind, bound, products), "", many, kind, bound))
    taken = {products[item.product].group for item in items}
    rest = sorted({product.group for product in products} - taken)
    for group in rng.choice(rest, size=count - limited, replace=False):
        of_group = [i for i, product in enumerate(products) if product.group == str(group)]
        product = draws.pick(rng, of_group)
        colours = products[product].colours
        colour = draws.pick(rng, colours) if len(colours) > 1 else ""
        items.append(Item(product, colour, int(rng.integers(1, MOST_COUNT + 1)), "name", 0))
    return tuple(items[i] for i in rng.permutation(len(items)))


def groups_with_limits(products: Sequence[Product]) -> list[str]:
    """The kinds of goods in which a limit can matter."""
    return sorted({product.group for product in products if limits(product.group, products)})


def limits(group: str, products: Sequence[Product]) -> list[tuple[str, int]]:
    """The limits (kind and bound) within which another article of the group is asked for than
    without any."""
    of_group = [product for product in products if product.group == group]
    cheapest = products.index(min(of_group, key=lambda product: product.cents))
    best = products.index(max(of_group, key=lambda product: product.rating))
    found = [("cheapest", product.rating) for product in of_group]
    dearest = max(product.cents for product in of_group)
    found += [
        ("best", bound)
        for bound in range(100 * (products[cheapest].cents // 100 + 1), dearest, 100)
    ]
    return [
        (kind, bound)
        for kind, bound in found
        if pick(group, kind, bound, products) != (cheapest if kind == "cheapest" else best)
    ]


def pick(group: str, kind: str, bound: int, products: Sequence[Product]) -> int:
    """What the cheapest with a rating of `bound` is, or the best for `bound` cents."""
    of_group = [(i, product) for i, product in enumerate(products) if product.group == group]
    if kind == "cheapest":
        fitting = [(product.cents, i) for i, product in of_group if product.rating >= bound]
    else:
        fitting = [(-product.rating, i) for i, product in of_group if product.cents <= bound]
    return min(fitting)[1]


def phrase(item: Item, products: Sequence[Product]) -> str:
    """An item as a goal names it."""
    product = products[item.product]
    group = GROUPS[product.group]
    if item.kind == "name":
        colour = f" in {item.colour}" if item.colour else ""
        return f'{number(item.count)} "{product.name}"{colour}'
    if item.kind == "cheapest":
        told = f"the cheapest {group.noun} rated {item.bound / 10:.1f} or better"
    else:
        told = f"the best rated {group.noun} for at most {money(item.bound)}"
    return told if item.count == 1 else f"{number(item.count)} of {told}"
