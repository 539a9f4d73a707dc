"""PhonePool: what `ui_gym` finds by its entry point when the built-in phone is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ui_gym.contract.device import DeviceOptions
from ui_gym.errors import UserError
from ui_gym.playing.pool import FreshPool
from ui_gym_phone.device import PhoneDevice


class PhonePool(FreshPool[PhoneDevice]):
    """Lends built-in phones, as many as are wanted."""

    suites = ("android",)

    def __init__(self, options: DeviceOptions) -> None:
        address = options.kind.partition(":")[2]
        if address:
            raise UserError(f"device='phone' takes no address, not {address!r}")
        super().__init__(lambda: PhoneDevice(options))

    @staticmethod
    @contextmanager
    def serve(port: int, count: int, size: tuple[int, int]) -> Iterator[list[int]]:
        """Serve phones to any `adb`, for the command ``ui-gym phone``."""
        from ui_gym_phone.serving import serve

        with serve(port, count, size) as ports:
            yield ports
