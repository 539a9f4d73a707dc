"""AndroidWorld's tasks as classes of ours, a class each, by AndroidWorld's names."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ui_gym.android.androidworld import controller, loading
from ui_gym.android.androidworld.apps import install
from ui_gym.android.androidworld.catalogue import ENTRIES, MODULE, WorldEntry
from ui_gym.android.androidworld.plans import PLANS, WorldGoal
from ui_gym.android.device import AndroidDevice
from ui_gym.contract.action import Action, Answer, Finish
from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.contract.task import Brief, Split, Task, Verdict
from ui_gym.errors import DeviceError, UserError

SUITE_SEED = 30
"""The seed of AndroidWorld's own suite, unless the argument `suite_seed` says another."""

HELDOUT_INSTANCES = 2**31
"""From this one on, instances belong to the held-out split."""

HARDWARE = "uigym"
"""What the built-in phone calls its hardware. It is ready at once, so nothing is waited for."""

log = logging.getLogger(__name__)

DOC = """{summary}

    ## Description
    The class ``{name}`` of AndroidWorld (Google Research, Apache-2.0), whose code, where it is
    installed, draws the params, prepares the phone and judges. Episode ``n`` of the training split
    is instance ``n`` of AndroidWorld's suite of the seed `suite_seed`.

    ## Rewards
    What AndroidWorld's judge says in the end, if the agent says that it is done: by ``finish``, or
    by ``answer`` where something is asked.

    ## Starting state
    The home screen, once AndroidWorld's ``initialize_task`` has run.
    """


@dataclass(frozen=True)
class WorldParams:
    """An instance of a task of AndroidWorld, and what an oracle takes it for."""

    instance: int
    """Which instance of the suite."""
    seed: int
    """The seed that AndroidWorld gives that instance."""
    believed: str = ""
    """The mistake under which the oracle plays, if any."""


class AndroidWorldTask(Task[WorldParams, AndroidDevice]):
    """A task of AndroidWorld. `entry` says which."""

    entry: ClassVar[WorldEntry]
    viewport = (540, 1200)
    judged = "end"

    def __init__(self, *, suite_seed: int = SUITE_SEED) -> None:
        if isinstance(suite_seed, bool) or not isinstance(suite_seed, int):
            raise UserError(f"suite_seed is a whole number, not {suite_seed!r}")
        self.suite_seed = suite_seed
        self.max_steps = self.entry.steps
        self._running: _WorldEpisode | None = None

    # -- the instance --

    def draw(self, seed: int, split: Split | None = None) -> WorldParams:
        """AndroidWorld's own instance of the seed, so that seeds mean the same here and there."""
        number = seed if split is None else seed % HELDOUT_INSTANCES
        if split == "heldout":
            number += HELDOUT_INSTANCES
        # How AndroidWorld's `create_suite` makes an instance's seed of the suite's.
        told = f"{self.suite_seed}_{self.entry.name}_{number}"
        digest = int(hashlib.sha256(told.encode()).hexdigest(), 16)
        return WorldParams(number, digest % (2**32 - 1))

    def split_of(self, params: WorldParams) -> Split:
        return "heldout" if params.instance >= HELDOUT_INSTANCES else "train"

    def sample(self, rng: np.random.Generator) -> WorldParams:
        return self.draw(int(rng.integers(HELDOUT_INSTANCES)), "train")

    def goal(self, params: WorldParams) -> str:
        """What AndroidWorld's agent is told."""
        with loading.drawing(params.seed):
            return str(self._instance(params).goal)

    def _instance(self, params: WorldParams) -> Any:
        """AndroidWorld's object, made as its suite makes it. Within `loading.drawing`."""
        cls = loading.task_classes()[self.entry.name]
        cls.set_device_time(None)
        drawn = cls.generate_random_params()
        drawn["seed"] = params.seed
        return cls(drawn)

    # -- the episode --

    def setup(self, device: AndroidDevice, params: WorldParams) -> None:
        loading.task_classes()  # says what is missing before the device is touched
        if self._running is not None and self._running.device is device:
            self._running.end()
        device.renew()
        with loading.drawing(params.seed):
            self._running = _WorldEpisode(device, self._instance(params))
            install(device, self._running.evaluation.app_names, self.spec.id)
            self._running.begin()

    def brief(self, device: AndroidDevice, params: WorldParams) -> Brief:
        evaluation = self._episode(device).evaluation
        plain = json.loads(json.dumps(evaluation.params, default=_plain))
        return Brief(str(evaluation.goal), {"params": plain})

    def judge(
        self, device: AndroidDevice, params: WorldParams, history: Sequence[Action]
    ) -> Verdict:
        episode = self._episode(device)
        last = history[-1] if history else None
        if not isinstance(last, Answer | Finish):
            return Verdict(0.0, notes="the agent did not say that it is done")
        verdict = episode.judge(last.text if isinstance(last, Answer) else "")
        episode.end()
        return verdict

    def _episode(self, device: AndroidDevice) -> _WorldEpisode:
        assert self._running is not None, "setup comes first"
        return self._running

    @classmethod
    def pool(cls, options: DeviceOptions) -> DevicePool:
        from ui_gym.android.pool import android_pool

        return android_pool(options)


class _WorldEpisode:
    """AndroidWorld's object at work on a device."""

    def __init__(self, device: AndroidDevice, evaluation: Any) -> None:
        self.device, self.evaluation = device, evaluation
        self.env = controller.environment(device)
        self._waits = device.shell("getprop ro.hardware").text.strip() != HARDWARE
        self._begun = False

    def begin(self) -> None:
        """Prepare the phone."""
        with loading.waiting(self._waits):
            self._begun = True
            try:
                self.evaluation.initialize_task(self.env)
            except Exception as error:
                if _is_devices(error):
                    raise DeviceError(f"{self.evaluation.name}: {error}") from error
                raise
            if self.evaluation.start_on_home_screen:
                self.device.shell("input keyevent KEYCODE_HOME")

    def judge(self, answer: str) -> Verdict:
        """What AndroidWorld says of it, where the agent's answer is `answer`."""
        self.env.interaction_cache = answer
        try:
            with loading.waiting(self._waits):
                score = float(self.evaluation.is_successful(self.env))
        except DeviceError:
            raise
        except Exception as error:  # as AndroidWorld's own runner counts it: no success
            told = f"{type(error).__name__}: {error}"
            return Verdict(0.0, notes=f"AndroidWorld's judge could not tell: {told}"[:300])
        return Verdict(min(1.0, max(0.0, score)), notes=f"AndroidWorld's judge says {score:g}")

    def end(self) -> None:
        """Tidy the phone up as AndroidWorld does. May be repeated."""
        if not self._begun:
            return
        self._begun = False
        try:
            with loading.waiting(self._waits):
                self.evaluation.tear_down(self.env)
        except DeviceError:
            raise
        except Exception:  # such as that an agent deleted what was to be tidied up
            log.warning("%s: tear_down did not succeed", self.evaluation.name, exc_info=True)


def _is_devices(error: Exception) -> bool:
    """Whether an exception of AndroidWorld's says that the phone did not do something."""
    return type(error).__name__ == "AdbControllerError"


def _plain(value: Any) -> Any:
    """A param of AndroidWorld as JSON has it."""
    return vars(value) if dataclasses.is_dataclass(value) else str(value)


class _Solved(AndroidWorldTask):
    """A task that has an oracle."""

    mistakes = ("near",)

    def oracle(self, device: AndroidDevice, params: WorldParams) -> Iterator[Action]:
        evaluation = self._episode(device).evaluation
        plan = PLANS[self.entry.name]
        believed = dict(evaluation.params)
        if params.believed:
            believed = plan.near(believed)
        yield from plan.play(device, WorldGoal(evaluation, believed))

    def misread(self, params: WorldParams, mistake: str, rng: np.random.Generator) -> WorldParams:
        """``near``: a near miss, of the params in `playbook`."""
        return WorldParams(params.instance, params.seed, mistake)


def _make(entry: WorldEntry) -> type[AndroidWorldTask]:
    doc = DOC.format(summary=entry.spec.summary, name=entry.name)
    body: Mapping[str, Any] = {
        "__doc__": doc, "__module__": MODULE, "entry": entry, "spec": entry.spec,
    }  # fmt: skip
    base = _Solved if entry.name in PLANS else AndroidWorldTask
    return type(entry.name, (base,), dict(body))


globals().update({entry.name: _make(entry) for entry in ENTRIES.values()})
