"""Words that the tasks of several suites draw from.

A list keeps its order: what a seed draws from it never changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ui_gym.contract.draws import between, pick, some

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

STEMS = (
    "agenda", "backlog", "budget", "checklist", "contract", "draft", "expenses", "guests", "hours",
    "ideas", "invoice", "itinerary", "letter", "lyrics", "manual", "menu", "minutes", "offer",
    "packing", "plan", "poem", "prices", "quotes", "receipt", "recipe", "report", "schedule",
    "script", "shopping", "speech", "summary", "survey", "tickets", "todo", "translation",
)  # fmt: skip
"""Beginnings of file names."""

FOLDERS = (
    "Archive", "Bills", "Boat", "Camping", "Choir", "Courses", "Family", "Flat", "Garden", "House",
    "Holiday", "Kitchen", "Letters", "Marathon", "Medical", "Moving", "Museum", "Office",
    "Photography", "Projects", "Receipts", "School", "Sailing", "Taxes", "Theatre", "Tickets",
    "Travel", "Wedding", "Workshop",
)  # fmt: skip
"""Names of folders."""

_ENDINGS = ("", "_old", "_final", "_2023", "_copy", "_v2", "_may", "_june", "_team")


def filled(rng: np.random.Generator, template: str, slots: Mapping[str, Sequence[object]]) -> str:
    """A template with its slots filled; each slot is drawn, whether the template has it or not."""
    return template.format(**{name: pick(rng, pool) for name, pool in slots.items()})


def file_names(rng: np.random.Generator, count: int, kinds: Sequence[str]) -> tuple[str, ...]:
    """Different names of files of these `kinds`; the second is much like the first."""
    stems = some(rng, STEMS, max(1, count - 1))
    first, second = some(rng, _ENDINGS, 2)
    kind = pick(rng, kinds)
    names = [f"{stems[0]}{first}.{kind}", f"{stems[0]}{second}.{kind}"]
    names += [f"{stem}{pick(rng, _ENDINGS)}.{pick(rng, kinds)}" for stem in stems[1:]]
    return tuple(names[:count])


def new_name(rng: np.random.Generator, *taken: str) -> str:
    """A file name that is like none of those, with the ending of the first."""
    kind = taken[0].rpartition(".")[2]
    stems = [stem for stem in STEMS if not any(name.startswith(stem) for name in taken)]
    return f"{pick(rng, stems)}{pick(rng, _ENDINGS)}.{kind}"


def folder_names(rng: np.random.Generator, count: int) -> tuple[str, ...]:
    """Different names of folders, some with a number."""
    return tuple(
        f"{name} {between(rng, 2019, 2024)}" if rng.random() < 0.4 else name
        for name in some(rng, FOLDERS, count)
    )
