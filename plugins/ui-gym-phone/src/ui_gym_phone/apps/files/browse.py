"""Browse: the first screen, and a folder; what is selected there is moved, renamed or deleted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ui_gym_phone.apps.files import entries as store
from ui_gym_phone.apps.files.entries import SORTS, STORAGE, FileEntry, shown_name
from ui_gym_phone.apps.files.picker import PICK
from ui_gym_phone.apps.files.view import (
    BROWSE,
    FolderView,
    change_view,
    folder_rows,
    listing,
    view_of,
)
from ui_gym_phone.apps.files.viewer import INSPECTOR, VIEWER, can_view
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import (
    AppPage,
    Dialog,
    ScrollView,
    choices,
    confirm,
    more_menu,
    question,
    search_bar,
)
from ui_gym_phone.ui.scene import Handler
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import Empty, Header, Icon, IconButton, Text


def browse(ui: Ui) -> AppPage:
    """The extra ``folder`` says which is shown; without it, all places are listed.

    State: ``overlay`` is ``search`` or ``selection``, ``selected`` the paths that are marked, and
    ``searching`` whether they were found by a search.
    """
    folder = _folder(ui)
    selected = _selected(ui)
    view = view_of(ui.phone)
    if ui.state.get("overlay") == "search" or (selected and ui.state.get("searching")):
        body = _found(ui, folder or STORAGE, selected)
    elif folder:
        body = _content(ui, folder, view, selected)
    else:
        body = _places(ui)
    page = AppPage(body, title=shown_name(folder) if folder else "Files")
    if selected:
        page.bar = _selection_bar(ui, selected)
    elif ui.state.get("overlay") == "search":
        page.bar = search_bar(ui, "Search files")
    else:
        page.back = ui.close if folder else None
        page.actions = _actions(ui, folder, view)
    _windows(ui, page, folder, view, selected)
    return page


def _folder(ui: Ui) -> str:
    """The folder that is shown; empty for the list of places."""
    folder = ui.extra("folder")
    if not ui.phone.files.is_dir(folder):
        return ""
    folder = ui.phone.files.canonical(folder)
    return folder if store.within_storage(folder) else ""


def _selected(ui: Ui) -> list[str]:
    """The marked paths that are still there."""
    if ui.state.get("overlay") != "selection":
        return []
    return [path for path in ui.state.get("selected", []) if ui.phone.files.exists(path)]


# -- the bar --


def _actions(ui: Ui, folder: str, view: FolderView) -> list[Widget]:
    search = IconButton("magnify", "Search", partial(_search, ui))
    more = IconButton("dots-vertical", "More options", partial(ui.ask, "menu"))
    if not folder:
        return [search, more]
    icon, told = ("view-list", "List view") if view.grid else ("view-grid", "Grid view")
    return [search, IconButton(icon, told, partial(change_view, ui, grid=not view.grid)), more]


def _search(ui: Ui) -> None:
    ui.state["searching"] = True
    ui.search()


def _selection_bar(ui: Ui, selected: Sequence[str]) -> Widget:
    return Surface(
        HStack(
            IconButton("close", "Clear selection", ui.stop_searching),
            Expand(Text(f"{len(selected)} selected", "subtitle", lines=1)),
            IconButton("delete", "Delete", partial(ui.ask, "delete")),
            IconButton("dots-vertical", "More options", partial(ui.ask, "menu")),
            gap=4, pad=(4, 8, 4, 8),
        ),
        "tonal",
    )  # fmt: skip


# -- lists --


def _places(ui: Ui) -> Widget:
    files = ui.phone.files
    field = Surface(
        HStack(
            Icon("magnify", 22), Expand(Text("Search files", "body", "dim", tell=False)), gap=12
        ),
        "container",
        radius=26,
        pad=(18, 12, 18, 12),
    )
    search = VStack(Tap(field, partial(_search, ui), text="Search files"), pad=(12, 4, 12, 4))
    rows = []
    for name, icon in store.ROOTS:
        path = f"{STORAGE}/{name}"
        if files.is_dir(path):
            told = store.counted(files.list(path))
            rows.append((name, told, icon, partial(ui.open, BROWSE, folder=path)))
    whole = store.counted(files.list(STORAGE))
    storage = [("Internal storage", whole, "cellphone", partial(ui.open, BROWSE, folder=STORAGE))]
    lists = VStack(
        search, Header("Folders"), *folder_rows(ui, rows), Header("Storage devices"),
        *folder_rows(ui, storage),
    )  # fmt: skip
    return ScrollView(ui, "places", lists, tail=12)


def _content(ui: Ui, folder: str, view: FolderView, selected: Sequence[str]) -> Widget:
    found = store.entries(ui.phone, folder, view.sort, hidden=view.hidden)
    if not found:
        return VStack(
            _path_line(ui, folder), ScrollView(ui, "list", Empty("folder-outline", "No items"))
        )
    rows = listing(
        ui, found, partial(_tapped, ui, bool(selected)), partial(_held, ui),
        grid=view.grid, selected=frozenset(selected),
    )  # fmt: skip
    return VStack(_path_line(ui, folder), ScrollView(ui, "list", rows, tail=12))


def _found(ui: Ui, folder: str, selected: Sequence[str]) -> Widget:
    words = ui.text("search")
    found = store.search(ui.phone, folder, words)
    if not found:
        told = f"No matches in {shown_name(folder)}" if words.strip() else "Type to search"
        return ScrollView(ui, "found", Empty("magnify", told))
    rows = listing(ui, found, partial(_tapped, ui, bool(selected)), partial(_held, ui),
                   selected=frozenset(selected), place=True)  # fmt: skip
    return ScrollView(ui, "found", rows, tail=12)


def _path_line(ui: Ui, folder: str) -> Widget:
    """The folders above, each to be touched; the names nearest to the end where room is short."""
    parts = folder.removeprefix(STORAGE).strip("/").split("/") if folder != STORAGE else []
    steps: list[tuple[str, Handler]] = [("Internal storage", partial(_go, ui, STORAGE))]
    for i, name in enumerate(parts):
        steps.append((name, partial(_go, ui, "/".join([STORAGE, *parts[: i + 1]]))))
    cells: list[Widget] = []
    for i, (name, go) in enumerate(steps[-3:]):
        last = i == len(steps[-3:]) - 1
        if i:
            cells.append(Icon("chevron-right", 16))
        text = Text(name, "small", "text" if last else "primary", lines=1, tell=False)
        face = Surface(text, "", pad=(4, 6, 4, 6))
        cells.append(Expand(Tap(face, go, text=name)) if last else Tap(face, go, text=name))
    return HStack(*cells, gap=2, pad=(12, 0, 12, 4))


def _go(ui: Ui, folder: str) -> None:
    if folder != _folder(ui):
        ui.open(BROWSE, folder=folder)


def _tapped(ui: Ui, selecting: bool, entry: FileEntry) -> Handler:
    return partial(_mark, ui, entry.path) if selecting else partial(_open, ui, entry)


def _held(ui: Ui, entry: FileEntry) -> Handler:
    return partial(_mark, ui, entry.path)


def _mark(ui: Ui, path: str) -> None:
    """Mark a path, or unmark it; when none is left, the selection ends."""
    selected = _selected(ui)
    if not selected and ui.state.get("overlay") != "search":
        ui.state["searching"] = False
    selected = [p for p in selected if p != path] if path in selected else [*selected, path]
    ui.unfocus()
    ui.state["selected"] = selected
    if selected:
        ui.state["overlay"] = "selection"
    else:
        ui.close_overlay()


def _open(ui: Ui, entry: FileEntry) -> None:
    if entry.is_dir:
        ui.open(BROWSE, folder=entry.path)
    elif can_view(ui.phone, entry):
        ui.open(VIEWER, path=entry.path)
    else:
        ui.say("No app can open this file")


# -- menus and dialogs --


def _windows(ui: Ui, page: AppPage, folder: str, view: FolderView, selected: Sequence[str]) -> None:
    page.menu = more_menu(ui, _menu(ui, folder, view, selected))
    if ui.dialog == "sort":
        options = [(name, partial(change_view, ui, sort=i)) for i, name in enumerate(SORTS)]
        page.dialog = choices(ui, "Sort by", options, view.sort)
    elif ui.dialog == "folder" and folder:
        page.dialog = name_dialog(
            ui, "New folder", "Create", partial(store.make_folder, ui, folder)
        )
    elif ui.dialog == "delete" and selected:
        what = (
            f"“{selected[0].rpartition('/')[2]}”" if len(selected) == 1 else store.counted(selected)
        )
        page.dialog = confirm(ui, f"Delete {what}?", "This cannot be undone.", "Delete",
                              partial(_delete, ui, selected))  # fmt: skip
    elif ui.dialog == "rename" and selected:
        page.dialog = name_dialog(ui, "Rename", "OK", partial(_rename, ui, selected[0]))


def _menu(
    ui: Ui, folder: str, view: FolderView, selected: Sequence[str]
) -> list[tuple[str, Handler]]:
    hidden = "Don't show hidden files" if view.hidden else "Show hidden files"
    show = (hidden, partial(change_view, ui, hidden=not view.hidden))
    if not selected:
        if not folder:
            return [show]
        return [
            ("New folder", partial(_ask_name, ui, "folder", "")),
            ("Sort by…", partial(ui.ask, "sort")),
            ("Select all", partial(_select_all, ui, folder, view)),
            show,
        ]
    items: list[tuple[str, Handler]] = [
        ("Move to…", partial(_pick, ui, "move", selected)),
        ("Copy to…", partial(_pick, ui, "copy", selected)),
    ]
    if len(selected) == 1:
        name = selected[0].rpartition("/")[2]
        items.append(("Rename", partial(_ask_name, ui, "rename", name)))
        items.append(("Get info", partial(ui.open, INSPECTOR, path=selected[0])))
    if folder and not ui.state.get("searching"):
        items.append(("Select all", partial(_select_all, ui, folder, view)))
    return items


def _ask_name(ui: Ui, dialog: str, name: str) -> None:
    ui.ask_text(dialog, "name", name)
    # Typing replaces the old name; a person who wants to change a part of it touches the field.
    ui.select_all()


def name_dialog(ui: Ui, title: str, yes: str, act: partial[bool]) -> Dialog:
    """A dialog that asks for a name, and stays open where it cannot be taken."""

    def accept() -> None:
        if act(ui.text("name")):
            ui.dismiss()

    return question(ui, title, TextField(ui, "name", "Name", on_enter=accept), yes, accept)


def _delete(ui: Ui, selected: Sequence[str]) -> None:
    store.delete(ui, selected)
    ui.stop_searching()


def _rename(ui: Ui, path: str, name: str) -> bool:
    done = store.rename(ui, path, name)
    if done:
        ui.stop_searching()
    return done


def _select_all(ui: Ui, folder: str, view: FolderView) -> None:
    found = store.entries(ui.phone, folder, view.sort, hidden=view.hidden)
    if found:
        ui.state.update(overlay="selection", searching=False, selected=[e.path for e in found])


def _pick(ui: Ui, what: str, selected: Sequence[str]) -> None:
    ui.stop_searching()
    ui.open(PICK, what=what, paths=list(selected))
