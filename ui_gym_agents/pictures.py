"""Pictures that come as files, from strangers as well."""

from __future__ import annotations

import io

from PIL import Image as PILImage

from ui_gym.errors import UserError

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")
"""Those that are read. Others' decoders are old, or start a program, as PostScript's does."""
MOST_PIXELS = 7680 * 4320
"""A larger picture is not decoded: a small file can claim any size."""


def decoded(
    data: bytes, formats: tuple[str, ...] = FORMATS, most_pixels: int = MOST_PIXELS
) -> PILImage.Image:
    """A picture in RGB, by its file's bytes.

    Raises:
        UserError: it is of none of the formats, damaged or too large.
    """
    try:
        with PILImage.open(io.BytesIO(data), formats=formats) as opened:
            size = opened.size
            if size[0] * size[1] <= most_pixels:
                return opened.convert("RGB")
    except Exception as error:  # decoders of damaged pictures raise what they like
        kinds = " or ".join(formats)
        raise UserError(f"a picture of {len(data)} bytes is no {kinds}: {error}") from error
    raise UserError(
        f"a picture of {size[0]}x{size[1]} is too large: {most_pixels} pixels are read at most"
    )
