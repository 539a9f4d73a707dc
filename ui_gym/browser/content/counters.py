"""What can be counted when something is booked or ordered: people by age, and things."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple


class Counter(NamedTuple):
    label: str
    """As the page shows it."""
    one: str
    """As a goal says it, of one and of many."""
    many: str
    hint: str = ""
    low: int = 0
    most: int = 9


class Scene(NamedTuple):
    app: str
    icon: str
    title: str
    thing: str
    """What the goal calls the whole."""
    bands: tuple[Counter, ...]
    """People, from the youngest to the oldest."""
    cuts: tuple[tuple[int, ...], ...]
    """Sets of ages at which the next band begins."""
    extras: tuple[Counter, ...]

    def counters(self, cuts: Sequence[int]) -> list[Counter]:
        """All that can be counted, with the ages of people in the hints."""
        hints = hints_of(cuts) if self.bands else []
        people = [band._replace(hint=hint) for band, hint in zip(self.bands, hints, strict=True)]
        return [*people, *self.extras]


def hints_of(cuts: Sequence[int]) -> list[str]:
    """What the page says about the ages of each band."""
    between = [f"Age {low} to {high - 1}" for low, high in itertools.pairwise(cuts)]
    return [f"Under {cuts[0]}", *between, f"Age {cuts[-1]} and over"]


def band_of(age: int, cuts: Sequence[int]) -> int:
    """Which band somebody of an age belongs to."""
    return sum(age >= cut for cut in cuts)


def _things(text: str, *, low: int = 0, most: int = 9) -> tuple[Counter, ...]:
    """``room/rooms: Up to three beds; dog/dogs: On a lead`` as counters."""
    made = []
    for entry in text.split("; "):
        words, hint = entry.split(": ")
        one, many = words.split("/")
        made.append(Counter(many.capitalize(), one, many, hint, low, most))
    return tuple(made)


def _people(text: str) -> tuple[Counter, ...]:
    return _things("; ".join(f"{words}: " for words in text.split(", ")))


SCENES = {
    "flight": Scene(
        "Altura", "plane", "Passengers and bags", "flight booking",
        _people("infant/infants, child/children, youth/youths, adult/adults"),
        ((2, 12, 16), (2, 11, 15), (3, 13, 18)),
        _things("cabin bag/cabin bags: Up to 8 kg; checked bag/checked bags: Up to 23 kg; "
                "bicycle/bicycles: In a box; ski bag/ski bags: Up to 2 m long"),
    ),
    "museum": Scene(
        "Marlow Glass Museum", "image", "Tickets for Saturday", "ticket order",
        _people("child/children, youth/youths, adult/adults, senior/seniors"),
        ((7, 18, 65), (6, 16, 60), (12, 18, 67)),
        _things("audio guide/audio guides: In nine languages; locker/lockers: For bags and coats; "
                "catalogue/catalogues: 120 pages; folding stool/folding stools: To carry along"),
    ),
    "ferry": Scene(
        "Skerry Line", "flag", "Who and what comes along", "ferry booking",
        _people("toddler/toddlers, child/children, adult/adults, senior/seniors"),
        ((4, 15, 65), (3, 12, 60), (5, 16, 67)),
        _things("car/cars: Up to 5 m long; motorbike/motorbikes: With or without sidecar; "
                "bicycle/bicycles: Also electric ones; dog/dogs: On a lead"),
    ),
    "cable": Scene(
        "Kestrel Ridge", "up", "Day passes", "pass order",
        _people("toddler/toddlers, child/children, youth/youths, adult/adults, senior/seniors"),
        ((4, 10, 16, 62), (5, 12, 18, 65), (3, 9, 15, 60)),
        _things("sledge/sledges: For the whole day; helmet/helmets: All sizes; "
                "ski locker/ski lockers: At the top station"),
    ),
    "hotel": Scene(
        "Hotel Estrela", "home", "Rooms and guests", "room booking",
        _people("infant/infants, child/children, adult/adults"),
        ((2, 12), (3, 14), (4, 16)),
        (*_things("room/rooms: Up to three beds each", low=1),
         *_things("extra bed/extra beds: For children; dog/dogs: Small ones only; "
                  "parking space/parking spaces: In the yard; "
                  "breakfast/breakfasts: Until 10 am")),
    ),
    "bakery": Scene(
        "Crumb & Crust", "bag", "Order for tomorrow", "bakery order", (), ((),),
        _things("rye loaf/rye loaves: $4.20; rye roll/rye rolls: $0.90; "
                "poppy roll/poppy rolls: $0.80; sesame roll/sesame rolls: $0.80; "
                "butter croissant/butter croissants: $1.90; "
                "almond croissant/almond croissants: $2.40; pretzel/pretzels: $1.20; "
                "cinnamon bun/cinnamon buns: $2.10"),
    ),
    "office": Scene(
        "Deskmate", "archive", "Supplies for the office", "supply order", (), ((),),
        _things("blue folder/blue folders: $1.10; red folder/red folders: $1.10; "
                "A4 notebook/A4 notebooks: $2.90; A5 notebook/A5 notebooks: $2.20; "
                "fine pen/fine pens: $1.40; broad pen/broad pens: $1.40; "
                "roll of tape/rolls of tape: $2.00; box of clips/boxes of clips: $1.60"),
    ),
}  # fmt: skip
