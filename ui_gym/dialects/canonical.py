"""The canonical dialect: the text of `ui_gym.contract.action` itself, as in ``click(10, 20)``."""

from __future__ import annotations

from collections.abc import Sequence

from ui_gym.contract.action import ACTIONS, MAX_ACTIONS, Action, check_points, shorten, usage
from ui_gym.contract.action import parse as parse_action
from ui_gym.contract.tables import read_table
from ui_gym.dialects.common import check_actions, check_length
from ui_gym.dialects.seen import NOTHING, Seen
from ui_gym.errors import ActionError

_TEXTS = read_table(__package__, "texts")["canonical"]
MEANINGS: dict[str, str] = _TEXTS["meanings"]
ELEMENTS: str = _TEXTS["elements"]
"""What a prompt adds where elements are shown."""


class Canonical:
    """``click(10, 20); type("Ann", enter=True)``. Holds no thought: `render` leaves it out."""

    name = "canonical"

    def parse(self, text: str, size: tuple[int, int], seen: Seen = NOTHING) -> list[Action]:
        check_length(text)
        try:
            actions = parse_action(text, locate=seen.locate)
        except OverflowError:  # a number with hundreds of digits where seconds belong
            raise ActionError("argument", f"a number in {shorten(text)} is far too large") from None
        check_points(actions, size)
        return actions

    def render(self, actions: Sequence[Action], size: tuple[int, int], thought: str = "") -> str:
        check_actions(actions, size)
        return "; ".join(map(str, actions))

    def prompt(self, size: tuple[int, int], *, elements: bool = False) -> str:
        width, height = size
        lines = [f"- {usage(name)}: {MEANINGS[name]}" for name in ACTIONS]
        return (
            "Answer with the next action alone, written as a function call. The actions are:\n"
            + "\n".join(lines)
            + f"\nThe screen is {width} pixels wide and {height} high; x and y are whole pixels "
            "from its top left corner. Up to "
            f'{MAX_ACTIONS} actions may be joined by ";". Example: click(24, 40); type("Ann")'
            + (ELEMENTS if elements else "")
        )

    def can_say(self, action: Action) -> bool:
        return True
