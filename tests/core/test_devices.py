"""Devices that other distributions bring, by the entry-point group `ui_gym.devices`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import pytest

import ui_gym  # noqa: F401  registers the tasks
from tests.distributions import install
from ui_gym.errors import DeviceStartError, UserError
from ui_gym.playing import devices
from ui_gym.tools import cli

MODULE = """
from ui_gym.playing.pool import FreshPool

class ToyPool(FreshPool):
    def __init__(self, options):
        super().__init__(lambda: None)
        self.options = options

class PhonesOnly(ToyPool):
    suites = ("android",)

def no_pool(options):
    return {}
nothing = 3
"""

ENTRY_POINTS = """
[ui_gym.devices]
toybox = ui_gym_toybox:ToyPool
toyphone = ui_gym_toybox:PhonesOnly
chromium = ui_gym_toybox:ToyPool
auto = ui_gym_toybox:ToyPool
broken = ui_gym_toybox:NoSuchName
lost = no_such_package:Pool
nothing = ui_gym_toybox:nothing
no-pool = ui_gym_toybox:no_pool
"""


@pytest.fixture
def _toybox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    install(tmp_path, "ui-gym-toybox", "1.2", ENTRY_POINTS, ui_gym_toybox=MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("ui_gym_toybox", None)


@pytest.mark.usefixtures("_toybox")
@pytest.mark.parametrize("task", ["DataEntry", "AndroidWifi", "DesktopRenameFile"])
def test_a_device_of_another_distribution_is_given_its_address(task: str) -> None:
    assert "ui_gym_toybox" not in sys.modules
    env = gymnasium.make(f"UI/{task}-v0", device="toybox:shelf:3")
    pool = env.unwrapped.disown_pool()
    assert type(pool).__module__ == "ui_gym_toybox"
    assert pool.options.kind == "toybox:shelf:3"


@pytest.mark.usefixtures("_toybox")
@pytest.mark.parametrize("kind", ["auto", "chromium"])
def test_the_name_of_a_built_in_device_cannot_be_taken(kind: str) -> None:
    env = gymnasium.make("UI/Login-v0", device=kind)
    assert type(env.unwrapped.disown_pool()).__name__ == "BrowserPool"
    assert "ui_gym_toybox" not in sys.modules


@pytest.mark.usefixtures("_toybox")
@pytest.mark.parametrize(
    ("kind", "error", "said"),
    [
        ("toybx", UserError, "browser suite has no device 'toybx'. Did you mean 'toybox'"),
        ("chrome", UserError, "Did you mean 'chromium'"),
        ("toyphone", UserError, "has no device 'toyphone', which plays android. Known: 'auto'"),
        ("broken", DeviceStartError, r"device 'broken' \(ui-gym-toybox 1.2\) cannot be imported"),
        ("lost", DeviceStartError, "ModuleNotFoundError: No module named 'no_such_package'"),
        ("nothing", DeviceStartError, "is no pool factory, but 3"),
        ("no-pool", DeviceStartError, "made a dict, which is no DevicePool"),
    ],
)
def test_what_cannot_be_made_is_told_at_once(kind: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        gymnasium.make("UI/Login-v0", device=kind)


def test_without_the_built_in_phone_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(devices.extras, "entry_points", lambda group: ())
    for arguments in ({}, {"device": "phone"}):
        with pytest.raises(DeviceStartError, match=r"not installed: pip install ui-gym-phone$"):
            gymnasium.make("UI/AndroidWifi-v0", **arguments)
    with pytest.raises(SystemExit, match="1"):
        cli.main(["phone"])
    assert "pip install ui-gym-phone" in capsys.readouterr().err
    gymnasium.make("UI/AndroidWifi-v0", device="adb:emulator-5554").close()
    with pytest.raises(UserError, match="no device 'tablet' is installed"):
        devices.load("tablet")
