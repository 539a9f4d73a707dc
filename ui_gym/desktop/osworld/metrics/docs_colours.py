"""How different two colours look: CIEDE2000.

Source: G. Sharma, W. Wu, E. N. Dalal, "The CIEDE2000 Color-Difference Formula: Implementation
Notes, Supplementary Test Data, and Mathematical Observations" (2005); sRGB after IEC 61966-2-1,
its white D65.
"""

from __future__ import annotations

import math

RGB = tuple[int, ...]
WHITE = (0.95047, 1.0, 1.08883)
XYZ = (
    (0.412453, 0.357580, 0.180423),
    (0.212671, 0.715160, 0.072169),
    (0.019334, 0.119193, 0.950227),
)


def difference(first: RGB, second: RGB) -> float:
    """The difference of two colours, each red, green and blue of 0 to 255. About 1 can just be
    seen; black and white are 100 apart."""
    return ciede2000(lab(first), lab(second))


def lab(rgb: RGB) -> tuple[float, float, float]:
    """A colour in CIE L*a*b*."""
    linear = [_linear(value / 255) for value in rgb]
    x, y, z = (
        _root(sum(a * b for a, b in zip(row, linear, strict=True)) / white)
        for row, white in zip(XYZ, WHITE, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _linear(value: float) -> float:
    return ((value + 0.055) / 1.055) ** 2.4 if value > 0.04045 else value / 12.92


def _root(value: float) -> float:
    return math.cbrt(value) if value > 0.008856 else 7.787 * value + 16 / 116


def ciede2000(first: tuple[float, float, float], second: tuple[float, float, float]) -> float:
    """The difference of two colours in L*a*b*; the names are those of the formula."""
    (l1, a1, b1), (l2, a2, b2) = first, second
    c_mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = 0.5 * (1 - _saturated(c_mean))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = math.degrees(math.atan2(b1, a1)) % 360, math.degrees(math.atan2(b2, a2)) % 360

    turn = h2 - h1 if c1 * c2 else 0.0
    turn -= 360 * round(turn / 360)
    delta_h = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    l_mean, c_mean = (l1 + l2) / 2, (c1 + c2) / 2
    h_mean = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2

    def cosine(times: float, less: float) -> float:
        return math.cos(math.radians(times * h_mean - less))

    t = 1 - 0.17 * cosine(1, 30) + 0.24 * cosine(2, 0) + 0.32 * cosine(3, -6)
    t -= 0.20 * cosine(4, 63)
    s_l = 1 + 0.015 * (l_mean - 50) ** 2 / math.sqrt(20 + (l_mean - 50) ** 2)
    s_c, s_h = 1 + 0.045 * c_mean, 1 + 0.015 * c_mean * t
    rotation = math.sin(math.radians(60 * math.exp(-(((h_mean - 275) / 25) ** 2))))
    r_t = -2 * _saturated(c_mean) * rotation
    d_l, d_c, d_h = (l2 - l1) / s_l, (c2 - c1) / s_c, delta_h / s_h
    return math.sqrt(d_l**2 + d_c**2 + d_h**2 + r_t * d_c * d_h)


def _saturated(chroma: float) -> float:
    return math.sqrt(chroma**7 / (chroma**7 + 25.0**7))
