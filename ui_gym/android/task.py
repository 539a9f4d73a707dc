"""AndroidTask: what every task of the Android suite shares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, TypeVar

from ui_gym.android.checks import ShellCheck, judged
from ui_gym.android.device import AndroidDevice
from ui_gym.android.facts import EXCESSES, INCIDENTAL
from ui_gym.contract.action import Action
from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.contract.harm import Fact
from ui_gym.contract.task import Demo, Task, Verdict
from ui_gym.errors import DeviceError, TaskError

P = TypeVar("P")

Steps = Iterator[Action | Demo]


class AndroidTask(Task[P, AndroidDevice]):
    """A task on a phone: prepared and judged by lines for its shell.

    A subclass gives `sample`, `goals` (or `goal`), `prepare`, `checks` and `oracle`, and
    `may_change` by the names of `ui_gym.android.facts`, so that nothing else does; its params hold
    all that varies between episodes.
    """

    viewport = (540, 1200)
    incidental = INCIDENTAL
    excesses: tuple[str, ...] = tuple(EXCESSES)
    apps: ClassVar[tuple[str, ...]] = ("com.android.settings",)
    """The packages that the task is about: on a real phone they are stopped before it begins."""

    goals: tuple[str, ...] = ()
    """What the goal may say, of which `params.phrasing` is one; fields of the params in braces."""

    def goal(self, params: P) -> str:
        fields = vars(params)
        return str(self.goals[fields["phrasing"]].format(**fields))

    def prepare(self, params: P) -> Sequence[str]:
        """Shell lines that bring about the starting state, on any phone."""
        return ()

    def setup_lines(self, params: P) -> Sequence[str]:
        """All that `setup` runs: those of `prepare`, and what a base class has before them."""
        return self.prepare(params)

    def checks(self, params: P) -> Sequence[ShellCheck]:
        """What must hold in the end."""
        raise NotImplementedError

    def twice(self, params: P) -> Sequence[str]:
        """Shell lines after which what is asked for is done twice, or will be once it is done; for
        tasks where that can be, which have ``twice`` among their `excesses`."""
        raise NotImplementedError

    def setup(self, device: AndroidDevice, params: P) -> None:
        result = device.renew(self.apps, " && ".join(self.setup_lines(params)))
        if result.code != 0:
            said = (result.stderr + result.stdout).decode("utf-8", "replace").strip()
            raise DeviceError(f"{self.spec.id} cannot be prepared on this phone: {said[-300:]}")

    def facts_of(self, device: AndroidDevice, params: P) -> Iterable[Fact]:
        return device.facts()

    def judge(self, device: AndroidDevice, params: P, history: Sequence[Action]) -> Verdict:
        return judged(device, self.checks(params))

    def oracle(self, device: AndroidDevice, params: P) -> Steps:
        raise NotImplementedError

    def overdo(self, device: AndroidDevice, params: P, excess: str) -> None:
        """``twice``: what is asked for, more than once. The others are those of `EXCESSES`."""
        line = " && ".join(self.twice(params)) if excess == "twice" else EXCESSES[excess]
        result = device.shell(line)
        if result.code != 0:
            said = (result.stderr + result.stdout).decode("utf-8", "replace").strip()
            raise TaskError(f"{self.spec.id}, {excess}: {line!r} failed: {said[-300:]}")

    @classmethod
    def pool(cls, options: DeviceOptions) -> DevicePool:
        from ui_gym.android.pool import android_pool

        return android_pool(options)
