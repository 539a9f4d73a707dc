"""A wheel arrives, also where the browser loses it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from browser_helpers import MakeDevice, WritePage

from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.contract import action as act
from ui_gym.errors import DeviceTimeout

PANE = "<div id=pane style='height: 100px; overflow: auto'><p style='height: 900px'>far</p></div>"


@pytest.fixture
def device(make_device: MakeDevice, page: WritePage) -> ChromiumDevice:
    made = make_device()
    made.load(page(PANE), {})
    return made


def lose(device: ChromiumDevice, monkeypatch: pytest.MonkeyPatch, count: int) -> list[int]:
    """The browser acknowledges the next `count` wheels and gives them to nobody."""
    send, lost = device.page.send, []

    def deaf(commands: Sequence[Any]) -> Any:
        if commands and commands[0][1].get("type") == "mouseWheel" and len(lost) < count:
            lost.append(1)
            commands = [("Runtime.evaluate", {"expression": "0"})]
        return send(commands)

    monkeypatch.setattr(device.page, "send", deaf)
    return lost


def test_a_lost_wheel_is_sent_again(
    device: ChromiumDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = lose(device, monkeypatch, 2)
    device.perform(act.Scroll(*device.center("#pane"), dy=120))
    assert len(lost) == 2
    assert device.evaluate("document.querySelector('#pane').scrollTop") == 120


def test_a_wheel_that_never_arrives_is_a_fault(
    device: ChromiumDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose(device, monkeypatch, 99)
    with pytest.raises(DeviceTimeout, match="gave a wheel to no page"):
        device.perform(act.Scroll(*device.center("#pane"), dy=120))


def test_a_wheel_over_a_fixed_page_goes_nowhere(make_device: MakeDevice, page: WritePage) -> None:
    device = make_device()
    device.load(page("<style>html, body { position: fixed }</style><p>still</p>"), {})
    device.perform(act.Scroll(10, 10, dy=120))
    assert device.evaluate("[scrollX, scrollY]") == [0, 0]
