"""What Settings knows that Android has in no settings namespace: networks, devices, accounts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ui_gym_phone.state import hardware
from ui_gym_phone.state.phone import Phone

_PLACE = "known"
"""Beside the namespaces of the settings provider, out of reach of the shell's `settings`."""

SAVED = "wifi.saved"
"""The key of the networks that are saved."""


def text(phone: Phone, key: str, default: str = "") -> str:
    return phone.settings.get(_PLACE, {}).get(key, default)


def keep(phone: Phone, key: str, value: str) -> None:
    phone.settings.setdefault(_PLACE, {})[key] = value


def names(phone: Phone, key: str, default: Sequence[str] = ()) -> list[str]:
    """A list of names, in the order in which they were kept."""
    found = text(phone, key)
    return [str(name) for name in json.loads(found)] if found else list(default)


def keep_names(phone: Phone, key: str, value: Sequence[str]) -> None:
    keep(phone, key, json.dumps(list(value)))


# -- Wi-Fi --


@dataclass(frozen=True)
class Network:
    """A Wi-Fi network in reach. `strength` is 1 to 4."""

    ssid: str
    strength: int
    secured: bool = True


NETWORKS = (
    Network(hardware.HOME_NETWORK, 4),
    Network("HomeNet 5G", 3),
    Network("Corner Cafe", 3, secured=False),
    Network("Library Guest", 2, secured=False),
    Network("Maple Street 12", 1),
)
SHORTEST_PASSWORD = 8
"""WPA's."""


def networks(phone: Phone) -> list[Network]:
    """Those in reach, and those that a person added by name."""
    known = {network.ssid for network in NETWORKS}
    added = [Network(name, 0) for name in names(phone, "wifi.added") if name not in known]
    return [*NETWORKS, *added]


def saved_networks(phone: Phone) -> list[str]:
    return names(phone, SAVED, [hardware.HOME_NETWORK])


def network(phone: Phone) -> str:
    """The network that the phone is connected to; empty if none."""
    return text(phone, "wifi.ssid", hardware.HOME_NETWORK)


def join(phone: Phone, ssid: str) -> None:
    """Connect to a network, and save it."""
    if ssid not in saved_networks(phone):
        keep_names(phone, SAVED, [*saved_networks(phone), ssid])
    keep(phone, "wifi.ssid", ssid)


def leave(phone: Phone) -> None:
    """Disconnect; the network stays saved. The empty name is kept: it is no factory's."""
    keep(phone, "wifi.ssid", "")


def forget(phone: Phone, ssid: str) -> None:
    """Disconnect from a network and save it no longer."""
    keep_names(phone, SAVED, [name for name in saved_networks(phone) if name != ssid])
    keep_names(phone, "wifi.added", [n for n in names(phone, "wifi.added") if n != ssid])
    if network(phone) == ssid:
        leave(phone)


# -- Bluetooth --

PAIRED = ("Kitchen Speaker", "Studio Buds")
NEARBY = ("Car Audio", "Kitchen Speaker", "Living Room TV", "Studio Buds", "Travel Keyboard")


def paired(phone: Phone) -> list[str]:
    return names(phone, "bluetooth.paired", PAIRED)


def connected(phone: Phone) -> list[str]:
    """Paired devices that are connected."""
    return names(phone, "bluetooth.connected")


def pair(phone: Phone, device: str) -> None:
    """Pair with a device and connect to it."""
    keep_names(phone, "bluetooth.paired", [*paired(phone), device])
    connect(phone, device)


def connect(phone: Phone, device: str) -> None:
    keep_names(phone, "bluetooth.connected", [*connected(phone), device])


def disconnect(phone: Phone, device: str) -> None:
    rest = [name for name in connected(phone) if name != device]
    keep_names(phone, "bluetooth.connected", rest)


def unpair(phone: Phone, device: str) -> None:
    disconnect(phone, device)
    keep_names(phone, "bluetooth.paired", [name for name in paired(phone) if name != device])


def reset_radios(phone: Phone) -> None:
    """Forget every network and device."""
    for key in (SAVED, "wifi.added", "bluetooth.paired", "bluetooth.connected"):
        keep_names(phone, key, [])
    leave(phone)


def reset_roles(phone: Phone) -> None:
    """Let the factory's default apps be the default again."""
    known = phone.settings.get(_PLACE, {})
    for key in [key for key in known if key.startswith("role.")]:
        del known[key]
