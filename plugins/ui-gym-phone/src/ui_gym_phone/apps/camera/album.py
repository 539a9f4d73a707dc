"""The album: photos and films that were taken, one at a time, the newest first."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.pictures import Photo, Whole, is_picture
from ui_gym_phone.apps.support import attempt
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Center, HStack, Space, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage, confirm
from ui_gym_phone.ui.widgets import Empty, Icon, IconButton, Text

ALBUM = ".AlbumActivity"
FOLDER = "/sdcard/DCIM/Camera"
FILES = "com.android.documentsui"


def taken(phone: Phone) -> list[str]:
    """The paths of photos and films, the newest first."""
    if not phone.files.is_dir(FOLDER):
        return []
    paths = [f"{FOLDER}/{name}" for name in phone.files.list(FOLDER) if not name.startswith(".")]
    found = [p for p in paths if is_picture(p) or p.endswith(".mp4")]
    return sorted(found, key=lambda p: (phone.files.stat(p).mtime, p), reverse=True)


def album(ui: Ui) -> AppPage:
    """State: ``at``, the number of the one that is seen."""
    photos = taken(ui.phone)
    if not photos:
        return AppPage(Empty("image-multiple", "No photos"), title="Photos", back=ui.close)
    at = min(int(ui.state.get("at", 0)), len(photos) - 1)
    path = photos[at]
    name = path.rpartition("/")[2]
    picture: Widget
    if is_picture(path):
        picture = Whole(Photo(ui.phone.files.read(path)), name)
    else:
        picture = Center(Icon("file-video-outline", 96, desc=name))

    def swipe(dx: int, dy: int) -> bool:
        if abs(dx) > abs(dy):
            ui.state["at"] = min(max(0, at + (1 if dx < 0 else -1)), len(photos) - 1)
        return abs(dx) > abs(dy)

    earlier = IconButton("chevron-right", "Earlier photo", ui.setter("at", at + 1),
                         enabled=at + 1 < len(photos))  # fmt: skip
    later = IconButton("chevron-left", "Later photo", ui.setter("at", max(0, at - 1)),
                       enabled=at > 0)  # fmt: skip
    place = Text(f"{at + 1} of {len(photos)}", "small", "dim", lines=1)
    body = VStack(
        Tap(picture, on_swipe=swipe, weight=1, cls="android.widget.FrameLayout"),
        HStack(later, Space(weight=1), place, Space(weight=1), earlier, pad=(8, 4, 8, 8)),
    )
    info = partial(ui.start, FILES, ".inspector.InspectorActivity", path=path)
    page = AppPage(body, title=name, back=ui.close)
    page.actions = [
        IconButton("information-outline", "Details", info),
        IconButton("delete-outline", "Delete", partial(ui.ask, "delete")),
    ]
    if ui.dialog == "delete":
        what = "photo" if is_picture(path) else "video"
        page.dialog = confirm(
            ui, f"Delete this {what}?", name, "Delete", partial(_delete, ui, path)
        )
    return page


def _delete(ui: Ui, path: str) -> None:
    attempt(ui, partial(ui.phone.files.remove, path))
