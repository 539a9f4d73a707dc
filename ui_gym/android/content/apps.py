"""Apps and pages that tasks speak of, by the names that a person reads."""

from __future__ import annotations

from collections.abc import Mapping

from ui_gym.android.opening import LABELS
from ui_gym.contract.tables import read_table

BUILT_IN = (
    "Browser", "Calculator", "Calendar", "Camera", "Clock", "Contacts", "Files", "Messages",
    "Notes", "Phone", "Play Store",
)  # fmt: skip
"""Apps that come with the phone, but Settings."""

_OWN = {"Notes": ("org.uigym.notes",)}

_TABLES = read_table(__package__, "apps")

THIRD_PARTY: Mapping[str, tuple[str, tuple[tuple[str, str], ...]]] = _TABLES["third_party"]
"""Apps that a person has installed on the built-in phone: name -> (package, the permissions that it
asks for beside notifications, as (constant, what Settings call it))."""

PAGES: Mapping[str, tuple[str, ...]] = _TABLES["pages"]
"""Pages of Settings: title -> the rows to touch, from the first page on, and its class's name after
``Settings$``."""


def packages_of(app: str) -> tuple[str, ...]:
    """The packages that an app of this name may be, the likeliest first."""
    if app in THIRD_PARTY:
        return (THIRD_PARTY[app][0],)
    return _OWN.get(app) or LABELS[app.lower()]
