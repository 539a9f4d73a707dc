"""What `open("...")` means on a phone: an app by its label or package, or a URL."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping

from ui_gym.contract.tables import read_table
from ui_gym.errors import ActionError, nearest

SCHEMES = ("http", "https", "mailto", "tel", "sms", "smsto", "geo")
"""Of URLs that may be opened. ``intent:``, ``file:`` and the like could do anything."""

_TABLES = read_table("ui_gym.android.content", "apps")

LABELS: Mapping[str, tuple[str, ...]] = _TABLES["labels"]
"""Packages of apps by what stands below their icons, the likeliest first."""

_ALIASES: Mapping[str, str] = _TABLES["aliases"]

_URL = re.compile(r"([a-z][a-z0-9+.-]*):(.+)", re.IGNORECASE | re.DOTALL)


def url_of(target: str) -> str | None:
    """The URL that is meant; None where it is rather an app.

    Raises:
        ActionError: (``runtime``) a URL of a scheme that is not opened.
    """
    text = target.strip()
    match = _URL.fullmatch(text)
    if match is not None:
        if match[1].lower() not in SCHEMES:
            raise ActionError(
                "runtime", f"open: a URL begins with {', '.join(SCHEMES)}, not {match[1]!r}"
            )
        return text
    return f"https://{text}" if text.startswith("www.") or "/" in text else None


def package_of(target: str, installed: Collection[str]) -> str:
    """The package that a label or a package's own name means.

    Raises:
        ActionError: (``runtime``) nothing that is installed has that name; names the nearest.
    """
    text = target.strip()
    if text in installed:
        return text
    label = " ".join(text.lower().split())
    for package in LABELS.get(_ALIASES.get(label, label), ()):
        if package in installed:
            return package
    word = label.replace(" ", "")
    parts = {package: package.lower().split(".") for package in installed}
    named = [package for package, words in parts.items() if word in words[1:]]
    if named:
        return min(named, key=lambda package: (len(package), package))
    known = {label for label, packages in LABELS.items() if not set(packages).isdisjoint(installed)}
    known |= {words[-1] for words in parts.values()}
    raise ActionError("runtime", f"open: there is no app {target!r}. {nearest(text, known)}")


def view(url: str) -> str:
    """The line that shows a URL in the app for it."""
    return f"am start -a android.intent.action.VIEW -d {shlex.quote(url)}"


def launch(package: str) -> str:
    """The line that starts an app as its icon does."""
    return (
        "am start -a android.intent.action.MAIN -c android.intent.category.LAUNCHER "
        f"-p {shlex.quote(package)}"
    )


def launch_by_monkey(package: str) -> str:
    """Another one: `am` finds only activities that also are of the category DEFAULT."""
    return f"monkey -p {shlex.quote(package)} -c android.intent.category.LAUNCHER 1"
