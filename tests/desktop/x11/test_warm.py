"""Programs that are kept warm: started while the episode before is played."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pytest
from waiting import eventually
from x11_helpers import NOTES, SIZE

from ui_gym.contract.device import DeviceOptions
from ui_gym.desktop.device import Warm
from ui_gym.desktop.x11.device import X11Device
from ui_gym.errors import DeviceTimeout

SLOW = Warm(
    ("sh", "-c", "sleep 0.3; date +%s.%N > /tmp/ready; exec sleep 1000"), "test -s /tmp/ready"
)
KEPT = dataclasses.replace(NOTES, warm=(SLOW,))


def test_the_next_session_is_begun_while_this_one_is_played(desktop: X11Device) -> None:
    desktop.renew(KEPT)
    first = desktop.capture().image.copy()
    spare = desktop._spare
    assert spare is not None
    assert eventually(lambda: not spare._thread.is_alive())
    asked = time.time()
    desktop.renew(KEPT)
    assert float(desktop.run("cat /tmp/ready").text) < asked
    assert np.array_equal(desktop.capture().image, first)
    assert desktop.read("notes.txt") == b"alpha\nbeta\n"


def test_another_session_does_not_get_it(desktop: X11Device) -> None:
    desktop.renew(KEPT)
    desktop.renew(NOTES)
    assert desktop.read("/tmp/ready") is None
    assert desktop.run("pgrep -x sleep").text == ""


def test_a_desktop_that_closes_takes_the_half_begun_one_along() -> None:
    device = X11Device(DeviceOptions("x11", SIZE))
    device.start()
    device.renew(KEPT)
    device.close()  # the module's check sees what is left


def test_a_program_that_is_never_ready_is_named() -> None:
    device = X11Device(DeviceOptions("x11", SIZE, timeout=2))
    device.start()
    try:
        with pytest.raises(DeviceTimeout, match="sleep was not ready in 2 s"):
            device.renew(dataclasses.replace(NOTES, warm=(Warm(("sleep", "50"), "false"),)))
    finally:
        device.close()


def test_a_title_is_waited_for(desktop: X11Device) -> None:
    desktop.renew(dataclasses.replace(NOTES, titles=["notes.txt"]))
    device = X11Device(DeviceOptions("x11", SIZE, timeout=2))
    device.start()
    try:
        with pytest.raises(DeviceTimeout, match=r"no window was called 'other\.txt'"):
            device.renew(dataclasses.replace(NOTES, titles=["other.txt"]))
    finally:
        device.close()
