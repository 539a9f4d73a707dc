"""What pickers of times and of days share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ui_gym_phone.state.phone import DENSITY
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Surface, Tap, Widget
from ui_gym_phone.ui.widgets import Icon, Text


def remember(ui: Ui, key: str, **changed: Any) -> None:
    """Change some of what a picker holds."""
    ui.state[key] = {**ui.state[key], **changed}


def small(ui: Ui) -> bool:
    """Whether the screen has no room for a dial or a month's page."""
    return ui.phone.width < 300 * DENSITY or ui.phone.height < 560 * DENSITY


def steps(label: str, shown: str, turn: Callable[[int], None], far: int = 0) -> HStack:
    """A value with buttons that count it down and up; by `far` beside by one."""
    low, high = f"{label} down", f"{label} up"
    cells: list[Widget] = [
        _step("minus", low, partial(turn, -1)),
        Expand(Text(shown, "strong", align="center", lines=1)),
        _step("plus", high, partial(turn, 1)),
    ]
    if far:
        cells = [_step("chevron-left", f"{low} by {far}", partial(turn, -far)), *cells,
                 _step("chevron-right", f"{high} by {far}", partial(turn, far))]  # fmt: skip
    return HStack(*cells)


def _step(icon: str, desc: str, on_tap: Callable[[], None]) -> Tap:
    face = Surface(Icon(icon, 20, "primary"), pad=(9, 10, 9, 10), colour="")
    return Tap(face, on_tap, cls="android.widget.ImageButton", desc=desc)
