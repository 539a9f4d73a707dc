"""Settings: the three namespaces of Android's settings provider, as a phone leaves the factory."""

from __future__ import annotations

from copy import deepcopy

from ui_gym_phone import data

Namespaces = dict[str, dict[str, str]]

NAMESPACES = ("global", "secure", "system")
"""In the order in which the provider tells them."""


def factory_settings() -> Namespaces:
    """``system``, ``secure`` and ``global``: key -> value."""
    return deepcopy(data.table("factory")["settings"])


def factory_properties() -> dict[str, str]:
    """What `getprop` tells."""
    return dict(data.table("factory")["properties"])
