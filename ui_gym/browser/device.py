"""What browser tasks see of their device, whichever browser it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ui_gym.browser.site import Site
from ui_gym.contract.device import Device
from ui_gym.errors import TaskError


@dataclass(frozen=True)
class PageEvent:
    """One entry of a page's log, as it reached this process."""

    type: str
    data: Mapping[str, Any]


class BrowserDevice(Device, Protocol):
    """A `Device` that shows pages; its questions to them are scripts, the same in every browser."""

    def load(self, page: str | Path, params: Mapping[str, Any], *, seed: int = 0) -> None:
        """Show `page` with `params`; its clock, randomness and event log start anew."""

    def visit(self, site: Site, path: str, *, stay: bool = False) -> None:
        """Show the file at `path` of a site, in a fresh realm; clock and event log start anew.

        With `stay` the page is left as it is where it is shown already.
        """

    def evaluate(self, expression: str, *, promise: bool = False) -> Any:
        """The JSON value of a script of the task's own; never of anything an agent wrote.

        With `promise`, of what the script promises.
        """

    def state(self) -> dict[str, Any]:
        """What the page's `uiGym.state()` returns; also brings `events` up to date."""
        return json.loads(self.evaluate("JSON.stringify(uiGym.state())"))  # type: ignore[no-any-return]

    @property
    def events(self) -> Sequence[PageEvent]:
        """What the page reported since `load`, oldest first: append-only, out of its reach."""

    def box(self, selector: str) -> tuple[int, int, int, int]:
        """Where the first element of a CSS selector is: (left, top, width, height) in pixels.

        Raises:
            TaskError: no element matches.
        """
        found = self.evaluate(f"uiGym.box({json.dumps(selector)})")
        if found is None:
            raise TaskError(f"the page has no element {selector!r}")
        left, top, width, height = (round(v) for v in found)
        return left, top, width, height

    def center(self, selector: str) -> tuple[int, int]:
        """The middle of the first element of a CSS selector, in pixels."""
        left, top, width, height = self.box(selector)
        return left + width // 2, top + height // 2
