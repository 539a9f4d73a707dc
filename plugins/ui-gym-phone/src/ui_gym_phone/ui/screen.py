"""Screen: shows a phone and takes what is done to it: taps, swipes, keys, text.

The picture, what can be touched and what accessibility services are told come from one layout of
one state, so they never disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ui_gym_phone import apps
from ui_gym_phone.state.phone import DENSITY, LAUNCHER, Phone
from ui_gym_phone.ui import keyboard, keys, systemui
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.page import AppPage, app_bar, place_dialog, place_menu
from ui_gym_phone.ui.painter import Painter
from ui_gym_phone.ui.scene import Box, PhoneScene, TouchTarget
from ui_gym_phone.ui.textfield import Typing
from ui_gym_phone.ui.theme import Theme
from ui_gym_phone.ui.xml import to_xml

if TYPE_CHECKING:
    from ui_gym.contract.device import Image

LONG_PRESS_MS = 500
SLOP = 24
"""Device pixels that a finger may move and it still is a tap."""


class PhoneScreen:
    """The screen of a phone. Coordinates are device pixels. `refresh` after each change of the
    phone from elsewhere."""

    def __init__(self, phone: Phone) -> None:
        self.phone = phone
        self._scene: PhoneScene | None = None

    def refresh(self) -> None:
        """Forget the layout: something in the phone changed."""
        self._scene = None

    @property
    def laid_out(self) -> bool:
        """Whether the layout is known and nothing has changed since."""
        return self._scene is not None

    @property
    def scene(self) -> PhoneScene:
        """The layout of what is seen now."""
        if self._scene is None:
            self._scene = self._build()
        return self._scene

    # -- what is seen --

    def paint(self, painter: Painter) -> Image:
        """The picture, as the painter's own array."""
        return painter.paint(self.scene.ops)

    def ui_tree(self) -> str:
        """What `uiautomator dump` writes."""
        listed = [window for window in self.scene.windows if window.listed]
        return to_xml(listed[-1])

    @property
    def focused_window(self) -> str:
        """What has the focus, as `dumpsys window` names it."""
        if self.phone.shade:
            return "NotificationShade"
        if self.phone.recents:
            return f"{LAUNCHER}/com.android.quickstep.RecentsActivity"
        activity = self.phone.activity
        package = self.phone.packages[activity.package]
        return f"{package.name}/{package.component(activity.cls)}"

    @property
    def keyboard_shown(self) -> bool:
        return self.scene.fields.get(self.phone.activity.focus) is not None

    # -- what is done --

    def tap(self, x: int, y: int) -> None:
        """Touch a point."""
        target = self._target(x, y, lambda t: bool(t.tap or t.slide))
        if target is None:
            return
        if target.slide is not None:
            left, _, right, _ = target.box
            target.slide((x - left) / max(1, right - left))
        elif target.tap is not None:
            target.tap()
        self.refresh()

    def long_press(self, x: int, y: int) -> None:
        """Touch and hold a point; where nothing comes of that, it is a tap."""
        target = self._target(x, y, lambda t: bool(t.long_press or t.tap or t.slide))
        if target is not None and target.long_press is not None:
            target.long_press()
            self.refresh()
        else:
            self.tap(x, y)

    def swipe(self, x1: int, y1: int, x2: int, y2: int, ms: int = 300) -> None:
        """Move a finger over the screen, which it leaves without momentum."""
        if abs(x2 - x1) <= SLOP and abs(y2 - y1) <= SLOP:
            (self.long_press if ms >= LONG_PRESS_MS else self.tap)(x1, y1)
            return
        for target in self._under(x1, y1):
            if target.slide is not None and abs(x2 - x1) >= abs(y2 - y1):
                left, _, right, _ = target.box
                target.slide((x2 - left) / max(1, right - left))
                break
            if target.swipe is not None and target.swipe(x2 - x1, y2 - y1):
                break
            if target.scroll is not None and abs(y2 - y1) >= abs(x2 - x1):
                target.scroll(y1 - y2)
                break
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
        keys.press(self.phone, self._typing(), code, held)
        self.refresh()

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

    # -- layout --

    def _build(self) -> PhoneScene:
        phone = self.phone
        theme = Theme(phone.dark, phone.font_scale, DENSITY)
        scene = PhoneScene(theme, phone.width, phone.height)
        if not phone.awake:
            scene.rect((0, 0, phone.width, phone.height), "scrim")
            with scene.window(systemui.PACKAGE, "ScreenOff"):
                return scene
        if phone.recents:
            systemui.place_recents(phone, scene)
        elif not phone.shade:  # which covers all of it
            self._place_activity(scene)
        systemui.place_bars(phone, scene)
        if phone.shade:
            systemui.place_shade(phone, scene)
        else:
            phone.system.scroll.clear()  # it opens at its top
        systemui.place_toast(phone, scene)
        return scene

    def _place_activity(self, scene: PhoneScene) -> None:
        phone, px = self.phone, scene.theme.px
        activity = phone.activity
        ui = Ui(phone, activity)
        page = apps.screen_of(activity.package, activity.cls)(ui)
        top = 0 if page.fullscreen else px(systemui.STATUS)
        bottom = phone.height - px(systemui.NAVIGATION)
        scene.rect((0, 0, phone.width, phone.height), page.ground)
        with scene.window(activity.package, activity.cls):
            # Laid out once to learn which field it has, once more in the room that is left.
            if activity.focus:
                probe = PhoneScene(scene.theme, phone.width, phone.height)
                with probe.window(activity.package, activity.cls):
                    _place_page(probe, page, (0, top, phone.width, bottom))
                    if page.dialog is not None:
                        place_dialog(probe, ui, page.dialog, (0, top, phone.width, bottom))
                if activity.focus in probe.fields:
                    bottom -= px(keyboard.height(phone))
                page = apps.screen_of(activity.package, activity.cls)(ui)
            _place_page(scene, page, (0, top, phone.width, bottom))
        room = (0, top, phone.width, bottom)
        if page.dialog is not None:
            with scene.window(activity.package, "Dialog"):
                place_dialog(scene, ui, page.dialog, room)
        elif page.menu is not None:
            with scene.window(activity.package, "PopupWindow"):
                place_menu(scene, page.menu, room)
        self._place_keyboard(scene)

    def _place_keyboard(self, scene: PhoneScene) -> None:
        phone, px = self.phone, scene.theme.px
        field = scene.fields.get(phone.activity.focus)
        if field is None:
            return
        bottom = phone.height - px(systemui.NAVIGATION)
        top = bottom - px(keyboard.height(phone))
        scene.touch((0, top, phone.width, bottom), modal=True)
        with scene.window("com.android.inputmethod.latin", "InputMethod", listed=False):
            keys_ = keyboard.keyboard(phone, Typing(phone.activity, field))
            keys_.place(scene, 0, top, phone.width, bottom - top)


def _place_page(scene: PhoneScene, page: AppPage, box: Box) -> None:
    left, top, right, bottom = box
    width = right - left
    bar = page.bar or (app_bar(page) if page.title or page.back or page.actions else None)
    # The bar is told of first, and painted over nothing: contents are clipped to their room.
    if bar is not None:
        height = bar.size(scene.theme, width)[1]
        bar.place(scene, left, top, width, height)
        top += height
    if page.bottom is not None:
        height = page.bottom.size(scene.theme, width)[1]
        bottom -= height
    page.body.place(scene, left, top, width, max(0, bottom - top))
    if page.bottom is not None:
        page.bottom.place(scene, left, bottom, width, height)
    if page.fab is not None:
        w, h = page.fab.size(scene.theme, width)
        edge = scene.theme.px(16)
        page.fab.place(scene, right - edge - w, bottom - edge - h, w, h)
