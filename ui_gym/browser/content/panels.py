"""Panels of sliders: what can be set on them, and in which steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ui_gym.browser.content.data import table


class Slider(NamedTuple):
    label: str
    low: int
    high: int
    step: int
    unit: str

    @property
    def steps(self) -> int:
        return (self.high - self.low) // self.step

    def said(self, value: int) -> str:
        """A value as the page shows it."""
        return f"{value:+d}{self.unit}" if self.low < 0 < value else f"{value}{self.unit}"


class SliderPanel(NamedTuple):
    app: str
    icon: str
    title: str
    lead: str
    faders: bool
    """Whether the sliders stand upright side by side."""
    sliders: tuple[Slider, ...]


def _panel(sliders: Sequence[Any], **written: Any) -> SliderPanel:
    return SliderPanel(**written, sliders=tuple(Slider(*one) for one in sliders))


PANELS = {key: _panel(**written) for key, written in table("panels").items()}
MOST = 8
"""Sliders of a panel."""
