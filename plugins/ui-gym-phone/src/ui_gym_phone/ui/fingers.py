"""Fingers: what the kernel tells of a touch screen, several fingers of it at once, as gestures.

Linux' multi-touch protocol B (``multi-touch-protocol.rst``): each finger has a slot, an id while it
is down, and a place; what is told takes effect with the next report.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ui_gym_phone.ui.touch import FingerStroke, Pinch

EV_SYN, EV_KEY, EV_ABS = 0, 1, 3
SYN_REPORT = 0
ABS_MT_SLOT, ABS_MT_POSITION_X, ABS_MT_POSITION_Y, ABS_MT_TRACKING_ID = 0x2F, 0x35, 0x36, 0x39

SLOTS = 10
STANDARD_MS = 300
"""How long a way takes in which no time has passed: events come one by one, and take none."""


@dataclass
class _Finger:
    x: int = 0
    y: int = 0
    down: bool = False
    start: tuple[int, int, int] | None = None
    """Where it came down, and at which uptime in milliseconds, once that was reported."""


class Fingers:
    """The fingers on the screen. Coordinates are those of the events."""

    def __init__(self) -> None:
        self._slots = defaultdict[int, _Finger](_Finger)
        self._slot = 0
        self._ways: list[FingerStroke] = []
        """Those of fingers that were lifted while others were down."""

    def feed(self, type: int, code: int, value: int, now_ms: int) -> Sequence[FingerStroke]:
        """Take an event. Gives the ways of all fingers when the last of them is lifted, in the
        order in which they were lifted; else nothing."""
        if type == EV_ABS:
            self._move(code, value)
        elif (type, code) == (EV_SYN, SYN_REPORT):
            return self._report(now_ms)
        return ()

    def _move(self, code: int, value: int) -> None:
        finger = self._slots[self._slot]
        if code == ABS_MT_SLOT and 0 <= value < SLOTS:
            self._slot = value
        elif code == ABS_MT_TRACKING_ID:
            finger.down = 0 <= value < 1 << 31
        elif code == ABS_MT_POSITION_X:
            finger.x = value
        elif code == ABS_MT_POSITION_Y:
            finger.y = value

    def _report(self, now_ms: int) -> Sequence[FingerStroke]:
        for _, finger in sorted(self._slots.items()):
            if finger.down and finger.start is None:
                finger.start = finger.x, finger.y, now_ms
            elif not finger.down and finger.start is not None:
                x, y, since = finger.start
                lasting = now_ms - since or STANDARD_MS
                still = FingerStroke(x, y, finger.x, finger.y).still
                ms = now_ms - since if still else lasting
                self._ways.append(FingerStroke(x, y, finger.x, finger.y, ms))
                finger.start = None
        if any(finger.down for finger in self._slots.values()):
            return ()
        ways, self._ways = self._ways, []
        return ways


def pinch_of(one: FingerStroke, two: FingerStroke) -> Pinch:
    """What two fingers do together."""
    before = math.hypot(one.x1 - two.x1, one.y1 - two.y1)
    after = math.hypot(one.x2 - two.x2, one.y2 - two.y2)
    x, y = (one.x1 + two.x1) // 2, (one.y1 + two.y1) // 2
    return Pinch(x, y, max(after, 1) / max(before, 1), (one.dx + two.dx) // 2,
                 (one.dy + two.dy) // 2)  # fmt: skip


def turned(way: FingerStroke, size: tuple[int, int], rotation: int) -> FingerStroke:
    """A way over the upright panel of a size, as the screen has it that is turned."""
    (x1, y1), (x2, y2) = (
        _turned(x, y, size, rotation) for x, y in ((way.x1, way.y1), (way.x2, way.y2))
    )
    return replace(way, x1=x1, y1=y1, x2=x2, y2=y2)


def _turned(x: int, y: int, size: tuple[int, int], rotation: int) -> tuple[int, int]:
    width, height = size
    return {
        1: (y, width - 1 - x), 2: (width - 1 - x, height - 1 - y), 3: (height - 1 - y, x),
    }.get(rotation, (x, y))  # fmt: skip
