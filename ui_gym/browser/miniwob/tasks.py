"""MiniWoBTask, and a class for each task of MiniWoB++, by MiniWoB's own names."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, ClassVar, Literal

import numpy as np

from ui_gym.browser.chromium.capture import LARGE
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.miniwob.catalogue import ENTRIES, MODULE, Entry, need_html_folder
from ui_gym.browser.miniwob.oracles import ORACLES
from ui_gym.browser.site import Site
from ui_gym.browser.task import BrowserTask
from ui_gym.contract.action import Action
from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.contract.task import Brief, Split, Verdict
from ui_gym.errors import TaskError, UserError

Mode = Literal["train", "test"]

HELDOUT_SEEDS = 2**31
"""MiniWoB's seeds from here on are the held-out split's; those below are the training split's."""

SIZE = (160, 210)
WINDOW = (800, 600)
"""What MiniWoB's own env shows its pages in: the browser's usual headless window."""

FLIGHT_SIZE = (375, 667)
FLIGHT_WINDOW = (600, 800)

DOC = """{summary}

    ## Description
    A task of MiniWoB++ (``{subdomain}``), played on the page of the distribution `miniwob` with its
    own randomness: the seed of `reset` is the one that MiniWoB's env would be given. The goal is
    MiniWoB's utterance; the fields that it extracts are in the ground truth's ``hidden["fields"]``.

    Time is page time: it stands still while the agent thinks, and goes on by `step_time` after each
    action (a `wait` adds its seconds). Animations, timers, the time limit and the discount of the
    reward follow it, so that they depend on the actions alone.

    ## Observation space
    The screenshot is MiniWoB's task area.

    ## Rewards
    MiniWoB's raw reward lies in [-1, 1]. The score is 0 where it is negative, 1 from `threshold`
    on, and else the raw reward itself: partial credit stays, and doing nothing earns nothing.
    ``info["details"]`` has the raw reward (`raw_reward`), the one discounted by page time
    (`reward`), MiniWoB's reason (`reason`) and the page time in seconds (`seconds`).

    ## Starting state
    MiniWoB's, of the seed. The split ``"train"`` has MiniWoB's data mode ``train`` and the seeds
    below 2**31; ``"heldout"`` has the mode ``test`` and the seed plus 2**31. (Few tasks have other
    data in that mode; where a task has few instances, some are in both splits.)

    ## Episode end
    Termination: MiniWoB ends the episode, at the latest after {seconds} s of page time (raw reward
    -1).

    ## Arguments
    | `step_time` | {step_time:g} | page time after each action, in seconds |
    | `threshold` | 1.0 | the raw reward from which on it is a success, above 0 |

    ## Version history
    * v0: first version, with miniwob 1.1.
    """


@dataclass(frozen=True)
class MiniWoBParams:
    """What an instance is made from."""

    seed: int
    """What MiniWoB's generator is seeded with."""
    mode: Mode = "train"
    """MiniWoB's data mode."""


class MiniWoBTask(BrowserTask[MiniWoBParams]):
    """What all tasks of MiniWoB++ share."""

    entry: ClassVar[Entry]

    def __init__(self, *, step_time: float | None = None, threshold: float = 1.0) -> None:
        self.step_time = self.entry.step_time if step_time is None else step_time
        self.threshold = threshold
        for name, value, high in (("step_time", self.step_time, 10), ("threshold", threshold, 1)):
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not 0 < value <= high
            ):
                raise UserError(
                    f"{self.spec.name}: {name} is a number above 0 and up to {high}, not {value!r}"
                )
        self.max_steps = math.ceil(self.entry.seconds / self.step_time)

    # -- the instance --

    def draw(self, seed: int, split: Split | None = None) -> MiniWoBParams:
        """MiniWoB's own instance of the seed, so that seeds mean the same here and there."""
        if split == "heldout":
            return MiniWoBParams(HELDOUT_SEEDS + seed % HELDOUT_SEEDS, "test")
        return MiniWoBParams(seed % HELDOUT_SEEDS if split == "train" else seed)

    def split_of(self, params: MiniWoBParams) -> Split:
        return "heldout" if params.seed >= HELDOUT_SEEDS else "train"

    def sample(self, rng: np.random.Generator) -> MiniWoBParams:
        return self.draw(int(rng.integers(HELDOUT_SEEDS)), "train")

    def goal(self, params: MiniWoBParams) -> str:
        """The kind of task; what exactly is asked for is made in the page (see `brief`)."""
        return self.entry.summary

    # -- the episode --

    @property
    def site(self) -> Site:
        """MiniWoB's pages, as they are shown for this task."""
        window = FLIGHT_WINDOW if self.entry.is_flight else WINDOW
        width, height = (max(pair) for pair in zip(window, self.viewport, strict=True))
        return _site(self.step_time, (width, height))

    def setup(self, device: BrowserDevice, params: MiniWoBParams) -> None:
        device.visit(self.site, self.entry.path, stay=self.entry.restarts)
        start = f"uiGym.miniwob.start({params.seed:d}, {params.mode!r})"
        if device.evaluate(start, promise=True) is not True:
            raise TaskError(f"the page of seed {params.seed} did not get ready")

    def brief(self, device: BrowserDevice, params: MiniWoBParams) -> Brief:
        told = device.evaluate("uiGym.miniwob.brief()")
        fields = told["fields"]
        if fields is None:
            fields = _extract(self.entry.subdomain, told["utterance"])
        return Brief(told["utterance"], {"fields": dict(fields)})

    def judge(
        self, device: BrowserDevice, params: MiniWoBParams, history: Sequence[Action]
    ) -> Verdict:
        state = device.state()
        over = bool(state["over"])
        raw, reward = (float(state[name] or 0) for name in ("raw", "reward"))
        notes = f"raw reward {raw:.3g}, {reward:.3g} with its discount" if over else "not over"
        if state["reason"]:
            notes += f": {state['reason']}"
        details = {
            "raw_reward": raw,
            "reward": reward,
            "reason": state["reason"],
            "seconds": state["seconds"],
        }
        score = 1.0 if raw >= self.threshold else max(0.0, raw)
        return Verdict(score, done=over, notes=notes, details=details)

    @classmethod
    def pool(cls, options: DeviceOptions) -> DevicePool:
        # Under BeginFrame control the browser now and then paints no more when a frame of the page
        # goes elsewhere, as in flights; and a framebuffer shows no sites.
        if options.kind in ("auto", "chromium"):
            width, height = options.size
            large = width * height >= LARGE or width > WINDOW[0] or height > WINDOW[1]
            if cls.entry.is_flight or large:
                options = dataclasses.replace(options, kind="chromium:screenshot")
        return super().pool(options)


@functools.cache
def _site(step_time: float, window: tuple[int, int]) -> Site:
    script = (files("ui_gym.browser.miniwob") / "page.js").read_text(encoding="utf-8")
    return Site(need_html_folder(), script, viewport=window, rest=step_time)


def _extract(subdomain: str, utterance: str) -> Sequence[tuple[str, str]]:
    """The fields that MiniWoB finds in an utterance."""
    # Imported by name: this project does not depend on the distribution, only the extra does.
    fields: Any = importlib.import_module("miniwob.fields")
    found: Sequence[tuple[str, str]] = fields.get_field_extractor(subdomain)(utterance)
    return found


class _Solved(MiniWoBTask):
    """A task that has an oracle."""

    def oracle(self, device: BrowserDevice, params: MiniWoBParams) -> Iterator[Action]:
        fields = self.brief(device, params).hidden["fields"]
        yield from ORACLES[self.entry.subdomain](device, fields)


def _make(entry: Entry) -> type[MiniWoBTask]:
    doc = DOC.format(
        summary=entry.summary, subdomain=entry.subdomain, seconds=entry.seconds,
        step_time=entry.step_time,
    )  # fmt: skip
    body = {
        "__doc__": doc, "__module__": MODULE, "entry": entry, "spec": entry.spec,
        "viewport": FLIGHT_SIZE if entry.is_flight else SIZE,
    }  # fmt: skip
    return type(entry.name, (_Solved if entry.subdomain in ORACLES else MiniWoBTask,), body)


globals().update({entry.name: _make(entry) for entry in ENTRIES.values()})
