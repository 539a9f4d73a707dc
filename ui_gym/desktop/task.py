"""DesktopTask: what every task of the desktop suite shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from ui_gym.contract.action import Action
from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.contract.task import Demo, Task, Verdict
from ui_gym.desktop.device import DesktopDevice, SessionSpec

P = TypeVar("P")


class DesktopTask(Task[P, DesktopDevice]):
    """A task on a desktop: begun with files and programs, judged by files.

    A subclass gives `sample`, `goal`, `session`, `judge` and `oracle`.
    """

    viewport = (1280, 720)

    def session(self, params: P) -> SessionSpec:
        """The files and programs that the episode begins with."""
        raise NotImplementedError

    def setup(self, device: DesktopDevice, params: P) -> None:
        device.renew(self.session(params))

    def judge(self, device: DesktopDevice, params: P, history: Sequence[Action]) -> Verdict:
        raise NotImplementedError

    def oracle(self, device: DesktopDevice, params: P) -> Iterator[Action | Demo]:
        raise NotImplementedError

    @classmethod
    def pool(cls, options: DeviceOptions) -> DevicePool:
        from ui_gym.desktop.pool import desktop_pool

        return desktop_pool(options)
