"""Presentations (.pptx): reading them, and what a single one must show."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import (
    Broken,
    as_text,
    chain,
    examined,
    library,
    opens,
    unknown,
)

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
SLIDE = "{http://schemas.openxmlformats.org/presentationml/2006/main}"

Colour = tuple[int, int, int] | str
"""Red, green and blue of 0 to 255, or the name of a colour of the theme."""

Bullet = tuple[str, str, str]
"""A paragraph's level, the sign before it, and its text."""


@opens
def slideshow(path: str) -> Any:
    """python-pptx's presentation."""
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
            # A sign of no characters, which LibreOffice writes, is not the same as none.
            found.append((level, "none" if sign is None else f"sign {sign.get('char')}", text))
    return found


HALF_INCH = 457_200
WHITE_TO_BLACK = math.dist((0, 0, 0), (255, 255, 255))


@examined(slideshow, slideshow)
def check_image_stretch_and_center(now: Any, before: Any) -> float:
    """1.0 where the first picture of the original's first slide now fills that slide, to half an
    inch on every side."""
    wanted = next((blob for blob in map(_blob, _first_shapes(before)) if blob), None)
    found = [shape for shape in _first_shapes(now) if wanted and _blob(shape) == wanted]
    if not found:
        return 0.0
    picture, width, height = found[-1], before.slide_width, before.slide_height
    distances = (
        picture.width - width,
        picture.height - height,
        picture.left - (width - picture.width) / 2,
        picture.top - (height - picture.height) / 2,
    )
    return all(abs(distance) <= HALF_INCH for distance in distances)


def _first_shapes(show: Any) -> list[Any]:
    slides = list(show.slides)
    return list(slides[0].shapes) if slides else []


def _blob(shape: Any) -> bytes | None:
    """The picture's file; None for other shapes, and for a picture that lies elsewhere."""
    if kind(shape) != library("pptx.enum.shapes").MSO_SHAPE_TYPE.PICTURE:
        return None
    try:
        return bytes(shape.image.blob)
    except (KeyError, ValueError):
        return None


@examined(slideshow)
def check_slide_numbers_color(show: Any) -> float:
    """1.0 where a slide shows its number, and the master's number is red."""
    texts = (shape.text for slide in show.slides for shape in slide.shapes if shape.has_text_frame)
    if not any(text.isdigit() for text in texts):
        return 0.0
    for master in show.slide_masters:
        for place in master.placeholders:
            if place.has_text_frame and place.text == "<number>":
                return colour(place.text_frame.paragraphs[0].font.color) == (255, 0, 0)
    return 0.0


@examined(slideshow)
def check_strikethrough(show: Any, rules: Mapping[str, Any]) -> float:
    """1.0 where the first run of the paragraphs ``paragraph_index_s`` of the shapes
    ``shape_index_s`` of the slides ``slide_index_s`` is struck through; all count from 0."""
    try:
        runs = [
            show.slides[slide].shapes[shape].text_frame.paragraphs[paragraph].runs[0]
            for slide in rules["slide_index_s"]
            for shape in rules["shape_index_s"]
            for paragraph in rules["paragraph_index_s"]
        ]
    except (AttributeError, IndexError):
        return 0.0
    # LibreOffice writes it down where a run is not struck through; OSWorld takes that for struck.
    return all(struck(run) != "noStrike" for run in runs)


@examined(slideshow, names=("check_slide_orientation_Portrait",))
def check_slide_orientation_portrait(show: Any) -> float:
    """1.0 where slides are higher than wide."""
    return (show.slide_width or 0) < (show.slide_height or 0)


@examined(slideshow)
def evaluate_presentation_fill_to_rgb_distance(show: Any, rules: Mapping[str, Any]) -> float:
    """How near the backgrounds of all slides are to the colour ``rgb``: 1 is that colour, 0 the
    farthest there can be. A slide without a colour, or still of ``original_rgb``, is 0."""
    slides = list(show.slides)
    wanted, original = rules["rgb"], rules.get("original_rgb")
    distances = [_distance(background(slide), wanted, original) for slide in slides]
    return 1 - sum(distances) / len(distances) if distances else 0.0


def _distance(found: Any, wanted: Sequence[int], original: Sequence[int] | None) -> float:
    if not isinstance(found, tuple) or (original is not None and found == tuple(original)):
        return 1.0
    return math.dist(found, wanted) / WHITE_TO_BLACK


@examined()
def check_left_panel(tree: Any) -> float:
    """1.0 where the accessibility tree shows Impress's panel of slides."""
    try:
        root = ET.fromstring(as_text(tree))
    except ET.ParseError as error:
        raise Broken(f"the accessibility tree is not XML: {error}") from error
    return any(frame.get("name") == "Slides View" for frame in root.iter("document-frame"))


@examined(slideshow)
def check_transition(show: Any, rules: Mapping[str, Any]) -> float:
    """1.0 where the slide ``slide_idx`` (from 0) comes by the transition ``transition_type``."""
    slides = list(show.slides)
    if not 0 <= rules["slide_idx"] < len(slides):
        return 0.0
    slide = slides[rules["slide_idx"]]._element
    transition = slide.find(f".//{SLIDE}transition")
    kind = f".//{SLIDE}{rules['transition_type']}"
    return transition is not None and transition.find(kind) is not None


def _most(channel: int) -> Callable[[Sequence[int]], bool]:
    return lambda rgb: all(rgb[channel] > rgb[other] + 50 for other in range(3) if other != channel)


COLOURS: Mapping[str, Callable[[Sequence[int]], bool]] = {
    "red": _most(0),
    "green": _most(1),
    "blue": _most(2),
    "black": lambda rgb: max(rgb) < 50,
}


@examined()
def check_page_number_colors(result: Any, rules: Mapping[str, Any]) -> float:
    """1.0 where the page numbers of the first master are about of the ``color``: red, green, blue
    or black. They are the last but one of its text with a colour.

    OSWorld reads the colour one digit too late, and finds no blue at all."""
    if rules["color"] not in COLOURS:
        raise unknown("colour of page numbers", rules["color"], ", ".join(COLOURS))
    masters = list(slideshow(result).slide_masters)
    fills = [] if not masters else list(masters[0]._element.iter(f"{DRAWING}solidFill"))
    colours = [value for fill in fills for value in fill.iter(f"{DRAWING}srgbClr")]
    if len(colours) < 2:
        return 0.0
    value = colours[-2].get("val", "")
    if not re.fullmatch("[0-9A-Fa-f]{6}", value):
        return 0.0
    return float(COLOURS[rules["color"]](bytes.fromhex(value)))
