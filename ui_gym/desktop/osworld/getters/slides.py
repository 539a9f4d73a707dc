"""Getters of what lies in a presentation: a slide's sound, its background picture."""

from __future__ import annotations

import posixpath
import zipfile
from pathlib import Path, PurePosixPath
from urllib.parse import unquote
from xml.etree import ElementTree

from ui_gym.desktop.osworld.getters.files import fetch, keep
from ui_gym.desktop.osworld.registry import Config, Context, getter

PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}"
BACKGROUND = "{http://schemas.openxmlformats.org/presentationml/2006/main}bgPr"
PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
EMBED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"
SLIDES = "ppt/slides"
MAX_PART = 1 << 28
"""A part of more bytes is not unpacked."""


@getter("audio_in_slide")
def audio_in_slide(context: Context, config: Config) -> str | None:
    """The local copy of the first sound on the slide ``slide_index`` (from 0), whether it lies in
    the presentation or is linked; None where there is none."""
    return _part(context, config, "audio")


@getter("background_image_in_slide")
def background_image_in_slide(context: Context, config: Config) -> str | None:
    """The local copy of the background picture of the slide ``slide_index`` (from 0); None where
    it has none of its own."""
    return _part(context, config, "image")


def _part(context: Context, config: Config, kind: str) -> str | None:
    path = config["ppt_file_path"]
    deck = fetch(context, path, PurePosixPath(path).name)
    if deck is None:
        return None
    number = int(config["slide_index"]) + 1
    try:
        with zipfile.ZipFile(deck) as package:
            target = _target(package, number, kind)
            if target is None:
                return None
            return _copy(context, config, package, target)
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError, OSError, RuntimeError):
        return None  # what an agent saved is not a presentation


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


def _copy(context: Context, config: Config, package: zipfile.ZipFile, target: str) -> str | None:
    if target.startswith("file://"):
        linked = fetch(context, unquote(target.removeprefix("file://")), config["dest"])
        return str(linked) if linked is not None else None
    name = posixpath.normpath(posixpath.join(SLIDES, target)).lstrip("/")
    # Its own name keeps the kind of file, which `dest` may have another of.
    dest = f"{Path(config['dest']).stem}_{PurePosixPath(name).name}"
    return str(keep(context, dest, _read(package, name)))


def _xml(package: zipfile.ZipFile, name: str) -> ElementTree.Element:
    return ElementTree.fromstring(_read(package, name))


def _read(package: zipfile.ZipFile, name: str) -> bytes:
    if package.getinfo(name).file_size > MAX_PART:
        raise OSError(f"{name} is too large")
    return package.read(name)
