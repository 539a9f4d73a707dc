"""One conversation: its messages, and the field in which the next one is written."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.dates import moment, near_day, time_of, today
from ui_gym_phone.apps.faces import CONTACTS, EDITOR, PERSON, face
from ui_gym_phone.apps.messages.inbox import APP, CONVERSATION
from ui_gym_phone.state import messages, switches
from ui_gym_phone.state.calling import dial
from ui_gym_phone.state.contacts import name_of, person_with
from ui_gym_phone.state.messages import TextMessage
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, Fitting, HStack, Size, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import (
    AppPage,
    Dialog,
    Menu,
    ScrollView,
    confirm,
    more_menu,
    selection_bar,
)
from ui_gym_phone.ui.scene import PhoneScene
from ui_gym_phone.ui.textfield import Growing
from ui_gym_phone.ui.theme import Theme
from ui_gym_phone.ui.widgets import Empty, Icon, IconButton, Text

BOTTOM = 1 << 30
"""Scrolled further than any conversation is long."""

PAUSE_MS = 30 * 60_000
"""After which the time is told again."""

LOW = 480
"""dp of height below which a screen has room for one line above the keyboard."""

MOST = 200
"""How many of the newest messages are shown."""


@APP.screen(CONVERSATION)
def conversation(ui: Ui) -> AppPage:
    """The messages with the extra `number`; the extra `body` is what the field begins with."""
    number = ui.extra("number")
    if not number:
        return AppPage(Empty("chat-outline", "No recipient"), title="Messages", back=ui.close)
    ui.once("message", ui.extra("body"))
    ui.activity.scroll.setdefault("messages", BOTTOM)
    said = messages.conversation(ui.phone, number)
    if any(not message.read for message in said):
        messages.mark_read(ui.phone, number)  # it is open before the person: it was read
    selected = next((m for m in said if m.id == ui.state.get("selected")), None)
    if ui.state.get("overlay") != "selection":
        selected = None
    bar = _bar(ui, number) if selected is None else _selection_bar(ui, selected)
    return AppPage(
        FromBottom(ui, "messages", _bubbles(ui, said[-MOST:], selected)), bar=bar,
        bottom=_compose(ui, number), menu=_menu(ui, number), dialog=_asked(ui, number, selected),
        ground="surface",
    )  # fmt: skip


# -- the bar --


def _bar(ui: Ui, number: str) -> Widget:
    name = name_of(ui.phone, number)
    who = Tap(
        HStack(face(name, 36), Expand(Text(name, "subtitle", lines=1)), gap=12, pad=(0, 6, 0, 6)),
        partial(_details, ui, number), weight=1, id="conversation_title",
    )  # fmt: skip
    return HStack(
        IconButton("arrow-left", "Navigate up", ui.close, colour="text"),
        who,
        IconButton("phone", "Call", partial(dial, ui.phone, number)),
        IconButton("dots-vertical", "More options", ui.setter("overlay", "menu")),
        gap=4, pad=(4, 8, 4, 8),
    )  # fmt: skip


def _details(ui: Ui, number: str) -> None:
    person = person_with(ui.phone, number)
    ui.unfocus()
    if person is None:
        ui.start(CONTACTS, EDITOR, phone=number)
    else:
        ui.start(CONTACTS, PERSON, id=person.id)


def _menu(ui: Ui, number: str) -> Menu | None:
    known = person_with(ui.phone, number) is not None
    details = ("Contact details" if known else "Add contact", partial(_details, ui, number))
    return more_menu(ui, [details, ("Delete", partial(ui.ask, "delete conversation"))])


def _selection_bar(ui: Ui, chosen: TextMessage) -> Widget:
    def copy() -> None:
        ui.close_overlay()
        ui.copy(chosen.body, "Message copied")

    return selection_bar(
        ui, 1, IconButton("content-copy", "Copy", copy),
        IconButton("delete-outline", "Delete", partial(ui.ask, "delete message")),
    )  # fmt: skip


def _asked(ui: Ui, number: str, chosen: TextMessage | None) -> Dialog | None:
    if ui.dialog == "delete conversation":
        return confirm(ui, "Delete this conversation?", "This can't be undone.", "Delete",
                       partial(_delete_all, ui, number))  # fmt: skip
    if ui.dialog == "delete message" and chosen is not None:
        return confirm(ui, "Delete this message?", "This can't be undone.", "Delete",
                       partial(_delete, ui, chosen.id))  # fmt: skip
    return None


def _delete_all(ui: Ui, number: str) -> None:
    messages.delete_thread(ui.phone, number)
    ui.close()
    ui.say("Conversation deleted")


def _delete(ui: Ui, id: int) -> None:
    messages.delete(ui.phone, id)
    ui.close_overlay()
    ui.say("Message deleted")


# -- the messages --


class Beside(Widget):
    """A child that takes up to a share of the width, at the left, or at the `end`."""

    def __init__(self, child: Widget, share: float = 0.78, *, end: bool = False) -> None:
        self.child, self.share, self.end = child, share, end

    def measure(self, theme: Theme, width: int) -> Size:
        return width, self.child.size(theme, round(width * self.share))[1]

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        w = self.child.size(scene.theme, round(width * self.share))[0]
        self.child.place(scene, x + width - w if self.end else x, y, w, height)


class FromBottom(ScrollView):
    """A scrolled child that lies at the bottom where there is room above it."""

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        whole = self.child.size(scene.theme, width)[1] + scene.theme.px(self.tail)
        above = max(0, height - whole)
        super().place(scene, x, y + above, width, height - above)


def _bubbles(ui: Ui, said: list[TextMessage], selected: TextMessage | None) -> Widget:
    rows: list[Widget] = []
    before: TextMessage | None = None
    for message in said:
        if before is None or message.ms - before.ms > PAUSE_MS:
            rows.append(_moment(ui, message.ms))
        rows.append(_bubble(ui, message, message == selected))
        before = message
    if said and said[-1].sent:
        rows.append(Beside(Text("Sent", "caption", "dim"), end=True))
    return VStack(*rows, gap=6, pad=(14, 8, 14, 12))


def _moment(ui: Ui, ms: int) -> Widget:
    day = near_day(moment(ui.phone, ms).date(), today(ui.phone))
    told = f"{day}, {time_of(ui.phone, ms)}"
    return HStack(Expand(Text(told, "caption", "dim", align="center")), pad=(0, 12, 0, 6))


def _bubble(ui: Ui, message: TextMessage, selected: bool) -> Widget:
    ground, ink = ("primary", "on_primary") if message.sent else ("container", "text")
    if selected:
        ground, ink = "tonal", "on_tonal"
    panel = Surface(Text(message.body, "body", ink, id="message_text"), ground, radius=18,
                    pad=(14, 9, 14, 9))  # fmt: skip

    def select() -> None:
        ui.unfocus()
        ui.state.update(overlay="selection", selected=message.id)

    def stop() -> None:
        if ui.state.get("overlay") == "selection":
            select()

    touch = Tap(panel, stop, on_long_press=select, selected=selected)
    return Beside(touch, end=message.sent)


# -- what is written --


def _compose(ui: Ui, number: str) -> Widget:
    ready = bool(ui.text("message").strip())
    field = Growing(ui, "message", "Text message", lines=2, framed=False, weight=1,
                    id="compose_message_text")  # fmt: skip
    if ui.high < LOW:
        field.most = 1
    paste = None
    if ui.phone.clipboard:
        paste = IconButton("content-paste", "Paste", partial(_paste, ui))
    ink = "on_primary" if ready else "disabled"
    mark = Fitting(Icon("send", 22, ink), Text("Send", "label", ink, tell=False))
    send = Tap(
        Surface(mark, "primary" if ready else "container", radius=22, pad=11),
        partial(_send, ui, number), cls="android.widget.ImageButton",
        desc="Send" if ui.grid else "Send SMS", id="send_message_button", enabled=ready,
    )  # fmt: skip
    pill = Surface(HStack(field, paste, pad=(12, 4, 4, 4)), "container", radius=24, weight=1)
    return HStack(pill, send, gap=8, pad=(12, 8, 12, 8), align="end")


def _paste(ui: Ui) -> None:
    ui.fill("message", ui.text("message") + ui.phone.clipboard)
    ui.focus("message")


def _send(ui: Ui, number: str) -> None:
    if switches.airplane(ui.phone):
        ui.say("Turn off airplane mode to send messages")
        return
    messages.send(ui.phone, number, ui.text("message").strip())
    ui.fill("message", "")
    ui.activity.scroll["messages"] = BOTTOM
