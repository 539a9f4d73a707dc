"""Built-in phones as devices that any `adb` can connect to, or finds by itself as emulators."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ui_gym.errors import UserError
from ui_gym_phone.adbd import AdbServer
from ui_gym_phone.console import EmulatorConsole
from ui_gym_phone.device import LARGEST, SMALLEST
from ui_gym_phone.handset import Handset

LAST_PORT = 65_535

log = logging.getLogger(__name__)


@contextmanager
def serve(port: int, count: int, size: tuple[int, int] = (1080, 2400)) -> Iterator[list[int]]:
    """Serve `count` phones of `size` (width, height) device pixels while the context is open.

    They listen on consecutive ports from `port` on, or on any that are free if it is 0; the ports
    are what is given. From an odd `port` on they are laid out as emulators: ADB on every second
    port, each with a console on the port before, which `adb emu` finds by itself (``emulator-5554``
    for port 5555).

    Raises:
        UserError: a port is taken or cannot be, or no phone has such a screen.
    """
    step = 1 + port % 2
    if port and not 1025 <= port <= LAST_PORT - step * (count - 1):
        raise UserError(f"{count} phones cannot have the ports from {port} on: 1025 to {LAST_PORT}")
    if not all(s <= n <= m for n, s, m in zip(size, SMALLEST, LARGEST, strict=True)):
        raise UserError(
            f"a phone's screen is {SMALLEST[0]}x{SMALLEST[1]} to {LARGEST[0]}x{LARGEST[1]} pixels, "
            f"not {size[0]}x{size[1]}"
        )
    with ExitStack() as open_servers:
        ports = []
        for number in range(count):
            handset = Handset(*size, serial=f"phone-{number}")
            wanted = port + step * number if port else 0
            server = open_servers.enter_context(AdbServer(handset, port=wanted))
            if step == 2:
                _open_console(open_servers, handset, wanted - 1)
            ports.append(server.port)
        yield ports


def _open_console(servers: ExitStack, handset: Handset, port: int) -> None:
    """Let `adb emu` reach a phone; without it, everything else works."""
    try:
        servers.enter_context(EmulatorConsole(handset, port))
    except UserError as error:
        log.warning("%s has no console, `adb emu` does not reach it: %s", handset.serial, error)
