"""What AndroidWorld asks of a phone, asked by its own code and AndroidEnv's, read by their parsers.

Both have to be importable (``pip install android-env``; AndroidWorld from its repository). Between
them and the phone there is what the `adb` command would do with the same words.
"""

from __future__ import annotations

import datetime
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ui_gym_phone.handset import Handset
from ui_gym_phone.state import messages

adb_utils = pytest.importorskip("android_world.env.adb_utils")
adb_call_parser = pytest.importorskip("android_env.components.adb_call_parser")
file_utils = pytest.importorskip("android_world.utils.file_utils")
datetime_utils = pytest.importorskip("android_world.utils.datetime_utils")
representation = pytest.importorskip("android_world.env.representation_utils")
MMSSMS = "/data/data/com.android.providers.telephony/databases/mmssms.db"
SETTINGS = "com.android.settings/com.android.settings.Settings"


class PlayedAdb:
    """Does what `adb` does with its words, on a phone of this process."""

    def __init__(self, handset: Handset) -> None:
        self.handset = handset

    def execute_command(self, args: list[str], timeout: float | None = None) -> bytes:
        verb, *words = args
        code, told = 0, b""
        if verb == "shell":
            chunks: list[bytes] = []
            code = self.handset.run(" ".join(words), None, lambda fd, data: chunks.append(data))
            told = b"".join(chunks)
        elif verb == "emu":
            said = self.handset.console(" ".join(words))
            code, told = int(said.startswith("KO")), said.encode()
        elif verb == "root":
            self.handset.set_root(True)
            told = b"restarting adbd as root\n"
        elif verb == "push":
            self.handset.write(words[1], Path(words[0]).read_bytes(), 0o100644, 0)
        elif verb == "pull":
            Path(words[1]).write_bytes(self.handset.read(words[0]))
        if code:
            raise subprocess.CalledProcessError(code, args, told)
        return told


class PlayedEnv:
    """AndroidEnv as far as AndroidWorld's helpers need it."""

    def __init__(self, handset: Handset) -> None:
        self._parser = adb_call_parser.AdbCallParser(PlayedAdb(handset))

    def execute_adb_call(self, request: Any) -> Any:
        return self._parser.parse(request)


@pytest.fixture
def handset() -> Handset:
    return Handset()


@pytest.fixture
def env(handset: Handset) -> PlayedEnv:
    return PlayedEnv(handset)


def test_the_screen_is_measured(env: PlayedEnv) -> None:
    assert adb_utils.get_screen_size(env) == (1080, 2400)
    assert adb_utils.get_logical_screen_size(env) == (1080, 2400)
    assert adb_utils.get_physical_frame_boundary(env) == (0, 0, 1080, 2400)
    assert adb_utils.get_orientation(env) == 0
    adb_utils.set_screen_size(720, 1280, env)
    assert adb_utils.get_logical_screen_size(env) == (720, 1280)


def test_the_screen_is_turned(env: PlayedEnv) -> None:
    adb_utils.start_activity("com.android.settings/.Settings", [], env)
    adb_utils.change_orientation("landscape", env)
    assert adb_utils.get_orientation(env) == 1
    assert adb_utils.get_logical_screen_size(env) == (2400, 1080)
    assert adb_utils.get_physical_frame_boundary(env) == (0, 0, 1080, 2400)


def test_what_is_open_is_told_and_closed(env: PlayedEnv, handset: Handset) -> None:
    adb_utils.launch_app("settings", env)
    assert adb_utils.get_current_activity(env)[0] == SETTINGS
    adb_utils.launch_app("com.example.chess", env)
    assert adb_utils.get_current_activity(env)[0].startswith("com.example.chess/")
    adb_utils.close_recents(env)
    assert handset.phone.tasks == []
    assert adb_utils.close_app("settings", env) == "settings"


def test_a_text_message_comes_in(env: PlayedEnv, handset: Handset) -> None:
    adb_utils.text_emulator(env, "+1 555-1234", "Hello, there")
    (message,) = messages.all(handset.phone)
    assert (message.number, message.body) == ("+15551234", "Hello, there")


def test_a_call_comes_in_and_is_ended(env: PlayedEnv) -> None:
    assert adb_utils.get_call_state(env) == "IDLE"
    adb_utils.call_emulator(env, "5551234")
    assert adb_utils.get_call_state(env) == "RINGING"
    adb_utils.end_call_if_active(env)
    assert adb_utils.get_call_state(env) == "IDLE"
    adb_utils.call_phone_number(env, "5551234")
    assert adb_utils.get_call_state(env) == "OFFHOOK"
    adb_utils.end_call_if_active(env)
    assert adb_utils.get_call_state(env) == "IDLE"
    adb_utils.clear_android_emulator_call_log(env)


def test_the_clipboard_is_written_and_read(env: PlayedEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adb_utils.time, "sleep", lambda seconds: None)
    adb_utils.set_clipboard_contents("some words", env)
    assert adb_utils.get_clipboard_contents(env) == "some words"


def test_root_reads_and_changes_what_apps_keep(env: PlayedEnv, handset: Handset) -> None:
    messages.receive(handset.phone, "5551", "Hi")
    denied = adb_utils.issue_generic_request(["shell", "cat", MMSSMS], env)
    assert b"Permission denied" in denied.error_message.encode()
    adb_utils.set_root_if_needed(env)
    with file_utils.tmp_file_from_device(MMSSMS, env) as local:
        assert Path(local).read_bytes().startswith(b"SQLite format 3")
    adb_utils.execute_sql_command(MMSSMS, "DELETE FROM sms;", env)
    assert messages.all(handset.phone) == []


def test_files_are_made_listed_copied_and_removed(env: PlayedEnv) -> None:
    folder = "/sdcard/Documents/some"
    file_utils.create_file("a b.txt".replace(" ", "_"), folder, env, content="it's here")
    assert file_utils.check_file_content(f"{folder}/a_b.txt", "it's here", env)
    (listed,) = file_utils.get_file_list_with_metadata(folder, env)
    assert (listed.file_name, listed.file_size) == ("a_b.txt", 10)
    assert listed.change_time == datetime.datetime(2023, 10, 15, 15, 34)
    file_utils.copy_dir(folder, "/sdcard/Documents/more", env)
    assert file_utils.check_file_or_folder_exists("a_b.txt", "/sdcard/Documents/more", env)
    file_utils.remove_single_file("a_b.txt", folder, env)
    assert file_utils.get_file_list_with_metadata(folder, env) == []
    file_utils.clear_directory("/sdcard/Documents", env)
    assert not file_utils.check_directory_exists("/sdcard/Documents/more", env)


def test_switches_are_turned(env: PlayedEnv, handset: Handset) -> None:
    adb_utils.toggle_wifi(env, "off")
    adb_utils.toggle_bluetooth(env, "off")
    adb_utils.set_brightness("max", env)
    told = handset.shell(
        "settings get global wifi_on; settings get global bluetooth_on;"
        " settings get system screen_brightness"
    )
    assert told.text == "0\n0\n255"
    assert adb_utils.check_airplane_mode(env) is False
    adb_utils.toggle_airplane_mode("on", env)
    assert adb_utils.check_airplane_mode(env) is True


def test_the_date_is_set(env: PlayedEnv, handset: Handset) -> None:
    datetime_utils.setup_datetime(env)
    datetime_utils.set_datetime(env, datetime.datetime(2023, 11, 2, 8, 30))
    assert handset.shell("date '+%F %T %Z'").text == "2023-11-02 08:30:00 UTC"
    datetime_utils.advance_system_time(datetime.timedelta(hours=1), env)
    assert handset.shell("date +%H:%M").text == "09:30"


def test_packages_permissions_and_the_version_are_told(env: PlayedEnv) -> None:
    assert "com.example.chess" in adb_utils.get_all_package_names(env)
    assert adb_utils.get_api_level(env) == 34
    adb_utils.grant_permissions("com.android.contacts", "android.permission.READ_SMS", env)
    adb_utils.check_ok(adb_utils.clear_app_data("com.example.chess", env))


def test_what_is_typed_arrives(env: PlayedEnv, handset: Handset) -> None:
    handset.shell("am start -a android.intent.action.SENDTO -d sms:5551 --es sms_body ''")
    elements = representation.xml_dump_to_ui_elements(adb_utils.uiautomator_dump(env))
    field = next(e for e in elements if e.class_name == "android.widget.EditText")
    x, y = field.bbox_pixels.center
    adb_utils.tap_screen(int(x), int(y), env)
    adb_utils.type_text('It\'s $5 (a "deal") & more', env)
    elements = representation.xml_dump_to_ui_elements(adb_utils.uiautomator_dump(env))
    assert any(e.text == 'It\'s $5 (a "deal") & more' for e in elements)


def test_all_settings_are_read(env: PlayedEnv, handset: Handset) -> None:
    handset.shell("settings put secure zen_duration 0")
    assert adb_utils.get_all_settings(env)["wifi_on"] == "1"


def test_the_media_are_forgotten(env: PlayedEnv, handset: Handset) -> None:
    handset.shell("echo x > /sdcard/Download/a.pdf")
    answer = adb_utils.issue_generic_request(
        "shell content delete --uri content://media/external/downloads", env
    )
    adb_utils.check_ok(answer)
    assert handset.shell("ls /sdcard/Download").text == ""
