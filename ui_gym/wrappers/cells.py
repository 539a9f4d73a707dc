"""ClickableCells: which cells of a grid hit something that can be clicked, as a mask.

The mask is made from the accessible elements that the env shows (``observation="both"``), which
every agent may read; what the task or its judge knows has no part in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Dict, Space
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from ui_gym.contract.device import Element
from ui_gym.errors import UserError
from ui_gym.wrappers.grid import KINDS, Grid

ROLES = frozenset(
    {
        "button", "cell", "checkbox", "combobox", "icon", "link", "listbox", "listitem", "menuitem",
        "menuitemcheckbox", "menuitemradio", "option", "radio", "scrollbar", "searchbox", "slider",
        "spinbutton", "switch", "tab", "terminal", "textbox", "togglebutton", "treeitem",
    }
)  # fmt: skip
"""Roles of what is there to be clicked; all others only show something, or hold it together."""

Mask = NDArray[np.bool_]


def elements_in(text: str) -> list[Element]:
    """The elements of an observation's text, one a line; a line that was cut off is left out."""
    return [found for line in text.splitlines() if (found := Element.read(line)) is not None]


class CellMask:
    """Makes the masks of a grid: of its whole space, part by part, as sb3-contrib has them."""

    def __init__(self, grid: Grid) -> None:
        """`grid` says which cells and parts there are."""
        self.grid = grid
        self.size = sum(grid.parts.values()) or 1
        """Values of a mask: those of all parts."""
        cells = [grid.center(cell) for cell in range(grid.columns * grid.rows)]
        self._x, self._y = (np.array(side) for side in zip(*cells, strict=True))

    def cells(self, elements: Iterable[Element]) -> Mask:
        """Whether the centre of each cell lies in something clickable, shape (cells,), bool.

        All True where no centre does: such a mask would forbid everything.
        """
        hit = np.zeros(len(self._x), np.bool_)
        for element in elements:
            if element.role not in ROLES or "disabled" in element.states:
                continue
            left, top, width, height = element.box
            across = (left <= self._x) & (self._x < left + width)
            hit |= across & (top <= self._y) & (self._y < top + height)
        return hit if hit.any() else ~hit

    def __call__(self, text: str) -> Mask:
        """What may be chosen where the elements are `text`, shape (`size`,), bool.

        Every kind and key may be; cells are those of `cells`.
        """
        mask = np.ones(self.size, np.bool_)
        first = 0
        for part, count in self.grid.parts.items():
            if part == "cell":
                mask[first : first + count] = self.cells(elements_in(text))
            first += count
        return mask


def without_elements(space: Space[Any]) -> Dict:
    """The space of observations without `elements`. `UserError` if they have none."""
    if not isinstance(space, Dict) or "elements" not in space.spaces:
        raise UserError(
            f"ClickableCells reads the elements, and these observations are of {space}: make the "
            'env with observation="both", and wrap in ClickableCells before ScreenshotOnly and '
            "GoalWords"
        )
    return Dict({name: inner for name, inner in space.spaces.items() if name != "elements"})


def grid_of(find: Callable[[str], Any]) -> Grid:
    """The grid of the `GridActions` below. `UserError` if there is none."""
    try:
        grid = find("grid")
    except AttributeError:
        grid = None
    if not isinstance(grid, Grid):
        raise UserError(
            "ClickableCells masks the cells of a grid: wrap the env in GridActions before it "
            f"(kinds: {', '.join(KINDS)})"
        )
    return grid


class ClickableCells(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Takes `elements` out of the observation, and says by `action_masks` what they are good for.

    `action_masks` has a value for each value of each part of the action space, one part after
    another, as sb3-contrib's `MaskablePPO` takes them. A cell is allowed if its centre lies in an
    element that can be clicked (`ROLES`, and not disabled); where none does, all are allowed.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        """Wrap `env`, which has `GridActions` somewhere below.

        Raises:
            UserError: there is no grid, or the observations have no elements.
        """
        RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)
        self._mask = CellMask(grid_of(env.get_wrapper_attr))
        self.observation_space = without_elements(env.observation_space)
        self._elements = ""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        return self._keep(observation), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._keep(observation), reward, terminated, truncated, info

    def action_masks(self) -> Mask:
        """What may be chosen now, shape (values of all parts,), bool."""
        return self._mask(self._elements)

    def _keep(self, observation: dict[str, Any]) -> dict[str, Any]:
        self._elements = observation["elements"]
        return {name: value for name, value in observation.items() if name != "elements"}
