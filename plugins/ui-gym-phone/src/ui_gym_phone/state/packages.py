"""Packages: what is installed, with its permissions and sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ui_gym_phone import data

PERMISSIONS: Mapping[str, str] = {
    name: label for name, (label, _) in data.table("permissions").items()
}
"""Permissions that a person can grant, without ``android.permission.``, and as Settings calls
them."""

MB = 1_000_000

MOST_KNOWN = 500
"""How many packages are remembered as they were first seen."""

MOST_REFUSALS = 2
"""How often an app is refused a permission before it may not ask again (Android 11)."""


@dataclass
class Package:
    """An installed app. Sizes are in bytes."""

    name: str
    label: str
    main: str = ".MainActivity"
    """The activity that the launcher starts."""
    activities: tuple[str, ...] = ()
    icon: str = "android"
    colour: str = "#5f6368"
    version: str = "1.0"
    system: bool = True
    launchable: bool = True
    permissions: dict[str, bool] = field(default_factory=dict)
    """Requested permissions (without ``android.permission.``), and whether they are granted."""
    refusals: dict[str, int] = field(default_factory=dict)
    """Permissions that a person refused when the app asked, and how often; the app asks for one no
    more after `MOST_REFUSALS`."""
    once: dict[str, int] = field(default_factory=dict)
    """Permissions that are granted "only this time", and at which uptime in milliseconds the app
    was last seen with them."""
    enabled: bool = True
    stopped: bool = False
    uid: int = 10000
    app_size: int = 20 * MB
    data_size: int = 2 * MB
    cache_size: int = 1 * MB
    replaces: str = ""
    """The app that this one stands for, which is not there while this one is."""

    @property
    def user(self) -> str:
        """The user that it runs as: ``u0_a101``."""
        return f"u0_a{self.uid % 10000}"

    @property
    def size(self) -> int:
        """Bytes that it takes in all."""
        return self.app_size + self.data_size + self.cache_size

    def grant(self, permission: str, on: bool, *, once_ms: int | None = None) -> None:
        """Grant a requested permission, or revoke it; only this time, if the uptime is given."""
        self.permissions[permission] = on
        self.refusals.pop(permission, None)
        self.once.pop(permission, None)
        if once_ms is not None:
            self.once[permission] = once_ms

    def refuse(self, permission: str, times: int = 1) -> None:
        """What "Don't allow" does; so many `times`."""
        refused = self.refusals.get(permission, 0) + times
        self.grant(permission, False)
        self.refusals[permission] = min(refused, MOST_REFUSALS)

    def may_ask(self, permission: str) -> bool:
        """Whether the app may ask a person for it."""
        asked = self.permissions.get(permission) is False
        return asked and self.refusals.get(permission, 0) < MOST_REFUSALS

    def component(self, cls: str) -> str:
        """The full name of a class of it: ``.Settings`` -> ``com.android.settings.Settings``."""
        return self.name + cls if cls.startswith(".") else cls


class Packages:
    """The installed packages by name."""

    def __init__(self) -> None:
        self._all: dict[str, Package] = {}
        self._next_uid = 10100

    # Of a package that is as it was when this process first kept one of that name, a snapshot has
    # the name alone: so are most.

    def __getstate__(self) -> dict[str, Any]:
        kept = [p.name if _is_as_first(p) else p for p in self._all.values()]
        return {"kept": kept, "next_uid": self._next_uid}

    def __setstate__(self, state: dict[str, Any]) -> None:
        found = [_as_first(p) if isinstance(p, str) else p for p in state["kept"]]
        self._all, self._next_uid = {p.name: p for p in found}, state["next_uid"]

    def __iter__(self) -> Iterator[Package]:
        return iter(self._all.values())

    def __contains__(self, name: str) -> bool:
        return name in self._all

    def __getitem__(self, name: str) -> Package:
        found = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def get(self, name: str) -> Package | None:
        """The package of this name, or the one that stands for it."""
        found = self._all.get(name)
        return found or next((p for p in self._all.values() if p.replaces == name), None)

    def add(self, package: Package) -> Package:
        """Install it; one of the same name is replaced."""
        if package.name in self._all:
            package.uid = self._all[package.name].uid
        else:
            package.uid = self._next_uid
            self._next_uid += 1
        self._all[package.name] = package
        return package

    def remove(self, name: str) -> None:
        del self._all[name]

    @property
    def launchable(self) -> list[Package]:
        """What the launcher shows, by label."""
        found = [p for p in self._all.values() if p.launchable and p.enabled]
        return sorted(found, key=lambda p: (p.label.lower(), p.name))

    def called(self, name: str) -> Package | None:
        """The package of this name or label; letter case does not matter in a label."""
        if name in self._all:
            return self._all[name]
        wanted = name.strip().lower()
        return next((p for p in self.launchable if p.label.lower() == wanted), None)


_first: dict[str, dict[str, Any]] = {}
"""Packages as they were when one of their name was first kept: the fields by name."""


def _is_as_first(package: Package) -> bool:
    now = vars(package)
    first = _first.get(package.name)
    if first is None and len(_first) < MOST_KNOWN:
        first = _first.setdefault(package.name, _twin(now))
    return now == first


def _as_first(name: str) -> Package:
    package = Package.__new__(Package)
    package.__dict__ = _twin(_first[name])
    return package


def _twin(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a package for another one."""
    twin = fields.copy()
    for name in ("permissions", "refusals", "once"):
        twin[name] = fields[name].copy()
    return twin
