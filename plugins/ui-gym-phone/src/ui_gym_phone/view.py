"""View: where a phone's screen lies in the picture that is observed, and back again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

from ui_gym.android.lowering import ScreenScale
from ui_gym.contract.device import Element
from ui_gym.errors import ActionError


@dataclass(frozen=True)
class PhoneView(ScreenScale):
    """The screen as a part of the picture: `observed` pixels of it, from (`left`, `top`) on.

    A screen that was turned keeps its form, and has black bars beside it: the picture's size is an
    observation space's, and stays.
    """

    left: int = 0
    top: int = 0

    def point(self, x: int, y: int) -> tuple[int, int]:
        """The device's pixel in the middle of a pixel of the observation.

        Raises:
            ActionError: (``runtime``) it lies on a bar beside the screen.
        """
        across, down = x - self.left, y - self.top
        width, height = self.observed
        inside = 0 <= across < width and 0 <= down < height
        if self.barred and not inside:
            raise ActionError(
                "runtime",
                f"({x}, {y}) lies beside the screen, which is turned and fills {self.left} to "
                f"{self.left + width - 1} across and {self.top} to {self.top + height - 1} down",
            )
        return super().point(across, down)

    @property
    def barred(self) -> bool:
        """Whether there are bars beside it."""
        return bool(self.left or self.top)

    @property
    def scale(self) -> tuple[float, float]:
        """Pixels of the picture to one of the device, across and down."""
        return self.observed[0] / self.size[0], self.observed[1] / self.size[1]

    def moved(self, elements: Iterable[Element]) -> tuple[Element, ...]:
        """Elements that know only of the screen, as the picture has them."""
        if not self.barred:
            return tuple(elements)
        return tuple(
            dataclasses.replace(e, box=(e.box[0] + self.left, e.box[1] + self.top, *e.box[2:]))
            for e in elements
        )


def fitted(screen: tuple[int, int], picture: tuple[int, int]) -> PhoneView:
    """A screen (width, height in the device's pixels) as large as a picture allows, in its
    middle."""
    scale = min(room / side for room, side in zip(picture, screen, strict=True))
    width, height = (
        min(room, max(1, round(side * scale))) for room, side in zip(picture, screen, strict=True)
    )
    left, top = (picture[0] - width) // 2, (picture[1] - height) // 2
    return PhoneView(screen, (width, height), left=left, top=top)
