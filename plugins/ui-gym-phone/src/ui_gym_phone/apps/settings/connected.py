"""Connected devices: what is paired, and pairing."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.declared import ACTIONS, LINES, PARTS
from ui_gym_phone.apps.settings.parts import action, actions, page
from ui_gym_phone.state import kept, switches
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import VStack, Widget
from ui_gym_phone.ui.page import AppPage, confirm
from ui_gym_phone.ui.widgets import Header, IconButton, Item, Text

DETAILS = PREFIX + "BluetoothDeviceDetailActivity"
PAIRING = PREFIX + "BluetoothPairingActivity"


def _name(ui: Ui) -> str:
    return ui.phone.setting("global", "device_name", "Pixel")


def _pair_new(ui: Ui) -> None:
    switches.set_bluetooth(ui.phone, True)
    ui.open(PAIRING)


def _device(ui: Ui, device: str) -> Widget:
    """A paired device: touched, it connects or disconnects."""
    phone = ui.phone
    on = switches.bluetooth_on(phone)
    active = on and device in kept.connected(phone)

    def touched() -> None:
        if not on:
            switches.set_bluetooth(phone, True)
        if active:
            kept.disconnect(phone, device)
        else:
            kept.connect(phone, device)

    gear = IconButton("cog", f"{device} settings", partial(ui.open, DETAILS, device=device))
    return Item(device, "Connected" if active else "Saved", touched, icon=_icon(device), trail=gear)


def _icon(device: str) -> str:
    words = {
        "Car": "car",
        "TV": "television-play",
        "Keyboard": "keyboard",
        "Speaker": "volume-high",
    }
    return next((icon for word, icon in words.items() if word in device), "music")


@APP.screen(PAIRING)
def pairing(ui: Ui) -> AppPage:
    """Devices in reach that are not paired yet."""
    phone = ui.phone
    device = str(ui.state.get("device", ""))
    found = [name for name in kept.NEARBY if name not in kept.paired(phone)]
    rows: list[Widget] = [
        Item(name, "", partial(ui.ask, "pair", device=name), icon=_icon(name)) for name in found
    ]
    empty = VStack(Text("No devices found", "body", "dim"), pad=16)

    def pair() -> None:
        kept.pair(phone, device)
        ui.close()

    dialog = None
    if ui.dialog == "pair":
        dialog = confirm(ui, f"Pair with {device}?", "", "Pair", pair)
    return page(
        ui, "Pair new device", Item("Device name", _name(ui)), Header("Available devices"),
        *(rows or [empty]), dialog=dialog,
    )  # fmt: skip


@APP.screen(DETAILS)
def device_details(ui: Ui) -> AppPage:
    """One paired device: forget it, or connect to it."""
    phone = ui.phone
    device = ui.extra("device")
    active = device in kept.connected(phone) and switches.bluetooth_on(phone)

    def forget() -> None:
        kept.unpair(phone, device)
        ui.close()

    dialog = None
    if ui.dialog == "forget":
        text = f"Your phone will no longer be paired with {device}"
        dialog = confirm(ui, "Forget device?", text, "Forget", forget)
    turn = partial(kept.disconnect if active else kept.connect, phone, device)
    return page(
        ui, device,
        actions(action("delete-outline", "Forget", partial(ui.ask, "forget")),
                action("bluetooth-off" if active else "bluetooth",
                       "Disconnect" if active else "Connect", turn)),
        Item("Status", "Connected" if active else "Saved"),
        Item("Used for", "Audio" if "Keyboard" not in device else "Input device"),
        dialog=dialog,
    )  # fmt: skip


LINES["bluetooth_name"] = _name
LINES["bluetooth"] = lambda ui: (
    "Visible as " + _name(ui) if switches.bluetooth_on(ui.phone) else "Off"
)
PARTS["paired_devices"] = lambda ui: [_device(ui, device) for device in kept.paired(ui.phone)]
ACTIONS["pair_new"] = _pair_new
