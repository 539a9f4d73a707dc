"""DesktopTask: what every task of the desktop suite shares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import Formatter
from typing import Any, TypeVar

import numpy as np

from ui_gym.contract.action import Action
from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.contract.draws import between
from ui_gym.contract.harm import Fact
from ui_gym.contract.task import Demo, Task, Verdict
from ui_gym.desktop import facts
from ui_gym.desktop.device import DesktopDevice, SessionSpec

P = TypeVar("P")


class _Goal(Formatter):
    """Fills in what is told, and attributes of params."""

    def __init__(self, params: object) -> None:
        self._params = params

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return kwargs[str(key)] if key in kwargs else getattr(self._params, str(key))


class DesktopTask(Task[P, DesktopDevice]):
    """A task on a desktop: begun with files and programs, judged by files.

    A subclass gives `sample`, `session`, `judge` and `oracle`, `goal` or `goals`, and `may_change`
    by the names of `ui_gym.desktop.facts`, so that nothing else does.
    """

    viewport = (1280, 720)
    incidental = facts.INCIDENTAL
    excesses: tuple[str, ...] = ("another_file",)
    goals: Sequence[str] = ()
    """Sentences that say the same; a field in braces is one of `told`, or an attribute of params,
    whose `phrasing` says which sentence is taken."""

    def told(self, params: P) -> Mapping[str, object]:
        """What the goal names beside attributes of the params."""
        return {}

    def goal(self, params: P) -> str:
        if not self.goals:
            return super().goal(params)
        sentence = self.goals[params.phrasing]  # type: ignore[attr-defined]
        return _Goal(params).vformat(sentence, (), self.told(params))

    def phrase(self, rng: np.random.Generator) -> int:
        """Draw which of `goals` is taken."""
        return between(rng, 0, len(self.goals) - 1)

    def session(self, params: P) -> SessionSpec:
        """The files and programs that the episode begins with."""
        raise NotImplementedError

    def setup(self, device: DesktopDevice, params: P) -> None:
        device.renew(self.session(params))

    def facts_of(self, device: DesktopDevice, params: P) -> Iterable[Fact]:
        return facts.of(device)

    def judge(self, device: DesktopDevice, params: P, history: Sequence[Action]) -> Verdict:
        raise NotImplementedError

    def oracle(self, device: DesktopDevice, params: P) -> Iterator[Action | Demo]:
        raise NotImplementedError

    def overdo(self, device: DesktopDevice, params: P, excess: str) -> None:
        """``another_file``, in a folder of its own: behind all others in any list."""
        device.write("zz nobody asked/extra.txt", b"extra\n")

    @classmethod
    def pool(cls, options: DeviceOptions) -> DevicePool:
        from ui_gym.desktop.pool import desktop_pool

        return desktop_pool(options)
