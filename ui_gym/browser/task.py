"""BrowserTask: what every task of the browser suite shares."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.looks import PLAIN, dress
from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.contract.task import Demo, Task, params_json

P = TypeVar("P")


class BrowserTask(Task[P, BrowserDevice]):
    """A task on one page: `page` is a built-in page's name or the path of the author's own file."""

    page: ClassVar[str | Path]
    shown: ClassVar[tuple[str, ...]] = ()
    """Names of the params and of the task's arguments that the page is given; by default all
    params. Leave out what would give the answer."""
    compact: bool = False
    """Whether the page is small, for small models."""
    look: str = PLAIN
    """What the page looks like (`ui_gym.browser.looks`)."""

    def page_params(self, params: P) -> dict[str, Any]:
        """What the page is given; by default what `shown` names."""
        if not self.shown:
            return dataclasses.asdict(params)  # type: ignore[call-overload,no-any-return]
        known = {**vars(self), **vars(params)}
        return {name: known[name] for name in self.shown}

    def setup(self, device: BrowserDevice, params: P) -> None:
        digest = int.from_bytes(hashlib.sha256(params_json(params).encode()).digest()[:4], "big")
        dressed = dress(self.look, digest, compact=self.compact)
        small = {"compact": True} if self.compact else {}
        device.load(self.page, {**self.page_params(params), **dressed, **small}, seed=digest)

    def overdone(self, params: P, excess: str) -> P:
        """The params of what is done too much; the oracle does it, by `overdo`."""
        raise NotImplementedError

    def overdo(self, device: BrowserDevice, params: P, excess: str) -> None:
        for step in self.oracle(device, self.overdone(params, excess)):
            device.perform(step.action if isinstance(step, Demo) else step)

    @classmethod
    def pool(cls, options: DeviceOptions) -> DevicePool:
        # Imported only when a browser is wanted: it needs the extra `browser` (OpenCV).
        from ui_gym.browser.pool import browser_pool

        return browser_pool(options)
