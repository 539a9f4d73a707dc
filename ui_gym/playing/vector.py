"""UIVectorEnv: N slots of one task as a Gymnasium vector env, and free slots for collectors."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.spaces import Space
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array
from numpy.typing import NDArray

from ui_gym.contract.arguments import RESET_OPTIONS, choose
from ui_gym.contract.device import Image
from ui_gym.contract.task import Task
from ui_gym.errors import UserError
from ui_gym.playing.env import Observation, Seconds, UIEnv
from ui_gym.playing.fleet import CLOSE_SECONDS, Fleet, SlotState
from ui_gym.playing.slot import Reset, SlotResult, Step
from ui_gym.playing.workers import order_crew

__all__ = ["SlotResult", "UIVectorEnv"]

Batch = dict[str, Any]
"""Observations of all slots: texts as tuples of str, `screenshot` of shape (N, H, W, 3)."""

Array = NDArray[Any]

PLAYING = ("reset", "step", "close")
"""Methods of a slot's env that only the vector env itself may call."""


class PlainInfos(VectorEnv[Batch, Sequence[str], Array]):
    """A vector env whose infos hold durations as plain floats."""

    def _add_info(
        self, vector_infos: dict[str, Any], env_info: dict[str, Any], env_num: int
    ) -> dict[str, Any]:
        plain = {k: float(v) if isinstance(v, Seconds) else v for k, v in env_info.items()}
        return super()._add_info(vector_infos, plain, env_num)


class UIVectorEnv(PlainInfos):
    """N copies of a task that share one pool of devices, each slot played on its own.

    Arguments beyond those of `__init__` are those of `UIEnv`, the task's own among them.

    It can be used in two ways:

    - `reset` and `step`, as any Gymnasium vector env, in the three autoreset modes. In the mode
      ``DISABLED``, ``reset(seed=[...], options={"reset_mask": mask})`` restarts the slots of the
      mask alone. All other options may be lists with one value a slot.
    - `send`, `send_reset` and `recv`: no slot waits for the slowest. Nothing is reset by itself.

    A device that fails ends its slot's episode (truncated, `failure` in the info). A device that
    gives no answer within `step_timeout` seconds ends it as well, and is closed and replaced. The
    slot heals at its next reset, and the other slots do not notice.
    """

    def __init__(
        self,
        num_envs: int,
        task: str | Task[Any, Any],
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        step_timeout: float = 60.0,
        workers: str = "threads",
        **arguments: Any,
    ) -> None:
        """Make the slots; devices are started when they are first reset.

        Args:
            num_envs: How many slots.
            task: An id, a name or a `Task`.
            autoreset_mode: As Gymnasium's own vector envs have it, ``NextStep`` by default.
            step_timeout: Seconds within which a slot must answer.
            workers: What plays the slots: ``"threads"`` of this process, which is enough until
                Python itself is what keeps the cores busy; ``"processes:N"``, worker processes
                that the slots are spread over; ``"ws://HOST:PORT"`` (several with commas), servers
                on other machines; ``"ray"``, Ray actors (docs/scale.md).
            arguments: As for `UIEnv`. The slots share `pool`, which is made here if none is given.

        Raises:
            UserError: an argument that is unknown or cannot be.
        """
        if not isinstance(num_envs, int) or num_envs < 1:
            raise UserError(f"num_envs is a whole number from 1 on, not {num_envs!r}")
        if not step_timeout > 0:
            raise UserError(f"step_timeout is a number of seconds above 0, not {step_timeout!r}")
        modes = {mode.value: mode for mode in AutoresetMode}
        name = getattr(autoreset_mode, "value", autoreset_mode)
        self.autoreset_mode = modes[choose(name, list(modes), "autoreset_mode")]

        self._arguments = {
            "num_envs": num_envs, "task": task, "autoreset_mode": self.autoreset_mode,
            "step_timeout": step_timeout, "workers": workers, **arguments,
        }  # fmt: skip
        first, crew = order_crew(workers, num_envs, task, arguments)
        self.num_envs = num_envs
        self.render_mode = first.render_mode
        self.metadata = {**UIEnv.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_action_space = first.action_space
        self.single_observation_space = first.observation_space
        self._fleet = Fleet(crew, num_envs, step_timeout, first)
        # It also closes when this object is forgotten, and at exit: it holds no reference back.
        self._finalizer = weakref.finalize(self, self._fleet.close)

    # The bounds of all slots' pictures take four times what the pictures take: who sends and
    # receives needs none.
    @functools.cached_property
    def observation_space(self) -> Space[Any]:  # type: ignore[override]
        return batch_space(self.single_observation_space, self.num_envs)

    @functools.cached_property
    def action_space(self) -> Space[Any]:  # type: ignore[override]
        return batch_space(self.single_action_space, self.num_envs)

    # -- all slots at once, as Gymnasium has it --

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Batch, dict[str, Any]]:
        """Begin new episodes, in all slots or in those of ``options["reset_mask"]``.

        Args:
            seed: One a slot, or an int for the first slot, the others counting up from it.
            options: `reset_mask` (bool, shape (N,)), and those of `UIEnv.reset`, each of which may
                be a list with one value a slot.

        Raises:
            DeviceError: a slot's device could not be healed in several tries.
            TaskError, UserError: as `UIEnv.reset`.
        """
        self._check_quiet("reset")
        seeds = self._seeds(seed)
        mask, each = self._options(options)
        slots = np.flatnonzero(mask).tolist()
        for slot in slots:
            self._fleet.send(slot, Reset(seeds[slot], each[slot]))
        infos: dict[str, Any] = {}
        for result in self._gather(len(slots)):
            infos = self._add_info(infos, result.info, result.slot)
        return self._batch(), infos

    def step(self, actions: Sequence[str]) -> tuple[Batch, Array, Array, Array, dict[str, Any]]:
        """Do one action in every slot. Rewards are float64, the ends bool, all of shape (N,).

        Raises:
            ResetNeeded: a slot's episode is over, and the autoreset mode does not see to it.
            TaskError: as `UIEnv.step`.
        """
        self._check_quiet("step")
        texts = self._texts(actions, self.num_envs)
        fresh = [self._autoresets(slot) for slot in range(self.num_envs)]
        self._check_begun([slot for slot in range(self.num_envs) if not fresh[slot]])
        for slot, text in enumerate(texts):
            if fresh[slot]:
                self._fleet.send(slot, Reset())
            else:
                self._fleet.send(slot, Step(text))
        results = self._gather(self.num_envs)
        infos: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            infos = self._reset_ended(results)
        for result in results:
            if not (result.ended and self.autoreset_mode == AutoresetMode.SAME_STEP):
                infos = self._add_info(infos, result.info, result.slot)
        return (
            self._batch(),
            np.array([result.reward for result in results], np.float64),
            np.array([result.terminated for result in results], np.bool_),
            np.array([result.truncated for result in results], np.bool_),
            infos,
        )

    def render(self) -> tuple[Image | None, ...]:  # type: ignore[override]
        """The last screenshot of every slot, in ``rgb_array`` mode."""
        return tuple(slot.runner.render() for slot in self._fleet.slots)

    def close_extras(self, timeout: float = CLOSE_SECONDS) -> None:
        """Close all devices and end all threads, in `timeout` seconds at most."""
        self._fleet.close(timeout)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """What a method of each slot's env returns, or the value of an attribute.

        Raises:
            ValueError: a method that plays, which goes by the vector env's own.
            UserError: what comes of it cannot leave the process that the slot lives in.
        """
        self._check_quiet("call")
        if name in PLAYING:
            raise ValueError(
                f"call({name!r}) would go past the vector env: use its own {name}(), or send() "
                "and send_reset() for single slots"
            )
        return tuple(slot.runner.call(name, args, kwargs) for slot in self._fleet.slots)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """The value of an attribute of each slot's env."""
        return self.call(name)

    def set_attr(self, name: str, values: list[Any] | tuple[Any, ...] | Any) -> None:
        """Set an attribute of each slot's env: to one value, or to a list with one value a slot."""
        self._check_quiet("set_attr")
        each = values if isinstance(values, list | tuple) else [values] * self.num_envs
        if len(each) != self.num_envs:
            raise ValueError(
                f"set_attr takes one value, or a list of {self.num_envs}, one a slot; "
                f"{len(each)} were given"
            )
        for slot, value in zip(self._fleet.slots, each, strict=True):
            slot.runner.set(name, value)

    # -- slots that do not wait for each other --

    def send(self, actions: Sequence[str], slots: Sequence[int]) -> None:
        """Begin a step in each of `slots`; `recv` brings what comes of it."""
        slots = self._slots(slots)
        texts = self._texts(actions, len(slots))
        self._check_begun(slots)
        for slot, text in zip(slots, texts, strict=True):
            self._fleet.send(slot, Step(text))

    def send_reset(
        self,
        slots: Sequence[int],
        seeds: Sequence[int | None],
        options: Sequence[dict[str, Any] | None] | None = None,
    ) -> None:
        """Begin a new episode in each of `slots`; `recv` brings its first observation."""
        slots = self._slots(slots)
        each = [None] * len(slots) if options is None else list(options)
        if not len(slots) == len(seeds) == len(each):
            raise ValueError(
                f"send_reset takes one seed and one options dict for each slot, but got "
                f"{len(slots)} slots, {len(seeds)} seeds and {len(each)} options"
            )
        for slot, seed, asked in zip(slots, seeds, each, strict=True):
            self._fleet.send(slot, Reset(None if seed is None else int(seed), asked))

    def recv(
        self,
        at_least: int = 1,
        timeout: float | None = None,
        until: Callable[[], bool] | None = None,
    ) -> list[SlotResult]:
        """Results of slots that were sent something, in the order in which they came.

        Args:
            at_least: How many to wait for; what else has come by then is returned as well.
            timeout: Seconds after which to return with fewer results; the others come later.
            until: Once this holds, return with what is there. It is asked before each wait, and
                again after each `wake`.

        Raises:
            RuntimeError: fewer than `at_least` slots were sent something.
            DeviceError, TaskError, UserError: of one slot; the results of the others are kept.
        """
        self._check_open()
        pending = self._fleet.pending_count
        if not 1 <= at_least <= pending:
            raise RuntimeError(
                f"recv(at_least={at_least}) while {pending} slots have an answer to come: "
                "send() or send_reset() before recv()"
            )
        return self._fleet.recv(at_least, timeout, until)

    @property
    def slot_states(self) -> list[SlotState]:
        """What each slot does. From any thread; it costs those that play nothing."""
        return [slot.state for slot in self._fleet.slots]

    def wake(self) -> None:
        """Let a `recv` that waits ask its `until` again. From any thread; else it does nothing."""
        self._fleet.wake()

    def __reduce__(self) -> tuple[Any, ...]:
        """A vector env that was not used yet is made anew where it is unpickled.

        Raises:
            TypeError: it cannot be.
        """
        if self._fleet.used or self.closed:
            raise TypeError(
                "a vector env that was reset or closed cannot be pickled, since its devices belong "
                "to this process: pickle it before its first reset, or a function that makes it"
            )
        if self._arguments.get("pool") is not None:
            raise TypeError(
                "a vector env on a given pool cannot be pickled, since the pool belongs to this "
                "process: make it without pool="
            )
        names = ("action_space", "single_action_space", "spec")
        state = {name: vars(self)[name] for name in names if name in vars(self)}
        return functools.partial(type(self), **self._arguments), (), state

    # -- inside --

    def _gather(self, count: int) -> list[SlotResult]:
        """All `count` answers, by slot. An error is raised when the other answers are there."""
        try:
            results = self._fleet.recv(count, None)
        except Exception:
            self._fleet.drain()
            raise
        return sorted(results, key=lambda result: result.slot)

    def _reset_ended(self, results: Sequence[SlotResult]) -> dict[str, Any]:
        """Begin new episodes where episodes ended; infos with the last observation and info."""
        infos: dict[str, Any] = {}
        ended = {result.slot: result for result in results if result.ended}
        for slot in ended:
            self._fleet.send(slot, Reset())
        for begun in self._gather(len(ended)) if ended else ():
            last = ended[begun.slot]
            final = {"final_obs": last.observation, "final_info": last.info}
            infos = self._add_info(infos, final, begun.slot)
            infos = self._add_info(infos, begun.info, begun.slot)
        return infos

    def _batch(self) -> Batch:
        """The last observation of every slot, in fresh arrays; blank where there was none yet."""
        space = self.single_observation_space
        out = create_empty_array(space, self.num_envs, np.empty)
        items = [self._last_observation(slot) for slot in range(self.num_envs)]
        return concatenate(space, items, out)  # type: ignore[arg-type, return-value]

    def _last_observation(self, slot: int) -> Observation:
        last = self._fleet.slots[slot].last
        if last is not None:
            return last.observation
        blank = create_empty_array(self.single_observation_space, 1, np.zeros)
        return {key: value[0] for key, value in blank.items()}  # type: ignore[union-attr]

    def _autoresets(self, slot: int) -> bool:
        """Whether this step begins a new episode in `slot`."""
        known = self._fleet.slots[slot]
        ended = known.needs_reset and known.last is not None and known.last.ended
        return ended and self.autoreset_mode == AutoresetMode.NEXT_STEP

    # -- checks: each error states the rule --

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("this vector env is closed; make a new one")
        if self._fleet.forked:
            raise UserError(
                "this vector env belongs to the process that this one was forked from, whose "
                "threads and devices it plays with: make a vector env here, after the fork"
            )

    def _check_quiet(self, method: str) -> None:
        self._check_open()
        if self._fleet.pending:
            raise RuntimeError(
                f"{method}() while slots {self._fleet.pending} have answers to come (of send(), "
                f"or of a step that was interrupted): recv() them before {method}()"
            )

    def _check_begun(self, slots: Sequence[int]) -> None:
        over = [slot for slot in slots if self._fleet.slots[slot].needs_reset]
        if over:
            raise ResetNeeded(
                f"the episodes of slots {over} are over (or none was begun): reset them first"
            )

    def _slots(self, slots: Sequence[int]) -> list[int]:
        self._check_open()
        indices = [int(slot) for slot in slots]
        wrong = [slot for slot in indices if not 0 <= slot < self.num_envs]
        if wrong or len(set(indices)) != len(indices):
            raise ValueError(
                f"slots are different numbers from 0 to {self.num_envs - 1}, not {indices}"
            )
        busy = [slot for slot in indices if self._fleet.is_pending(slot)]
        if busy:
            raise RuntimeError(
                f"slots {busy} have answers to come: a slot takes one call at a time, so recv() "
                "its answer first"
            )
        return indices

    def _texts(self, actions: Sequence[str], count: int) -> list[str]:
        texts = [actions] if isinstance(actions, str) else list(actions)
        if isinstance(actions, str) or len(texts) != count:
            raise ValueError(f"one action for each of {count} slots is needed, not {actions!r}")
        return texts

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            return [int(seed) + slot for slot in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(
                f"seed is an int or a list of {self.num_envs}, one a slot; {len(seed)} were given"
            )
        return [None if one is None else int(one) for one in seed]

    def _options(self, options: Mapping[str, Any] | None) -> tuple[Array, list[dict[str, Any]]]:
        """The reset mask, and the options of each slot."""
        given = dict(options or {})
        mask = given.pop("reset_mask", np.ones(self.num_envs, np.bool_))
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"options['reset_mask'] is a numpy array of bool, not {mask!r}")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(
                f"options['reset_mask'] has shape ({self.num_envs},) and at least one True; "
                f"{mask} has not"
            )
        for key, value in given.items():
            choose(key, (*RESET_OPTIONS, "reset_mask"), "reset option")
            if isinstance(value, list | tuple) and len(value) != self.num_envs:
                raise UserError(
                    f"options[{key!r}] is one value, or a list of {self.num_envs}, one a slot; "
                    f"{len(value)} were given"
                )
        each = [
            {k: v[slot] if isinstance(v, list | tuple) else v for k, v in given.items()}
            for slot in range(self.num_envs)
        ]
        return mask, each
