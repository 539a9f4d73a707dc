"""Pictures for metrics: opening them, structural similarity, perceptual hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ui_gym.desktop.osworld.metrics.reading import Broken, a_file

if TYPE_CHECKING:
    from PIL.Image import Image

Values = NDArray[np.float64]

WINDOW = 7
"""The side of the square over which similarity is taken, in pixels."""
MAX_PIXELS = 100_000_000
"""A larger picture is not opened: a small file can claim any size."""


def open_picture(path: object) -> Image:
    """A picture, decoded whole."""
    from PIL import Image

    file = a_file(path)
    try:
        picture = Image.open(file)
        if picture.width * picture.height > MAX_PIXELS:
            raise Broken(f"{file} is too large: {picture.size}")
        picture.load()
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise Broken(f"{file} is not a picture: {error}") from error
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


def perceptual_hash(picture: Image) -> NDArray[np.bool_]:
    """64 bits, shape (8, 8), that similar pictures share for the most part: which of the lowest
    frequencies of the picture, at 32x32 in grey, lie above their median (``imagehash.phash``)."""
    from PIL import Image

    side = 32
    grey = picture.convert("L").resize((side, side), Image.Resampling.LANCZOS)
    step = np.arange(side)
    cosines = np.cos(np.pi * np.outer(step, 2 * step + 1) / (2 * side))
    low = (cosines @ np.asarray(grey, np.float64) @ cosines.T)[:8, :8]
    return np.asarray(low > np.median(low))
