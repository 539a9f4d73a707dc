"""A suite of a third party, in memory: a device that paints rectangles, its pool, two tasks.

Faults are switched on by `Faults`, which all devices of a pool share.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ui_gym.contract.action import Action, Answer, Click, Drag, Finish, Press, Type
from ui_gym.contract.device import DeviceOptions, Element, Frame, Image
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Task, Verdict
from ui_gym.errors import ActionError, DeviceLost, DeviceSetupError, DeviceStartError, UserError

CELL = 16
COLORS = {"red": (220, 40, 40), "green": (40, 160, 60), "blue": (50, 80, 220)}


@dataclass
class Faults:
    """What goes wrong, where, and how often it still will."""

    starts: int = 0
    """The next so many starts fail."""
    not_installed: bool = False
    """No start can succeed."""
    captures: int = 0
    """The next so many captures find the device lost."""
    hang_on: str = ""
    """Typing this hangs until the device is closed."""
    lose_on: str = ""
    """Typing this kills the device."""
    hang_resets: int = 0
    """The next so many setups hang until the device is closed."""
    ignore_close: threading.Event | None = None
    """A hung device ignores `close` until this is set."""


def faults_of(kind: str) -> Faults:
    """Those that a device's name asks for: ``paint:hang_on=slow,hang_resets=2``."""
    faults = Faults()
    for pair in filter(None, kind.partition(":")[2].split(",")):
        name, _, value = pair.partition("=")
        setattr(faults, name, int(value) if value.isdigit() else value)
    return faults


class PaintDevice:
    """A screen of coloured rectangles; typing draws on the one that was clicked last."""

    def __init__(self, size: tuple[int, int], faults: Faults) -> None:
        self.size = size
        self.faults = faults
        self.boxes: dict[str, tuple[int, int]] = {}
        self.clicked: list[str] = []
        self.texts: dict[str, str] = {}
        self.performed: list[Action] = []
        self.closed = threading.Event()

    def start(self) -> None:
        if self.faults.not_installed:
            raise DeviceSetupError("there is no brush: install brushes")
        if self.faults.starts > 0:
            self.faults.starts -= 1
            raise DeviceStartError("no paint here; install paint")

    def load(self, boxes: dict[str, tuple[int, int]]) -> None:
        self.check()
        if self.faults.hang_resets > 0:
            self.faults.hang_resets -= 1
            self.hang()
        self.boxes, self.clicked, self.texts, self.performed = dict(boxes), [], {}, []

    def perform(self, action: Action) -> None:
        self.check()
        if isinstance(action, Click):
            self.clicked.append(self.at(action.x, action.y))
        elif isinstance(action, Type):
            if action.text == self.faults.lose_on != "":
                self.closed.set()
                self.check()
            if action.text == self.faults.hang_on != "":
                self.hang()
            if not self.clicked:
                raise ActionError("runtime", "type: nothing was clicked yet")
            where = self.clicked[-1]
            self.texts[where] = self.texts.get(where, "") + action.text
        elif isinstance(action, Drag | Press):
            raise ActionError("runtime", f"{action.name}: paint cannot do that")
        self.performed.append(action)

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        self.check()
        if self.faults.captures > 0:
            self.faults.captures -= 1
            self.closed.set()
            self.check()
        width, height = self.size
        image = np.empty((height, width, 3), np.uint8) if out is None else out
        image[:] = 255
        for name, (x, y) in self.boxes.items():
            image[y : y + CELL, x : x + CELL] = COLORS[name]
            written = len(self.texts.get(name, ""))
            image[y, x : x + min(written, CELL)] = 0
        if self.clicked and self.clicked[-1] in self.boxes:
            x, y = self.boxes[self.clicked[-1]]
            image[y + CELL - 2 : y + CELL, x : x + CELL] = 0
        seen = tuple(
            Element(i, "button", name, (x, y, CELL, CELL))
            for i, (name, (x, y)) in enumerate(self.boxes.items())
        )
        return Frame(image, elements=seen if elements else (), time_capture=0.001)

    def close(self) -> None:
        self.closed.set()

    def at(self, x: int, y: int) -> str:
        for name, (left, top) in self.boxes.items():
            if left <= x < left + CELL and top <= y < top + CELL:
                return name
        return ""

    def hang(self) -> None:
        self.closed.wait()
        if self.faults.ignore_close is not None:
            self.faults.ignore_close.wait()
        self.check()

    def check(self) -> None:
        if self.closed.is_set():
            raise DeviceLost("the paint has dried")


@dataclass
class PaintPool:
    """Devices that share nothing but their faults, and a ledger of who came and went."""

    size: tuple[int, int]
    faults: Faults = field(default_factory=Faults)
    idle: list[PaintDevice] = field(default_factory=list)
    lent: list[PaintDevice] = field(default_factory=list)
    made: int = 0
    broken: int = 0
    closed: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def acquire(self) -> PaintDevice:
        with self.lock:
            device = self.idle.pop() if self.idle else None
            if device is None:
                device = PaintDevice(self.size, self.faults)
                device.start()
                self.made += 1
            self.lent.append(device)
            return device

    def release(self, device: Any, *, healthy: bool) -> None:
        with self.lock:
            self.lent.remove(device)
            if healthy:
                self.idle.append(device)
            else:
                self.broken += 1
                device.close()

    def close(self) -> None:
        self.closed = True
        for device in self.idle + self.lent:
            device.close()


@dataclass(frozen=True)
class Scene:
    """Where the boxes lie, which one is meant, and what is to be written on it."""

    boxes: tuple[tuple[str, int, int], ...]
    target: str
    text: str


class PaintTask(Task[Scene, PaintDevice]):
    """What both tasks share."""

    viewport = (96, 64)
    mistakes = ("other_color",)

    def __init__(self, boxes: int = 3) -> None:
        if not 2 <= boxes <= 3:
            raise UserError(f"boxes is 2 or 3, not {boxes!r}")
        self.boxes = boxes

    def sample(self, rng: np.random.Generator) -> Scene:
        width, height = (side // CELL for side in self.viewport)
        cells = rng.permutation(width * height)[: self.boxes]
        names = list(COLORS)[: self.boxes]
        boxes = tuple(
            (name, int(cell) % width * CELL, int(cell) // width * CELL)
            for name, cell in zip(names, cells, strict=True)
        )
        text = "".join(rng.choice(list("abcdef"), size=3))
        return Scene(boxes, str(rng.choice(names)), text)

    def setup(self, device: PaintDevice, params: Scene) -> None:
        device.load({name: (x, y) for name, x, y in params.boxes})

    def misread(self, params: Scene, mistake: str, rng: np.random.Generator) -> Scene:
        others = [name for name, _, _ in params.boxes if name != params.target]
        return Scene(params.boxes, str(rng.choice(others)), params.text)

    @classmethod
    def pool(cls, options: DeviceOptions) -> PaintPool:
        if options.kind not in ("auto", "paint") and not options.kind.startswith("paint:"):
            raise UserError(f"there is no device {options.kind!r}. Known: 'auto'.")
        return PaintPool(options.size, faults_of(options.kind))


def center(params: Scene, name: str) -> tuple[int, int]:
    """The middle of a box."""
    x, y = next((x, y) for box, x, y in params.boxes if box == name)
    return x + CELL // 2, y + CELL // 2


@register("PaintClick", suite="paint", category="click", difficulty="easy", max_steps=4)
class PaintClick(PaintTask):
    """Click the box of the named colour; a click on another one ends the episode."""

    def goal(self, params: Scene) -> str:
        return f"Click the {params.target} box. («{params.text}» is no matter 🙂)"

    def judge(self, device: PaintDevice, params: Scene, history: Sequence[Action]) -> Verdict:
        hit = [name for name in device.clicked if name]
        if not hit:
            return Verdict(0.0)
        return Verdict(float(hit[0] == params.target), done=True, notes=f"clicked {hit[0]}")

    def oracle(self, device: PaintDevice, params: Scene) -> Iterator[Action | Demo]:
        x, y = center(params, params.target)
        yield Demo(
            Click(x, y), thought=f"The {params.target} box.", caption=str(list(device.boxes))
        )


@register("PaintText", suite="paint", category="input", max_steps=6)
class PaintText(PaintTask):
    """Click the box, write the letters on it one by one, and say that it is done."""

    def goal(self, params: Scene) -> str:
        return f"Write {params.text!r} on the {params.target} box, then finish."

    def judge(self, device: PaintDevice, params: Scene, history: Sequence[Action]) -> Verdict:
        if any(isinstance(action, Finish) and action.outcome == "infeasible" for action in history):
            return Verdict(0.0, notes="it was feasible")
        if any(isinstance(action, Answer) for action in history):
            return Verdict(0.0, notes="nothing was asked")
        if device.texts.get(params.target) == params.text:
            return Verdict(1.0)
        return Verdict(0.5 if device.clicked and device.clicked[0] == params.target else 0.0)

    def oracle(self, device: PaintDevice, params: Scene) -> Iterator[Action | Demo]:
        yield Click(*center(params, params.target))
        while len(written := device.texts.get(params.target, "")) < len(params.text):
            yield Type(params.text[len(written)])
