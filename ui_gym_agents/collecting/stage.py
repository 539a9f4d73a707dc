"""Stages: a vector env as a set of slots that are started and acted on one by one.

`FreeStage` uses `send` and `recv`, where an env has them. `StepStage` needs nothing but Gymnasium's
own vector-env API with autoreset mode ``DISABLED``; its slots move together.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from ui_gym.errors import UserError
from ui_gym.playing.vector import SlotResult

Options = Mapping[str, Any]


class Stage(Protocol):
    """Slots on which episodes are played."""

    slots: int
    together: bool
    """Whether all slots move in one step, so that each must have an action before any moves."""
    team: int
    """How many slots in a row are agents of one team, which begin and act together; mostly 1."""

    def start(self, slot: int, seed: int, options: Options) -> None:
        """Begin an episode in a slot that is not busy."""

    def act(self, slot: int, text: str) -> None:
        """Act in a slot that waits for it."""

    def receive(self, at_least: int, timeout: float | None = None) -> list[SlotResult]:
        """Results of `start` and `act`: `at_least` so many, or fewer after `timeout` seconds."""

    def drain(self) -> None:
        """Wait for whatever is under way and forget it."""


def make_stage(envs: VectorEnv[Any, Any, Any]) -> Stage:
    """The best stage for a vector env (free slots, if it has `send` and `recv`)."""
    bare: Any = envs.unwrapped
    if all(hasattr(bare, name) for name in ("send", "send_reset", "recv")):
        return FreeStage(bare)
    return StepStage(envs)


def team_size(envs: Any) -> int:
    """How many slots in a row of a vector env are one team: its `team_size`, or 1."""
    return int(getattr(envs.unwrapped, "team_size", 1))


class FreeStage:
    """Slots of an env with EnvPool's asynchronous pair: none waits for another."""

    together = False

    def __init__(self, envs: Any) -> None:
        self._envs = envs
        self.slots = int(envs.num_envs)
        self.team = team_size(envs)
        self.busy = 0
        """How many slots owe an answer."""
        self.wakes = hasattr(envs, "wake")
        """Whether `receive` can be given an `until`, and `wake` makes it ask."""

    def start(self, slot: int, seed: int, options: Options) -> None:
        self._envs.send_reset([slot], [seed], [dict(options)])
        self.busy += 1

    def act(self, slot: int, text: str) -> None:
        self._envs.send([text], [slot])
        self.busy += 1

    def receive(
        self,
        at_least: int,
        timeout: float | None = None,
        until: Callable[[], bool] | None = None,
    ) -> list[SlotResult]:
        more = {} if until is None else {"until": until}
        try:
            results: list[SlotResult] = self._envs.recv(at_least, timeout, **more)
        except Exception:
            self.busy -= 1  # one slot's answer was this error; the others' stay to be received
            raise
        self.busy -= len(results)
        return results

    def wake(self) -> None:
        """Let a `receive` that waits ask its `until` again. From any thread."""
        if self.wakes:
            self._envs.wake()

    def drain(self) -> None:
        while self.busy:
            with contextlib.suppress(Exception):
                self.receive(1)


class StepStage:
    """Slots of any Gymnasium vector env: `reset` with a mask, and `step` for all at once."""

    together = True

    def __init__(self, envs: VectorEnv[Any, Any, Any]) -> None:
        mode = envs.metadata.get("autoreset_mode")
        if mode is not AutoresetMode.DISABLED:
            raise UserError(
                f"episodes need a vector env with AutoresetMode.DISABLED, not {mode}: make it with "
                "gym.make_vec(..., vector_kwargs={'autoreset_mode': AutoresetMode.DISABLED})"
            )
        self._envs: Any = envs  # every one takes a list of seeds, though Gymnasium's base says int
        self.slots = envs.num_envs
        self.team = team_size(envs)
        self._starts: dict[int, tuple[int, Options]] = {}
        self._actions: dict[int, Any] = {}
        self._resting = set(range(self.slots))  # must be reset before the next step
        self._active: set[int] = set()

    def start(self, slot: int, seed: int, options: Options) -> None:
        self._starts[slot] = (seed, options)
        self._active.add(slot)

    def act(self, slot: int, text: str) -> None:
        self._actions[slot] = text

    def receive(self, at_least: int, timeout: float | None = None) -> list[SlotResult]:
        if self._starts:
            return self._reset()
        if self._actions:
            return self._step()
        return []

    def drain(self) -> None:
        self._starts.clear()
        self._actions.clear()
        self._resting |= self._active
        self._active.clear()

    def _reset(self) -> list[SlotResult]:
        """Reset the slots to start; those with equal options in one call."""
        results = []
        while self._starts:
            options = next(iter(self._starts.values()))[1]
            chosen = {s: seed for s, (seed, o) in self._starts.items() if o == options}
            for slot in chosen:
                del self._starts[slot]
            # Slots at rest come along: Gymnasium steps every slot, so none may have ended.
            idle = self._resting - self._active if not self._starts else set()
            mask = np.array([s in chosen or s in idle for s in range(self.slots)])
            seeds = [chosen.get(s, s if s in idle else None) for s in range(self.slots)]
            observations, infos = self._envs.reset(
                seed=seeds, options={**options, "reset_mask": mask}
            )
            self._resting -= set(np.flatnonzero(mask).tolist())
            results += [
                SlotResult(slot, row(observations, slot), 0.0, False, False,
                           slot_info(infos, slot), is_reset=True)
                for slot in sorted(chosen)
            ]  # fmt: skip
        return results

    def _step(self) -> list[SlotResult]:
        if self._resting:
            mask = np.array([slot in self._resting for slot in range(self.slots)])
            seeds = [slot if slot in self._resting else None for slot in range(self.slots)]
            self._envs.reset(seed=seeds, options={"reset_mask": mask})
            self._resting.clear()
        filler = self._envs.single_action_space
        acted = sorted(self._actions)
        actions = [self._actions.get(s, None) for s in range(self.slots)]
        actions = [filler.sample() if action is None else action for action in actions]
        self._actions.clear()
        observations, rewards, terminated, truncated, infos = self._envs.step(tuple(actions))
        ended = set(np.flatnonzero(np.asarray(terminated) | np.asarray(truncated)).tolist())
        self._resting |= ended
        self._active -= ended
        return [
            SlotResult(slot, row(observations, slot), float(rewards[slot]), bool(terminated[slot]),
                       bool(truncated[slot]), slot_info(infos, slot))
            for slot in acted
        ]  # fmt: skip


def row(batch: Mapping[str, Any], slot: int) -> dict[str, Any]:
    """One slot's observation out of a batch; arrays are copied, since envs may reuse theirs."""
    return {
        key: np.array(value[slot]) if isinstance(value, np.ndarray) else value[slot]
        for key, value in batch.items()
    }


def slot_info(infos: Mapping[str, Any], slot: int) -> dict[str, Any]:
    """One slot's info out of Gymnasium's vector form (arrays with ``_key`` masks)."""
    info = {}
    for key, value in infos.items():
        mask = infos.get(f"_{key}")
        if mask is None or not mask[slot]:
            continue
        if isinstance(value, Mapping):
            info[key] = slot_info(value, slot)
        else:
            item = value[slot]
            info[key] = item.item() if isinstance(item, np.generic) else item
    return info
