"""Recents: the overview of what was opened, as pictures that can be opened and swiped away."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial

from PIL import Image

from ui_gym_phone.state.activities import TaskStack
from ui_gym_phone.state.phone import LAUNCHER, Phone
from ui_gym_phone.ui import compose, fonts, navigation
from ui_gym_phone.ui.layout import HStack, Tap, VStack, Widget
from ui_gym_phone.ui.painter import Painter
from ui_gym_phone.ui.scene import Box, Op, PhoneScene
from ui_gym_phone.ui.theme import LOW, Rgb
from ui_gym_phone.ui.touch import FingerStroke
from ui_gym_phone.ui.widgets import Button, Disc, Icon, Text

PLACE = "recents"
"""Which card is in the middle, counted from the one used last: kept as the shade's scrolling."""

GAP, RADIUS = 14.0, 22.0
"""Between cards, and of their corners; in dp."""
BEYOND = 4
"""Cards that are laid out beside the one in the middle: those that are farther are not seen."""


@dataclass(frozen=True)
class TaskPicture:
    """Draws what was seen of a task, in a card with round corners on a ground."""

    ops: tuple[Op, ...]
    screen: tuple[int, int]
    """Its width and height in device pixels."""
    radius: float
    """A share of the picture's width."""
    ground: Rgb

    def __call__(self, width: int, height: int) -> Image.Image:
        return _drawn(self, width, height)


@lru_cache(maxsize=32)
def _drawn(picture: TaskPicture, width: int, height: int) -> Image.Image:
    scale = max(width / picture.screen[0], height / picture.screen[1])
    seen = Image.fromarray(Painter(width, height, scale).paint(picture.ops))
    canvas = Image.new("RGB", (width, height), picture.ground)
    radius = min(round(picture.radius * width), width // 2, height // 2)
    canvas.paste(seen, (0, 0), fonts.rounded_mask(width, height, max(1, radius)))
    return canvas


def place_recents(phone: Phone, scene: PhoneScene) -> None:
    """The cards side by side, the one used last first: touch a card to open it, swipe it up to
    close it, swipe aside to see those before."""
    left, top, right, bottom = room = navigation.room(phone, scene)
    scene.rect(scene.screen, "container")
    with scene.window(LAUNCHER, "RecentsActivity"):
        if not phone.tasks:
            _place_none(scene, room)
            return
        tasks = phone.tasks[::-1]
        at = min(max(0, phone.system.scroll.get(PLACE, 0)), len(tasks) - 1)
        card = _card_box(scene, room)
        wide = card[2] - card[0]

        def turn(stroke: FingerStroke) -> bool:
            if stroke.across:
                cards = max(1, round(abs(stroke.dx) / wide))
                to = at + cards if stroke.dx > 0 else at - cards
                phone.system.scroll[PLACE] = min(max(0, to), len(tasks) - 1)
            return stroke.across

        scene.touch((left, top, right, bottom), stroke=turn)
        shown = range(max(0, at - BEYOND), min(len(tasks), at + BEYOND + 1))
        pictures = _pictures(phone, [tasks[i] for i in shown])
        # The oldest first: it lies leftmost, and accessibility services read from there.
        for i in reversed(shown):
            x = (at - i) * (wide + scene.theme.px(GAP))
            box = (card[0] + x, card[1], card[2] + x, card[3])
            if box[0] < right and box[2] > left:
                _place_card(phone, scene, tasks[i], pictures[tasks[i].id], box, named=i == at)
        _place_clear(phone, scene, (left, card[3], right, bottom))


def _place_none(scene: PhoneScene, room: Box) -> None:
    px = scene.theme.px
    empty = VStack(
        Icon("apps", 48, "disabled"), Text("No recent items", "body", "dim", align="center"),
        gap=12, align="center",
    )  # fmt: skip
    height = empty.size(scene.theme, room[2] - room[0])[1]
    middle = (room[1] + room[3] - height) // 2
    empty.place(scene, room[0] + px(16), middle, room[2] - room[0] - 2 * px(16), height)


def _card_box(scene: PhoneScene, room: Box) -> Box:
    """Where the card in the middle lies: as large as the room allows, as wide to its height as the
    screen is."""
    px = scene.theme.px
    head, foot = (36, 48) if scene.height < px(LOW) else (104, 96)
    top, bottom = room[1] + px(head), room[3] - px(foot)
    height = min(bottom - top, round(scene.height * 0.66))
    width = height * scene.width // scene.height
    x, y = (room[0] + room[2] - width) // 2, top + (bottom - top - height) // 2
    return x, y, x + width, y + height


def _place_card(
    phone: Phone, scene: PhoneScene, task: TaskStack, ops: tuple[Op, ...], box: Box, *,
    named: bool,
) -> None:  # fmt: skip
    px, theme = scene.theme.px, scene.theme
    package = phone.packages[task.package]

    def close(stroke: FingerStroke) -> bool:
        up = not stroke.across and -stroke.dy > px(GAP)
        if up:
            phone.close_task(task)
        return up

    head = _head(phone, task, named=named)
    height = head.size(theme, box[2] - box[0])[1]
    above = box[1] - height - px(10)
    scene.touch((box[0], above, box[2], box[3]), stroke=close)
    head.place(scene, box[0], above, box[2] - box[0], height)
    scene.touch(box, tap=partial(_open, phone, package.name))
    ground = theme.colour("container")
    round_by = px(RADIUS) / (box[2] - box[0])
    scene.image(box, TaskPicture(ops, (scene.width, scene.height), round_by, ground))
    scene.leaf("android.widget.FrameLayout", box, desc=package.label, id="snapshot",
               clickable=True)  # fmt: skip


def _open(phone: Phone, package: str) -> None:
    phone.launch(package)


def _head(phone: Phone, task: TaskStack, *, named: bool) -> Widget:
    """What lies over a card: the app's icon, which leads to what is known of the app, and over the
    card in the middle its name."""
    package = phone.packages[task.package]
    icon = Tap(
        Disc(package.colour, 32, icon=package.icon), partial(_info, phone, package.name),
        cls="android.widget.ImageView", desc=f"{package.label} app info", id="icon",
    )  # fmt: skip
    name = Text(package.label, "label", lines=1, tell=False) if named else None
    return HStack(icon, name, gap=8)


def _info(phone: Phone, package: str) -> None:
    phone.start("com.android.settings", ".Settings$AppInfoActivity", {"package": package})


def _pictures(phone: Phone, tasks: list[TaskStack]) -> dict[int, tuple[Op, ...]]:
    """What each task would show now, by its number: laid out on a twin of the phone, as a screen
    that is shown may change things, such as what is read."""
    twin = type(phone).restore(phone.snapshot())
    twin.recents = False
    found = {}
    wanted = {task.id for task in tasks}
    for task in [task for task in twin.tasks if task.id in wanted]:
        task.top.focus = ""
        scene = compose.empty_scene(twin)
        compose.place_activity(twin, scene, task.top)
        found[task.id] = tuple(scene.ops)
    return found


def _place_clear(phone: Phone, scene: PhoneScene, box: Box) -> None:
    clear = Button("Clear all", partial(_close_all, phone), style="tonal", id="clear_all")
    width, height = clear.size(scene.theme, box[2] - box[0])
    x, y = (box[0] + box[2] - width) // 2, (box[1] + box[3] - height) // 2
    clear.place(scene, x, y, width, height)


def _close_all(phone: Phone) -> None:
    phone.tasks.clear()
    phone.home()
