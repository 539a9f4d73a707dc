"""Compose: how an app's activity, its dialogs and the keyboard are laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ui_gym_phone import apps
from ui_gym_phone.state.display import LARGER, display
from ui_gym_phone.ui import keyboard, navigation, systemui
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.page import AppPage, app_bar, place_dialog, place_menu
from ui_gym_phone.ui.scene import Box, PhoneScene
from ui_gym_phone.ui.textfield import Typing
from ui_gym_phone.ui.theme import Theme

if TYPE_CHECKING:
    from ui_gym_phone.state.activities import Activity
    from ui_gym_phone.state.phone import Phone


def empty_scene(phone: Phone) -> PhoneScene:
    """A scene of the screen as large and as turned as it is now."""
    screen = display(phone)
    scale = phone.font_scale * (LARGER if screen.grid else 1)
    theme = Theme(phone.dark, scale, screen.density, screen.grid)
    return PhoneScene(theme, screen.width, screen.height)


def place_activity(phone: Phone, scene: PhoneScene, activity: Activity) -> Box:
    """An activity with what is open over it. Gives the room that the keyboard leaves."""
    ui = Ui(phone, activity)
    draw = apps.screen_of(activity.package, activity.cls)
    page = draw(ui)
    room = _below_status(phone, scene, page)
    scene.rect(scene.screen, page.ground)
    with scene.window(activity.package, activity.cls):
        # Laid out once to learn which field it has, once more in the room that is left.
        if activity.focus:
            probe = PhoneScene(scene.theme, scene.width, scene.height)
            with probe.window(activity.package, activity.cls):
                _place_page(probe, page, room)
                if page.dialog is not None:
                    place_dialog(probe, ui, page.dialog, room)
            if activity.focus in probe.fields:
                room = (*room[:3], room[3] - keyboard.height(phone, scene))
            page = draw(ui)
        _place_page(scene, page, room)
    if page.dialog is not None:
        with scene.window(activity.package, "Dialog"):
            place_dialog(scene, ui, page.dialog, room)
    elif page.menu is not None:
        with scene.window(activity.package, "PopupWindow"):
            place_menu(scene, page.menu, room)
    return room


def _below_status(phone: Phone, scene: PhoneScene, page: AppPage) -> Box:
    left, top, right, bottom = navigation.room(phone, scene)
    return left, top if page.fullscreen else systemui.status(scene.theme), right, bottom


def place_keyboard(phone: Phone, scene: PhoneScene) -> None:
    """The keyboard of the field that has the caret, if one has."""
    field = scene.fields.get(phone.activity.focus)
    if field is None:
        return
    left, _, right, bottom = navigation.room(phone, scene)
    top = bottom - keyboard.height(phone, scene)
    scene.touch((left, top, right, bottom), modal=True)
    with scene.window("com.android.inputmethod.latin", "InputMethod", listed=False):
        keys = keyboard.keyboard(phone, Typing(phone.activity, field))
        keys.place(scene, left, top, right - left, bottom - top)


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
    low = bottom
    if page.fab is not None and scene.theme.grid:  # where it lies over nothing
        bottom -= page.fab.size(scene.theme, width)[1]
    page.body.place(scene, left, top, width, max(0, bottom - top))
    if page.bottom is not None:
        page.bottom.place(scene, left, low, width, height)
    if page.fab is not None:
        w, h = page.fab.size(scene.theme, width)
        edge = scene.theme.room(16)
        page.fab.place(scene, right - edge - w, low - edge - h, w, h)
