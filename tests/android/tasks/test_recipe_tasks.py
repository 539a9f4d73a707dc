"""The CUA-RL recipe's demo tasks, and its validators' lines: what a real phone would answer."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from tests.android.tasks.android_episodes import assert_solved, made
from ui_gym.android.recipe import ENTRIES, VALIDATORS
from ui_gym.contract import registry
from ui_gym.contract.device import DeviceOptions
from ui_gym.testing import check_ui_env
from ui_gym_phone.device import PhoneDevice


@pytest.fixture(scope="module")
def started() -> PhoneDevice:
    device = PhoneDevice(DeviceOptions())
    device.start()
    return device


@pytest.fixture
def phone(started: PhoneDevice) -> PhoneDevice:
    """A phone as it left the factory."""
    started.renew()
    return started


@pytest.mark.parametrize("id", list(ENTRIES))
def test_the_oracle_reaches_the_goal_in_the_recipes_steps(id: str) -> None:
    assert_solved(id, range(2))


@pytest.mark.parametrize("id", ["train_02_max_brightness", "eval_16_create_downloads_folder_xyz"])
def test_the_contract_is_kept(id: str) -> None:
    check_ui_env(id, seeds=[0])


def test_what_the_id_says_is_fixed() -> None:
    with made("train_12_timeout_2min") as env:
        assert {env.task.draw(seed).time for seed in range(20)} == {"2 minutes"}
    with made("eval_16_create_downloads_folder_xyz") as env:
        drawn = {(p.folder, p.name) for p in map(env.task.draw, range(20))}
        assert drawn == {("Download", "xyz")}


def test_its_classes_can_be_sent_to_workers() -> None:
    cls = registry.spec("train_05_disable_wifi").load()
    assert pickle.loads(pickle.dumps(cls)) is cls  # noqa: S301 - our own bytes


FOCUS = "mCurrentFocus=Window{"
GRANTED = {"package": "com.example.chess", "permission": "POST_NOTIFICATIONS", "granted": True}


@pytest.mark.parametrize(
    ("query", "before", "expected", "answers", "holds"),
    [
        ("current_app", "am start -a android.settings.SETTINGS", "com.android.settings",
         "com.android.settings/com.android.settings.Settings}", True),
        ("current_app", "input keyevent 3", "com.android.settings", FOCUS, False),
        ("current_activity", "am start -a android.settings.WIFI_SETTINGS", "wifisettings",
         "Settings$WifiSettingsActivity}", True),
        ("is_home_screen", "input keyevent 3", True, "com.android.launcher3", True),
        ("wifi_enabled", "svc wifi disable", False, "0\n", True),
        ("wifi_enabled", "svc wifi enable", True, "1\n", True),
        ("airplane_mode", "cmd connectivity airplane-mode enable", True, "1\n", True),
        ("bluetooth_enabled", "svc bluetooth disable", False, "0\n", True),
        ("brightness_level", "settings put system screen_brightness 255", 255, "255\n", True),
        ("brightness_level", "settings put system screen_brightness 2", 1, "2\n", False),
        ("screen_timeout", "settings put system screen_off_timeout 30000", 30000, "30000\n", True),
        ("dnd_enabled", "cmd notification set_dnd on", True, "2\n", True),
        ("dnd_enabled", "cmd notification set_dnd off", True, "0\n", False),
        ("auto_time_enabled", "settings put global auto_time 0", False, "0\n", True),
        ("battery_saver_enabled", "settings put global low_power 1", True, "1\n", True),
        ("battery_saver_enabled", "settings delete global low_power", False, "null\n", False),
        ("system_language", "settings put system system_locales en-US", "en", "en-US\n", True),
        ("file_exists", "mkdir /sdcard/Download/abc",
         {"path": "/storage/emulated/0/Download/abc", "exists": True}, "1\n", True),
        ("file_exists", "true", {"path": "/storage/emulated/0/Download/abc", "exists": True},
         "0\n", False),
        # Those with faults: they print what they print on a real phone.
        ("media_volume", "cmd media_session volume --stream 3 --set 15", 100, "", False),
        ("notification_count", "true", 0, "0\n0\n", False),
        ("notification_count", "cmd notification post -t A b c", 1, "1\n", True),
        ("dark_theme_enabled", "cmd uimode night no", True, "1\n", True),
        ("dark_theme_enabled", "cmd uimode night yes", True, "2\n", True),
        ("app_installed", "true", {"package": "com.example.chess", "installed": False}, "0\n",
         True),
        ("app_permission", "pm grant com.example.chess android.permission.POST_NOTIFICATIONS",
         GRANTED, "granted=true", False),
        ("app_permission", "pm revoke com.example.chess android.permission.POST_NOTIFICATIONS",
         {**GRANTED, "granted": False}, "INTERNET: granted=true", False),
        ("chrome_cache_cleared", "true", True, "Failed\n", False),
    ],
)  # fmt: skip
def test_the_recipes_lines_answer_as_on_a_phone(
    phone: PhoneDevice, query: str, before: str, expected: Any, answers: str, holds: bool
) -> None:
    assert phone.shell(before).code == 0
    validator = VALIDATORS[query]
    output = phone.shell(validator.filled(expected)).stdout.decode()
    assert output == answers if answers.endswith("\n") or not answers else answers in output
    assert validator.holds(phone, expected) is holds


@pytest.mark.parametrize(
    ("query", "message", "expected", "holds"),
    [
        ("result_message_contains", "It is at 83%.", "83", True),
        ("finish_message_contains", "It uses 20 MB", "73.73KB", False),
        ("finish_message_contains_size", "It uses 20 MB", "storage_size_reported", True),
        ("finish_message_contains_size", "It uses much", "storage_size_reported", False),
    ],
)
def test_the_recipe_reads_messages(
    phone: PhoneDevice, query: str, message: str, expected: str, holds: bool
) -> None:
    assert VALIDATORS[query].holds(phone, expected, message) is holds


@pytest.mark.parametrize(
    "id",
    ["train_02_max_brightness", "train_05_disable_wifi", "train_11_timeout_1min",
     "train_13_disable_auto_time", "train_21_create_downloads_folder", "eval_02_dnd_mode_enable"],
)  # fmt: skip
def test_a_validator_that_is_sound_agrees_with_our_check(id: str) -> None:
    entry = ENTRIES[id]
    with made(id) as env:
        _, info = env.reset(seed=7, options={"oracle": True})
        device = env.device
        assert isinstance(device, PhoneDevice)
        assert not VALIDATORS[entry.query].holds(device, entry.expected)
        while not info["success"]:
            info = env.step(info["oracle"]["action_text"])[4]
        assert VALIDATORS[entry.query].holds(device, entry.expected)
