"""What a phone's shell tells, as facts."""

from __future__ import annotations

import pytest

from ui_gym.android import facts, shell_facts
from ui_gym.android.device import ShellResult
from ui_gym.contract.harm import harms

DUMP = """GLOBAL SETTINGS (user 0)
version: 213
_id:12 name:wifi_on pkg:com.android.settings value:0 default:1 defaultSystemSet:true

Historical operations
2023-10-15 15:34:09 update bluetooth_on
2023-10-15 15:34:07 update wifi_on
2023-10-15 15:34:07 update airplane_mode_on

SECURE SETTINGS (user 0)
Historical operations
2023-10-15 15:34:09 persist
2023-10-15 15:34:08 delete ui_night_mode
"""


def says(text: str, code: int = 0) -> shell_facts.Shell:
    return lambda line: ShellResult(text.encode(), b"", code)


def test_the_order_of_changes_is_read_from_what_a_debuggable_phone_remembers() -> None:
    assert shell_facts.settings_log(says(DUMP)) == (
        "global airplane_mode_on", "global wifi_on", "secure ui_night_mode", "global bluetooth_on",
    )  # fmt: skip


@pytest.mark.parametrize("text", ["", "GLOBAL SETTINGS (user 0)\n_id:1 name:wifi_on value:0\n"])
def test_a_phone_that_remembers_nothing_tells_no_order(text: str) -> None:
    assert shell_facts.settings_log(says(text)) is None


def test_a_phone_that_tells_nothing_has_the_settings_that_nobody_wrote() -> None:
    told = dict(shell_facts.by_shell(says("", code=1)))
    assert told["setting global airplane_mode_on"] == "0"
    assert told["setting system volume_music"] == "7"
    assert not [name for name in told if not name.startswith(("setting ", "time zone"))]


def test_what_a_setting_changes_along_with_it() -> None:
    before = [("setting global airplane_mode_on", "0"), ("setting global wifi_on", "1")]
    after = [("setting global airplane_mode_on", "1"), ("setting global wifi_on", "3")]
    allowed = facts.settings_change("global airplane_mode_on")
    assert harms(before, after, allowed) == []
    off = [after[0], ("setting global wifi_on", "0")]
    assert harms(before, off, allowed) == ["setting global wifi_on: 1, now 0"]
