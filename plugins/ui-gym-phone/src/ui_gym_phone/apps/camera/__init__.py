"""The Camera app: a view-finder, a shutter, and the photos that were taken."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.camera.views import LensView
from ui_gym_phone.apps.phone_app import app_of
from ui_gym_phone.apps.pictures import Photo, Whole, Zoomed, is_picture
from ui_gym_phone.apps.support import attempt, kept
from ui_gym_phone.state.display import display
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Center, HStack, Space, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage, confirm
from ui_gym_phone.ui.widgets import Empty, Icon, IconButton, ImageView, Text

PACKAGE = "com.android.camera2"
MAIN = "com.android.camera.CameraLauncher"

APP = app_of(PACKAGE)

SIDE = 250.0
"""How wide the controls are on a screen that lies on its side, in dp."""

FLASHES = (("flash-off", "off"), ("auto-fix", "auto"), ("flash", "on"))

# An empty film: the boxes `ftyp` and `mdat` of ISO/IEC 14496-12.
MP4 = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom\0\0\0\x08mdat"


@APP.screen(MAIN, "CAMERA")
def camera(ui: Ui) -> AppPage:
    """The view-finder. State: ``mode``, ``front``, ``flash``, and ``since``, the uptime in
    milliseconds at which a film was begun."""
    if display(ui.phone).wide:  # what is touched lies beside what is seen
        side = VStack(_top(ui), Space(weight=1), _modes(ui), Space(weight=1), _controls(ui))
        return AppPage(HStack(_finder(ui), Surface(side, "", width=SIDE), align="stretch"))
    return AppPage(VStack(_top(ui), _finder(ui), _modes(ui), _controls(ui)))


def _mode(ui: Ui) -> str:
    asked = "video" if "VIDEO" in str(ui.extras.get("action", "")) else "photo"
    return str(ui.state.get("mode", asked))


def _recording(ui: Ui) -> bool:
    return ui.state.get("since") is not None


def _view(ui: Ui) -> LensView:
    return LensView(len(taken(ui.phone)), bool(ui.state.get("front")))


def _top(ui: Ui) -> Widget:
    flash = int(ui.state.get("flash", 0))
    icon, told = FLASHES[flash]
    cells: list[Widget] = [
        IconButton(icon, f"Flash {told}", ui.setter("flash", (flash + 1) % len(FLASHES)),
                   enabled=not ui.state.get("front")),
        Space(weight=1),
    ]  # fmt: skip
    if _recording(ui):
        seconds = (ui.phone.clock.uptime_ms - int(ui.state["since"])) // 1000
        cells += [
            Icon("checkbox-blank-circle", 14, "error"),
            Text(f"{seconds // 60:02d}:{seconds % 60:02d}", "strong", id="recording_time"),
            Space(weight=1), Space(width=48),
        ]  # fmt: skip
    return HStack(*cells, gap=6, pad=(8, 2, 8, 2))


def _finder(ui: Ui) -> Widget:
    return Whole(_view(ui), "Camera preview")


def _modes(ui: Ui) -> Widget:
    cells: list[Widget] = [Space(weight=1)]
    for mode, label in (("photo", "Photo"), ("video", "Video")):
        chosen = mode == _mode(ui)
        text = Text(label, "label", "on_tonal" if chosen else "dim", lines=1, tell=False)
        face = Surface(text, "tonal" if chosen else "", radius=16, pad=(16, 7, 16, 7))
        cells.append(
            Tap(face, ui.setter("mode", mode), text=label, selected=chosen,
                enabled=not _recording(ui), cls="android.widget.TextView")
        )  # fmt: skip
    return HStack(*cells, Space(weight=1), gap=8, pad=(8, 8, 8, 0))


def _controls(ui: Ui) -> Widget:
    flip = IconButton("camera-flip", "Switch to back camera" if ui.state.get("front") else
                      "Switch to front camera", partial(_flip, ui), ground="container",
                      enabled=not _recording(ui))  # fmt: skip
    return HStack(Space(weight=1), _thumbnail(ui), Space(weight=1), _shutter(ui), Space(weight=1),
                  flip, Space(weight=1), pad=(8, 10, 8, 16))  # fmt: skip


def _thumbnail(ui: Ui) -> Widget:
    photos = taken(ui.phone)
    if not photos:
        return Space(48, width=48)
    newest = photos[0]
    face: Widget
    if is_picture(newest):
        face = ImageView(Photo(ui.phone.files.read(newest), cover=True), 48, 48)
    else:
        face = Surface(Icon("video", 24), "container", radius=8, pad=12)
    return Tap(face, partial(ui.open, ALBUM), cls="android.widget.ImageView",
               desc="Most recent photo", enabled=not _recording(ui))  # fmt: skip


def _shutter(ui: Ui) -> Widget:
    if _mode(ui) == "photo":
        inner, desc, act = "text", "Shutter", partial(_shoot, ui)
    elif _recording(ui):
        inner, desc, act = "error", "Stop recording", partial(_stop, ui)
    else:
        inner, desc, act = "error", "Start recording", partial(_record, ui)
    size = 28 if _recording(ui) else 52
    core = Surface(None, inner, radius=6 if _recording(ui) else 26, width=size, height=size)
    ground = Surface(core, "background", radius=34, pad=(68 - size) / 2)
    return Tap(Surface(ground, "text", radius=37, pad=3), act, cls="android.widget.ImageButton",
               desc=desc, id="shutter_button")  # fmt: skip


# -- what is done --


def _flip(ui: Ui) -> None:
    ui.state["front"] = not ui.state.get("front")


def _new_path(phone: Phone, prefix: str, ending: str) -> str:
    """``IMG_20231015_153400.jpg``; of two in one second, the second has a number."""
    name = f"{folders(phone)[ending == 'mp4']}/{prefix}_{phone.clock.local:%Y%m%d_%H%M%S}"
    path, number = f"{name}.{ending}", 0
    while phone.files.exists(path):
        number += 1
        path = f"{name}_{number}.{ending}"
    return path


def _store(ui: Ui, prefix: str, ending: str, data: bytes) -> None:
    def write() -> None:
        path = _new_path(ui.phone, prefix, ending)
        ui.phone.files.mkdir(path.rpartition("/")[0], parents=True)
        ui.phone.files.write(path, data)

    attempt(ui, write)


def _shoot(ui: Ui) -> None:
    _store(ui, "IMG", "jpg", _view(ui).jpeg())


def _record(ui: Ui) -> None:
    if ui.may("RECORD_AUDIO"):
        ui.state["since"] = ui.phone.clock.uptime_ms


def _stop(ui: Ui) -> None:
    ui.state["since"] = None
    _store(ui, "VID", "mp4", MP4)


# -- the album --


ALBUM = ".AlbumActivity"
FOLDER = "/sdcard/DCIM/Camera"
FILES = "com.android.documentsui"


def folders(phone: Phone) -> tuple[str, str]:
    """Where photos and films are kept, which the app's stored settings may say."""
    said = kept(phone, PACKAGE, "folders", str)
    return (said[0], said[1]) if len(said) == 2 else (FOLDER, FOLDER)


def taken(phone: Phone) -> list[str]:
    """The paths of photos and films, the newest first."""
    paths = [
        f"{folder}/{name}"
        for folder in sorted({*folders(phone)})
        if phone.files.is_dir(folder)
        for name in phone.files.list(folder)
        if not name.startswith(".")
    ]
    found = [p for p in paths if is_picture(p) or p.endswith(".mp4")]
    return sorted(found, key=lambda p: (phone.files.stat(p).mtime, p), reverse=True)


@APP.screen(ALBUM)
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
        picture = Zoomed(ui, ui.phone.files.read(path), name)
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
