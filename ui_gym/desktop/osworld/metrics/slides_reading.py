"""Presentations (.pptx) as the metrics look at them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ui_gym.desktop.osworld.metrics.office import chain, opened, pair
from ui_gym.desktop.osworld.metrics.reading import library

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
SLIDE = "{http://schemas.openxmlformats.org/presentationml/2006/main}"

Colour = tuple[int, int, int] | str
"""Red, green and blue of 0 to 255, or the name of a colour of the theme."""

Bullet = tuple[str, str, str]
"""A paragraph's level, the sign before it, and its text."""


def slideshow(path: object) -> Any:
    """python-pptx's presentation. `Broken` where there is none."""
    return opened(path, _load)


def slideshow_pair(result: object, expected: object) -> tuple[Any, Any]:
    """The presentations that an agent left and that the task expects, by python-pptx."""
    return pair(_load, result, expected)


def _load(path: str) -> Any:
    return library("pptx").Presentation(path)


def text_shapes(shapes: Iterable[Any]) -> Iterator[Any]:
    """The shapes that may hold text, those in groups too."""
    for shape in shapes:
        if shape.has_text_frame:
            yield shape
        if hasattr(shape, "shapes"):
            yield from text_shapes(shape.shapes)


def notes(slide: Any) -> str:
    """The notes of the speaker, without the blanks around them."""
    # `slide.notes_slide` would make a page of notes where there is none.
    frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    return "" if frame is None else str(frame.text).strip()


def background(slide: Any) -> Colour | None:
    """The one colour behind a slide: its own, or its master's where it has no filling of its own.

    None where that is a picture, a gradient or nothing.
    """
    kinds = library("pptx.enum.dml").MSO_FILL
    fill = slide.background.fill
    if fill.type == kinds.BACKGROUND:
        fill = slide.slide_layout.slide_master.background.fill
    return colour(fill.fore_color) if fill.type == kinds.SOLID else None


def colour(value: Any) -> Colour | None:
    """What python-pptx's colour is; None where it is not set."""
    rgb = chain(value, "rgb")
    if rgb is not None:
        return rgb[0], rgb[1], rgb[2]
    theme = chain(value, "theme_color")
    return None if theme is None else str(theme)


def kind(shape: Any) -> Any:
    """What kind of shape it is, by ``MSO_SHAPE_TYPE``; None where python-pptx does not know."""
    try:
        return shape.shape_type
    except NotImplementedError:
        return None


def font_rgb(run: Any) -> str | None:
    """The colour (``"FF0000"``) that a run has by itself; None where it has none, or one of the
    theme."""
    # `font.color` would make a colour where there is none.
    found = run._r.find(f"{DRAWING}rPr/{DRAWING}solidFill/{DRAWING}srgbClr")
    return None if found is None else str(found.get("val", "")).upper()


def struck(run: Any) -> str:
    """How a run is struck through: ``noStrike``, ``sngStrike``, ``dblStrike``."""
    properties = run._r.find(f"{DRAWING}rPr")
    return "noStrike" if properties is None else str(properties.get("strike", "noStrike"))


def bullets(slide: Any) -> list[Bullet] | None:
    """What stands before each paragraph of a slide that is not empty.

    None for a slide with an empty run: OSWorld does not compare such slides.
    """
    found = []
    for paragraph in slide._element.iter(f"{DRAWING}p"):
        pieces = [run.text for run in paragraph.iter(f"{DRAWING}t")]
        if None in pieces:
            return None
        text = "".join(pieces)
        if text.strip():
            properties = paragraph.find(f"{DRAWING}pPr")
            level, sign = "none", None
            if properties is not None:
                level = properties.get("lvl", "0")
                sign = properties.find(f"{DRAWING}buChar")
            found.append((level, "" if sign is None else sign.get("char", ""), text))
    return found
