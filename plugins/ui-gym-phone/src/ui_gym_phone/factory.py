"""A phone as it leaves the factory: what is installed on it, and what lies in its storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ui_gym_phone import apps, data
from ui_gym_phone.state.packages import MB, Package
from ui_gym_phone.state.phone import DENSITY, Phone


def third_party() -> list[Package]:
    """Apps that a person has installed: those of the store that have data."""
    return [
        store_package(app, "2.4.1", app["sizes"], granted=True)
        for app in data.table("store")["apps"]
        if "sizes" in app
    ]


def store_package(
    app: Mapping[str, Any], version: str, sizes: Sequence[float], *, granted: bool
) -> Package:
    """An app of the store as it is installed; `sizes` are of app, data and cache, in MB."""
    app_size, data_size, cache_size = (round(size * MB) for size in sizes)
    asked = ("POST_NOTIFICATIONS", *app.get("permissions", ()))
    return Package(
        app["package"], app["label"], icon=app["icon"], colour=app["colour"], system=False,
        version=version, permissions=dict.fromkeys(asked, granted), app_size=app_size,
        data_size=data_size, cache_size=cache_size, activities=(".MainActivity",),
    )  # fmt: skip


def factory_phone(width: int = 1080, height: int = 2400) -> Phone:
    """A new phone with a screen of `width` x `height` device pixels, at its home screen."""
    return Phone.restore(_boxed(width, height))


@lru_cache(maxsize=8)
def _boxed(width: int, height: int) -> bytes:
    factory = data.table("factory")
    phone = Phone(width, height)
    for name, label in factory["hidden"].items():
        phone.packages.add(Package(name, label, launchable=False))
    for app in apps.built_in().values():
        phone.packages.add(app.package)
    for package in third_party():
        phone.packages.add(package)
    for folder in factory["folders"]:
        phone.files.mkdir(f"/sdcard/{folder}", parents=True)
    phone.properties["ro.sf.lcd_density"] = str(160 * DENSITY)
    return phone.snapshot()
