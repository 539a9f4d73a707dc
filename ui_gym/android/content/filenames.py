"""Names of files and folders, many of them alike."""

from __future__ import annotations

import numpy as np

from ui_gym.contract.draws import between, pick, some

FOLDERS = ("Download", "Documents", "Music", "Pictures")
"""Folders of the shared storage in which the tasks are played, as the Files app shows them."""

STEMS = (
    "agenda", "backlog", "budget", "checklist", "contract", "draft", "expenses", "guests", "hours",
    "ideas", "invoice", "itinerary", "letter", "lyrics", "manual", "menu", "minutes", "offer",
    "packing", "plan", "poem", "prices", "quotes", "receipt", "recipe", "report", "schedule",
    "script", "shopping", "speech", "summary", "survey", "tickets", "todo", "translation",
)  # fmt: skip

_ENDINGS = ("", "_old", "_final", "_2023", "_copy", "_v2", "_may", "_june", "_team")

_TYPES = ("txt", "txt", "md", "csv")

_NAMES = (
    "Archive", "Bills", "Boat", "Camping", "Choir", "Courses", "Family", "Flat", "Garden", "House",
    "Holiday", "Kitchen", "Letters", "Marathon", "Medical", "Moving", "Museum", "Office",
    "Photography", "Projects", "Receipts", "School", "Sailing", "Taxes", "Theatre", "Tickets",
    "Travel", "Wedding", "Workshop",
)  # fmt: skip


def files(rng: np.random.Generator, count: int) -> tuple[str, ...]:
    """Different names of files; the second is much like the first."""
    stems = some(rng, STEMS, max(1, count))
    first, second = some(rng, _ENDINGS, 2)
    kind = pick(rng, _TYPES)
    names = [f"{stems[0]}{first}.{kind}", f"{stems[0]}{second}.{kind}"]
    names += [f"{stem}{pick(rng, _ENDINGS)}.{pick(rng, _TYPES)}" for stem in stems[1:]]
    return tuple(names[:count])


def new_file(rng: np.random.Generator, taken: tuple[str, ...]) -> str:
    """A name that none of the files has, with the ending of the first."""
    kind = taken[0].rpartition(".")[2]
    stems = [stem for stem in STEMS if not any(name.startswith(stem) for name in taken)]
    return f"{pick(rng, stems)}{pick(rng, _ENDINGS)}.{kind}"


def folders(rng: np.random.Generator, count: int) -> tuple[str, ...]:
    """Different names of folders, some with a number."""
    return tuple(
        f"{name} {between(rng, 2019, 2024)}" if rng.random() < 0.4 else name
        for name in some(rng, _NAMES, count)
    )
