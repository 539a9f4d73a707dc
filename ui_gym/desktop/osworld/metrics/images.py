"""Metrics of pictures: the same, alike, of a size."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops

from ui_gym.desktop.osworld.metrics.reading import Broken, a_file, given, scored

Values = NDArray[np.float64]

ALIKE = 0.9
"""From this structural similarity on, two pictures show the same."""
WINDOW = 7
"""The side of the square over which similarity is taken, in pixels."""
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
"""Those that are read. Others' decoders are old, or start a program, as PostScript's does."""
MAX_PIXELS = 100_000_000
"""A larger picture is not decoded: a small file can claim any size."""


def open_picture(path: object) -> Image.Image:
    """A picture, decoded whole."""
    file = a_file(path)
    return decoded(file, str(file))


def decoded(file: Path | IO[bytes], name: str) -> Image.Image:
    """The picture that a file holds, which errors call by `name`."""
    try:
        picture = Image.open(file, formats=FORMATS)
        if picture.width * picture.height > MAX_PIXELS:
            raise Broken(f"{name} is too large: {picture.size}")
        picture.load()
    except Broken:
        raise
    except Exception as error:  # decoders of damaged pictures raise what they like
        raise Broken(f"{name} is not a picture: {error}") from error
    return picture


def similarity(first: NDArray[Any], second: NDArray[Any]) -> float:
    """The mean structural similarity of two pictures of uint8, each of shape (height, width) or
    (height, width, channels); 1 is the same.

    As scikit-image computes it by default: Wang et al. 2004 with K1 = 0.01 and K2 = 0.03 over
    uniform 7x7 windows, sample covariance, the windows that leave the picture left out, channels
    averaged. Pictures smaller than a window, or of two shapes, are `Broken`.
    """
    if first.shape != second.shape or min(first.shape[:2]) < WINDOW:
        raise Broken(f"pictures of {first.shape} and {second.shape} cannot be compared")
    if first.ndim == 2:
        return _channel(first.astype(np.float64), second.astype(np.float64))
    channels = range(first.shape[2])
    return float(np.mean([similarity(first[..., c], second[..., c]) for c in channels]))


def _channel(x: Values, y: Values) -> float:
    pixels = WINDOW * WINDOW
    sample = pixels / (pixels - 1)
    mean_x, mean_y = _means(x), _means(y)
    var_x = sample * (_means(x * x) - mean_x * mean_x)
    var_y = sample * (_means(y * y) - mean_y * mean_y)
    covariance = sample * (_means(x * y) - mean_x * mean_y)
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    above = (2 * mean_x * mean_y + c1) * (2 * covariance + c2)
    below = (mean_x * mean_x + mean_y * mean_y + c1) * (var_x + var_y + c2)
    return float(np.mean(above / below))


def _means(values: Values) -> Values:
    """The mean of each whole window, by sums over the two axes in turn."""
    total = np.cumsum(np.pad(values, ((1, 0), (0, 0))), axis=0)
    rows = total[WINDOW:] - total[:-WINDOW]
    total = np.cumsum(np.pad(rows, ((0, 0), (1, 0))), axis=1)
    sums: Values = total[:, WINDOW:] - total[:, :-WINDOW]
    return sums / (WINDOW * WINDOW)


def perceptual_hash(picture: Image.Image) -> NDArray[np.bool_]:
    """64 bits, shape (8, 8), that similar pictures share for the most part: which of the lowest
    frequencies of the picture, at 32x32 in grey, lie above their median (``imagehash.phash``)."""
    side = 32
    grey = picture.convert("L").resize((side, side), Image.Resampling.LANCZOS)
    step = np.arange(side)
    cosines = np.cos(np.pi * np.outer(step, 2 * step + 1) / (2 * side))
    low = (cosines @ np.asarray(grey, np.float64) @ cosines.T)[:8, :8]
    return np.asarray(low > np.median(low))


def same_structure(first: Any, second: Any, threshold: float = ALIKE) -> bool:
    """Whether two pictures of one size are similar enough in RGB."""
    try:
        found = similarity(np.asarray(first.convert("RGB")), np.asarray(second.convert("RGB")))
    except Broken:
        return False
    return found >= threshold


@scored(open_picture, open_picture)
def compare_images(picture: Any, reference: Any, **options: Any) -> float:
    """The structural similarity in grey, at the smaller size.

    With ``reference_base_result`` (the similarity of the untouched start) the score is what was
    gained on it, as a share of what there was to gain.
    """
    size = min(picture.size, reference.size)
    grey = [p.convert("L").resize(size, Image.Resampling.LANCZOS) for p in (picture, reference)]
    found = similarity(*map(np.asarray, grey))
    base = options.get("reference_base_result")
    if base is None:
        return max(found, 0.0)
    return (found - base) / (1 - base) if found >= base + 0.01 else 0.0


@scored()
def compare_image_list(result: object, expected: object) -> float:
    """1 if each picture equals its counterpart in every pixel, once it has that one's size."""
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
    return bool(references) and len(results) >= len(references)


@scored(
    open_picture, open_picture, names=("check_structure_sim", "check_file_exists_and_structure_sim")
)
def check_structure_sim(picture: Any, reference: Any) -> float:
    """1 if the pictures have one size and show the same."""
    return same_structure(picture, reference)


@scored(open_picture, open_picture)
def check_structure_sim_resized(picture: Any, reference: Any) -> float:
    """1 if the picture shows the same once its transparent border is cut off and it is resized."""
    if _has_alpha(picture):
        picture = picture.convert("RGBA")
        box = picture.getchannel("A").getbbox()
        if box is None:
            return 0.0
        picture = picture.crop(box).convert("RGB")
    return same_structure(picture.resize(reference.size), reference)


@scored(open_picture, open_picture)
def check_image_mirror(picture: Any, reference: Any) -> float:
    """1 if the picture is the reference with left and right exchanged."""
    mirrored = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    # GIMP's own export may change a pixel here and there.
    return same_structure(mirrored, reference, 0.99)


@scored(open_picture)
def check_image_size(picture: Any, rule: Mapping[str, Any]) -> float:
    """1 if the picture has the rule's ``width`` and ``height``, in pixels; with
    ``ignore_transparent`` that of what is not transparent.

    A palette with a transparent colour is always measured without it, as OSWorld does.
    """
    size = picture.size
    if (rule.get("ignore_transparent") and _has_alpha(picture)) or "transparency" in picture.info:
        box = picture.convert("RGBA").getchannel("A").getbbox() or (0, 0, 0, 0)
        size = box[2] - box[0], box[3] - box[1]
    wanted = rule.get("width"), rule.get("height")
    return all(w is None or s == w for s, w in zip(size, wanted, strict=True))


@scored()
def check_image_file_size(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the file is smaller than ``max_size`` bytes."""
    return bool(a_file(result).stat().st_size < rule["max_size"])


def _has_alpha(picture: Any) -> bool:
    return picture.mode in {"RGBA", "LA"} or "transparency" in picture.info
