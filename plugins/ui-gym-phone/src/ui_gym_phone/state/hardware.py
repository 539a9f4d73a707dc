"""Hardware: what the phone is made of, and what it is connected to, for all who tell of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ui_gym_phone import data
from ui_gym_phone.state import switches

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone

_TABLE = data.table("hardware")

STORAGE_BYTES: int = _TABLE["storage"]["total"]
SYSTEM_BYTES: int = _TABLE["storage"]["system"]
"""What Android itself takes of the storage."""

PHONE_NUMBER: str = _TABLE["phone_number"]
OWNER: str = _TABLE["owner"]
"""The account that is on a new phone."""

WIFI_MAC: str = _TABLE["wifi"]["mac"]
WIFI_ADDRESS: str = _TABLE["wifi"]["address"]
HOME_NETWORK: str = _TABLE["wifi"]["home"]
"""The Wi-Fi network that a new phone is connected to."""
BLUETOOTH_MAC: str = _TABLE["bluetooth"]["mac"]


def part(name: str) -> dict[str, Any]:
    """The figures of a part: ``wifi``, ``cell``, ``memory``... Not to be changed."""
    found: dict[str, Any] = _TABLE[name]
    return found


# -- storage --


def used_bytes(phone: Phone) -> int:
    """Bytes of the storage that are taken: by Android, by apps and by files."""
    return SYSTEM_BYTES + sum(package.size for package in phone.packages) + phone.files.used


def free_bytes(phone: Phone) -> int:
    return max(0, STORAGE_BYTES - used_bytes(phone))


# -- network --


@dataclass(frozen=True)
class NetworkLink:
    """A network interface that is up: its addresses, and the way out."""

    interface: str
    kind: str
    """``WIFI`` or ``CELLULAR``."""
    number: int
    """How Android counts the network."""
    address: str
    prefix: int
    gateway: str
    address6: str
    mac: str = ""

    @property
    def network(self) -> str:
        """The network's own address with its prefix: ``192.168.1.0/24``."""
        whole = int.from_bytes(bytes(map(int, self.address.split("."))), "big")
        kept = whole >> (32 - self.prefix) << (32 - self.prefix)
        return f"{'.'.join(map(str, kept.to_bytes(4, 'big')))}/{self.prefix}"


def ssid(phone: Phone) -> str:
    """The Wi-Fi network that the phone is connected to; empty where it is to none."""
    joined: str = phone.settings.get("known", {}).get("wifi.ssid", HOME_NETWORK)
    return joined if switches.wifi_on(phone) else ""


def wifi_link(phone: Phone) -> NetworkLink | None:
    """The interface of Wi-Fi, while it is connected."""
    told = _TABLE["wifi"]
    if not ssid(phone):
        return None
    return NetworkLink(
        "wlan0", "WIFI", 101, told["address"], told["prefix"], told["gateway"], told["address6"],
        told["mac"],
    )  # fmt: skip


def cell_link(phone: Phone) -> NetworkLink | None:
    """The interface of mobile data, while that is on."""
    told = _TABLE["cell"]
    if not switches.mobile_data(phone) or switches.airplane(phone):
        return None
    return NetworkLink(
        told["interface"], "CELLULAR", 100, told["address"], told["prefix"], told["gateway"],
        told["address6"],
    )  # fmt: skip


def links(phone: Phone) -> list[NetworkLink]:
    """The interfaces that are up, the one that is used first."""
    return [link for link in (wifi_link(phone), cell_link(phone)) if link is not None]
