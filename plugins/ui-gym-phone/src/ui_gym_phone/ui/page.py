"""Page: a whole screen of an app, with its bar, its content, a button over it, dialogs, menus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ui_gym_phone.ui import touch
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import (
    Around,
    Expand,
    Fitting,
    HStack,
    Size,
    Space,
    Surface,
    Tap,
    VStack,
    Widget,
)
from ui_gym_phone.ui.scene import Box as Bounds
from ui_gym_phone.ui.scene import Handler, PhoneScene
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.theme import Theme
from ui_gym_phone.ui.widgets import Button, Icon, IconButton, Item, RadioItem, Text

MARGIN = 24
"""dp beside a dialog."""

CHOICES_AROUND = 230
"""dp of a screen's height that a dialog's options have not: bars, edges, a title, buttons."""


@dataclass
class AppPage:
    """A screen. `body` is a widget that gets all the room between bar and bottom."""

    body: Widget
    title: str = ""
    bar: Widget | None = None
    """Instead of the usual bar with the title."""
    back: Handler | None = None
    """The arrow in the bar; none on an app's first screen."""
    actions: Sequence[Widget] = ()
    """Icon buttons at the end of the bar."""
    fab: Widget | None = None
    bottom: Widget | None = None
    dialog: Dialog | None = None
    menu: Menu | None = None
    ground: str = "background"
    fullscreen: bool = False
    """Whether the status bar lies on the body, in white: a camera."""


@dataclass
class Dialog:
    """A window over the page, of a title, a body and buttons; touching beside it dismisses it."""

    title: str
    body: Widget | None
    buttons: Sequence[Widget]
    dismiss: Handler


@dataclass
class MenuItem:
    """A row of a menu."""

    text: str
    on_tap: Handler
    icon: str = ""


@dataclass
class Menu:
    """A menu: the one behind the three dots, or one `beside` a box in device pixels."""

    items: Sequence[MenuItem]
    dismiss: Handler
    beside: Bounds | None = None


def question(
    ui: Ui, title: str, body: Widget | None, yes: str, on_yes: Handler, *, no: str = "Cancel",
    ready: bool = True,
) -> Dialog:  # fmt: skip
    """A dialog of two answers; `on_yes` closes it when it is content."""
    buttons = [
        Button(no, ui.dismiss, style="text"),
        Button(yes, on_yes, style="text", enabled=ready),
    ]
    return Dialog(title, body, buttons, ui.dismiss)


def confirm(
    ui: Ui, title: str, text: str, yes: str, on_yes: Callable[[], object], *, no: str = "Cancel"
) -> Dialog:
    """A dialog that asks whether to go on."""
    body = Text(text, "body", "dim") if text else None
    return question(ui, title, body, yes, ui.then(on_yes), no=no)


def discard(ui: Ui, text: str = "What you entered will not be saved.") -> Dialog:
    """Asks whether to leave a form that was changed."""
    return confirm(ui, "Discard changes?", text, "Discard", ui.close, no="Keep editing")


def more_menu(ui: Ui, items: Sequence[tuple[str, Callable[[], object]]]) -> Menu | None:
    """The menu behind the three dots while it is open; each item closes it before it acts."""
    if ui.dialog == "menu":
        return Menu([MenuItem(text, ui.then(act)) for text, act in items], ui.dismiss)
    if ui.state.get("overlay") != "menu":
        return None

    def then(act: Callable[[], object]) -> Handler:
        def handle() -> None:
            ui.close_overlay()
            act()

        return handle

    return Menu([MenuItem(text, then(act)) for text, act in items], ui.close_overlay)


def choices(
    ui: Ui, title: str, options: Sequence[tuple[str, Handler]], chosen: int | None = None
) -> Dialog:
    """A dialog that lists options; touching one does it and closes the dialog."""
    rows: list[Widget] = [
        RadioItem(text, i == chosen, ui.then(handler))
        if chosen is not None
        else Item(text, "", ui.then(handler))
        for i, (text, handler) in enumerate(options)
    ]
    body: Widget = VStack(*rows)
    room = ui.high - CHOICES_AROUND
    if len(rows) > 8 or 56 * len(rows) > room:
        body = Box(ScrollView(ui, f"dialog {title}", body), min(400, room))
    return Dialog(title, body, [Button("Cancel", ui.dismiss, style="text")], ui.dismiss)


def app_bar(page: AppPage) -> Widget:
    """The bar at the top of a page."""
    arrow = IconButton("arrow-left", "Navigate up", page.back, colour="text") if page.back else None
    title = Text(page.title, "title", lines=1)
    lead = 4.0 if arrow else 16.0
    return HStack(arrow, Expand(title), *page.actions, gap=4, pad=(lead, 8, 4, 8))


def search_bar(ui: Ui, hint: str) -> Widget:
    """The bar of a page while its field ``search`` is typed into."""
    stop = IconButton("arrow-left", "Stop searching", ui.stop_searching)
    return HStack(stop, VStack(TextField(ui, "search", hint), weight=1), gap=4, pad=(4, 6, 12, 6))


def search_pill(field: TextField, end: Widget) -> Widget:
    """The bar of a page that has a search at all times."""
    row = HStack(Icon("magnify", 24, "dim"), field, end, gap=8, pad=(16, 2, 2, 2))
    return VStack(Surface(row, "container", radius=28), pad=(16, 8, 16, 8))


def selection_bar(ui: Ui, count: int, *actions: Widget) -> Widget:
    """The bar of a page on which something is selected."""
    close = IconButton("close", "Stop selecting", ui.close_overlay, colour="text")
    told = Expand(Text(f"{count} selected", "title", lines=1))
    return Surface(HStack(close, told, *actions, gap=4, pad=(4, 8, 4, 8)), "container")


def fab(icon: str, desc: str, on_tap: Handler, *, id: str = "fab") -> Tap:
    """The round button over a page; where there is no room for much else, a word."""
    face = Surface(Icon(icon, 24, "on_tonal"), "tonal", radius=16, pad=16)
    word = Surface(Text(desc, "strong", "on_tonal", tell=False), "tonal", radius=16, pad=16)
    return Tap(Fitting(face, word), on_tap, cls="android.widget.ImageButton", desc=desc, id=id)


def bottom_nav(items: Sequence[tuple[str, str, Handler]], chosen: int) -> Widget:
    """The bar of (icon, text, handler) at the bottom of a page."""
    cells: list[Widget] = []
    for i, (icon, text, on_tap) in enumerate(items):
        ink = "primary" if i == chosen else "dim"
        mark = Surface(Icon(icon, 24, "on_tonal" if i == chosen else "dim"),
                       "tonal" if i == chosen else "", radius=16, pad=(18, 4, 18, 4))  # fmt: skip
        word = Text(text, "caption", ink, lines=1, tell=False)
        face = VStack(Fitting(mark), word, gap=3, align="center")
        cells.append(Tap(face, on_tap, text=text, desc=text, selected=i == chosen, weight=1,
                         cls="android.widget.FrameLayout"))  # fmt: skip
    return Surface(HStack(*cells, pad=(0, 10, 0, 8)), "container")


def tabs(items: Sequence[tuple[str, Handler]], chosen: int) -> Widget:
    """A row of tabs."""
    cells: list[Widget] = []
    for i, (text, on_tap) in enumerate(items):
        ink = "primary" if i == chosen else "dim"
        line = Surface(Space(3), "primary" if i == chosen else "", radius=2)
        face = VStack(Text(text, "label", ink, lines=1, align="center", tell=False), line, gap=8,
                      pad=(8, 12, 8, 0))  # fmt: skip
        cells.append(Tap(face, on_tap, text=text, selected=i == chosen, weight=1,
                         cls="android.widget.TextView"))  # fmt: skip
    return HStack(*cells)


class Box(Around):
    """A child in a box of a fixed height in dp."""

    def __init__(self, child: Widget, height: float) -> None:
        self.child, self.height = child, height

    def measure(self, theme: Theme, width: int) -> Size:
        return width, theme.px(self.height)


class ScrollView(Around):
    """A child of any height that is moved up and down; `key` tells it from others of the screen."""

    def __init__(
        self, ui: Ui, key: str, child: Widget, *, weight: int = 1, tail: float = 0
    ) -> None:
        self.ui, self.key, self.child = ui, key, child
        self.weight, self.tail = weight, tail

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        whole = self.child.size(scene.theme, width)[1] + scene.theme.room(self.tail)
        farthest = max(0, whole - height)
        activity, clock = self.ui.activity, self.ui.phone.clock
        offset = min(max(0, touch.offset_of(activity, self.key, clock)), farthest)
        if grid := scene.theme.grid:  # rows come to rest where cells are
            offset = (offset + grid // 2) // grid * grid
        box = (x, y, x + width, y + height)

        def scroll(dy: int, speed: float) -> None:
            to = min(max(0, offset + dy), farthest)
            touch.move(activity, self.key, to, clock, speed, scene.theme.density)

        def stop() -> bool:
            moved = touch.moving(activity, self.key, clock)
            if moved:
                touch.move(activity, self.key, offset, clock)
            return moved

        if farthest:  # below its children: they are asked first
            scene.touch(box, scroll=scroll, stop=stop)
        with (
            scene.node("android.widget.ScrollView", box, scrollable=farthest > 0, id=self.key),
            scene.clipped(box),
        ):
            self.child.place(scene, x, y - offset, width, whole)
        if farthest:
            px = scene.theme.px
            length = max(px(24), height * height // whole)
            top = y + (height - length) * offset // farthest
            scene.rect(
                (x + width - px(4), top, x + width - px(1), top + length), "divider", px(1.5)
            )


# -- windows over a page --


def place_dialog(scene: PhoneScene, ui: Ui, dialog: Dialog, room: Bounds) -> None:
    """A dialog in the middle of the room, over a veil whose touch dismisses it. Where the room is
    too small, its body scrolls."""
    px = scene.theme.px
    _veil(scene, dialog.dismiss, 102)
    left, top, right, bottom = room
    width, most = right - left - 2 * px(MARGIN), bottom - top - scene.theme.room(16)
    panel = _panel(dialog, dialog.body)
    height = panel.size(scene.theme, width)[1]
    if height > most and dialog.body is not None:
        panel = _panel(dialog, ScrollView(ui, f"dialog {dialog.title}", dialog.body))
        height = most
    y = top + scene.theme.whole((bottom - top - height) // 2)
    box = (left + px(MARGIN), y, left + px(MARGIN) + width, y + height)
    scene.touch(box, modal=True)
    with scene.clipped(box):
        panel.place(scene, box[0], y, width, height)


def _panel(dialog: Dialog, body: Widget | None) -> Surface:
    buttons = HStack(Space(weight=1), *dialog.buttons, gap=4, pad=(12, 4, 12, 12))
    title = HStack(Text(dialog.title, "title"), pad=(24, 20, 24, 8)) if dialog.title else Space(16)
    inset = 8.0 if isinstance(dialog.body, VStack) else 24.0
    middle = VStack(body, pad=(inset, 4, inset, 8), weight=1) if body else None
    return Surface(VStack(title, middle, buttons), "surface", radius=24)


def place_menu(scene: PhoneScene, menu: Menu, room: Bounds) -> None:
    """A menu below the upper right corner, or below (else above) what it is beside."""
    px = scene.theme.px
    _veil(scene, menu.dismiss, 0)
    rows = [Item(item.text, "", item.on_tap, icon=item.icon) for item in menu.items]
    panel = Surface(VStack(*rows, pad=(0, 8, 0, 8)), "container", radius=12)
    width = px(220)
    if menu.beside is not None:
        panel = Surface(VStack(*rows), "surface", radius=24, border="divider")
        width = px(200)
    height = panel.size(scene.theme, width)[1]
    x, y = room[2] - width - px(8), room[1] + scene.theme.room(8)
    if menu.beside is not None:
        left, top, right, bottom = menu.beside
        x = min(max(room[0] + px(8), (left + right - width) // 2), x)
        y = bottom if bottom + height <= room[3] else max(room[1], top - height)
    scene.touch((x, y, x + width, y + height), modal=True)
    panel.place(scene, x, y, width, height)


def _veil(scene: PhoneScene, dismiss: object, opacity: int) -> None:
    if opacity:
        scene.rect(scene.screen, "scrim", opacity=opacity)
    scene.touch(scene.screen, tap=dismiss, modal=True)
