"""A screen of noise, whose pictures nothing makes smaller."""

from __future__ import annotations

from typing import Any

import numpy as np
from paint import PaintDevice, PaintPool, PaintText

from ui_gym.contract.device import DeviceOptions, Frame, Image
from ui_gym.contract.registry import register


class NoiseDevice(PaintDevice):
    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        frame = super().capture(out, elements=elements)
        frame.image[:] = np.random.default_rng().integers(0, 256, frame.image.shape, np.uint8)
        return frame


class NoisePool(PaintPool):
    def acquire(self) -> PaintDevice:
        with self.lock:
            self.lent.append(NoiseDevice(self.size, self.faults))
            return self.lent[-1]


@register("PaintNoise", suite="paint", category="input", max_steps=1000)
class PaintNoise(PaintText):
    """Write on a box in the noise."""

    viewport = (320, 240)

    @classmethod
    def pool(cls, options: DeviceOptions) -> Any:
        return NoisePool(options.size)
