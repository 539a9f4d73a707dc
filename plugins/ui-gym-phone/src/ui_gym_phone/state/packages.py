"""Packages: what is installed, with its permissions and sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ui_gym_phone import data

PERMISSIONS: Mapping[str, str] = {
    name: label for name, (label, _) in data.table("permissions").items()
}
"""Permissions that a person can grant, without ``android.permission.``, and as Settings calls
them."""

MB = 1_000_000


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
    enabled: bool = True
    stopped: bool = False
    uid: int = 10000
    app_size: int = 20 * MB
    data_size: int = 2 * MB
    cache_size: int = 1 * MB

    @property
    def size(self) -> int:
        """Bytes that it takes in all."""
        return self.app_size + self.data_size + self.cache_size

    def component(self, cls: str) -> str:
        """The full name of a class of it: ``.Settings`` -> ``com.android.settings.Settings``."""
        return self.name + cls if cls.startswith(".") else cls


class Packages:
    """The installed packages by name."""

    def __init__(self) -> None:
        self._all: dict[str, Package] = {}
        self._next_uid = 10100

    def __iter__(self) -> Iterator[Package]:
        return iter(self._all.values())

    def __contains__(self, name: str) -> bool:
        return name in self._all

    def __getitem__(self, name: str) -> Package:
        return self._all[name]

    def get(self, name: str) -> Package | None:
        return self._all.get(name)

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
