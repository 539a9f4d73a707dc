"""UIEnv: one task on one device, as a Gymnasium env."""

from __future__ import annotations

import copy
import dataclasses
import functools
import time
import weakref
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ClosedEnvironmentError, ResetNeeded

from ui_gym.contract.action import Action
from ui_gym.contract.arguments import (
    OBSERVATIONS,
    RESET_OPTIONS,
    REWARDS,
    ResetOptions,
    check_viewport,
    choose,
    make_task,
)
from ui_gym.contract.device import Device, DeviceOptions, DevicePool, Frame, Image
from ui_gym.contract.task import SPLITS, GroundTruth, Split, Task, Verdict
from ui_gym.dialects import get_dialect
from ui_gym.errors import ActionError, DeviceError, UserError
from ui_gym.playing import acting
from ui_gym.playing.acting import Observation
from ui_gym.playing.judging import EpisodeJudge
from ui_gym.playing.loan import Loan
from ui_gym.playing.oracle import OracleStepper, task_errors
from ui_gym.playing.spaces import ActionText, observation_space

__all__ = ["RESET_PAUSES", "Observation", "Seconds", "UIEnv"]

RESET_PAUSES = (0.1, 0.5)
"""Seconds to wait before the second and the third try of a reset whose device failed."""


class Seconds(float):
    """A measured duration: a float, except that any two of them are equal.

    How long a step took is no part of what happened, so the infos of a deterministic env compare
    equal (which Gymnasium's `check_env` demands).
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seconds) or float.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(Seconds)


class UIEnv(gymnasium.Env[Observation, str]):
    """A user-interface task.

    ## Description
    The agent reads a goal, looks at a screenshot and writes actions, until the task is judged done,
    the agent says so, or `max_steps` is reached.

    ## Action Space
    `ActionText`: one to sixteen actions as text, in the words of the env's dialect, such as
    ``click(10, 20); type("Ann")``. A wrong text never raises and never touches the device: the
    observation's `feedback` says what was wrong, and `info["action_error"]` is ``parse``, ``name``,
    ``argument`` or ``runtime``.

    ## Observation Space
    | key          | space                      | meaning                                       |
    |--------------|----------------------------|-----------------------------------------------|
    | `goal`       | FreeText                   | the sentence that says what to do             |
    | `screenshot` | Box(0, 255, (H, W, 3), u8) | the screen, RGB; absent with ``"elements"``   |
    | `elements`   | FreeText                   | only with ``"elements"`` or ``"both"``        |
    | `feedback`   | FreeText                   | what was wrong with the last action, or empty |

    ## Rewards
    With ``reward="success"`` the score (0 to 1) at the end of the episode and 0 before; with
    ``reward="progress"`` what the score gained in this step. The score is 0 while something is
    changed that was not to be; `info["details"]["harm"]` names it.

    ## Starting State
    Drawn from the seed, within the split ``"train"`` or ``"heldout"`` (disjoint) if one is given.

    ## Episode End
    Termination: the judge says that it is done, or the agent answers or finishes. Truncation: after
    `max_steps` steps, or when the device fails (`info["failure"]` says how; the reward is 0).

    ## Arguments
    | argument      | default        | meaning                                                    |
    |---------------|----------------|------------------------------------------------------------|
    | `device`      | `"auto"`       | the suite's device, with an address after a colon          |
    | `dialect`     | `"canonical"`  | how actions are written                                    |
    | `observation` | `"screenshot"` | or `"elements"`, `"both"`                                  |
    | `reward`      | `"success"`    | or `"progress"`                                            |
    | `split`       | `"train"`      | or `"heldout"`, or None for both                           |
    | `viewport`    | the task's     | (width, height) of the screen, pixels                      |
    | `max_steps`   | the task's     | steps until truncation                                     |
    | `timeout`     | 20.0           | seconds that a single wait on the device may take          |
    | `pool`        | a new one      | where devices come from; a given pool is not closed        |

    Further arguments are the task's own. `reset` takes the options

    | option         | meaning                                                        |
    |----------------|----------------------------------------------------------------|
    | `task`         | which task of a suite is played                                |
    | `split`        | instead of the env's                                           |
    | `oracle`       | True, or the rates of its mistakes: every info of this episode |
    |                | tells what an oracle would do now                              |
    | `ground_truth` | True: the info of this reset tells the episode's `GroundTruth` |

    ## Infos
    `task`, `seed`, `split`, `step`, `max_steps`; `score`, `success`, `notes` (for people) and
    `details` (for programs) of the judge, with a list `details["harm"]` if there was any;
    `action_error` and `failure`, None if there was none;
    `time_action` (of a reset: the setup), `time_capture`, `time_decode`, `time_judge` in seconds;
    `screenshot_encoded` and `screenshot_format`, the picture as the device sent it, or None.

    Of a reset for which devices had to be replaced: `faults`, what was wrong with each of them.

    Only for those who ask: `ground_truth`, a `GroundTruth`, in the info of a reset alone; `oracle`,
    with the `action_text` that the oracle would write now and its `caption` of the picture.
    """

    metadata = {
        "render_modes": ["rgb_array", "human"],
        "render_fps": 4,
        "reset_options": RESET_OPTIONS,
    }

    copies_pictures = True
    """Whether observations are free to be written to. Without copies they hold the env's own
    picture, which nobody can write to, since it may be handed out once more."""

    def __init__(
        self,
        task: str | Task[Any, Any],
        *,
        device: str = "auto",
        dialect: str = "canonical",
        observation: str = "screenshot",
        reward: str = "success",
        split: Split | None = "train",
        viewport: tuple[int, int] | None = None,
        max_steps: int | None = None,
        render_mode: str | None = None,
        timeout: float = 20.0,
        pool: DevicePool | None = None,
        **task_arguments: Any,
    ) -> None:
        own = {
            "device": device, "dialect": dialect, "observation": observation, "reward": reward,
            "split": split, "viewport": viewport, "max_steps": max_steps,
            "render_mode": render_mode, "timeout": timeout, "pool": pool,
        }  # fmt: skip
        self._arguments = {"task": task, **own, **task_arguments}
        self.task = make_task(task, task_arguments, list(own))
        if viewport is not None:
            self.task.viewport = check_viewport(viewport)
        self._playing = self.task
        self.size = self.task.viewport
        self.dialect = get_dialect(dialect)
        self.observation_mode = choose(observation, OBSERVATIONS, "observation")
        self.reward_mode = choose(reward, REWARDS, "reward")
        self.split: Split | None = choose(split, (*SPLITS, None), "split")
        self._max_steps = max_steps
        self.max_steps = self.task.max_steps if max_steps is None else max_steps
        if not isinstance(self.max_steps, int) or self.max_steps < 1:
            raise UserError(f"max_steps is a whole number from 1 on, not {max_steps!r}")
        if not timeout > 0:
            raise UserError(f"timeout is a number of seconds above 0, not {timeout!r}")
        self.render_mode = choose(
            render_mode, (*self.metadata["render_modes"], None), "render_mode"
        )

        self.action_space = ActionText(dialect, self.size)
        self.observation_space = observation_space(
            self.size, screenshot=observation != "elements", elements=observation != "screenshot"
        )
        self._device_options = DeviceOptions(
            device, self.size, timeout, headless=render_mode != "human",
            elements=observation != "screenshot",
        )  # fmt: skip
        self._hold(Loan(self._new_pool(), owns_pool=True) if pool is None else Loan(pool))
        self._spec: EnvSpec | None = None
        self._closed = False
        self._frame: Frame | None = None
        self._oracle: OracleStepper | None = None
        self._needs_reset = True

    # -- Gymnasium --

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start the episode of `seed`; without a seed, of one drawn from `np_random`.

        Raises:
            UserError: an unknown option, or a value that it cannot have.
            TaskError: the task's `sample`, `goal`, `setup` or `oracle` is broken.
            DeviceError: the device failed three times in a row, or lacks what it needs.
        """
        self._check_open()
        drawn = self.draw_seed(seed)
        asked = ResetOptions.read(options, self.task, self.split)
        self._needs_reset = True
        self._seed = drawn
        self._playing = self.task.choose(self._seed, asked.task)
        if self._max_steps is None:
            self.max_steps = self._playing.max_steps
        with task_errors(self._playing, "sample"):
            self._params = self._playing.draw(self._seed, asked.split)
            self._drawn_split = self._playing.split_of(self._params)
        self._step = 0
        self._history: list[Action] = []
        self._verdict = Verdict(0.0)
        self._times = dict.fromkeys(("action", "capture", "decode", "judge"), 0.0)
        faults = self._loan.heal(
            lambda device: self._setup(device, asked), RESET_PAUSES, self._playing.spec.id
        )
        self._needs_reset = False
        info = self._info()
        if faults:
            info["faults"] = faults
        if asked.ground_truth:
            info["ground_truth"] = self._ground_truth()
        return self._observe(), info

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Do what `action` says, in the env's dialect.

        Raises:
            ResetNeeded: the episode is over, or none was started.
            TaskError: the task's `judge` or `oracle` is broken.
        """
        self._check_open()
        if self._needs_reset:
            raise ResetNeeded("the episode is over (or none was begun): call reset() before step()")
        self._needs_reset = True  # should anything raise
        self._step += 1
        self._times = dict.fromkeys(self._times, 0.0)
        before = self._verdict.score
        try:
            error, ended = self._perform(action)
            if self._playing.judged == "steps" or ended or self._step >= self.max_steps:
                self._judge()
            terminated = ended or self._verdict.done
            truncated = not terminated and self._step >= self.max_steps
            if self._oracle is not None and error is None and not (terminated or truncated):
                self._oracle.advance()
        except DeviceError as failure:
            self._loan.drop(healthy=False)
            self._verdict = Verdict(0.0)
            return self._observe(), 0.0, False, True, self._info(failure=f"device: {failure}")
        self._needs_reset = terminated or truncated
        score = self._verdict.score
        reward = score - before if self.reward_mode == "progress" else score * self._needs_reset
        observation = self._observe(str(error) if error else "")
        return observation, reward, terminated, truncated, self._info(error=error)

    def render(self) -> Image | None:
        """The last screenshot, shape (H, W, 3), uint8, RGB; None unless in ``rgb_array`` mode."""
        if self.render_mode != "rgb_array":
            return None
        if self._frame is None:
            raise ResetNeeded("there is nothing to render yet: call reset() before render()")
        return self._frame.image.copy()

    def close(self) -> None:
        """Give the device back, and close the pool if it is this env's own. May be repeated."""
        if self._closed:
            return
        self._closed = True
        self._finalizer()

    # -- for those who look after envs --

    @property
    def spec(self) -> EnvSpec | None:
        """Gymnasium's spec of an env that `gym.make` made, with this env's `max_steps`.

        The registered spec has no `max_episode_steps`: `gym.make` would add a `TimeLimit`, which
        knows neither the argument `max_steps` nor that a suite's tasks have limits of their own.
        """
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = copy.copy(spec)
        if self._spec is not None:
            self._spec.max_episode_steps = self.max_steps

    @property
    def device(self) -> Device:
        """The device that is played on. `DeviceLost` before the first reset and after a fault."""
        return self._loan.device

    def abandon(self) -> None:
        """Take the device away, from any thread: a call in progress fails, as do all later ones."""
        self._loan.abandon()

    def clone(self) -> UIEnv:
        """An env with the same arguments on the same pool, which the clone does not close.

        The clone has no device yet, and its `np_random` goes on where this env's stands.
        """
        clone: UIEnv = object.__new__(type(self))
        vars(clone).update(vars(self))
        clone.task = copy.copy(self.task)
        clone._playing = clone.task
        clone._hold(Loan(self._loan.pool))
        clone._needs_reset = True
        clone._np_random = copy.deepcopy(self._np_random)
        return clone

    def draw_seed(self, seed: int | None) -> int:
        """The seed of an episode that begins now: the one that is given, which `np_random` starts
        from as well, or else one drawn from it."""
        super().reset(seed=seed)
        return int(self.np_random.integers(2**31)) if seed is None else int(seed)

    def disown_pool(self) -> DevicePool | None:
        """Leave the closing of the pool to the caller. None if it was not this env's own."""
        pool = self._loan.pool if self._loan.owns_pool else None
        self._loan.owns_pool = False
        return pool

    def __reduce__(self) -> tuple[Any, ...]:
        """An env that was not reset yet is made anew where it is unpickled.

        Raises:
            TypeError: it cannot be.
        """
        if self._loan.used or self._closed:
            raise TypeError(
                "an env that was reset or closed cannot be pickled, since its device belongs to "
                "this process: pickle it before its first reset, or a function that makes it"
            )
        if self._arguments["pool"] is not None:
            raise TypeError(
                "an env on a given pool cannot be pickled, since the pool belongs to this process: "
                "make it without pool="
            )
        names = ("action_space", "observation_space", "_np_random", "_np_random_seed", "_spec")
        state = {name: vars(self)[name] for name in names if name in vars(self)}
        return functools.partial(type(self), **self._arguments), (), state

    # -- the episode --

    def _new_pool(self) -> DevicePool:
        return self.task.pool(self._device_options)

    def _hold(self, loan: Loan) -> None:
        """Play on the device of this loan, which ends with the env, closed or not."""
        self._loan = loan
        self._finalizer = weakref.finalize(self, loan.close)

    def _setup(self, device: Device, asked: ResetOptions) -> None:
        started = time.perf_counter()
        with task_errors(self._playing, "setup"):
            self._playing.setup(device, self._params)
        with task_errors(self._playing, "goal"):
            self._brief = self._playing.brief(device, self._params)
        self._episode_judge = EpisodeJudge(self._playing, device, self._params)
        self._times["action"] = time.perf_counter() - started
        self._capture(device)
        if self.reward_mode == "progress" and self._playing.judged == "steps":
            self._judge()  # gains are counted from where the task begins
        self._oracle = None
        if asked.rates is not None:
            known = {k: v for k, v in asked.rates.items() if k in self._playing.mistakes}
            with task_errors(self._playing, "misread"):
                believed = self._playing.misunderstand(self._params, known, self._seed)
            self._oracle = OracleStepper(self._playing, device, believed, self.dialect)

    def _perform(self, text: str) -> tuple[ActionError | None, bool]:
        """Do the actions of `text`: what was wrong with it, and whether it ends the episode."""
        assert self._frame is not None
        started = time.perf_counter()
        device = self._loan.device
        seen = acting.seen_so_far(self._frame, self._history, self.observation_mode)
        outcome = acting.act(device, text, self.dialect, self.size, seen, self._history)
        self._times["action"] = time.perf_counter() - started
        if outcome.touched:
            self._capture(device)
        return outcome.error, outcome.ended

    def _judge(self) -> None:
        started = time.perf_counter()
        self._verdict = self._episode_judge.verdict(self._loan.device, self._history)
        self._times["judge"] = time.perf_counter() - started

    def _capture(self, device: Device) -> None:
        self._frame = acting.take_picture(device, self.size, self.observation_mode)
        self._times["capture"] = self._frame.time_capture
        self._times["decode"] = self._frame.time_decode

    # -- what comes out --

    def _observe(self, feedback: str = "") -> Observation:
        assert self._frame is not None
        return acting.observed(
            self._frame, self._brief.goal, feedback, self.observation_mode,
            copies=self.copies_pictures,
        )  # fmt: skip

    def _info(
        self, *, error: ActionError | None = None, failure: str | None = None
    ) -> dict[str, Any]:
        """What is known beyond the observation. Times are in seconds, of the last step alone."""
        assert self._frame is not None
        info = {
            "task": self._playing.spec.id,
            "seed": self._seed,
            "split": self._drawn_split,
            "step": self._step,
            "max_steps": self.max_steps,
            "action_error": error.kind if error else None,
            "success": self._verdict.success,
            "score": float(self._verdict.score),
            "failure": failure,
            "notes": self._verdict.notes,
            "details": dict(self._verdict.details),
            **{f"time_{phase}": Seconds(seconds) for phase, seconds in self._times.items()},
            "screenshot_encoded": self._frame.encoded,
            "screenshot_format": self._frame.format,
        }
        if self._oracle is not None:
            demo = self._oracle.demo
            info["oracle"] = {"action_text": self._oracle.action_text, "caption": demo.caption}
        return info

    def _ground_truth(self) -> GroundTruth:
        params = self._params
        plain = dataclasses.asdict if dataclasses.is_dataclass(params) else copy.deepcopy
        with task_errors(self._playing, "blind_rate"):
            blind_rate = self._playing.blind_rate(params)
        return GroundTruth(plain(params), blind_rate, copy.deepcopy(dict(self._brief.hidden)))

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedEnvironmentError("this env is closed; make a new one")
        if self._loan.forked and self._loan.owns_pool and not self._loan.used:
            self._hold(Loan(self._new_pool(), owns_pool=True))  # made before a fork, used after it
        self._loan.check_process()
