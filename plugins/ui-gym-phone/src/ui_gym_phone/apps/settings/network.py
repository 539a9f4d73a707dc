"""Network & internet: Airplane mode, the SIM, the hotspot, Data Saver, Private DNS."""

from __future__ import annotations

import re
from functools import partial

from ui_gym_phone.apps.settings import kept
from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.parts import (
    fact,
    form,
    link,
    main_switch,
    note,
    page,
    radio,
    switch,
    toggle,
)
from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Widget
from ui_gym_phone.ui.page import AppPage, Dialog
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import Item

_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"(?=.{{1,253}}$)({_LABEL}\.)+{_LABEL}$", re.IGNORECASE)

DNS = "private_dns"
DNS_MODES = (
    ("Off", "off"),
    ("Automatic", "opportunistic"),
    ("Private DNS provider hostname", "hostname"),
)


@APP.screen(PREFIX + "NetworkDashboardActivity")
def network(ui: Ui) -> AppPage:
    """Network & internet."""
    return _network(ui, _dns_dialog(ui) if ui.dialog == DNS else None)


@APP.screen(PREFIX + "PrivateDnsModeDialogActivity")
def private_dns(ui: Ui) -> AppPage:
    """Network & internet with the dialog of Private DNS open."""
    if not ui.state.get("asked"):
        ui.state["asked"] = True
        _ask_dns(ui)
    return _network(ui, _dns_dialog(ui) if ui.dialog == DNS else None)


def _network(ui: Ui, dialog: Dialog | None) -> AppPage:
    phone = ui.phone
    hotspot = "On" if phone.is_on("global", "soft_ap_on") else "Off"
    rows: list[Widget] = [
        link(ui, "Wi-Fi", wifi_line(phone), PREFIX + "WifiSettingsActivity", icon="wifi"),
        link(ui, "SIMs", _operator(phone), PREFIX + "MobileNetworkActivity", icon="sim-outline"),
        toggle("Airplane mode", switches.airplane(phone),
               partial(switches.set_airplane, phone), icon="airplane"),
        link(ui, "Hotspot & tethering", hotspot, PREFIX + "TetherSettingsActivity",
             icon="access-point"),
        link(ui, "Data Saver", _on_off(phone.is_on("global", "data_saver_mode")),
             PREFIX + "DataSaverSummaryActivity", icon="speedometer"),
        Item("Private DNS", _dns_line(phone), partial(_ask_dns, ui), icon="dns"),
    ]  # fmt: skip
    return page(ui, "Network & internet", *rows, dialog=dialog)


def wifi_line(phone: Phone) -> str:
    """What is said of Wi-Fi in a line."""
    if not switches.wifi_on(phone):
        return "Off"
    return kept.network(phone) or "Not connected"


def _on_off(on: bool) -> str:
    return "On" if on else "Off"


def _operator(phone: Phone) -> str:
    return phone.properties.get("gsm.operator.alpha") or "No SIM"


# -- Private DNS --


def _dns_line(phone: Phone) -> str:
    mode = phone.setting("global", "private_dns_mode", "opportunistic")
    if mode == "hostname":
        return phone.setting("global", "private_dns_specifier", "")
    return "Off" if mode == "off" else "Automatic"


def _ask_dns(ui: Ui) -> None:
    ui.activity.fields["hostname"] = ui.phone.setting("global", "private_dns_specifier", "")
    ui.ask(DNS, dns=ui.phone.setting("global", "private_dns_mode", "opportunistic"))


def _dns_dialog(ui: Ui) -> Dialog:
    """Off, Automatic, or a provider, whose name must be that of a host to be saved."""
    mode = str(ui.state.get("dns"))
    host = ui.text("hostname").strip()
    ready = mode != "hostname" or bool(_HOST.match(host))

    def choose(mode: str) -> None:
        ui.state["dns"] = mode
        if mode == "hostname":
            ui.focus("hostname")
        else:
            ui.unfocus()

    def save() -> None:
        if ready:
            switches.set_private_dns(ui.phone, mode, host)
            ui.dismiss()

    rows: list[Widget] = [
        radio(text, mode == value, partial(choose, value)) for text, value in DNS_MODES
    ]
    if mode == "hostname":
        rows.append(TextField(ui, "hostname", "Enter hostname of DNS provider", on_enter=save))
    return form(ui, "Select Private DNS mode", rows, "Save", save, ready=ready)


# -- the SIM, the hotspot, Data Saver --


@APP.screen(PREFIX + "MobileNetworkActivity")
def sim(ui: Ui) -> AppPage:
    """The SIM: mobile data and roaming."""
    phone = ui.phone
    return page(
        ui, "SIMs",
        toggle("Mobile data", switches.mobile_data(phone),
               partial(switches.set_mobile_data, phone), "Access data using mobile network"),
        switch(ui, "Roaming", "Connect to data services when roaming", "global", "data_roaming"),
        fact("Carrier", _operator(phone)),
        fact("App data usage", "1.2 GB used this month"),
        fact("Preferred network type", "LTE"),
    )  # fmt: skip


@APP.screen(PREFIX + "TetherSettingsActivity")
def hotspot(ui: Ui) -> AppPage:
    """Hotspot & tethering."""
    name = kept.text(ui.phone, "hotspot.name", "AndroidShare")

    def ask() -> None:
        ui.fill("hotspot_name", name)
        ui.ask("name")

    def save() -> None:
        kept.keep(ui.phone, "hotspot.name", ui.text("hotspot_name").strip() or name)
        ui.dismiss()

    dialog = None
    if ui.dialog == "name":
        field = TextField(ui, "hotspot_name", "Hotspot name", on_enter=save)
        dialog = form(ui, "Hotspot name", [field], "OK", save)
    return page(
        ui, "Hotspot & tethering",
        switch(ui, "Wi-Fi hotspot", "Share your internet connection", "global", "soft_ap_on"),
        Item("Hotspot name", name, ask),
        switch(ui, "Bluetooth tethering", "Share internet connection via Bluetooth", "global",
               "bluetooth_tether_on", enabled=switches.bluetooth_on(ui.phone)),
        note("Use hotspot and tethering to provide internet to other devices through your "
             "mobile data connection."),
        dialog=dialog,
    )  # fmt: skip


@APP.screen(PREFIX + "DataSaverSummaryActivity")
def data_saver(ui: Ui) -> AppPage:
    """Data Saver."""
    on = ui.phone.is_on("global", "data_saver_mode")
    return page(
        ui, "Data Saver",
        main_switch("Use Data Saver", on,
                    lambda on: ui.phone.put("global", "data_saver_mode", int(on))),
        note("Data Saver helps to reduce data usage by preventing some apps from sending "
             "or receiving data in the background."),
    )  # fmt: skip
