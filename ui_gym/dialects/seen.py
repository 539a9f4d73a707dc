"""What the agent was shown before it wrote: elements, and where its pointer rests."""

from __future__ import annotations

from dataclasses import dataclass

from ui_gym.contract.action import shorten
from ui_gym.contract.device import Element
from ui_gym.errors import ActionError

Point = tuple[int, int]

_MOST_RANGES = 20
"""More ranges of ids than this are not listed in a message."""


@dataclass(frozen=True)
class Seen:
    """What a text may refer to beyond its own words. Nothing, where nothing is known.

    `elements` are those of the observation that the agent saw last. `pointer` is where its last
    action with a point ended; a format that clicks "where the mouse is" needs it.
    """

    elements: tuple[Element, ...] = ()
    pointer: Point | None = None

    def locate(self, said: object) -> Point:
        """The middle of the element that an id stands for.

        Raises:
            ActionError: (``argument``) this is no id, or not of an element that was shown.
        """
        return self.element(said).center

    def element(self, said: object) -> Element:
        """The element that an id stands for; see `locate`."""
        number = _id(said)
        for element in self.elements:
            if element.id == number:
                return element
        if not self.elements:
            raise ActionError("argument", "no elements are shown here; give x and y instead")
        shown = _ranges(sorted({element.id for element in self.elements}))
        raise ActionError("argument", f"there is no element {number}; there are {shown}")


NOTHING = Seen()


def _id(said: object) -> int:
    """An id as models write it: ``12``, ``"12"`` or, as it was shown, ``"[12]"``."""
    if isinstance(said, str):
        digits = said.strip().removeprefix("[").removesuffix("]")
        if digits.isascii() and digits.isdigit() and len(digits) < 10:
            return int(digits)
    elif isinstance(said, int | float) and not isinstance(said, bool) and said == said // 1:
        return int(said)
    raise ActionError("argument", f"an element is named by its number, not {shorten(repr(said))}")


def _ranges(ids: list[int]) -> str:
    """``[0, 1, 2, 5]`` as ``0-2, 5``."""
    ranges: list[tuple[int, int]] = []
    for number in ids:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in ranges[:_MOST_RANGES]]
    return ", ".join(shown + ["..."] * (len(ranges) > _MOST_RANGES))
