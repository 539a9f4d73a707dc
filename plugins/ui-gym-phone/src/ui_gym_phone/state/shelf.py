"""The shelf: apps that the phone knows and has not installed, in the looks of others' benchmarks.

They are installed by ``pm install-existing``, and only then is anything of them on the phone. Each
is a table of ``data/shelf.toml``: fields of `Package`, and

- ``like``: the app whose screens it has, which it replaces (under another name);
- ``database``: where its SQLite file lies, made of ``data/<schema>.sql`` (``schema``);
- ``records``: the table in ``data`` that says how its rows are shown (`ui_gym_phone.apps.shelf`);
- ``folders``: which it makes in the shared storage;
- ``keeps``: what lies in its data folder, JSON by name;
- ``words``: labels of the other app's screens, and how they read in this one.

An app of the phone's own has a table, too, where ``keeps`` makes it work as another phone's does.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from functools import cache
from typing import Any

from ui_gym_phone import data
from ui_gym_phone.state.packages import Package
from ui_gym_phone.state.phone import Phone

_OWN = ("like", "database", "schema", "folders", "keeps", "records", "words")
"""What a table says beside the package's fields."""


def written() -> Mapping[str, Any]:
    """The tables of all shelved apps, by package."""
    return data.table("shelf")


def package_of(name: str) -> Package:
    """The package of a shelved app, not yet installed."""
    fields = {key: value for key, value in written()[name].items() if key not in _OWN}
    fields["permissions"] = dict(fields.get("permissions", {}))
    fields["activities"] = tuple(fields.get("activities", ()))
    replaces = written()[name].get("like", "")
    return Package(name, system=False, replaces=replaces, **fields)


def install(phone: Phone, name: str) -> bool:
    """Install a shelved app, in place of the one that it is like. False where there is none."""
    if name not in written():
        return False
    if name not in phone.packages:
        package = package_of(name)
        old = phone.packages.get(package.replaces) if package.replaces else None
        if old is not None:
            package.activities = (*old.activities, package.main)
            package.permissions = dict(old.permissions)
            phone.force_stop(old.name)
            phone.packages.remove(old.name)
        phone.install(package)
    plant(phone, name)
    return True


def plant(phone: Phone, name: str) -> None:
    """Make the files that an app makes when it is first opened, where they are missing."""
    about = written()[name]
    for folder in about.get("folders", ()):
        phone.files.mkdir(f"/sdcard/{folder}", parents=True)
    for file, kept in about.get("keeps", {}).items():
        phone.files.mkdir(f"/data/data/{name}/files", parents=True)
        phone.files.write(f"/data/data/{name}/files/{file}.json", json.dumps(kept).encode())
    path = about.get("database")
    if path and not phone.files.exists(path):
        phone.files.mkdir(path.rpartition("/")[0], parents=True)
        phone.files.write(path, _blank(about["schema"]))


@cache
def _blank(schema: str) -> bytes:
    """A database with the tables of a schema, and what they begin with."""
    made = sqlite3.connect(":memory:")
    try:
        made.executescript(data.text(f"{schema}.sql"))
        made.commit()
        return made.serialize()
    finally:
        made.close()
