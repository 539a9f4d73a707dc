"""Pages: files of this package, made into one self-contained document for each episode.

A page is a plain HTML file with a ``<!-- ui-gym -->`` mark in its head. There it gets the shared
style and its params, before any script of its own runs. Its scripts talk to the host by the global
`uiGym` (``pages/world.js``): `params`, `log(type, data)`, and a `state` function to set. With the
mark ``<!-- ui-gym kit -->`` it also gets what most pages are built from (``pages/kit.js``).
"""

from __future__ import annotations

import base64
import functools
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from ui_gym.browser.languages import TRANSLATED
from ui_gym.browser.looks import DRESSED
from ui_gym.errors import TaskError

ORIGIN = "https://page.ui-gym.test"
"""The made-up origin of all pages; the name resolves nowhere."""

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:; font-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'; "
    "sandbox allow-forms allow-modals allow-same-origin allow-scripts"
)

HOST_SECURITY_POLICY = (
    # Any frame: requests are aborted, which leaves the page; this policy would show an error page.
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-src *; "
    "frame-ancestors 'none'"
)
"""Of the page around a frame that shows the page (see `capture.FramebufferCapture`)."""

EMPTY_DOCUMENT = "<!doctype html><title>ui-gym</title>"
"""What a page is before its first document."""

FACES = (("Inter", 400), ("Inter", 600), ("Gazette", 400), ("Gazette", 600))
JAPANESE_FACES = (("Noto Sans JP subset", 400), ("Noto Sans JP subset", 600))
"""With the letters of ``content/data/languages/ja.toml``; only documents in Japanese load them."""

_MARK = re.compile("<!-- ui-gym( kit)? -->")
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@functools.cache
def resource(name: str) -> bytes:
    """A file of the built-in pages."""
    return (files("ui_gym.browser") / "pages" / name).read_bytes()


def text(name: str) -> str:
    """A file of the built-in pages that holds text."""
    return resource(name).decode()


def faces() -> list[tuple[str, str, str]]:
    """The fonts that every page has: (family, weight, base64 of the WOFF2 file)."""
    return [
        (family, str(weight), _face(f"{family.lower()}-latin", weight)) for family, weight in FACES
    ]


@functools.cache
def _face(name: str, weight: int) -> str:
    return base64.b64encode(resource(f"fonts/{name}-{weight}-normal.woff2")).decode()


def document(page: str | Path, params: Mapping[str, Any], seed: int) -> str:
    """The HTML document of a page with its params.

    `page` is the name of a built-in page or the path of somebody else's. Each script is put into
    a scope of its own: the JavaScript realm outlives the document (see `ChromiumDevice.load`).

    Raises:
        TaskError: the page does not exist or lacks the mark.
    """
    source = _source(page)
    mark = _MARK.search(source)
    if mark is None:
        raise TaskError(f"page {page}: its <head> lacks the mark <!-- ui-gym -->")
    begin = f"uiGym.begin({_embed(params)}, {seed & 0xFFFFFFFF});"
    language = spoken_in(params)
    if language == "ja":
        more = [
            (family, str(weight), _face("noto-sans-jp", weight))
            for family, weight in JAPANESE_FACES
        ]
        begin = f"uiGym.addFaces({_embed(more)});{begin}"
    if language in TRANSLATED:
        source = source.replace('<html lang="en">', f'<html lang="{language}">', 1)
    sheets = ["base.css"]
    if mark[1]:
        sheets.append("kit.css")
    if params.get("look") in DRESSED:
        sheets.append(f"looks/{params['look']}.css")
    if mark[1] and params.get("compact"):
        sheets.append("kit_compact.css")
    scripts = ["kit.js"] if mark[1] else []
    if _has_around(params):
        sheets.append("around.css")
        scripts.append("around.js")
    style = "".join(map(text, sheets))
    script = "".join(f"<script>{text(name)}</script>" for name in scripts)
    head = f"<style>{style}</style><script>{begin}</script>{script}"
    scoped = _SCRIPT.sub(
        lambda found: '<script>(() => {"use strict";' + found[1] + "})();</script>", source
    )
    return _MARK.sub(lambda _: head, scoped, count=1)


def spoken_in(params: Mapping[str, Any]) -> str:
    """The language of a page's params; empty where it is that of its file."""
    told = params.get("language")  # an author's own param may be called so, too
    return str(told["name"]) if isinstance(told, Mapping) and "texts" in told else ""


def _has_around(params: Mapping[str, Any]) -> bool:
    told = params.get("around")  # an author's own param may be called so, too
    return isinstance(told, Mapping) and bool(told) and told.keys() <= {"adverts", "cookie_bar"}


def _source(page: str | Path) -> str:
    try:
        if isinstance(page, Path):
            return page.read_text(encoding="utf-8")
        return text(page)
    except OSError as error:
        raise TaskError(f"page {page} cannot be read: {error.strerror}") from None


def _embed(value: object) -> str:
    """JSON that is safe inside a script element."""
    return json.dumps(value).replace("<", "\\u003c")
