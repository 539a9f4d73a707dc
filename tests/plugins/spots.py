"""A task of one click on a screenshot, in memory; a policy that clicks but does not look; faults.

The picture shows one box, in one of three spots. The policy knows how a click is written and where
boxes may lie, and clicks on each spot alike: what it lacks can be learned from the pictures alone.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import paint
import torch

from ui_gym.contract.action import Action, Click
from ui_gym.contract.device import DeviceOptions, Image
from ui_gym.contract.registry import register
from ui_gym.contract.task import Task, Verdict
from ui_gym.errors import DeviceLost
from ui_gym_agents.agents.agent import View
from ui_gym_agents.policy import PromptBuilder, VLMPolicy, load_policy
from ui_gym_agents.store import ScreenshotStore
from ui_gym_tiny.model import TinyConfig, build

SIZE = (96, 64)
"""Width and height of the screen."""
SPOTS = ((8, 8), (40, 8), (72, 8))
"""Where a box may have its upper left corner: each inside one patch of the model."""
CHANCE = 1 / len(SPOTS)
"""The success rate of one who does not look."""
TINY = TinyConfig(width=96, height=64, hidden=48, layers=2, heads=2, ff=64, vision_hidden=32,
                  vision_heads=2, vision_ff=48, positions=16)  # fmt: skip
GOAL = "Click the box"
WARM_UP = 240
"""Gradient steps of the policy's schooling."""


@register("PaintSpot", suite="paint", category="click", difficulty="easy", max_steps=1)
class PaintSpot(Task[paint.Scene, paint.PaintDevice]):
    """Click the box, at the first try."""

    viewport = SIZE

    def sample(self, rng: np.random.Generator) -> paint.Scene:
        x, y = SPOTS[int(rng.integers(len(SPOTS)))]
        # No matter for the task: it makes scenes differ, which a split is made of.
        text = "".join(rng.choice(list("abcdef"), size=3))
        return paint.Scene((("red", x, y),), "red", text)

    def goal(self, params: paint.Scene) -> str:
        return GOAL

    def setup(self, device: paint.PaintDevice, params: paint.Scene) -> None:
        device.load({name: (x, y) for name, x, y in params.boxes})

    def judge(
        self, device: paint.PaintDevice, params: paint.Scene, history: Sequence[Action]
    ) -> Verdict:
        return Verdict(float(device.clicked[:1] == [params.target]), done=bool(device.clicked))

    @classmethod
    def pool(cls, options: DeviceOptions) -> paint.PaintPool:
        return paint.PaintPool(options.size)


class Chaos:
    """What goes wrong with devices: each in its turn, whoever is hit.

    `hangs`, `lost` and `blind` are numbers of clicks, from 1 on: that one hangs, kills the device,
    or is followed by a picture that cannot be taken. `hung_resets` are numbers of resets. Beside
    these, a click on the last spot kills the device whenever the scene's box is in the first: an
    instance that fails some of its group each time it is played.
    """

    def __init__(self) -> None:
        self.hangs = {9, 40}
        self.lost = {4, 21, 22, 60}
        self.blind = {15, 50}
        self.hung_resets = {3, 30}
        self.happened: list[str] = []
        self._counts = {"click": 0, "reset": 0}
        self._lock = threading.Lock()

    def next(self, what: str) -> int:
        """The number of this click or reset."""
        with self._lock:
            self._counts[what] += 1
            return self._counts[what]

    def note(self, what: str) -> None:
        with self._lock:
            self.happened.append(what)


class ChaosDevice(paint.PaintDevice):
    """A device that suffers what its `chaos` says."""

    chaos: Chaos

    def load(self, boxes: dict[str, tuple[int, int]]) -> None:
        if self.chaos.next("reset") in self.chaos.hung_resets:
            self.chaos.note("hung reset")
            self.hang()
        super().load(boxes)

    def perform(self, action: Action) -> None:
        if isinstance(action, Click):
            self._suffer(action, self.chaos.next("click"))
        super().perform(action)

    def _suffer(self, click: Click, number: int) -> None:
        chaos = self.chaos
        if number in chaos.hangs:
            chaos.note("hang")
            self.hang()
        if number in chaos.blind:
            chaos.note("blind")
            self.faults.captures = 1
        x, y = SPOTS[-1]
        at_last = click.x >= x and click.y >= y
        if number in chaos.lost or (at_last and self.boxes.get("red") == SPOTS[0]):
            chaos.note("lost")
            self.closed.set()
            raise DeviceLost("the paint has dried")


class ChaosPool(paint.PaintPool):
    """Devices of one `chaos`."""

    def __init__(self, size: tuple[int, int], chaos: Chaos) -> None:
        super().__init__(size)
        self.chaos = chaos

    def acquire(self) -> paint.PaintDevice:
        with self.lock:
            device = self.idle.pop() if self.idle else ChaosDevice(self.size, self.faults)
            device.chaos = self.chaos  # type: ignore[attr-defined]
            self.lent.append(device)
            return device


@register("PaintChaos", suite="paint", category="click", difficulty="easy", max_steps=1)
class PaintChaos(PaintSpot):
    """`PaintSpot` on devices that hang, crash and fail."""

    chaos = Chaos()
    """What the next pool's devices suffer."""

    @classmethod
    def pool(cls, options: DeviceOptions) -> paint.PaintPool:
        return ChaosPool(options.size, cls.chaos)


def build_clicker(folder: Path) -> Path:
    """A checkpoint that clicks on each spot alike, whatever it sees; the same each time.

    What it sees it can say: a caption tells the box's place after its answer, which is never
    sampled. That its answer should be that place, nobody has told it.
    """
    build(TINY, ["Click", "the", "box"], seed=0, directory=folder / "raw")
    policy = load_policy(folder / "raw", prompt=PromptBuilder.bare(), threads=1)
    store = ScreenshotStore()
    views = [View(0, GOAL, [picture(spot)]) for spot in SPOTS]
    answers = [click_on(spot) for spot in SPOTS]
    for view in views:
        store.put(view.screenshot)
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    for number in range(WARM_UP):
        # Each picture with each answer in turn, so that none is likelier.
        turned = answers[number % len(answers) :] + answers[: number % len(answers)]
        told = zip(views, turned, answers, strict=True)
        records = [policy.encode(view, answer, caption=true) for view, answer, true in told]
        loss, weight = policy.supervised_loss(records, store)
        optimizer.param_groups[0]["lr"] = 3e-3 * (1 - number / WARM_UP)
        optimizer.zero_grad()
        (loss / weight).backward()
        optimizer.step()
    policy.save_merged(folder / "clicker")
    return folder / "clicker"


def picture(spot: tuple[int, int]) -> Image:
    """What a device shows that has its box there."""
    device = paint.PaintDevice(SIZE, paint.Faults())
    device.load({"red": spot})
    return device.capture().image


def click_on(spot: tuple[int, int]) -> str:
    """A click on the middle of a box, in the dialect `cells`."""
    middle = paint.CELL // 2
    return f"click(<x{(spot[0] + middle) // 8}><y{(spot[1] + middle) // 8}>)"


def load_clicker(folder: Path, **settings: Any) -> VLMPolicy:
    """A policy on what `build_clicker` wrote, all of whose weights are trained."""
    given = {"max_new_tokens": 6, "threads": 1} | settings
    return load_policy(folder, **given)
