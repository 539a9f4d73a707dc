"""Network & internet: what Private DNS and the hotspot ask; Wi-Fi, and each of its networks."""

from __future__ import annotations

import re
from functools import partial

from ui_gym_phone.apps.settings import declared
from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.declared import ACTIONS, DIALOGS, LINES
from ui_gym_phone.apps.settings.parts import (
    action,
    actions,
    form,
    main_switch,
    page,
    radio,
)
from ui_gym_phone.state import hardware, kept, switches
from ui_gym_phone.state.kept import Network
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import VStack, Widget
from ui_gym_phone.ui.page import AppPage, Dialog
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import CheckItem, Divider, Icon, IconButton, Item, Text

_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"(?=.{{1,253}}$)({_LABEL}\.)+{_LABEL}$", re.IGNORECASE)

DNS = "private_dns"
DNS_MODES = (
    ("Off", "off"),
    ("Automatic", "opportunistic"),
    ("Private DNS provider hostname", "hostname"),
)


@APP.screen(PREFIX + "PrivateDnsModeDialogActivity")
def private_dns(ui: Ui) -> AppPage:
    """Network & internet with the dialog of Private DNS open."""
    if not ui.state.get("asked"):
        ui.state["asked"] = True
        _ask_dns(ui)
    return declared.show(ui, "NetworkDashboardActivity")


def wifi_line(ui: Ui) -> str:
    """What is said of Wi-Fi in a line."""
    if not switches.wifi_on(ui.phone):
        return "Off"
    return kept.network(ui.phone) or "Not connected"


def _operator(ui: Ui) -> str:
    return ui.phone.properties.get("gsm.operator.alpha") or "No SIM"


# -- Private DNS --


def _dns_line(ui: Ui) -> str:
    phone = ui.phone
    mode = phone.setting("global", "private_dns_mode", "opportunistic")
    if mode == "hostname":
        return phone.setting("global", "private_dns_specifier", "")
    return "Off" if mode == "off" else "Automatic"


def _ask_dns(ui: Ui) -> None:
    ui.activity.fields["hostname"] = ui.phone.setting("global", "private_dns_specifier", "")
    ui.ask(DNS, dns=ui.phone.setting("global", "private_dns_mode", "opportunistic"))


def _dns_dialog(ui: Ui) -> Dialog | None:
    """Off, Automatic, or a provider, whose name must be that of a host to be saved."""
    if ui.dialog != DNS:
        return None
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


# -- the hotspot --


def _hotspot_name(ui: Ui) -> str:
    return kept.text(ui.phone, "hotspot.name", "AndroidShare")


def _ask_hotspot_name(ui: Ui) -> None:
    ui.fill("hotspot_name", _hotspot_name(ui))
    ui.ask("name")


def _hotspot_dialog(ui: Ui) -> Dialog | None:
    if ui.dialog != "name":
        return None

    def save() -> None:
        name = ui.text("hotspot_name").strip() or _hotspot_name(ui)
        kept.keep(ui.phone, "hotspot.name", name)
        ui.dismiss()

    field = TextField(ui, "hotspot_name", "Hotspot name", on_enter=save)
    return form(ui, "Hotspot name", [field], "OK", save)


LINES.update(wifi=wifi_line, operator=_operator, private_dns=_dns_line, hotspot_name=_hotspot_name)
ACTIONS.update(ask_private_dns=_ask_dns, ask_hotspot_name=_ask_hotspot_name)
DIALOGS.update(private_dns=_dns_dialog, hotspot_name=_hotspot_dialog)


# -- Wi-Fi --


WORDS = ("Out of range", "Weak", "Fair", "Good", "Excellent")
"""Signal strength 0 to 4."""


@APP.screen(PREFIX + "WifiSettingsActivity")
def wifi(ui: Ui) -> AppPage:
    """Wi-Fi: its switch, and the networks in reach."""
    phone = ui.phone
    on = switches.wifi_on(phone)
    rows: list[Widget] = [main_switch("Use Wi-Fi", on, partial(switches.set_wifi, phone))]
    if not on:
        hint = Text("To see available networks, turn Wi-Fi on.", "body", "dim")
        rows.append(VStack(hint, pad=(16, 8, 16, 16)))
    else:
        rows += _networks(ui)
        rows.append(Item("Add network", "", partial(ui.ask_text, "add", "ssid"), icon="plus"))
    rows += [
        Divider(),
        Item("Saved networks", _count(ui),
             partial(ui.open, PREFIX + "SavedAccessPointsSettingsActivity")),
        Item("Network preferences", "Wi-Fi turns back on automatically",
             partial(ui.open, PREFIX + "ConfigureWifiSettingsActivity")),
    ]  # fmt: skip
    return page(ui, "Wi-Fi", *rows, dialog=_dialog(ui))


def _count(ui: Ui) -> str:
    saved = len(kept.saved_networks(ui.phone))
    return f"{saved} network" if saved == 1 else f"{saved} networks"


def _networks(ui: Ui) -> list[Widget]:
    phone = ui.phone
    joined = kept.network(phone)
    known = sorted(kept.networks(phone), key=lambda network: network.ssid != joined)
    return [_row(ui, network, network.ssid == joined) for network in known]


def _row(ui: Ui, network: Network, joined: bool) -> Widget:
    details = partial(ui.open, PREFIX + "WifiDetailsSettingsActivity", ssid=network.ssid)
    saved = network.ssid in kept.saved_networks(ui.phone)
    trail: Widget | None = None
    if joined:
        trail = IconButton("cog", f"{network.ssid} settings", details)
    elif network.secured:
        trail = Icon("lock", 18, desc="Secured")
    told = "Connected" if joined else "Saved" if saved else ""
    lead = Icon("wifi", 24, "primary" if joined else "dim")
    touched = details if joined else partial(_touched, ui, network)
    return Item(network.ssid, told, touched, lead=lead, trail=trail, selected=joined)


def _touched(ui: Ui, network: Network) -> None:
    if network.strength == 0:
        ui.say("Not in range")
    elif not network.secured or network.ssid in kept.saved_networks(ui.phone):
        kept.join(ui.phone, network.ssid)
    else:
        ui.ask_text("connect", "password", ssid=network.ssid, shown=False)


# -- dialogs --


def _dialog(ui: Ui) -> Dialog | None:
    return {"connect": _connect, "add": _add}[ui.dialog](ui) if ui.dialog else None


def _connect(ui: Ui) -> Dialog:
    """Asks for the password of a network; any of a password's length will do."""
    shown = bool(ui.state.get("shown"))
    ready = len(ui.text("password")) >= kept.SHORTEST_PASSWORD

    def connect() -> None:
        if ready:
            kept.join(ui.phone, str(ui.state["ssid"]))
            ui.dismiss()

    def show(on: bool) -> None:
        ui.state["shown"] = on

    rows = [
        TextField(ui, "password", "Password", password=not shown, on_enter=connect),
        CheckItem("Show password", shown, show),
    ]
    return form(ui, str(ui.state["ssid"]), rows, "Connect", connect, ready=ready)


def _add(ui: Ui) -> Dialog:
    """Asks for the name of a network that does not tell its own."""
    name = ui.text("ssid").strip()

    def save() -> None:
        if not name:
            return
        phone = ui.phone
        kept.keep_names(phone, "wifi.added", [*kept.names(phone, "wifi.added"), name])
        kept.keep_names(phone, kept.SAVED, [*kept.saved_networks(phone), name])
        ui.dismiss()

    field = TextField(ui, "ssid", "Network name", on_enter=save)
    return form(ui, "Add network", [field], "Save", save, ready=bool(name))


# -- pages below --


@APP.screen(PREFIX + "WifiDetailsSettingsActivity")
def details(ui: Ui) -> AppPage:
    """What is known of a network; it can be forgotten here."""
    phone = ui.phone
    ssid = str(ui.extras.get("ssid", kept.network(phone)))
    joined = kept.network(phone) == ssid and switches.wifi_on(phone)
    network = next((n for n in kept.networks(phone) if n.ssid == ssid), Network(ssid, 0))

    def forget() -> None:
        kept.forget(phone, ssid)
        ui.close()

    def join() -> None:
        if joined:
            kept.leave(phone)
        elif network.strength and switches.wifi_on(phone):
            kept.join(phone, ssid)
        else:
            ui.say("Not in range")

    go = "Disconnect" if joined else "Connect"
    return page(
        ui, ssid,
        actions(action("delete-outline", "Forget", forget),
                action("close" if joined else "wifi", go, join)),
        Item("Status", "Connected" if joined else "Saved"),
        Item("Signal strength", WORDS[network.strength]),
        Item("Frequency", "5 GHz" if ssid.endswith("5G") else "2.4 GHz"),
        Item("Security", "WPA2-Personal" if network.secured else "None"),
        Item("Privacy", "Use randomized MAC (default)"),
        Item("IP address", hardware.WIFI_ADDRESS if joined else "Unavailable"),
    )  # fmt: skip


@APP.screen(PREFIX + "SavedAccessPointsSettingsActivity")
def saved_networks(ui: Ui) -> AppPage:
    """Saved networks."""
    names = sorted(kept.saved_networks(ui.phone))
    opened = PREFIX + "WifiDetailsSettingsActivity"
    rows: list[Widget] = [
        Item(name, "", partial(ui.open, opened, ssid=name), icon="wifi") for name in names
    ]
    empty = VStack(Text("No saved networks", "body", "dim"), pad=16)
    return page(ui, "Saved networks", *(rows or [empty]))
