"""Battery and Storage: what is left."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.applications import INFO, STORAGE, by_label
from ui_gym_phone.apps.settings.declared import LINES, PARTS
from ui_gym_phone.apps.settings.parts import app_icon, link, page
from ui_gym_phone.apps.support import size_text
from ui_gym_phone.state import hardware, switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import HStack, Size, VStack, Widget
from ui_gym_phone.ui.page import AppPage
from ui_gym_phone.ui.scene import PhoneScene
from ui_gym_phone.ui.theme import Theme
from ui_gym_phone.ui.widgets import Header, Item, Text

KINDS = {
    "Images": ("jpg", "jpeg", "png", "gif", "webp", "heic"),
    "Videos": ("mp4", "mkv", "webm", "3gp", "mov"),
    "Audio": ("mp3", "ogg", "wav", "m4a", "flac", "aac"),
}

KIND_ICONS = {
    "Images": "image", "Videos": "video", "Audio": "music-note",
    "Documents & other": "file-document-outline",
}  # fmt: skip


class Gauge(Widget):
    """A bar that is full to a share of 0 to 1."""

    def __init__(self, share: float) -> None:
        self.share = min(1.0, max(0.0, share))

    def measure(self, theme: Theme, width: int) -> Size:
        return width, theme.px(10)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        radius = height // 2
        scene.rect((x, y, x + width, y + height), "divider", radius)
        full = max(height, round(width * self.share))
        scene.rect((x, y, x + full, y + height), "primary", radius)


def _gauge(large: str, small: str, share: float) -> Widget:
    return VStack(
        Text(large, "headline"),
        Text(small, "small", "dim"),
        HStack(VStack(Gauge(share), weight=1)),
        gap=8,
        pad=(16, 8, 16, 12),
    )


# -- Battery --


def _battery_line(ui: Ui) -> str:
    known = switches.battery(ui.phone)
    return f"{known.level}%" + (" - Charging" if known.plugged else "")


def _battery_gauge(ui: Ui) -> list[Widget]:
    known = switches.battery(ui.phone)
    hours, minutes = divmod(round(known.level * 15.2), 60)
    left = "Charging" if known.plugged else f"About {hours} hr {minutes} min left"
    return [_gauge(f"{known.level}%", left, known.level / 100)]


PARTS["battery_gauge"] = _battery_gauge

# -- Storage --


def by_kind(phone: Phone) -> dict[str, int]:
    """Bytes of the shared storage by kind of file; what is none of the kinds is a document."""
    sums = dict.fromkeys((*KINDS, "Documents & other"), 0)
    for path in phone.files.walk("/sdcard"):
        if phone.files.is_file(path):
            ending = path.rpartition(".")[2].lower()
            kind = next((k for k, endings in KINDS.items() if ending in endings), None)
            sums[kind or "Documents & other"] += phone.files.stat(path).size
    return sums


def _storage_line(ui: Ui) -> str:
    used = hardware.used_bytes(ui.phone)
    free = size_text(hardware.free_bytes(ui.phone))
    return f"{round(100 * used / hardware.STORAGE_BYTES)}% used - {free} free"


@APP.screen(PREFIX + "StorageDashboardActivity")
def storage(ui: Ui) -> AppPage:
    """Storage: what takes how much."""
    phone = ui.phone
    used = hardware.used_bytes(phone)
    all_apps = sum(package.size for package in phone.packages)
    kinds = by_kind(phone)

    def open_files() -> None:
        phone.launch("com.android.documentsui")

    rows: list[Widget] = [
        link(ui, "Apps", size_text(all_apps), PREFIX + "StorageUseActivity", icon="apps"),
        *(
            Item(kind, size_text(size), open_files, icon=KIND_ICONS[kind])
            for kind, size in kinds.items()
        ),
        Item("System", size_text(hardware.SYSTEM_BYTES), icon="android"),
    ]  # fmt: skip
    told = f"{size_text(used)} used of {size_text(hardware.STORAGE_BYTES)}"
    free = f"{size_text(hardware.free_bytes(phone))} free"
    return page(ui, "Storage", _gauge(told, free, used / hardware.STORAGE_BYTES), *rows)


@APP.screen(PREFIX + "StorageUseActivity")
def storage_use(ui: Ui) -> AppPage:
    """Apps by what they take, the largest first."""
    packages = sorted(by_label(list(ui.phone.packages)), key=lambda p: p.size, reverse=True)
    rows: list[Widget] = [
        Item(p.label, size_text(p.size), partial(ui.open, STORAGE, package=p.name),
             lead=app_icon(p), on_long_press=partial(ui.open, INFO, package=p.name))
        for p in packages
    ]  # fmt: skip
    return page(ui, "Apps", Header("Apps by size"), *rows)


LINES.update(battery=_battery_line, storage=_storage_line)
