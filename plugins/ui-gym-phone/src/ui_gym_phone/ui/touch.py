"""Touch: a finger's way over the screen, and how a list goes on that it has flung."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from ui_gym_phone.state.activities import Activity
from ui_gym_phone.state.clock import Clock

SLOP = 24
"""Device pixels that a finger may move and it still is a tap."""

HOLD_MS = 500
"""From this many milliseconds on, a finger counts as held."""

FLING_MS = 200
"""A finger that is faster than this over the screen leaves it with its speed. One that takes as
long as the swipes of ``scroll`` (300 ms) comes to rest first, so that these move what they say."""


@dataclass(frozen=True)
class FingerStroke:
    """The way of a finger from one point to another, in device pixels, which takes `ms`."""

    x1: int
    y1: int
    x2: int
    y2: int
    ms: int = 300

    @property
    def dx(self) -> int:
        return self.x2 - self.x1

    @property
    def dy(self) -> int:
        return self.y2 - self.y1

    @property
    def still(self) -> bool:
        """Whether the finger stayed where it was."""
        return abs(self.dx) <= SLOP and abs(self.dy) <= SLOP

    @property
    def across(self) -> bool:
        """Whether it went sideways rather than up or down."""
        return abs(self.dx) > abs(self.dy)

    @property
    def held(self) -> bool:
        """Whether it took its time: a touch that is long, a swipe that is held at its end."""
        return self.ms >= HOLD_MS

    @property
    def speed(self) -> float:
        """How fast content leaves the finger upwards, in pixels a second; 0 if it came to rest, or
        if no time is known to have passed, as between `input motionevent` and the next."""
        return -self.dy * 1000 / self.ms if 0 < self.ms < FLING_MS else 0.0


@dataclass(frozen=True)
class Pinch:
    """Two fingers on the screen, whose distance grows `factor`-fold (or shrinks, below 1) around
    a point, in device pixels, that itself moves by (dx, dy)."""

    x: int
    y: int
    factor: float
    dx: int = 0
    dy: int = 0


# -- lists that were flung: the curve of Android's `OverScroller` --

_FRICTION = 0.015
_GRAVITY, _INCHES, _LOOK = 9.80665, 39.37, 0.84
"""Metres a second squared, inches of a metre, and a factor that looks right."""
_INFLEXION = 0.35
_RATE = math.log(0.78) / math.log(0.9)
_SLOWEST, _FASTEST = 50, 8000
"""dp a second below which nothing is flung, and which no finger surpasses."""


def fling(speed: float, density: float) -> tuple[int, int]:
    """(how far, for how many milliseconds) content goes on that leaves the finger at `speed`
    pixels a second, on a screen with `density` pixels in a dp."""
    fast = min(abs(speed), _FASTEST * density)
    if fast < _SLOWEST * density:
        return 0, 0
    drag = _FRICTION * _GRAVITY * _INCHES * density * 160 * _LOOK
    level = math.log(_INFLEXION * fast / drag)
    far = drag * math.exp(_RATE / (_RATE - 1) * level)
    lasting = 1000 * math.exp(level / (_RATE - 1))
    return round(math.copysign(far, speed)), round(lasting)


@lru_cache(maxsize=1024)
def travelled(share: float) -> float:
    """Which share of its way a fling has gone after a share of its time."""
    if share >= 1:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(30):
        x = (low + high) / 2
        bend = 3 * x * (1 - x)
        if bend * ((1 - x) * 0.5 * _INFLEXION + x * _INFLEXION) + x**3 < share:
            low = x
        else:
            high = x
    bend = 3 * low * (1 - low)
    return bend * ((1 - low) * 0.5 + low) + low**3


def offset_of(activity: Activity, key: str, clock: Clock) -> int:
    """How far a scrolled container's content is moved up now, in device pixels, wherever its ends
    are."""
    offset = activity.scroll.get(key, 0)
    flung = activity.flings.get(key)
    if flung is None or flung[0] != offset:  # it was put elsewhere since
        return offset
    start, far, begun, lasting = flung
    return start + round(far * travelled(max(0, clock.uptime_ms - begun) / lasting))


def move(
    activity: Activity, key: str, offset: int, clock: Clock, speed: float = 0, density: float = 3
) -> None:
    """Put a container's content where a finger has brought it, and let it go on by its speed."""
    activity.scroll[key] = offset
    activity.flings.pop(key, None)
    far, lasting = fling(speed, density)
    if far:
        activity.flings[key] = (offset, far, clock.uptime_ms, lasting)


def moving(activity: Activity, key: str, clock: Clock) -> bool:
    """Whether a container's content still moves."""
    flung = activity.flings.get(key)
    if flung is None or flung[0] != activity.scroll.get(key, 0):
        return False
    return clock.uptime_ms < flung[2] + flung[3]
