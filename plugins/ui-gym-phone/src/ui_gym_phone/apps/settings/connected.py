"""Connected devices: Bluetooth, NFC and printing."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.settings import kept
from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.parts import (
    action,
    actions,
    fact,
    link,
    main_switch,
    note,
    page,
)
from ui_gym_phone.state import switches
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Column, Widget
from ui_gym_phone.ui.page import AppPage, confirm
from ui_gym_phone.ui.widgets import Header, IconButton, Item, Text

DETAILS = PREFIX + "BluetoothDeviceDetailActivity"
PAIRING = PREFIX + "BluetoothPairingActivity"


@APP.screen(PREFIX + "ConnectedDeviceDashboardActivity")
def connected_devices(ui: Ui) -> AppPage:
    """Connected devices."""
    on = switches.bluetooth_on(ui.phone)
    told = "Visible as " + _name(ui) if on else "Off"
    return page(
        ui, "Connected devices",
        Item("Pair new device", "Bluetooth will turn on to pair", partial(_pair_new, ui),
             icon="plus"),
        link(ui, "Bluetooth", told, PREFIX + "BluetoothSettingsActivity", icon="bluetooth"),
        Header("Saved devices"),
        *(_device(ui, device) for device in kept.paired(ui.phone)),
        Header("Connection preferences"),
        link(ui, "NFC", "On" if _nfc(ui) else "Off", PREFIX + "NfcSettingsActivity", icon="nfc"),
        link(ui, "Printing", "Default Print Service", PREFIX + "PrintSettingsActivity",
             icon="printer"),
    )  # fmt: skip


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


@APP.screen(PREFIX + "BluetoothSettingsActivity")
def bluetooth(ui: Ui) -> AppPage:
    """Bluetooth: its switch and the paired devices."""
    phone = ui.phone
    on = switches.bluetooth_on(phone)
    rows: list[Widget] = [main_switch("Use Bluetooth", on, partial(switches.set_bluetooth, phone))]
    if on:
        rows += [
            fact("Device name", _name(ui)),
            Item("Pair new device", "", partial(ui.open, PAIRING), icon="plus"),
            Header("Paired devices"),
            *(_device(ui, device) for device in kept.paired(phone)),
        ]
    else:
        text = "When Bluetooth is turned on, your device can communicate with other nearby devices."
        rows.append(note(text))
    return page(ui, "Bluetooth", *rows)


@APP.screen(PAIRING)
def pairing(ui: Ui) -> AppPage:
    """Devices in reach that are not paired yet."""
    phone = ui.phone
    device = str(ui.state.get("device", ""))
    found = [name for name in kept.NEARBY if name not in kept.paired(phone)]
    rows: list[Widget] = [
        Item(name, "", partial(ui.ask, "pair", device=name), icon=_icon(name)) for name in found
    ]
    empty = Column(Text("No devices found", "body", "dim"), pad=16)

    def pair() -> None:
        kept.pair(phone, device)
        ui.close()

    dialog = None
    if ui.dialog == "pair":
        dialog = confirm(ui, f"Pair with {device}?", "", "Pair", pair)
    return page(
        ui, "Pair new device", fact("Device name", _name(ui)), Header("Available devices"),
        *(rows or [empty]), dialog=dialog,
    )  # fmt: skip


@APP.screen(DETAILS)
def device_details(ui: Ui) -> AppPage:
    """One paired device: forget it, or connect to it."""
    phone = ui.phone
    device = str(ui.extras.get("device", ""))
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
        fact("Status", "Connected" if active else "Saved"),
        fact("Used for", "Audio" if "Keyboard" not in device else "Input device"),
        dialog=dialog,
    )  # fmt: skip


# -- NFC and printing --


def _nfc(ui: Ui) -> bool:
    return ui.phone.setting("global", "nfc_on", "1") != "0"


@APP.screen(PREFIX + "NfcSettingsActivity")
def nfc(ui: Ui) -> AppPage:
    """NFC."""
    return page(
        ui, "NFC",
        main_switch("Use NFC", _nfc(ui), lambda on: ui.phone.put("global", "nfc_on", int(on))),
        note("NFC lets the phone exchange data with other devices that touch it."),
    )  # fmt: skip


@APP.screen(PREFIX + "PrintSettingsActivity")
def printing(ui: Ui) -> AppPage:
    """Printing."""
    on = ui.phone.setting("secure", "disabled_print_services", "") == ""

    def change(on: bool) -> None:
        ui.phone.put("secure", "disabled_print_services", "" if on else "com.android.bips")

    return page(
        ui, "Default Print Service", main_switch("Use print service", on, change),
        note("No printers found nearby." if on else "Turn the service on to find printers."),
    )  # fmt: skip
