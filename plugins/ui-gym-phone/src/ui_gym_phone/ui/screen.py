"""Screen: shows a phone and takes what is done to it: taps, swipes, keys, text.

The picture, what can be touched and what accessibility services are told come from one layout of
one state, so they never disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ui_gym_phone import apps
from ui_gym_phone.state.display import Display, display
from ui_gym_phone.state.phone import LAUNCHER, Phone
from ui_gym_phone.ui import compose, keys, navigation, notices, prompt, recents, systemui
from ui_gym_phone.ui.painter import Painter
from ui_gym_phone.ui.scene import PhoneScene, TouchTarget
from ui_gym_phone.ui.textbar import place_text_bar
from ui_gym_phone.ui.textfield import Typing
from ui_gym_phone.ui.touch import FingerStroke, Pinch
from ui_gym_phone.ui.xml import to_xml

if TYPE_CHECKING:
    from ui_gym.contract.device import Image


class PhoneScreen:
    """The screen of a phone. Coordinates are pixels of `display`. `refresh` after each change of
    the phone from elsewhere."""

    def __init__(self, phone: Phone) -> None:
        self.phone = phone
        self._scene: PhoneScene | None = None
        self._went_on = phone.clock.uptime_ms

    def forget(self) -> None:
        """Forget the layout. It leads back to the screen: a screen that is no longer wanted is
        freed by this at once, and else only when Python looks for such circles."""
        self._scene = None

    def refresh(self) -> None:
        """Forget the layout: something in the phone changed. Apps go on as far as time went."""
        self.forget()
        if self.phone.clock.uptime_ms != self._went_on:
            self._went_on = self.phone.clock.uptime_ms
            apps.go_on(self.phone)
            prompt.expire(self.phone)

    @property
    def laid_out(self) -> bool:
        """Whether the layout is known and nothing has changed since."""
        return self._scene is not None

    @property
    def scene(self) -> PhoneScene:
        """The layout of what is seen now."""
        if self.phone.clock.uptime_ms != self._went_on:  # in the middle of a shell's line
            self.refresh()
        if self._scene is None:
            self._scene = self._build()
        return self._scene

    @property
    def display(self) -> Display:
        """How large it is now, and how it is turned."""
        return display(self.phone)

    # -- what is seen --

    def paint(self, painter: Painter) -> Image:
        """The picture, as the painter's own array."""
        return painter.paint(self.scene.ops)

    def ui_tree(self) -> str:
        """What `uiautomator dump` writes."""
        listed = [window for window in self.scene.windows if window.listed]
        return to_xml(listed[-1], self.display.rotation)

    @property
    def focused_window(self) -> str:
        """What has the focus, as `dumpsys window` names it."""
        if self.phone.shade:
            return "NotificationShade"
        if self.phone.recents:
            return f"{LAUNCHER}/com.android.quickstep.RecentsActivity"
        if self.asked:
            return f"{prompt.CONTROLLER}/{prompt.ACTIVITY}"
        activity = self.phone.activity
        package = self.phone.packages[activity.package]
        return f"{package.name}/{package.component(activity.cls)}"

    @property
    def keyboard_shown(self) -> bool:
        return self.scene.fields.get(self.phone.activity.focus) is not None

    @property
    def asked(self) -> str:
        """The permission that the app asks a person for now, if it asks for one."""
        activity = self.phone.activity
        return prompt.asked(self.phone, activity, apps.needs_of(activity.package, activity.cls))

    # -- what is done --

    def tap(self, x: int, y: int) -> None:
        """Touch a point."""
        self._tap(x, y)

    def double_tap(self, x: int, y: int) -> None:
        """The second of two quick taps; where that is nothing of its own, it is another tap."""
        target = self._target(x, y, lambda t: bool(t.double_tap or t.tap or t.tap_at or t.slide))
        if target is not None and target.double_tap is not None:
            target.double_tap(x, y)
            self.refresh()
        else:
            self._tap(x, y)

    def _tap(self, x: int, y: int) -> None:
        if self._stopped(x, y):
            return
        target = self._target(x, y, lambda t: bool(t.tap or t.tap_at or t.slide))
        if target is None:
            return
        if target.slide is not None:
            left, _, right, _ = target.box
            target.slide((x - left) / max(1, right - left))
        elif target.tap_at is not None:
            target.tap_at(x, y)
        elif target.tap is not None:
            target.tap()
        self.refresh()

    def long_press(self, x: int, y: int) -> None:
        """Touch and hold a point; where nothing comes of that, it is a tap."""
        if self._stopped(x, y):
            return
        target = self._target(x, y, _is_touched)
        if target is not None and target.long_press_at is not None:
            target.long_press_at(x, y)
            self.refresh()
        elif target is not None and target.long_press is not None:
            target.long_press()
            self.refresh()
        else:
            self._tap(x, y)

    def swipe(self, x1: int, y1: int, x2: int, y2: int, ms: int = 300) -> None:
        """Move a finger over the screen, in so many milliseconds. What scrolls goes on by itself
        if the finger is fast (`touch.FLING_MS`)."""
        stroke = FingerStroke(x1, y1, x2, y2, ms)
        if stroke.still:
            (self.long_press if stroke.held else self.tap)(x1, y1)
            return
        self._stopped(x1, y1)
        for target in self._under(x1, y1):
            if _swiped(target, stroke):
                break
        self.refresh()

    def pinch(self, x: int, y: int, factor: float, dx: int = 0, dy: int = 0) -> None:
        """Two fingers around a point, whose distance grows `factor`-fold, and whose middle moves by
        (dx, dy)."""
        target = self._target(x, y, lambda t: t.pinch is not None)
        if target is not None and target.pinch is not None:
            target.pinch(Pinch(x, y, factor, dx, dy))
            self.refresh()

    def text(self, text: str) -> None:
        """Type into the field that has the caret, if one has. A newline is the Enter key."""
        for i, line in enumerate(text.split("\n")):
            if i:
                self.key(keys.ENTER)
            typing = self._typing()
            if line and typing is not None:
                typing.insert(line)
                self.refresh()

    def key(self, code: int, *held: int) -> None:
        """Press an Android key code while others are held."""
        typing = self._typing()  # once the screen is laid out: pages may note then what back closes
        if code in (keys.BACK, keys.ESCAPE) and self.phone.awake:
            self.back()
        else:
            keys.press(self.phone, typing, code, held)
        self.refresh()

    def back(self) -> None:
        """What the back key and the back gesture do: close what lies uppermost."""
        phone = self.phone
        activity, asked = phone.activity, self.asked
        if phone.recents or phone.shade:
            phone.back()
        elif asked:
            prompt.answer(phone, asked, "")
        elif activity.held and activity.focus:
            activity.held, activity.mark = False, None
            if activity.focus in self.scene.readable:
                activity.focus = ""
        else:
            phone.back()

    def _typing(self) -> Typing | None:
        activity = self.phone.activity
        field = self.scene.fields.get(activity.focus)
        return Typing(activity, field) if field is not None else None

    def _under(self, x: int, y: int) -> list[TouchTarget]:
        """What lies under a point, the uppermost first, down to what is modal."""
        found = []
        for target in reversed(self.scene.targets):
            left, top, right, bottom = target.box
            if left <= x < right and top <= y < bottom:
                found.append(target)
                if target.modal:
                    break
        return found

    def _target(self, x: int, y: int, wanted: Callable[[TouchTarget], bool]) -> TouchTarget | None:
        return next((t for t in self._under(x, y) if wanted(t)), None)

    def _stopped(self, x: int, y: int) -> bool:
        """Whether a finger that comes down has stopped what moved there: it does nothing else."""
        moved = [target for target in self._under(x, y) if target.stop is not None]
        stopped = [target for target in moved if target.stop is not None and target.stop()]
        if stopped:
            self.refresh()
        return bool(stopped)

    # -- layout --

    def _build(self) -> PhoneScene:
        phone = self.phone
        scene = compose.empty_scene(phone)
        if not phone.awake:
            scene.rect(scene.screen, "scrim")
            with scene.window(systemui.PACKAGE, "ScreenOff"):
                return scene
        if phone.recents:
            recents.place_recents(phone, scene)
        elif not phone.shade:  # which covers all of it
            self._place_activity(scene)
            if not self.asked:
                notices.place_urgent(phone, scene)
        systemui.place_bars(phone, scene, self.back)
        if phone.shade:
            systemui.place_shade(phone, scene)
        elif not phone.recents:
            phone.system.scroll.clear()  # it opens at its top
        systemui.place_toast(phone, scene)
        navigation.place_gestures(phone, scene, self.back)
        return scene

    def _place_activity(self, scene: PhoneScene) -> None:
        phone = self.phone
        activity, asked = phone.activity, self.asked
        if asked:
            activity.focus = ""
        room = compose.place_activity(phone, scene, activity)
        field = scene.fields.get(activity.focus) or scene.readable.get(activity.focus)
        if field is not None and activity.held:
            place_text_bar(phone, scene, field, room)
        compose.place_keyboard(phone, scene)
        if asked:
            package = phone.packages[activity.package]
            reply = partial(prompt.answer, phone, asked)
            prompt.place_prompt(scene, package, asked, room, reply)


def _is_touched(target: TouchTarget) -> bool:
    return bool(
        target.long_press or target.long_press_at or target.tap or target.tap_at or target.slide
    )


def _swiped(target: TouchTarget, stroke: FingerStroke) -> bool:
    """Let what lies under a finger that moves have it; False if it does not care."""
    if target.slide is not None and abs(stroke.dx) >= abs(stroke.dy):
        left, _, right, _ = target.box
        target.slide((stroke.x2 - left) / max(1, right - left))
        return True
    if target.stroke is not None and target.stroke(stroke):
        return True
    if target.swipe is not None and target.swipe(stroke.dx, stroke.dy):
        return True
    if target.scroll is not None and not stroke.across:
        target.scroll(-stroke.dy, stroke.speed)
        return True
    return False
