"""What a single presentation must show: backgrounds, transitions, page numbers, pictures."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ui_gym.desktop.osworld.metrics.office import examined
from ui_gym.desktop.osworld.metrics.reading import Broken, as_text, library, unknown
from ui_gym.desktop.osworld.metrics.slides_reading import (
    DRAWING,
    SLIDE,
    background,
    colour,
    kind,
    slideshow,
    slideshow_pair,
    struck,
)

HALF_INCH = 457_200
WHITE_TO_BLACK = math.dist((0, 0, 0), (255, 255, 255))


@examined("check_image_stretch_and_center")
def check_image_stretch_and_center(result: Any, original: Any) -> float:
    """1.0 where the first picture of the original's first slide now fills that slide, to half an
    inch on every side."""
    now, before = slideshow_pair(result, original)
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
    return float(all(abs(distance) <= HALF_INCH for distance in distances))


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


@examined("check_slide_numbers_color")
def check_slide_numbers_color(result: Any) -> float:
    """1.0 where a slide shows its number, and the master's number is red."""
    show = slideshow(result)
    texts = (shape.text for slide in show.slides for shape in slide.shapes if shape.has_text_frame)
    if not any(text.isdigit() for text in texts):
        return 0.0
    for master in show.slide_masters:
        for place in master.placeholders:
            if place.has_text_frame and place.text == "<number>":
                return float(colour(place.text_frame.paragraphs[0].font.color) == (255, 0, 0))
    return 0.0


@examined("check_strikethrough")
def check_strikethrough(result: Any, rules: Mapping[str, Any]) -> float:
    """1.0 where the first run of the paragraphs ``paragraph_index_s`` of the shapes
    ``shape_index_s`` of the slides ``slide_index_s`` is struck through; all count from 0."""
    show = slideshow(result)
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
    return float(all(struck(run) != "noStrike" for run in runs))


@examined("check_slide_orientation_Portrait")
def check_slide_orientation_portrait(result: Any) -> float:
    """1.0 where slides are higher than wide."""
    show = slideshow(result)
    return float((show.slide_width or 0) < (show.slide_height or 0))


@examined("evaluate_presentation_fill_to_rgb_distance")
def evaluate_presentation_fill_to_rgb_distance(result: Any, rules: Mapping[str, Any]) -> float:
    """How near the backgrounds of all slides are to the colour ``rgb``: 1 is that colour, 0 the
    farthest there can be. A slide without a colour, or still of ``original_rgb``, is 0."""
    slides = list(slideshow(result).slides)
    wanted, original = rules["rgb"], rules.get("original_rgb")
    distances = [_distance(background(slide), wanted, original) for slide in slides]
    return 1 - sum(distances) / len(distances) if distances else 0.0


def _distance(found: Any, wanted: Sequence[int], original: Sequence[int] | None) -> float:
    if not isinstance(found, tuple) or (original is not None and found == tuple(original)):
        return 1.0
    return math.dist(found, wanted) / WHITE_TO_BLACK


@examined("check_left_panel")
def check_left_panel(tree: Any) -> float:
    """1.0 where the accessibility tree shows Impress's panel of slides."""
    try:
        root = ET.fromstring(as_text(tree))
    except ET.ParseError as error:
        raise Broken(f"the accessibility tree is not XML: {error}") from error
    return float(any(frame.get("name") == "Slides View" for frame in root.iter("document-frame")))


@examined("check_transition")
def check_transition(result: Any, rules: Mapping[str, Any]) -> float:
    """1.0 where the slide ``slide_idx`` (from 0) comes by the transition ``transition_type``."""
    slides = list(slideshow(result).slides)
    if not 0 <= rules["slide_idx"] < len(slides):
        return 0.0
    transition = slides[rules["slide_idx"]]._element.find(f".//{SLIDE}transition")
    if transition is None:
        return 0.0
    return float(transition.find(f".//{SLIDE}{rules['transition_type']}") is not None)


def _most(channel: int) -> Callable[[Sequence[int]], bool]:
    return lambda rgb: all(rgb[channel] > rgb[other] + 50 for other in range(3) if other != channel)


COLOURS: Mapping[str, Callable[[Sequence[int]], bool]] = {
    "red": _most(0),
    "green": _most(1),
    "blue": _most(2),
    "black": lambda rgb: max(rgb) < 50,
}


@examined("check_page_number_colors")
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
