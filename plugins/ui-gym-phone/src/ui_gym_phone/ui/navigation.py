"""The navigation bar: three buttons, or the line that gestures begin at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ui_gym_phone.state.display import LEFT, RIGHT, rotation_of
from ui_gym_phone.ui.scene import Box, Handler, PhoneScene
from ui_gym_phone.ui.touch import FingerStroke

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone

MODE = "navigation_mode"
"""The secure setting: how the system is navigated."""
BUTTONS, GESTURES = "0", "2"

BAR, LINE = 44.0, 24.0
"""How high the bar is with three buttons, and with gestures; in dp."""

EDGE, FAR = 24.0, 48.0
"""From so near an edge a swipe inward is to go back; so far one must go; in dp."""


def gestural(phone: Phone) -> bool:
    """Whether the system is navigated by gestures."""
    return phone.setting("secure", MODE, BUTTONS) == GESTURES


def room(phone: Phone, scene: PhoneScene) -> Box:
    """What the bar leaves of the screen. The buttons stay at the phone's lower end as it turns."""
    left, top, right, bottom = scene.screen
    if gestural(phone):
        return left, top, right, bottom - _high(scene, LINE)
    bar, rotation = _high(scene, BAR), rotation_of(phone)
    if rotation == LEFT:
        return left, top, right - bar, bottom
    if rotation == RIGHT:
        return left + bar, top, right, bottom
    return left, top, right, bottom - bar


def _high(scene: PhoneScene, dp: float) -> int:
    """How high the bar is, in device pixels."""
    return scene.theme.cells(scene.theme.px(dp))


def place_bar(phone: Phone, scene: PhoneScene, back: Handler) -> None:
    """The bar, in the colour of what lies beside it; `back` is what its first button does."""
    ground = "keyboard" if phone.activity.focus in scene.fields else "background"
    if gestural(phone):
        _place_line(phone, scene, ground)
    elif room(phone, scene)[3] < scene.height:
        _place_buttons(phone, scene, ground, back)
    else:
        _place_column(phone, scene, back)


def _place_buttons(phone: Phone, scene: PhoneScene, ground: str, back: Handler) -> None:
    bar, third = _high(scene, BAR), scene.width // 3
    top = scene.height - bar
    scene.rect((0, top, scene.width, scene.height), ground)
    middle = top + bar // 2
    for i, press in enumerate((back, phone.home, phone.toggle_recents)):
        _place_button(scene, i, i * third + third // 2, middle, ground)
        scene.touch((i * third, top, (i + 1) * third, scene.height), tap=press, modal=True)


def _place_column(phone: Phone, scene: PhoneScene, back: Handler) -> None:
    """The same one above the other, beside what lies on its side: back is where it was below."""
    left, _, right, _ = room(phone, scene)
    bar = (right, 0, scene.width, scene.height) if left == 0 else (0, 0, left, scene.height)
    scene.rect(bar, "background")
    third, middle = scene.height // 3, (bar[0] + bar[2]) // 2
    for i, press in enumerate((back, phone.home, phone.toggle_recents)):
        place = 2 - i if left == 0 else i
        _place_button(scene, i, middle, place * third + third // 2, "background")
        box = (bar[0], place * third, bar[2], (place + 1) * third)
        scene.touch(box, tap=press, modal=True)


def _place_button(scene: PhoneScene, which: int, x: int, y: int, ground: str) -> None:
    """An arrow, a ring or a square around a point."""
    px = scene.theme.px
    if which == 1:
        r, edge = px(9), px(2)
        scene.rect((x - r, y - r, x + r, y + r), "dim", r)
        r -= edge
        scene.rect((x - r, y - r, x + r, y + r), ground, r)
        return
    icon = "square-outline" if which else "chevron-left"
    half = px(10) if which else px(13)
    scene.icon(x - half, y - half, 2 * half, icon, "dim")


def _place_line(phone: Phone, scene: PhoneScene, ground: str) -> None:
    """The line, over the wallpaper or on what lies above it."""
    px, line = scene.theme.px, _high(scene, LINE)
    top = scene.height - line
    if phone.recents or phone.shade:
        ground = "container"
    if ground != "background" or not phone.at_home:
        scene.rect((0, top, scene.width, scene.height), ground)
    half, thick, middle = px(54), px(2), top + line // 2
    x = scene.width // 2
    scene.rect((x - half, middle - thick, x + half, middle + thick), "text", thick)


# -- gestures --


def place_gestures(phone: Phone, scene: PhoneScene, back: Handler) -> None:
    """Swipes that begin at an edge of the screen: they lie over everything, and are touched by
    nothing else."""
    if not gestural(phone):
        return
    px = scene.theme.px
    width, height = scene.width, scene.height

    def go(stroke: FingerStroke) -> bool:
        if -stroke.dy >= px(FAR) and not stroke.across:
            if stroke.held and not phone.recents:
                phone.toggle_recents()
            elif not stroke.held:
                phone.home()
        elif stroke.across and stroke.dx >= px(FAR):
            _last_app(phone)
        return True

    def inward(stroke: FingerStroke) -> bool:
        inside = stroke.dx if stroke.x1 < width // 2 else -stroke.dx
        if stroke.across and inside >= px(FAR):
            back()
        return stroke.across

    scene.touch((0, 0, px(EDGE), height), stroke=inward)
    scene.touch((width - px(EDGE), 0, width, height), stroke=inward)
    scene.touch((0, height - _high(scene, LINE), width, height), stroke=go)


def _last_app(phone: Phone) -> None:
    """A swipe along the line: the app that was used before."""
    before = phone.tasks if phone.at_home else phone.tasks[:-1]
    if before:
        phone.launch(before[-1].package)
