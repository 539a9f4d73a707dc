"""Sites: somebody else's web pages, a folder of files under the made-up origin.

A page of this package is one document in a realm that lives on (see `documents`). A site is shown
as on the web: by a navigation, in a fresh realm, with scripts, styles, pictures and frames of its
own. The walls stand: only files of the folder are served, everything else fails.
"""

from __future__ import annotations

import base64
import functools
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ui_gym.browser.documents import ORIGIN, text

POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
)
"""The content security policy of a site: its own files, and no request from a script."""

REST = 0.05
"""Page time that passes after every action, in seconds: timers of a few milliseconds are over."""

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}
"""What `mimetypes` would take from the machine's own tables, which differ."""


@dataclass(frozen=True)
class Site:
    """A folder of web pages, and how they are shown."""

    folder: Path
    script: str = ""
    """Evaluated in every document, frames too, before its own scripts and after ``world.js`` and
    ``popups.js``."""
    viewport: tuple[int, int] | None = None
    """(width, height) that the page is laid out for, in pixels, where that is more than is seen:
    the picture shows the upper left corner. None: what is seen."""
    rest: float = REST
    """Page time that passes after every action, in seconds."""
    policy: str = POLICY

    def scripts(self, seen: tuple[int, int]) -> str:
        """What is evaluated in every document, where `seen` (width, height) of it is in sight."""
        popups = text("popups.js").replace("SEEN", f"{seen[0]:d}, {seen[1]:d}")
        return popups + self.script

    def url(self, path: str) -> str:
        """The address of a file of the folder."""
        return f"{ORIGIN}/{path}"

    def owns(self, url: str) -> bool:
        """Whether an address is in this site."""
        return url.startswith(ORIGIN + "/")

    def file(self, url: str) -> Path | None:
        """The file at an address; None if there is none, or it lies outside the folder."""
        path = unquote(urlsplit(url).path).lstrip("/")
        if not self.owns(url) or "\0" in path:
            return None
        root = self.folder.resolve()
        found = (root / path).resolve()
        return found if found.is_relative_to(root) and found.is_file() else None

    def answer(self, url: str) -> dict[str, Any]:
        """The arguments of ``Fetch.fulfillRequest`` for an address, but for the request's id."""
        found = self.file(url)
        if found is None:
            body, kind, status = "", "text/plain", 404
        else:
            body, kind, status = _read(found), _type_of(found), 200
        # Documents are always asked for; the rest stays in the browser's memory.
        keep = "no-store" if kind.startswith("text/html") else "max-age=86400"
        headers = {"Content-Type": kind, "Cache-Control": keep}
        if kind.startswith("text/html"):
            headers["Content-Security-Policy"] = self.policy
        return response(body, headers, status)


def response(body: str, headers: Mapping[str, str], status: int = 200) -> dict[str, Any]:
    """The arguments of ``Fetch.fulfillRequest`` for an answer, whose body is in base64."""
    told = [{"name": name, "value": value} for name, value in headers.items()]
    return {"responseCode": status, "body": body, "responseHeaders": told}


@functools.lru_cache(maxsize=512)
def _read(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()


def _type_of(file: Path) -> str:
    known: Any = _TYPES.get(file.suffix.lower()) or mimetypes.guess_type(file.name)[0]
    return str(known or "application/octet-stream")
