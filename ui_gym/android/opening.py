"""What `open("...")` means on a phone: an app by its label or package, or a URL."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping

from ui_gym.errors import ActionError, nearest

SCHEMES = ("http", "https", "mailto", "tel", "sms", "smsto", "geo")
"""Of URLs that may be opened. ``intent:``, ``file:`` and the like could do anything."""

LABELS: Mapping[str, tuple[str, ...]] = {
    "browser": ("org.chromium.webview_shell", "com.android.browser", "com.android.chrome"),
    "calculator": ("com.android.calculator2", "com.google.android.calculator"),
    "calendar": ("com.android.calendar", "com.google.android.calendar",
                 "com.simplemobiletools.calendar.pro"),
    "camera": ("com.android.camera2", "com.android.camera", "com.google.android.GoogleCamera"),
    "chrome": ("com.android.chrome",),
    "clock": ("com.android.deskclock", "com.google.android.deskclock"),
    "contacts": ("com.android.contacts", "com.google.android.contacts"),
    "files": ("com.android.documentsui", "com.google.android.documentsui",
              "com.google.android.apps.nbu.files"),
    "gallery": ("com.android.gallery3d", "com.simplemobiletools.gallery.pro",
                "com.google.android.apps.photos"),
    "gmail": ("com.google.android.gm",),
    "maps": ("com.google.android.apps.maps",),
    "messages": ("com.android.messaging", "com.google.android.apps.messaging", "com.android.mms"),
    "notes": ("com.google.android.keep", "net.gsantner.markor"),
    "phone": ("com.android.dialer", "com.google.android.dialer"),
    "photos": ("com.google.android.apps.photos", "com.android.gallery3d"),
    "play store": ("com.android.vending",),
    "settings": ("com.android.settings",),
    "youtube": ("com.google.android.youtube",),
}  # fmt: skip
"""Packages of apps by what stands below their icons, the likeliest first."""

_ALIASES = {
    "dialer": "phone", "sms": "messages", "messaging": "messages", "people": "contacts",
    "file manager": "files", "deskclock": "clock", "alarm": "clock", "web": "browser",
    "internet": "browser", "keep": "notes", "google maps": "maps", "google chrome": "chrome",
}  # fmt: skip

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
