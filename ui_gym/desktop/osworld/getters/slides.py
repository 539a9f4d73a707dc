"""Getters of what lies in a presentation: a slide's sound, its background picture."""

from __future__ import annotations

import posixpath
import zipfile
from pathlib import Path, PurePosixPath
from urllib.parse import unquote
from xml.etree import ElementTree

from ui_gym.desktop.osworld.getters.files import fetch, keep
from ui_gym.desktop.osworld.metrics.reading import Broken, opened
from ui_gym.desktop.osworld.registry import Config, EvaluationContext, getter

PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}"
BACKGROUND = "{http://schemas.openxmlformats.org/presentationml/2006/main}bgPr"
PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
EMBED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"
SLIDES = "ppt/slides"
MAX_PART = 1 << 28
"""A part of more bytes is not unpacked."""
MAX_XML = 1 << 24
"""A part of more bytes is not read as XML."""
_LINK = "file://"
_LONGEST_NAME = 60


@getter("audio_in_slide")
def audio_in_slide(context: EvaluationContext, config: Config) -> str | None:
    """The local copy of the first sound on the slide ``slide_index`` (from 0), whether it lies in
    the presentation or is linked; None where there is none."""
    return _part(context, config, "audio")


@getter("background_image_in_slide")
def background_image_in_slide(context: EvaluationContext, config: Config) -> str | None:
    """The local copy of the background picture of the slide ``slide_index`` (from 0); None where
    it has none of its own."""
    return _part(context, config, "image")


def _part(context: EvaluationContext, config: Config, kind: str) -> str | None:
    path = config["ppt_file_path"]
    deck = fetch(context, path, PurePosixPath(path).name)
    if deck is None:
        return None
    number = int(config["slide_index"]) + 1
    try:
        target, data = opened(deck, lambda path: _found(path, number, kind))
    except Broken:
        return None  # what an agent saved is not a presentation
    if data is not None:
        # Its own name keeps the kind of file, which `dest` may have another of.
        name = PurePosixPath(target).name[-_LONGEST_NAME:]
        return keep(context, f"{Path(config['dest']).stem}_{name}", data)
    linked = unquote(target.removeprefix(_LINK))
    if not target or "\0" in linked:
        return None
    return fetch(context, linked, config["dest"])


def _found(deck: str, number: int, kind: str) -> tuple[str, bytes | None]:
    """What a slide relates to, and its content; None for what lies elsewhere, or for nothing."""
    with zipfile.ZipFile(deck) as package:
        target = _target(package, number, kind) or ""
        if not target or target.startswith(_LINK):
            return target, None
        name = posixpath.normpath(posixpath.join(SLIDES, target)).lstrip("/")
        return name, _read(package, name, MAX_PART)


def _target(package: zipfile.ZipFile, number: int, kind: str) -> str | None:
    """What a slide relates to as its sound, or as its background's picture."""
    wanted = None
    if kind == "image":
        wanted = _background(_xml(package, f"{SLIDES}/slide{number}.xml"))
        if wanted is None:
            return None
    relations = _xml(package, f"{SLIDES}/_rels/slide{number}.xml.rels")
    for relation in relations.findall(f"{PACKAGE}Relationship"):
        same = wanted is None or relation.get("Id") == wanted
        if same and kind in relation.get("Type", ""):
            return relation.get("Target")
    return None


def _background(slide: ElementTree.Element) -> str | None:
    """The relation of the picture behind a slide."""
    for background in slide.iter(BACKGROUND):
        for picture in background.iter(PICTURE):
            return picture.get(EMBED)
    return None


def _xml(package: zipfile.ZipFile, name: str) -> ElementTree.Element:
    return ElementTree.fromstring(_read(package, name, MAX_XML))


def _read(package: zipfile.ZipFile, name: str, most: int) -> bytes:
    if package.getinfo(name).file_size > most:
        raise OSError(f"{name} is too large")
    return package.read(name)
