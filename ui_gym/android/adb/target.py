"""Which device is meant by ``adb``, ``adb:SERIAL``, ``adb:host:port``, ``adb-direct:host:port``."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass

from ui_gym.android.adb.direct import DirectConnection
from ui_gym.android.adb.server import Listed, ServerConnection, SmartSocket
from ui_gym.android.adb.stream import AdbConnection
from ui_gym.errors import DeviceError, DeviceStartError, UserError, nearest

_ADDRESS = re.compile(r"(\[[^\]]+\]|[^:\s]+):(\d{1,5})")

_PASSING = ("offline", "authorizing", "connecting")
"""States that may become ``device`` by waiting."""

_REMEDIES = {
    "unauthorized": "unlock the phone and tap 'Allow' where it asks 'Allow USB debugging?'; if it "
    "does not ask, choose 'Revoke USB debugging authorizations' in its developer options and "
    "connect it anew",
    "offline": "wait for it to boot; if that does not help, unplug and plug it, or run "
    "`adb reconnect offline`",
    "authorizing": "look at the phone: it may ask whether to allow USB debugging",
    "connecting": "try again",
    "no permissions": "this user may not open the USB device: add the udev rules for Android "
    "(Debian: apt-get install android-sdk-platform-tools-common), log in again, and plug it anew",
    "bootloader": "boot it into Android: adb reboot",
    "recovery": "boot it into Android: adb reboot",
    "sideload": "boot it into Android: adb reboot",
    "rescue": "boot it into Android: adb reboot",
}

_NO_DEVICE = (
    "Connect a phone by USB and turn on 'USB debugging' in its developer options, start an "
    "emulator, or name a device of the network: device='adb:HOST:PORT'"
)


@dataclass(frozen=True)
class AdbTarget:
    """A device by its serial or by its address; by neither, the only one that is attached."""

    serial: str = ""
    host: str = ""
    port: int = 0
    direct: bool = False

    @classmethod
    def parse(cls, kind: str) -> AdbTarget:
        """What a `DeviceOptions.kind` names. `UserError` where it is not written rightly."""
        way, _, name = kind.partition(":")
        if way not in ("adb", "adb-direct"):
            raise UserError(f"there is no way {way!r} to a phone. {nearest(way, WAYS)}")
        match = _ADDRESS.fullmatch(name)
        if match is not None and 0 < int(match[2]) < 65536:
            return cls(name, match[1].strip("[]"), int(match[2]), way == "adb-direct")
        if way == "adb-direct" or ":" in name:
            raise UserError(f"{way} is written {way}:HOST:PORT, not {kind!r}")
        return cls(serial=name)

    def __str__(self) -> str:
        return self.serial or "the only device"

    def connect(self, timeout: float, *, renew: bool) -> AdbConnection:
        """A connection to the device, once it can be used.

        Args:
            timeout: In seconds, for each part of it.
            renew: Something failed before: an address is connected anew, whatever the server says.

        Raises:
            DeviceStartError: there is none, or it cannot be used; says what to do.
        """
        if self.direct:
            return DirectConnection(self.host, self.port, timeout)
        try:
            return self._by_server(timeout, renew)
        except DeviceStartError:
            raise
        except DeviceError as error:
            raise DeviceStartError(f"{self}: {error}") from None

    def _by_server(self, timeout: float, renew: bool) -> AdbConnection:
        server = SmartSocket()
        server.ensure(timeout)
        if self.host:
            self._attach(server, timeout, renew)
        serial = self._usable(server, timeout)
        return ServerConnection(server, serial, timeout)

    def _attach(self, server: SmartSocket, timeout: float, renew: bool) -> None:
        """Have the server connect to the address.

        A device that was restarted stays "already connected", and offline, until it is taken out.
        The server says that it is out before it is: threads of its own take it off the list, and
        one of them may be about to connect it anew.
        """
        state = self._state(server, timeout)
        if state == "device" and not renew:
            return
        if state:
            try:
                server.ask(f"host:disconnect:{self.serial}", timeout)
            except DeviceError:
                pass  # it went by itself meanwhile
        deadline = time.monotonic() + timeout
        while not (said := server.ask(f"host:connect:{self.serial}", timeout)).startswith(
            "connected"
        ):
            if not said.startswith("already connected"):
                raise DeviceStartError(
                    f"adb cannot connect to {self.serial}: {said.strip()}. Is it running, and is "
                    "that the port of its ADB (a phone: `adb tcpip 5555`, or pair it first)?"
                )
            if self._stays(server, timeout, deadline):
                return

    def _stays(self, server: SmartSocket, timeout: float, deadline: float) -> bool:
        """Whether what is already connected can be used, or will not go: looks until `deadline`."""
        pause = threading.Event()
        while time.monotonic() < deadline:
            pause.wait(0.05)
            state = self._state(server, timeout)
            if not state.startswith(_PASSING):
                return bool(state)
        return True

    def _state(self, server: SmartSocket, timeout: float) -> str:
        """What the server says of the address; nothing where it does not know it."""
        known = {each.serial: each.state for each in server.devices(timeout)}
        return known.get(self.serial, "")

    def _usable(self, server: SmartSocket, timeout: float) -> str:
        """The serial of the device, once its state is ``device``."""
        deadline = time.monotonic() + timeout
        pause = threading.Event()
        while True:
            found = self._choose(server.devices(timeout))
            if found.state == "device":
                return found.serial
            if not found.state.startswith(_PASSING) or time.monotonic() > deadline:
                raise DeviceStartError(_unusable(found))
            pause.wait(0.1)

    def _choose(self, devices: list[Listed]) -> Listed:
        if self.serial:
            for device in devices:
                if device.serial == self.serial:
                    return device
            raise DeviceStartError(
                f"adb knows no device {self.serial!r}. "
                + (nearest(self.serial, [d.serial for d in devices]) if devices else _NO_DEVICE)
            )
        ready = [device for device in devices if device.state == "device"]
        if len(ready) > 1:
            listed = ", ".join(f"adb:{device.serial}" for device in ready)
            raise DeviceStartError(f"several devices are attached; name one: device= {listed}")
        if not devices:
            raise DeviceStartError(f"no device is attached to adb. {_NO_DEVICE}")
        return ready[0] if ready else devices[0]


WAYS = ("adb", "adb-direct")


def remedy(state: str) -> str:
    """What makes a device of this state usable, as far as that is known."""
    return next((r for known, r in _REMEDIES.items() if state.startswith(known)), "")


def _unusable(device: Listed) -> str:
    advice = remedy(device.state)
    return f"{device.serial} cannot be used, it is {device.state}" + (advice and f": {advice}")
