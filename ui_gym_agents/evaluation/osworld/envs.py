"""The envs of an evaluation: a broken task ends its own episode alone, and devices may be slow."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from gymnasium.vector import AutoresetMode

from ui_gym.contract.action import MAX_ACTIONS, MAX_SECONDS, Action
from ui_gym.contract.device import Device, DeviceOptions, DevicePool, Frame, Image
from ui_gym.contract.mix import Mix
from ui_gym.errors import DeviceError, TaskError, UserError
from ui_gym.playing.vector import SlotResult, UIVectorEnv
from ui_gym_agents.evaluation.osworld.plan import OSWorldOptions, PlannedTask

STEP_TIMEOUT = MAX_ACTIONS * MAX_SECONDS + 240.0
"""Seconds within which a reset or a step must answer: the longest step that an agent may write, and
what its judge takes. A task file may start an office suite, or a machine, and wait for it."""

TIMEOUT = 30.0
"""Seconds of a single wait on a device."""


class ForgivingEnvs(UIVectorEnv):
    """Slots in which whatever a task's setup or judge raises is a failure of that episode.

    A task file that asks for what is not there must not end the evaluation of all others.
    """

    def __init__(self, num_envs: int, task: Any, **arguments: Any) -> None:
        super().__init__(num_envs, task, **arguments)
        self._asked: dict[int, bool] = {}
        """The slots that owe an answer, and whether they were reset."""

    def send(self, actions: Sequence[str], slots: Sequence[int]) -> None:
        super().send(actions, slots)
        self._asked |= dict.fromkeys(map(int, slots), False)

    def send_reset(
        self,
        slots: Sequence[int],
        seeds: Sequence[int | None],
        options: Sequence[dict[str, Any] | None] | None = None,
    ) -> None:
        super().send_reset(slots, seeds, options)
        self._asked |= dict.fromkeys(map(int, slots), True)

    def recv(
        self,
        at_least: int = 1,
        timeout: float | None = None,
        until: Callable[[], bool] | None = None,
    ) -> list[SlotResult]:
        """As `UIVectorEnv.recv`; a task's or a device's error comes as the end of its episode."""
        try:
            results = super().recv(at_least, timeout, until)
        except (DeviceError, TaskError, UserError) as error:
            # The slot that raised owes nothing any more, and has given nothing.
            (slot,) = self._asked.keys() - set(self._fleet.pending)
            results = [self._failed(slot, self._asked[slot], error)]
        for result in results:
            del self._asked[result.slot]
        return results

    def _failed(self, slot: int, resetting: bool, error: Exception) -> SlotResult:
        what = "device" if isinstance(error, DeviceError) else "task"
        info = {"failure": f"{what}: {error}", "score": 0.0, "success": False}
        observation = self._last_observation(slot)
        if resetting:  # what was seen last is another task's
            observation = {**observation, "goal": "", "feedback": ""}
        return SlotResult(slot, observation, 0.0, False, True, info, is_reset=resetting)


class Paused:
    """A device that waits between acting and looking; everything else is the device's own."""

    def __init__(self, device: Any, seconds: float) -> None:
        self.device = device
        self._seconds = seconds
        self._acted = False
        self._closed = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.device, name)

    def perform(self, action: Action) -> None:
        self.device.perform(action)
        self._acted = True

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        if self._acted:
            self._closed.wait(self._seconds)
            self._acted = False
        frame: Frame = self.device.capture(out, elements=elements)
        return frame

    def close(self) -> None:
        self._closed.set()
        self.device.close()


class PausedPool:
    """Lends the devices of another pool as `Paused` ones, each to be given back as it is."""

    def __init__(self, pool: DevicePool, seconds: float) -> None:
        self._pool = pool
        self._seconds = seconds

    def acquire(self) -> Any:
        return Paused(self._pool.acquire(), self._seconds)

    def release(self, device: Device, *, healthy: bool) -> None:
        assert isinstance(device, Paused)
        self._pool.release(device.device, healthy=healthy)

    def close(self) -> None:
        self._pool.close()


def _kind(options: OSWorldOptions, items: Sequence[PlannedTask]) -> str:
    """The device of all `items`, which is that of their files where none is asked for."""
    if options.device != "auto":
        return options.device
    files = {item.key: getattr(item.task, "file", None) for item in items}
    named = {getattr(file, "device", None): key for key, file in files.items()}
    kinds = [f"{kind} ({key})" for kind, key in named.items() if kind is not None]
    if len(kinds) > 1:
        raise UserError(
            f"these task files are meant for different devices, {' and '.join(kinds)}: say which "
            "one plays them all by --device, or choose among them by --domain"
        )
    return next((kind for kind in named if kind is not None), "auto")


def make_envs(
    options: OSWorldOptions, items: Sequence[PlannedTask]
) -> tuple[ForgivingEnvs, DevicePool]:
    """Envs that play all `items`, each asked for by its key, and their pool, to be closed after."""
    mix = Mix({item.key: item.task for item in items})
    size = (options.screen_width, options.screen_height)
    kind = _kind(options, items)
    pool = mix.pool(DeviceOptions(kind, size, TIMEOUT, elements=options.shows_elements))
    if options.sleep_after_execution > 0:
        pool = PausedPool(pool, options.sleep_after_execution)
    limit = {} if options.max_steps is None else {"max_steps": options.max_steps}
    envs = ForgivingEnvs(
        min(options.num_envs, len(items)),
        mix,
        autoreset_mode=AutoresetMode.DISABLED,
        dialect=options.action_space,
        observation="both" if options.shows_elements else "screenshot",
        split=None,
        viewport=size,
        step_timeout=STEP_TIMEOUT,
        pool=pool,
        **limit,
    )
    return envs, pool
