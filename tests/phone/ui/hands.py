"""A person's hand on a built-in phone: what is seen is touched, by the device's own actions."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np

from ui_gym.contract.action import parse
from ui_gym.contract.device import DeviceOptions, Image
from ui_gym_phone.device import PhoneDevice
from ui_gym_phone.handset import Handset

SIZE = (540, 1200)

GESTURES = "settings put secure navigation_mode 2"
SIDEWAYS = "settings put system user_rotation 1"
SETTINGS = "am start -n com.android.settings/.Settings"
CAMERA = "am start -n com.android.camera2/com.android.camera.CameraLauncher"
NOTE = "am start -n org.uigym.notes/.EditActivity"
CLOCK = "am start -n com.google.android.deskclock/com.android.deskclock.DeskClock"


class Hand:
    """A phone, prepared by shell lines, and what is done to it. Points are the picture's."""

    def __init__(self, *lines: str, size: tuple[int, int] = SIZE) -> None:
        self.device = PhoneDevice(DeviceOptions("phone", size))
        self.device.start()
        for line in lines:
            self.shell(line)

    @property
    def handset(self) -> Handset:
        return self.device.handset

    def shell(self, line: str) -> str:
        """What a line says, which must succeed."""
        result = self.device.shell(line)
        assert result.code == 0, result
        return result.text

    def do(self, text: str) -> None:
        """Do the actions of a text."""
        for action in parse(text):
            self.device.perform(action)

    def at(self, name: str) -> tuple[int, int]:
        """The middle of the first element whose name has a text."""
        found = [element for element in self.device.elements() if name in element.name]
        assert found, f"{name!r} is not seen; there is {self.seen}"
        return found[0].center

    def tap(self, *names: str) -> None:
        for name in names:
            x, y = self.at(name)
            self.do(f"click({x}, {y})")

    def hold(self, name: str) -> None:
        x, y = self.at(name)
        self.do(f"long_press({x}, {y})")

    def drag(self, name: str, dx: int, dy: int, seconds: float = 0.3) -> None:
        x, y = self.at(name)
        self.do(f"drag({x}, {y}, {x + dx}, {y + dy}, seconds={seconds})")

    @property
    def seen(self) -> list[str]:
        return [element.name for element in self.device.elements()]

    @property
    def picture(self) -> Image:
        return self.device.capture().image

    @property
    def activity(self) -> str:
        """The class of what is open."""
        return self.handset.phone.activity.cls

    @property
    def package(self) -> str:
        return self.handset.phone.activity.package

    def nodes(self) -> Iterator[dict[str, str]]:
        """What uiautomator tells of the uppermost window."""
        for node in ElementTree.fromstring(self.device.ui_tree()).iter("node"):
            yield dict(node.attrib)

    def field(self) -> str:
        """The text of the field that has the caret."""
        return next(n["text"] for n in self.nodes() if n["focused"] == "true")


def differs(one: Image, other: Image) -> float:
    """The share of pixels that are different."""
    return float(np.any(one != other, axis=2).mean())
