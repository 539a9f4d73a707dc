"""Metrics of pictures: the same, alike, of a size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ui_gym.desktop.osworld.metrics.pictures import open_picture, similarity
from ui_gym.desktop.osworld.metrics.reading import Broken, a_file, given, scored

ALIKE = 0.9
"""From this structural similarity on, two pictures show the same."""


def same_structure(first: Any, second: Any, threshold: float = ALIKE) -> bool:
    """Whether two pictures of one size are similar enough in RGB."""
    try:
        found = similarity(np.asarray(first.convert("RGB")), np.asarray(second.convert("RGB")))
    except Broken:
        return False
    return found >= threshold


@scored("compare_images")
def compare_images(result: object, expected: object, **options: Any) -> float:
    """The structural similarity in grey, at the smaller size.

    With ``reference_base_result`` (the similarity of the untouched start) the score is what was
    gained on it, as a share of what there was to gain.
    """
    from PIL import Image

    first = open_picture(result).convert("L")
    second = given(open_picture, expected).convert("L")
    size = min(first.size, second.size)
    arrays = [np.asarray(p.resize(size, Image.Resampling.LANCZOS)) for p in (first, second)]
    found = similarity(arrays[0], arrays[1])
    base = options.get("reference_base_result")
    if base is None:
        return max(found, 0.0)
    return (found - base) / (1 - base) if found >= base + 0.01 else 0.0


@scored("compare_image_list")
def compare_image_list(result: object, expected: object) -> float:
    """1 if each picture equals its counterpart in every pixel, once it has that one's size."""
    from PIL import Image, ImageChops

    results = result if isinstance(result, list) else [result]
    references = expected if isinstance(expected, list) else [expected]
    for one, other in zip(results, references, strict=False):
        first, second = open_picture(one), given(open_picture, other)
        if first.size != second.size:
            first = first.resize(second.size, Image.Resampling.LANCZOS)
        if first.mode != second.mode:
            first = first.convert(second.mode)
        if first.mode == "P":
            first, second = first.convert("RGBA"), second.convert("RGBA")
        if ImageChops.difference(first, second).getbbox(alpha_only=False):
            return 0.0
    return float(bool(references) and len(results) >= len(references))


@scored("check_structure_sim")
def check_structure_sim(result: object, expected: object) -> float:
    """1 if the pictures have one size and show the same."""
    return float(same_structure(open_picture(result), given(open_picture, expected)))


@scored("check_file_exists_and_structure_sim")
def check_file_exists_and_structure_sim(result: object, expected: object) -> float:
    """1 if the exported picture is there and shows the same."""
    return float(same_structure(open_picture(result), given(open_picture, expected)))


@scored("check_structure_sim_resized")
def check_structure_sim_resized(result: object, expected: object) -> float:
    """1 if the picture shows the same once its transparent border is cut off and it is resized."""
    picture, reference = open_picture(result), given(open_picture, expected)
    if _has_alpha(picture):
        picture = picture.convert("RGBA")
        box = picture.getchannel("A").getbbox()
        if box is None:
            return 0.0
        picture = picture.crop(box).convert("RGB")
    return float(same_structure(picture.resize(reference.size), reference))


@scored("check_image_mirror")
def check_image_mirror(result: object, expected: object) -> float:
    """1 if the picture is the reference with left and right exchanged."""
    from PIL import Image

    mirrored = open_picture(result).transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    # GIMP's own export may change a pixel here and there.
    return float(same_structure(mirrored, given(open_picture, expected), 0.99))


@scored("check_image_size")
def check_image_size(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the picture has the rule's ``width`` and ``height``, in pixels; with
    ``ignore_transparent`` that of what is not transparent.

    A palette with a transparent colour is always measured without it, as OSWorld does.
    """
    picture = open_picture(result)
    size = picture.size
    if (rule.get("ignore_transparent") and _has_alpha(picture)) or "transparency" in picture.info:
        box = picture.convert("RGBA").getchannel("A").getbbox() or (0, 0, 0, 0)
        size = box[2] - box[0], box[3] - box[1]
    wanted = rule.get("width"), rule.get("height")
    return float(all(w is None or s == w for s, w in zip(size, wanted, strict=True)))


@scored("check_image_file_size")
def check_image_file_size(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the file is smaller than ``max_size`` bytes."""
    return float(a_file(result).stat().st_size < rule["max_size"])


def _has_alpha(picture: Any) -> bool:
    return picture.mode in {"RGBA", "LA"} or "transparency" in picture.info
