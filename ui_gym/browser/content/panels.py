"""Panels of sliders: what can be set on them, and in which steps."""

from __future__ import annotations

from typing import NamedTuple


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


def _alike(labels: str, low: int, high: int, unit: str) -> tuple[Slider, ...]:
    return tuple(Slider(label, low, high, 1, unit) for label in labels.split(", "))


LIGHTS = (
    *_alike("Ceiling lamp, Floor lamp, Reading lamp, Shelf lights, Window lights", 0, 100, " %"),
    Slider("Warmth", 2200, 6500, 50, " K"),
    *_alike("Fade in, Fade out", 0, 60, " s"),
)
PHOTO = _alike(
    "Exposure, Contrast, Highlights, Shadows, Whites, Blacks, Vibrance, Saturation", -100, 100, ""
)
GREENHOUSE = (
    Slider("Day temperature", 5, 40, 1, " °C"), Slider("Night temperature", 5, 40, 1, " °C"),
    Slider("Humidity", 20, 95, 1, " %"), Slider("Shade", 0, 100, 5, " %"),
    Slider("Roof vents", 0, 100, 5, " %"), Slider("Side vents", 0, 100, 5, " %"),
    Slider("Watering", 0, 120, 5, " min"), Slider("Lamps", 0, 24, 1, " h"),
)  # fmt: skip
PRINTER = (
    Slider("Nozzle", 180, 280, 1, " °C"), Slider("Bed", 20, 110, 1, " °C"),
    Slider("Print speed", 10, 150, 5, " mm/s"), Slider("Travel speed", 50, 300, 5, " mm/s"),
    Slider("Infill", 0, 100, 5, " %"), Slider("Fan", 0, 100, 5, " %"),
    Slider("Flow", 80, 120, 1, " %"), Slider("First layer", 10, 60, 1, " mm/s"),
)  # fmt: skip
EQUALIZER = _alike("60 Hz, 150 Hz, 400 Hz, 1 kHz, 2.4 kHz, 6 kHz, 10 kHz, 15 kHz", -12, 12, " dB")
MIXER = _alike("Vocals, Choir, Lead guitar, Rhythm guitar, Bass, Keys, Drums, Cymbals", 0, 100, "")

PANELS = {
    "lights": SliderPanel(
        "Lumen", "home", "Living room", "Mood of the evening scene", False, LIGHTS
    ),
    "photo": SliderPanel("Darkroom", "image", "Harbour at dawn", "Light and colour", False, PHOTO),
    "greenhouse": SliderPanel(
        "Verdant", "chart", "Greenhouse 2", "Climate for the tomato rows", False, GREENHOUSE
    ),
    "printer": SliderPanel(
        "Layerworks", "gear", "Printer 3", "Profile of the next print", False, PRINTER
    ),
    "equalizer": SliderPanel(
        "Tonewell", "bell", "Equalizer", "Sound of the kitchen speaker", True, EQUALIZER
    ),
    "mixer": SliderPanel(
        "Stagedesk", "people", "Main mix", "Saturday evening, first set", True, MIXER
    ),
}
MOST = 8
"""Sliders of a panel."""
