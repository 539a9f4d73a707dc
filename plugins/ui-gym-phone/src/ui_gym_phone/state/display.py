"""Display: how large the screen is as apps see it now: turned, and as `wm` says it were."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ui_gym.android.device import COLUMNS

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone

BASELINE = 160
"""Dots of an inch at which a dp is a pixel."""

UPRIGHT, LEFT, UPSIDE_DOWN, RIGHT = range(4)
"""Rotations as `Surface.ROTATION_0` and so on count them: quarter turns against the clock."""

FORCED_SIZE, FORCED_DENSITY = "display_size_forced", "display_density_forced"
"""The settings in which Android keeps what `wm size` (global, ``720,1280``) and `wm density`
(secure, dots of an inch) say."""

ROW = 56
"""dp of a cell of the grid that `COLUMNS` lays all out on: as many as a row of a list has."""

LARGER = 49 / 32
"""So much larger texts are on a grid: one of 16 sp, in a cell of 32 pixels, is of 14."""

LEAST_COLUMNS, MOST_COLUMNS = 6, 16

LEAST, MOST = 200, 4800
LEAST_DENSITY, MOST_DENSITY = 72, 1000


@dataclass(frozen=True)
class Display:
    """The screen as it is laid out. `width` and `height` are in pixels; a dp has `density` of
    them; `rotation` is how it is turned."""

    width: int
    height: int
    density: float
    rotation: int
    grid: int = 0
    """Of a grid that all lies on: its cells, in pixels; else 0."""

    @property
    def wide(self) -> bool:
        """Whether it lies on its side."""
        return self.rotation in (LEFT, RIGHT)

    @property
    def dp(self) -> tuple[float, float]:
        """Its width and height in dp."""
        return self.width / self.density, self.height / self.density


def display(phone: Phone) -> Display:
    """The screen as what is seen now has it."""
    width, height = natural(phone)
    rotation, grid = rotation_of(phone), cell(phone)
    if rotation in (LEFT, RIGHT):
        width, height = height, width
    density = grid / ROW if grid else dots(phone) / BASELINE
    return Display(width, height, density, rotation, grid)


def cell(phone: Phone) -> int:
    """How wide and high a cell of the grid is, in pixels; 0 where there is none."""
    told = phone.setting("secure", COLUMNS, "")
    sound = told.isdecimal() and LEAST_COLUMNS <= int(told[:3]) <= MOST_COLUMNS
    return natural(phone)[0] // int(told) if sound else 0


def natural(phone: Phone) -> tuple[int, int]:
    """Its width and height in pixels while it is upright: the panel's, or those of `wm size`."""
    forced = re.fullmatch(r"(\d{1,5}),(\d{1,5})", phone.setting("global", FORCED_SIZE, ""))
    if forced is None:
        return phone.width, phone.height
    width, height = int(forced[1]), int(forced[2])
    sound = min(width, height) >= LEAST and max(width, height) <= MOST
    return (width, height) if sound else (phone.width, phone.height)


def dots(phone: Phone) -> int:
    """How many dots an inch has: the panel's, or those of `wm density`."""
    forced = phone.setting("secure", FORCED_DENSITY, "")
    if forced.isdecimal() and LEAST_DENSITY <= int(forced[:5]) <= MOST_DENSITY:
        return int(forced)
    return panel_dots(phone)


def panel_dots(phone: Phone) -> int:
    """The panel's own dots of an inch."""
    told = phone.properties.get("ro.sf.lcd_density", "")
    sound = told.isdecimal() and LEAST_DENSITY <= int(told[:5]) <= MOST_DENSITY
    return int(told) if sound else 3 * BASELINE


def rotation_of(phone: Phone) -> int:
    """How the screen is turned: as a person locked it. Auto-rotate finds the phone upright, and
    the home screen and the overview do not turn, as on phones."""
    if phone.recents or phone.front is None or phone.is_on("system", "accelerometer_rotation"):
        return UPRIGHT
    told = phone.setting("system", "user_rotation")
    return int(told) if told in ("1", "2", "3") else UPRIGHT
