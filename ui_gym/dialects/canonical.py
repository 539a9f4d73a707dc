"""The canonical dialect: the text of `ui_gym.contract.action` itself, as in ``click(10, 20)``."""

from __future__ import annotations

from collections.abc import Sequence

from ui_gym.contract.action import ACTIONS, MAX_ACTIONS, Action, check_points, shorten, usage
from ui_gym.contract.action import parse as parse_action
from ui_gym.dialects.common import check_actions, check_length
from ui_gym.dialects.seen import NOTHING, Seen
from ui_gym.errors import ActionError

MEANINGS = {
    "click": "click or tap; count=2 is a double click",
    "long_press": "touch and hold",
    "move": "hover",
    "drag": "press at the first point, release at the second; a swipe on a touch screen",
    "scroll": "in pixels; dy=300 shows what is below",
    "type": "type at the caret; clear empties the field before, enter presses Enter after",
    "press": 'a key or a chord, as in press("ctrl+c")',
    "open": "open an app by its name",
    "wait": "let time pass",
    "answer": "give the answer that was asked for; ends the task",
    "finish": 'say that the task is done ("success"), failed ("failure") or "infeasible"',
}

ELEMENTS = """
The elements on the screen are listed, each with its number, as in [12] button "Submit". In click, \
long_press, move and scroll, element=12 may stand for x and y: click(element=12). With it, type \
clicks the element first: type("Ann", element=3)."""
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
