"""Network & internet: what Private DNS and the hotspot ask."""

from __future__ import annotations

import re
from functools import partial

from ui_gym_phone.apps.settings import declared, kept
from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.declared import ACTIONS, DIALOGS, LINES
from ui_gym_phone.apps.settings.parts import form, radio
from ui_gym_phone.state import switches
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Widget
from ui_gym_phone.ui.page import AppPage, Dialog
from ui_gym_phone.ui.textfield import TextField

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
