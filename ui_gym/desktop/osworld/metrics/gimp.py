"""Metrics of what GIMP was asked to do to a picture, and of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ui_gym.desktop.osworld.metrics.images import open_picture, same_structure
from ui_gym.desktop.osworld.metrics.reading import read_text, scored


def _brightness(picture: Any) -> float:
    return float(np.asarray(picture.convert("L")).mean())


def _saturation(picture: Any) -> float:
    return float(np.asarray(picture.convert("HSV"))[..., 1].mean())


def _at_brightness(picture: Any, target: float) -> Any:
    """The picture scaled to a mean brightness in [0, 255], as RGB."""
    factor = target / max(_brightness(picture), 1e-9)
    scaled = np.asarray(picture.convert("RGB")).astype(np.float64) * factor
    return np.clip(np.trunc(scaled), 0, 255)


@scored(open_picture, open_picture)
def check_brightness_decrease_and_structure_sim(
    picture: Any, reference: Any, threshold: float = 0.03
) -> float:
    """1 if the picture is darker than the reference and shows the same: at one brightness their
    mean squared difference, of values in [0, 1], is below `threshold`."""
    if _brightness(picture) >= _brightness(reference):
        return 0.0
    if picture.size != reference.size:
        picture = picture.convert("RGB").resize(reference.size, Image.Resampling.LANCZOS)
    difference = (_at_brightness(picture, 128) - _at_brightness(reference, 128)) / 255
    return bool((difference**2).mean() < threshold)


@scored(open_picture, open_picture)
def check_saturation_increase_and_structure_sim(picture: Any, reference: Any) -> float:
    """1 if the picture is more saturated than the reference, with the same hues and values."""
    if _saturation(picture) <= _saturation(reference):
        return 0.0
    mine, other = picture.convert("HSV").split(), reference.convert("HSV").split()
    return same_structure(mine[0], other[0]) and same_structure(mine[2], other[2])


@scored(open_picture, open_picture)
def check_contrast_increase_and_structure_sim(picture: Any, reference: Any) -> float:
    """1 if the values spread wider than those of the reference, and it shows the same."""
    spread, before = (np.asarray(p, np.float32).std() for p in (picture, reference))
    return spread > before and same_structure(picture, reference, 0.65)


@scored(open_picture, open_picture)
def check_palette_and_structure_sim(picture: Any, reference: Any) -> float:
    """1 if the picture has a palette (indexed colours) and shows the same."""
    return picture.mode == "P" and same_structure(picture, reference)


@scored(open_picture, open_picture)
def check_sharper(picture: Any, reference: Any) -> float:
    """1 if the picture is sharper than the reference: its Laplacian varies more."""
    return _sharpness(picture) > _sharpness(reference)


def _sharpness(picture: Any) -> float:
    grey = np.pad(np.asarray(picture.convert("L"), np.float64), 1, mode="reflect")
    around = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]
    return float((around - 4 * grey[1:-1, 1:-1]).var())


@scored(open_picture)
def increase_saturation(before: Any, after: object) -> float:
    """1 if the second picture is more saturated than the first."""
    return _saturation(before) < _saturation(open_picture(after))


@scored(open_picture)
def decrease_brightness(before: Any, after: object) -> float:
    """1 if the second picture is darker than the first."""
    return _brightness(before) > _brightness(open_picture(after))


@scored(open_picture)
def check_triangle_position(picture: Any) -> float:
    """1 if the rarest but one colour (the triangle; the rarest is often its edge) has its centre
    within 5 % of the middle of the picture.

    OSWorld takes the second rarest colour; where there are two colours, that is the more frequent
    one, so there the rarer is meant here.
    """
    pixels = _colours(picture)
    colours, counts = np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0, return_counts=True)
    if len(colours) < 2:
        return 0.0
    triangle = colours[np.argsort(counts, kind="stable")][0 if len(colours) == 2 else 1]
    centre = np.argwhere((pixels == triangle).all(axis=2)).mean(axis=0)
    size = np.array(pixels.shape[:2])
    return bool((np.abs(centre - size / 2) < 0.05 * size).all())


@scored(open_picture)
def check_textbox_on_leftside(picture: Any) -> float:
    """1 if the leftmost dark pixel lies in the left 5 % of the picture."""
    grey = np.asarray(picture.convert("L"))
    columns = np.flatnonzero((grey < 128).any(axis=0))
    return bool(columns.size > 0 and columns[0] < grey.shape[1] * 0.05)


@scored(open_picture, open_picture)
def check_green_background(picture: Any, reference: Any) -> float:
    """1 if each pixel that is not black in the reference is more green than red and blue."""
    if picture.size != reference.size:
        return 0.0
    pixels = np.asarray(picture.convert("RGB")).astype(int)
    background = (np.asarray(reference.convert("RGB")) != 0).any(axis=2)
    red, green, blue = (pixels[..., channel] for channel in range(3))
    return bool(((green > red) & (green > blue))[background].all())


@scored()
def check_config_status(result: object, rule: Mapping[str, Any]) -> float:
    """1 if a line ``(key ... value)`` of GIMP's settings has the rule's key and value.

    A key of two words, ``["history-item", "tools-tool"]``, is the first two of the line; a list of
    another length, as in OSWorld, is no line's.
    """
    key = rule["key"]
    wanted = [key] if isinstance(key, str) else list(key)
    if not isinstance(key, str) and len(wanted) != 2:
        return 0.0
    for line in read_text(result).splitlines():
        words = line.strip().lstrip("(").rstrip(")\n").split()
        if line.startswith("#") or len(words) < 2:
            continue
        if words[: len(wanted)] == wanted and words[-1] == rule["value"]:
            return 1.0
    return 0.0


def _colours(picture: Any) -> NDArray[np.uint8]:
    """The pixels, shape (height, width, channels)."""
    return np.asarray(picture.convert("RGBA" if "A" in picture.getbands() else "RGB"))
