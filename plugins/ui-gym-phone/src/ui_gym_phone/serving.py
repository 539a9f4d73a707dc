"""Built-in phones as devices that any `adb` can connect to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ui_gym.errors import UserError
from ui_gym_phone.adbd import AdbServer
from ui_gym_phone.device import LARGEST, SMALLEST
from ui_gym_phone.handset import Handset

LAST_PORT = 65_535


@contextmanager
def serve(port: int, count: int, size: tuple[int, int] = (1080, 2400)) -> Iterator[list[int]]:
    """Serve `count` phones of `size` (width, height) device pixels while the context is open.

    They listen on consecutive ports from `port` on, or on any that are free if it is 0; the ports
    are what is given.

    Raises:
        UserError: a port is taken or cannot be, or no phone has such a screen.
    """
    if port and not 1024 <= port <= LAST_PORT - count + 1:
        raise UserError(f"{count} phones cannot have the ports from {port} on: 1024 to {LAST_PORT}")
    if not all(s <= n <= m for n, s, m in zip(size, SMALLEST, LARGEST, strict=True)):
        raise UserError(
            f"a phone's screen is {SMALLEST[0]}x{SMALLEST[1]} to {LARGEST[0]}x{LARGEST[1]} pixels, "
            f"not {size[0]}x{size[1]}"
        )
    with ExitStack() as open_servers:
        servers = [
            open_servers.enter_context(
                AdbServer(Handset(*size, serial=f"phone-{i}"), port=port + i if port else 0)
            )
            for i in range(count)
        ]
        yield [server.port for server in servers]
