"""A whole machine, of the image that the environment variable UI_GYM_QEMU_IMAGE names."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import guests
import pytest

from ui_gym.contract.action import parse
from ui_gym.contract.device import DeviceOptions
from ui_gym.desktop.device import SessionSpec
from ui_gym.desktop.qemu.device import QemuDevice

IMAGE = os.environ.get("UI_GYM_QEMU_IMAGE", "")

pytestmark = [
    guests.needs_qemu,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        not IMAGE,
        reason="UI_GYM_QEMU_IMAGE names no image (docs/qemu.md says how one is built)",
    ),
]


@pytest.fixture
def device(surroundings: Path) -> Iterator[QemuDevice]:
    kind = f"qemu:{IMAGE}?memory=1024&cores=2&probe=30&boot=600"
    device = QemuDevice(DeviceOptions(kind, (1280, 800), 30.0))
    device.start()
    yield device
    device.close()


def test_episodes_begin_alike_are_played_and_reach_nobody(device: QemuDevice):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        for _ in range(2):
            device.renew(
                SessionSpec(files={"note.txt": b"one "}, launch=[["mousepad", "note.txt"]])
            )
            assert device.read("left.txt") is None
            device.write("left.txt", b"behind")
            for action in parse('press("ctrl+end"); type("two"); press("ctrl+s")'):
                device.perform(action)
            picture = device.capture().image
            assert picture.shape == (800, 1280, 3)
            assert picture.std() > 0
            assert device.read("note.txt") == b"one two"
            # QEMU's network calls this machine 10.0.2.2.
            line = f"timeout 5 bash -c 'echo > /dev/tcp/10.0.2.2/{port}'"
            assert device.run(line).code != 0
        listener.settimeout(0.1)
        with pytest.raises(TimeoutError):
            listener.accept()
        # The positive control: the listener is there for whoever may reach it.
        socket.create_connection(("127.0.0.1", port), 5).close()
        listener.accept()[0].close()
