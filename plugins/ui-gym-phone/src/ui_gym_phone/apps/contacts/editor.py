"""The form in which a contact is created or changed."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.contacts.people import APP
from ui_gym_phone.apps.faces import EDITOR, PERSON
from ui_gym_phone.state import contacts
from ui_gym_phone.state.contacts import KINDS, MOBILE, Contact
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage, Dialog, ScrollView, choices, discard
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import Button, Icon, IconButton, Text

FIELDS = ("first", "last", "phone", "email", "note")


@APP.screen(EDITOR)
def editor(ui: Ui) -> AppPage:
    """A new contact, or with the extra `id` one that exists. The extras `name`, `phone`, `email`
    and `notes` of Android's insert intent are filled in."""
    old = contacts.get(ui.phone, ui.extra_number("id"))
    _begin(ui, old)
    bar = HStack(
        IconButton("close", "Close", partial(_leave, ui), colour="text"),
        Expand(Text("Edit contact" if old else "Create contact", "title", lines=1)),
        Button("Save", partial(_save, ui, old), id="save"),
        gap=4, pad=(4, 8, 16, 8),
    )  # fmt: skip
    label = KINDS.get(ui.state["kind"], "Other")
    form = VStack(
        _line("account", TextField(ui, "first", "First name", id="first_name")),
        _line("", TextField(ui, "last", "Last name", id="last_name")),
        _line("phone", TextField(ui, "phone", "Phone", kind="phone", id="phone")),
        _line("", _chooser(ui, label)),
        _line("email-outline", TextField(ui, "email", "Email", id="email")),
        _line("text", TextField(ui, "note", "Note", lines=2, id="note")),
        gap=12, pad=(16, 8, 16, 24),
    )  # fmt: skip
    return AppPage(ScrollView(ui, "form", form), bar=bar, dialog=_dialog(ui))


def _begin(ui: Ui, old: Contact | None) -> None:
    """Fill the form in when it is first seen."""
    if "kind" in ui.state:
        return
    name = old.name if old else ui.extra("name")
    first, _, last = name.rpartition(" ")
    start = {
        "first": first or last,
        "last": last if first else "",
        "phone": old.number if old else ui.extra("phone") or ui.extra("number"),
        "email": (old.emails or ("",))[0] if old else ui.extra("email"),
        "note": old.note if old else ui.extra("notes"),
    }
    for key, value in start.items():
        ui.fill(key, value)
    ui.state["kind"] = old.numbers[0][1] if old and old.numbers else MOBILE
    ui.state["before"] = [ui.text(key) for key in FIELDS]


def _line(icon: str, field: Widget) -> HStack:
    lead = Icon(icon, 24, "dim") if icon else Surface(None, "", width=24, height=24)
    return HStack(lead, Expand(field), gap=16)


def _chooser(ui: Ui, label: str) -> Tap:
    """The kind of the number, which a dialog lists."""
    face = HStack(
        Expand(Text(label, "body", tell=False)), Icon("chevron-down", 20, "dim"), gap=8,
        pad=(14, 12, 12, 12),
    )  # fmt: skip
    return Tap(Surface(face, "surface", radius=8, border="outline"), partial(ui.ask, "kind"),
               cls="android.widget.Spinner", text=label, desc="Phone label",
               id="phone_label")  # fmt: skip


def _save(ui: Ui, old: Contact | None) -> None:
    texts = {key: ui.text(key).strip() for key in FIELDS}
    name = " ".join(part for part in (texts["first"], texts["last"]) if part)
    if not any(texts.values()):
        ui.say("Nothing to save")
        return
    number, email, note, kind = texts["phone"], texts["email"], texts["note"], ui.state["kind"]
    if old:
        contacts.update(ui.phone, old.id, name, number, kind=kind, email=email, note=note)
        ui.close()
    else:
        id = contacts.add(ui.phone, name, number, kind=kind, email=email, note=note)
        ui.close()
        ui.start(APP.package.name, PERSON, id=id)
    ui.say("Contact saved")


def _leave(ui: Ui) -> None:
    if [ui.text(key) for key in FIELDS] == ui.state["before"]:
        ui.close()
    else:
        ui.ask("discard")


def _dialog(ui: Ui) -> Dialog | None:
    if ui.dialog == "kind":
        kinds = list(KINDS)
        options = [(KINDS[kind], ui.setter("kind", kind)) for kind in kinds]
        chosen = kinds.index(ui.state["kind"]) if ui.state["kind"] in kinds else len(kinds) - 1
        return choices(ui, "Phone label", options, chosen)
    if ui.dialog == "discard":
        return discard(ui)
    return None
