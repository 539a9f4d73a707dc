"""PhoneDevice: the built-in phone in this process, as a device of the suite."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ui_gym.android import lowering, opening
from ui_gym.android.device import ShellResult
from ui_gym.android.uitree import elements_from_xml
from ui_gym.contract.action import Action, Open, Type
from ui_gym.contract.device import DeviceOptions, Element, Frame, Image
from ui_gym.contract.harm import Fact
from ui_gym.errors import ActionError, DeviceError, DeviceLost, UserError
from ui_gym_phone.handset import Handset
from ui_gym_phone.state import facts
from ui_gym_phone.state.phone import DENSITY, Phone
from ui_gym_phone.ui.painter import Painter
from ui_gym_phone.view import PhoneView, fitted

WIDTH_DP = 360
"""How many dp a screen is wide, unless it has fewer pixels."""

SMALLEST, LARGEST = (160, 200), (2160, 4800)
"""(width, height) in pixels of the observation."""


class _Prepared:
    """A new phone as a line leaves it, and what that said. Who asks first gets the phone itself,
    and those who ask later, one like it."""

    def __init__(self, width: int, height: int, line: str) -> None:
        handset = Handset(width, height)
        self.result = handset.shell(line)
        self._snapshot = handset.snapshot()
        self._itself = [handset.phone]

    def phone(self) -> Phone:
        try:
            return self._itself.pop()
        except IndexError:
            return Phone.restore(self._snapshot)


_prepared = lru_cache(maxsize=256)(_Prepared)
"""Kept, so that a group of episodes starts from one state."""


class PhoneDevice:
    """An `AndroidDevice` that takes no phone: state, screen and shell are this process's.

    It is drawn at the size that is observed, of `options.size` pixels; to its apps and its shell
    the screen has 3 pixels for each of 360 dp across (1080 x 2400 for an observation of 9 to 20),
    or of as many dp as the observation has pixels, where those are fewer. A screen that is turned,
    or that `wm size` gave another form, lies in the middle of the picture, with black bars beside
    it (`view.py`).
    """

    def __init__(self, options: DeviceOptions) -> None:
        self.size = options.size
        for asked, least, most in zip(options.size, SMALLEST, LARGEST, strict=True):
            if not least <= asked <= most:
                raise UserError(
                    f"the built-in phone's screen is {SMALLEST[0]}x{SMALLEST[1]} to "
                    f"{LARGEST[0]}x{LARGEST[1]} pixels, not {options.size[0]}x{options.size[1]}"
                )
        self._width = DENSITY * min(WIDTH_DP, options.size[0])
        self._height = round(self._width * options.size[1] / options.size[0])
        self._handset: Handset | None = None

    # -- Device --

    def start(self) -> None:
        if self._handset is None:
            self._handset = Handset(self._width, self._height)
            self._painters: dict[tuple[int, int], Painter] = {}

    def perform(self, action: Action) -> None:
        handset = self.handset
        if isinstance(action, Type) and action.text and not handset.keyboard_shown:
            raise ActionError(
                "runtime", "type: no text field has the caret; click one first, then type"
            )
        lines = self._lines(handset, action, self._view(typing=True))
        result = handset.shell(" && ".join(lines))  # as one: two quick taps are a double tap
        if result.code != 0:
            said = (result.stderr or result.stdout).decode("utf-8", "replace").strip()
            raise ActionError("runtime", f"{said[-200:]}")

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        started = time.perf_counter()
        image = self._picture()
        if out is None:
            image = image.copy()
        else:
            np.copyto(out, image)
            image = out
        told = self.elements() if elements else ()
        return Frame(image=image, elements=told, time_capture=time.perf_counter() - started)

    def close(self) -> None:
        self._handset = None

    # -- AndroidDevice --

    def shell(self, line: str, *, timeout: float | None = None) -> ShellResult:
        """Run a line in the phone's shell. It is bounded by steps, not by time."""
        return self.handset.ask(line)

    def push(self, data: bytes, path: str) -> None:
        """Write a file. `DeviceError` where the phone refuses it."""
        try:
            self.handset.write(path, data, 0o100660, int(self.handset.clock.seconds()))
        except OSError as error:
            raise DeviceError(f"phone: cannot write {path}: {error.strerror}") from None

    def pull(self, path: str) -> bytes:
        """Read a file. `DeviceError` where there is none."""
        try:
            return self.handset.read(path)
        except OSError as error:
            raise DeviceError(f"phone: cannot read {path}: {error.strerror}") from None

    def ui_tree(self) -> str:
        """The window's nodes as `uiautomator dump` writes them: XML."""
        return self.handset.ui_tree()

    def elements(self) -> tuple[Element, ...]:
        """What is on the screen, by its tree."""
        view = self._view()
        return view.moved(elements_from_xml(self.handset.ui_tree(), view.scale))

    def facts(self) -> tuple[Fact, ...]:
        """What it holds and how it is set."""
        return facts.of(self.handset.phone)

    def settings_log(self) -> tuple[str, ...] | None:
        """The settings that were changed, the last one last."""
        log = self.handset.phone.settings_log
        return tuple(f"{change.namespace} {change.key}" for change in log)

    def renew(self, apps: Sequence[str] = (), line: str = "") -> ShellResult:
        """Be as it left the factory, then as the line leaves it."""
        prepared = _prepared(self._width, self._height, line)
        self.handset.adopt(prepared.phone())
        return prepared.result

    # -- parts --

    @property
    def handset(self) -> Handset:
        """The phone itself. `DeviceLost` before `start` and after `close`."""
        handset = self._handset
        if handset is None:
            raise DeviceLost("the built-in phone is switched off; call start()")
        return handset

    def _view(self, *, typing: bool = False) -> PhoneView:
        """Where the screen lies in the picture; with the input method if it is to be typed."""
        handset = self.handset
        display = handset.screen.display
        screen = display.width, display.height
        if screen == (self._width, self._height):
            view = PhoneView(screen, self.size)
        else:
            view = fitted(screen, self.size)
        if not typing:
            return view
        typed = handset.phone.setting("secure", "default_input_method", "")
        return dataclasses.replace(view, typed=typed)

    def _picture(self) -> Image:
        """The picture, which is the painter's own array where the screen fills it."""
        view = self._view()
        painter = self._painters.get(view.observed)
        if painter is None or painter.scale != view.scale[0]:
            painter = self._painters[view.observed] = Painter(*view.observed, view.scale[0])
        seen = self.handset.screen.paint(painter)
        if view.observed == self.size:
            return seen
        image = np.zeros((self.size[1], self.size[0], 3), np.uint8)
        width, height = view.observed
        image[view.top : view.top + height, view.left : view.left + width] = seen
        return image

    def _lines(self, handset: Handset, action: Action, screen: lowering.ScreenScale) -> list[str]:
        if not isinstance(action, Open):
            return lowering.lines(action, screen)
        url = opening.url_of(action.target)
        if url is not None:
            return [opening.view(url)]
        packages = handset.phone.packages
        called = packages.called(action.target)
        installed = [package.name for package in packages.launchable]
        return [
            opening.launch(called.name if called else opening.package_of(action.target, installed))
        ]
