"""Metrics of the desktop's own settings, folders and data bases."""

from __future__ import annotations

import ast
import re
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import (
    Broken,
    a_file,
    as_list,
    as_mapping,
    as_text,
    scored,
)


@scored()
def check_gnome_favorite_apps(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the list that `gsettings` printed (``['a.desktop', 'b.desktop']``) has the expected
    items, in any order."""
    try:
        apps = as_list(ast.literal_eval(as_text(result).strip().removeprefix("@as ")))
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise Broken(f"not a list: {result!r}") from error
    return len(apps) == len(rule["expected"]) and set(map(str, apps)) == set(rule["expected"])


@scored(as_text)
def is_utc_0(text: str) -> float:
    """1 if the time zone that `timedatectl` printed is 0 hours from UTC."""
    zone = re.search(r"^ *Time zone:.*$", text, re.M)
    return float(zone is not None and zone[0].rstrip().endswith("+0000)"))


@scored()
def check_text_enlarged(result: object) -> float:
    """1 if the factor that `gsettings` printed is above 1."""
    try:
        return float(as_text(result)) > 1.0
    except ValueError:
        return 0.0


@scored(as_mapping)
def check_moved_jpgs(found: dict[str, Any], rule: Mapping[str, Any]) -> float:
    """1 if a folder's listing (the getter ``list_directory``) has exactly the expected names."""
    children = as_list(found.get("children"))
    names = [as_text(as_mapping(child).get("name")) for child in children]
    return len(names) == len(rule["expected"]) and set(names) == set(rule["expected"])


@scored()
def is_in_vm_clickboard(rule: Mapping[str, Any], result: object) -> float:
    """1 if the text (what the clipboard holds) has the expected one, or each of several."""
    expected = rule["expected"]
    parts = expected if isinstance(expected, list) else [expected]
    return all(part in as_text(result) for part in parts)


@scored()
def check_file_exists(folder: object, name: str) -> float:
    """1 if there is a file of that name in a local folder."""
    try:
        return float(Path(as_text(folder), name).is_file())
    except OSError as error:  # no name of a folder
        raise Broken(f"no folder: {error}") from error


@scored()
def run_sqlite3(result: object, rules: Mapping[str, Any]) -> float:
    """The number that the query ``rules["sql"]`` finds in a data base, which is not changed.

    It is a score: a query that counts more than it should is cut at 1.
    """
    path = a_file(result).resolve()
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        row = connection.execute(rules["sql"]).fetchone()
        return min(max(float(row[0] or 0), 0.0), 1.0) if row else 0.0
    except (sqlite3.DatabaseError, TypeError, ValueError) as error:
        raise Broken(f"{path.name}: {error}") from error
    finally:
        connection.close()
