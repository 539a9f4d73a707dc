"""Catalogues: made-up things on offer, and how a sentence asks for one of them.

A column is a choice (one of a few texts), a measure (a number) or a flag (yes or no). An offer is
its name and a value for each column: an index of the choice, the number, 1 or 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Choice:
    """A column of texts; `asked` is said of an offer: ``is made by {}``."""

    title: str
    texts: tuple[str, ...]
    every: str
    """How its filter calls no choice at all."""
    asked: str


@dataclass(frozen=True)
class Measure:
    """A column of numbers: those of `steps`, or from `low` to `high`."""

    title: str
    form: str
    """How a number is written: ``${:,}``."""
    low: int = 0
    high: int = 0
    steps: tuple[int, ...] = ()
    shift: int = 0
    """How many of its digits stand behind the point."""
    least: str = ""
    """The offer with the lowest number in words, if it is asked for: ``the cheapest {}``."""
    most: str = ""
    at_least: str = ""
    """That the number is not below another, if it is asked for: ``has at least {}``."""
    at_most: str = ""

    def write(self, value: int) -> str:
        """A number as pages and goals write it."""
        return self.form.format(round(value / 10**self.shift, self.shift) if self.shift else value)


@dataclass(frozen=True)
class Flag:
    """A column of yes and no; `asked` is said of an offer that has it."""

    title: str
    only: str
    """What its box in the filter says."""
    asked: str


Column = Choice | Measure | Flag


@dataclass(frozen=True)
class Catalog:
    """What is on offer, and where."""

    app: str
    mark: str
    title: str
    noun: str
    verb: str
    """What the button of an offer says."""
    act: str
    """What is done with it, in a goal."""
    first: tuple[str, ...]
    """Offers are called by a word of `first` and one of `last`."""
    last: tuple[str, ...]
    columns: Mapping[str, Column]

    def ordered(self) -> list[str]:
        """The columns whose extremes are asked for."""
        return [key for key, one in self.columns.items() if isinstance(one, Measure) and one.least]

    def names(self, count: int, rng: np.random.Generator) -> list[str]:
        """`count` different names."""
        pairs = rng.choice(len(self.first) * len(self.last), size=count, replace=False)
        return [
            f"{self.first[pair // len(self.last)]} {self.last[pair % len(self.last)]}"
            for pair in map(int, pairs)
        ]

    def offer(self, rng: np.random.Generator) -> tuple[int, ...]:
        """A value for each column."""
        return tuple(_draw(column, rng) for column in self.columns.values())


def _draw(column: Column, rng: np.random.Generator) -> int:
    match column:
        case Choice(texts=texts):
            return int(rng.integers(len(texts)))
        case Flag():
            return int(rng.random() < 0.6)
        case Measure(steps=(), low=low, high=high):
            return int(rng.integers(low, high + 1))
        case Measure(steps=steps):
            return int(rng.choice(steps))


@dataclass(frozen=True)
class Condition:
    """What an offer has to be: `column` is at least or at most (a measure) or exactly `value`."""

    column: str
    relation: str
    """``"is"``, ``"at_least"`` or ``"at_most"``."""
    value: int

    def met(self, catalog: Catalog, offer: Sequence[int]) -> bool:
        have = offer[list(catalog.columns).index(self.column)]
        if self.relation == "is":
            return have == self.value
        return have >= self.value if self.relation == "at_least" else have <= self.value

    def words(self, catalog: Catalog) -> str:
        """As it is said of an offer: ``has at least 16 GB of memory``."""
        match catalog.columns[self.column]:
            case Choice(texts=texts, asked=asked):
                return asked.format(texts[self.value])
            case Flag(asked=asked):
                return asked
            case measure:
                return str(getattr(measure, self.relation)).format(measure.write(self.value))


def conditions(catalog: Catalog, column: str, offer: Sequence[int]) -> list[Condition]:
    """What can be asked of a column so that `offer` meets it."""
    value = offer[list(catalog.columns).index(column)]
    match catalog.columns[column]:
        case Choice():
            return [Condition(column, "is", value)]
        case Flag():
            return [Condition(column, "is", 1)] if value else []
        case Measure(steps=steps) as measure:
            if value in (min(steps, default=None), max(steps, default=None)):
                return []  # "at most 1 rooms", "at least 5 stars" of 5: nobody speaks so
            relations = ("at_least", "at_most")
            return [Condition(column, one, value) for one in relations if getattr(measure, one)]


CATALOGS = (
    Catalog(
        "Circuit", "tag", "Laptops", "laptop", "Reserve",
        "Reserve {}",
        ("Aero", "Atlas", "Breeze", "Cirrus", "Comet", "Delta", "Nimbus", "Onyx", "Pico", "Vega"),
        ("11", "14", "14 Pro", "15", "15 Max", "16", "16 Lite", "17", "Duo", "Flex", "Go", "X"),
        {
            "brand": Choice("Brand", ("Halden", "Ishiro", "Lumen", "Norva", "Tarn"), "All brands",
                            "is made by {}"),
            "memory": Measure("Memory", "{} GB", steps=(8, 16, 32, 64),
                              at_least="has at least {} of memory"),
            "screen": Measure("Screen", "{} in", steps=(13, 14, 15, 16, 17),
                              at_least="has a screen of at least {}",
                              at_most="has a screen of at most {}"),
            "weight": Measure("Weight", "{:.2f} kg", 98, 310, shift=2, least="the lightest {}",
                              most="the heaviest {}"),
            "price": Measure("Price", "${:,}", 389, 2990, least="the cheapest {}",
                             most="the most expensive {}"),
            "stock": Flag("In stock", "In stock", "is in stock"),
        },
    ),
    Catalog(
        "Hearthside", "home", "Flats to let", "flat", "Book a viewing",
        "Book a viewing of {}",
        ("12", "14", "17", "21", "25", "28", "33", "36", "40", "47"),
        ("Abbey Road", "Bell Yard", "Church Row", "Elm Grove", "Fore Street", "Hill Rise",
         "Kiln Lane", "Mill Lane", "Park View", "Quay Street", "Station Road", "West End"),
        {
            "district": Choice("District", ("Brook", "Harbour", "Old Town", "Southside", "Uplands"),
                               "All districts", "lies in {}"),
            "rooms": Measure("Rooms", "{}", steps=(1, 2, 3, 4, 5), at_least="has at least {} rooms",
                             at_most="has at most {} rooms"),
            "floor": Measure("Floor", "{}", steps=(0, 1, 2, 3, 4, 5, 6),
                             at_most="is on floor {} or lower"),
            "area": Measure("Area", "{} m²", 27, 168, least="the smallest {}",
                            most="the largest {}"),
            "rent": Measure("Rent", "${:,}", 610, 3480, least="the {} with the lowest rent",
                            most="the {} with the highest rent"),
            "pets": Flag("Pets", "Pets welcome", "takes pets"),
        },
    ),
    Catalog(
        "Forecourt", "truck", "Used cars", "car", "Arrange a test drive",
        "Arrange a test drive of {}",
        ("Arden", "Brio", "Corsair", "Dune", "Fable", "Kestrel", "Merit", "Sol", "Tempo", "Vale"),
        ("1.2", "1.4", "1.6", "1.8", "2.0", "Cross", "Estate", "GT", "Plus", "Sport", "Tour",
         "Van"),
        {
            "fuel": Choice("Fuel", ("Diesel", "Electric", "Hybrid", "Petrol"), "All fuels",
                           "has the fuel {}"),
            "seats": Measure("Seats", "{}", steps=(2, 4, 5, 7), at_least="has at least {} seats"),
            "year": Measure("Year", "{}", steps=tuple(range(2013, 2026)),
                            at_least="was built in {} or later"),
            "mileage": Measure("Mileage", "{:,} km", 2100, 189000,
                               least="the {} with the lowest mileage",
                               most="the {} with the highest mileage"),
            "price": Measure("Price", "${:,}", 1990, 38900, least="the cheapest {}",
                             most="the most expensive {}"),
            "warranty": Flag("Warranty", "With warranty", "has a warranty"),
        },
    ),
    Catalog(
        "Stopover", "star", "Hotels", "hotel", "Request a room",
        "Request a room in {}",
        ("Anchor", "Bellevue", "Crown", "Garden", "Grand", "Lakeside", "Lion", "Park", "Royal",
         "Swan"),
        ("Court", "Hotel", "House", "Inn", "Lodge", "Palace", "Plaza", "Rest", "Rooms", "Suites",
         "Terrace", "Villa"),
        {
            "board": Choice("Board", ("Room only", "Breakfast", "Half board", "Full board"),
                            "Any board", "has the board {}"),
            "stars": Measure("Stars", "{}", steps=(2, 3, 4, 5), at_least="has at least {} stars"),
            "rating": Measure("Rating", "{:.1f}", steps=tuple(range(61, 99)), shift=1,
                              at_least="is rated {} or better"),
            "distance": Measure("To centre", "{:.2f} km", 15, 920, shift=2,
                                least="the {} closest to the centre",
                                most="the {} farthest from the centre"),
            "price": Measure("Per night", "${:,}", 48, 640, least="the cheapest {}",
                             most="the most expensive {}"),
            "parking": Flag("Parking", "With parking", "has parking"),
        },
    ),
)  # fmt: skip
