"""A record to read."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.shelf.records import values
from ui_gym_phone.apps.shelf.records.spec import EDIT, RecordsSpec
from ui_gym_phone.apps.support import attempt
from ui_gym_phone.state import records
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView, confirm
from ui_gym_phone.ui.widgets import Empty, IconButton, Text


def page(spec: RecordsSpec, ui: Ui) -> AppPage:
    """The record of the extra ``id``."""
    id = ui.extras.get("id")
    row = spec.find(ui.phone, id)
    if row is None:
        return AppPage(Empty("inbox", f"No such {spec.noun}"), title=spec.title, back=ui.close)
    title = values.filled(ui.phone, spec, spec.row["title"], row)
    parts: list[Widget] = [Text(title, "headline")]
    for about in spec.fields:
        told = values.shown(ui.phone, about, row.get(about.column))
        if about.shown and told and told != title:
            parts.append(VStack(Text(about.label, "label", "primary"), Text(told, "body"), gap=2))
    made = AppPage(
        ScrollView(ui, "record", VStack(*parts, gap=16, pad=(20, 8, 20, 24))), back=ui.close
    )
    if spec.new:
        made.actions = [
            IconButton("pencil", "Edit", partial(ui.open, EDIT, id=id)),
            IconButton("delete-outline", "Delete", partial(ui.ask, "delete")),
        ]
    if ui.dialog == "delete":
        made.dialog = confirm(
            ui, f"Delete this {spec.noun}?", title, "Delete", partial(_delete, spec, ui, id)
        )
    return made


def _delete(spec: RecordsSpec, ui: Ui, id: object) -> None:
    if attempt(ui, partial(records.delete, ui.phone, spec.path, spec.table, spec.key, [id])):
        ui.close()
