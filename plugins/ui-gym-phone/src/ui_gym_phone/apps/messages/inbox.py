"""The list of conversations, the newest first."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.dates import lately
from ui_gym_phone.apps.faces import face, matching
from ui_gym_phone.apps.phone_app import app_of
from ui_gym_phone.state import messages
from ui_gym_phone.state.contacts import KINDS, digits, name_of
from ui_gym_phone.state.messages import PACKAGE, MessageThread
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Lazy, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView, confirm, fab, selection_bar
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import AtLeast, Disc, Empty, Header, Icon, IconButton, Item, Text

CONVERSATIONS = ".ConversationListActivity"
CONVERSATION = ".ConversationActivity"
NEW = ".NewConversationActivity"

APP = app_of(PACKAGE)


@APP.screen(CONVERSATIONS, "READ_SMS")
def inbox(ui: Ui) -> AppPage:
    """Conversations; touching one opens it, holding one selects it."""
    overlay = ui.state.get("overlay")
    threads = _found(ui) if overlay == "search" else messages.threads(ui.phone)
    selected: list[str] = ui.state.get("selected", []) if overlay == "selection" else []
    if threads:
        sent = {(m.ms, m.body) for m in messages.all(ui.phone) if m.sent}
        body: Widget = Lazy(
            [  # an unread one may take a line more, or not
                (t.unread and t.number, partial(_row, ui, t, selected, (t.ms, t.snippet) in sent))
                for t in threads
            ]
        )
    elif overlay == "search":
        body = Empty("magnify", "No conversations found")
    else:
        body = Empty("chat-outline", "Once you start a conversation, you'll see it listed here")
    bar, dialog = None, None
    if overlay == "search":
        bar = _search_bar(ui)
    elif overlay == "selection":
        bar = _selection_bar(ui, selected)
        what = "this conversation" if len(selected) == 1 else f"{len(selected)} conversations"
        if ui.dialog == "delete":
            dialog = confirm(ui, f"Delete {what}?", "This can't be undone.", "Delete",
                             partial(_delete, ui, selected))  # fmt: skip
    start = fab("message-text", "Start chat", partial(ui.open, NEW, body=ui.extra("body")))
    search = IconButton("magnify", "Search messages", ui.search)
    return AppPage(
        ScrollView(ui, "inbox", body, tail=88), title="Messages", bar=bar, actions=[search],
        fab=None if overlay in ("selection", "search") else start, dialog=dialog,
    )  # fmt: skip


def _row(ui: Ui, thread: MessageThread, selected: list[str], sent: bool) -> Widget:
    name = name_of(ui.phone, thread.number)
    chosen = thread.number in selected
    new = thread.unread > 0
    snippet = f"You: {thread.snippet}" if sent else thread.snippet
    top = HStack(
        Expand(Text(name, "strong" if new else "body", lines=1)),
        Text(lately(ui.phone, thread.ms), "label" if new else "caption",
             "text" if new else "dim", lines=1),
        gap=8,
    )  # fmt: skip
    below = HStack(
        Expand(
            Text(snippet.replace("\n", " "), "label" if new else "small",
                 "text" if new else "dim", lines=2 if new else 1)
        ),
        Surface(None, "primary", radius=5, width=10, height=10) if new else None,
        gap=8,
    )  # fmt: skip
    lead = Icon("check-circle", 48, "primary") if chosen else face(name, 48)
    line: Widget = HStack(lead, Expand(VStack(top, below, gap=2)), gap=14, pad=(16, 10, 16, 10))
    if chosen:
        line = Surface(line, "tonal")
    touch = partial(_toggle, ui, thread.number) if selected else partial(_open, ui, thread.number)
    return Tap(
        AtLeast(line, 72), touch, on_long_press=partial(_toggle, ui, thread.number),
        selected=chosen, desc="Unread" if new else "", id="conversation",
    )  # fmt: skip


def _open(ui: Ui, number: str) -> None:
    ui.unfocus()
    messages.mark_read(ui.phone, number)
    ui.open(CONVERSATION, number=number, body=ui.extra("body"))


# -- searching --


def _found(ui: Ui) -> list[MessageThread]:
    wanted = ui.text("search").strip().casefold()
    return [
        thread
        for thread in messages.threads(ui.phone)
        if wanted in name_of(ui.phone, thread.number).casefold()
        or wanted in thread.number
        or any(wanted in m.body.casefold() for m in messages.conversation(ui.phone, thread.number))
    ]


def _search_bar(ui: Ui) -> Widget:
    field = TextField(ui, "search", "Search messages", framed=False, weight=1)
    stop = IconButton("arrow-left", "Stop searching", ui.stop_searching, colour="text")
    return Surface(HStack(stop, field, pad=(4, 8, 16, 8)), "container")


# -- selecting --


def _toggle(ui: Ui, number: str) -> None:
    ui.unfocus()
    selected: list[str] = ui.state.get("selected", [])
    if ui.state.get("overlay") != "selection":
        selected = []
    left = [n for n in selected if n != number] if number in selected else [*selected, number]
    ui.state.update(overlay="selection", selected=left)
    if not left:
        ui.close_overlay()


def _selection_bar(ui: Ui, selected: list[str]) -> Widget:
    def read() -> None:
        for number in selected:
            messages.mark_read(ui.phone, number)
        ui.close_overlay()

    return selection_bar(
        ui, len(selected), IconButton("check", "Mark as read", read),
        IconButton("delete-outline", "Delete", partial(ui.ask, "delete")),
    )  # fmt: skip


def _delete(ui: Ui, selected: list[str]) -> None:
    for number in selected:
        messages.delete_thread(ui.phone, number)
    ui.close_overlay()
    ui.say("Conversation deleted" if len(selected) == 1 else "Conversations deleted")


# -- whom a new conversation is with --


FEWEST = 3
"""Digits of the shortest number that can be written to."""


@APP.screen(NEW)
def new(ui: Ui) -> AppPage:
    """A field for a name or a number, and who is meant by it."""
    wanted = ui.text("to")
    rows: list[Widget] = []
    plain = not any(sign.isalpha() for sign in wanted)
    number = wanted.strip() if plain and len(digits(wanted)) >= FEWEST else ""
    if number:
        rows.append(
            Item(f"Send to {number}", "", partial(_write, ui, number), lines=1,
                 lead=Disc("#5f6368", 40, icon="message-text"))
        )  # fmt: skip
    people = [person for person in matching(ui.phone, wanted) if person.numbers]
    if people:
        rows.append(Header("Contacts"))

    def row(name: str, other: str, kind: int) -> Widget:
        told = f"{other} · {KINDS.get(kind, 'Other')}"
        return Item(name, told, partial(_write, ui, other), lines=1, lead=face(name))

    numbers = [(person.name, *each) for person in people for each in person.numbers]
    if numbers:
        rows.append(Lazy([("number", partial(row, *each)) for each in numbers]))
    if not rows:
        hint = "No contacts match" if wanted else "Nobody to suggest"
        rows.append(Empty("account", hint))

    def enter() -> None:
        if number:
            _write(ui, number)
        elif people:
            _write(ui, people[0].number)

    field = TextField(ui, "to", "Type a name or phone number", framed=False, weight=1,
                      on_enter=enter, id="recipient_text_view")  # fmt: skip
    bar = Surface(HStack(Text("To", "body", "dim"), field, gap=8, pad=(16, 2, 12, 2)), "container",
                  radius=24)  # fmt: skip
    body = VStack(VStack(bar, pad=(16, 0, 16, 8)), ScrollView(ui, "people", VStack(*rows), tail=24))
    return AppPage(body, title="New conversation", back=ui.close)


def _write(ui: Ui, number: str) -> None:
    ui.close()
    ui.start(APP.package.name, CONVERSATION, number=number, body=ui.extra("body"))
