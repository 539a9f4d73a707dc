"""The phone's state: activities, packages, notifications, snapshots."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ui_gym.contract.action import Click, Open
from ui_gym.contract.device import DeviceOptions
from ui_gym_phone.device import PhoneDevice
from ui_gym_phone.factory import factory_phone
from ui_gym_phone.state import contacts, messages
from ui_gym_phone.state.activities import Notification
from ui_gym_phone.state.files import Stat
from ui_gym_phone.state.phone import Phone

CHESS, STRIDE, SETTINGS = "com.example.chess", "com.example.stride", "com.android.settings"


@pytest.fixture
def phone() -> Phone:
    return factory_phone()


def test_an_app_is_found_where_it_was_left(phone):
    phone.launch(CHESS)
    phone.activity.state["row"] = "History"
    phone.home()
    phone.launch(STRIDE)
    phone.launch(CHESS)
    assert phone.activity.state == {"row": "History"}
    assert [task.package for task in phone.tasks] == [STRIDE, CHESS]


def test_a_fresh_start_closes_what_was_open(phone):
    phone.launch(CHESS)
    phone.activity.state["row"] = "History"
    assert phone.start(CHESS, ".MainActivity", fresh=True)
    assert phone.activity.state == {}


def test_what_is_not_there_cannot_be_opened(phone):
    assert not phone.launch("com.example.nothing")
    assert not phone.start(CHESS, ".Missing")
    phone.packages[CHESS].enabled = False
    assert not phone.launch(CHESS)
    assert phone.at_home


def test_back_leads_home_through_every_activity(phone):
    phone.launch(SETTINGS)
    cls = next(c for c in phone.packages[SETTINGS].activities if c != ".Settings")
    phone.push(cls)
    phone.back()
    assert phone.activity.cls == ".Settings"
    phone.back()
    assert phone.at_home
    phone.back()
    assert phone.at_home


def test_back_closes_a_dialog_before_the_screen(phone):
    phone.launch(CHESS)
    phone.activity.state["dialog"] = "sure"
    phone.activity.state["overlay"] = "search"
    phone.back()
    assert phone.activity.state == {"overlay": "search"}
    phone.back()
    assert phone.activity.state == {}
    assert not phone.at_home


def test_uninstalling_takes_all_that_is_the_app_s(phone):
    phone.files.mkdir(f"/data/data/{CHESS}/files", parents=True)
    phone.files.write(f"/data/data/{CHESS}/files/game", b"e4")
    phone.launch(CHESS)
    phone.notify(Notification(CHESS, 1, "Your move", "", 0))
    assert phone.uninstall(CHESS)
    assert CHESS not in phone.packages
    assert phone.notifications == []
    assert phone.tasks == []
    assert phone.at_home
    assert not phone.files.exists(f"/data/data/{CHESS}")


def test_system_apps_stay(phone):
    assert not phone.uninstall(SETTINGS)
    assert SETTINGS in phone.packages


def test_a_stopped_app_is_started_again_by_opening_it(phone):
    phone.launch(CHESS)
    phone.force_stop(CHESS)
    assert phone.packages[CHESS].stopped
    assert phone.at_home
    phone.launch(CHESS)
    assert not phone.packages[CHESS].stopped


def test_clearing_data_takes_permissions_and_rows(phone):
    messages.receive(phone, "+15550100", "Hello")
    messaging = phone.packages["com.android.messaging"]
    assert phone.clear_data("com.android.messaging")
    assert not any(messaging.permissions.values())
    assert messaging.data_size == messaging.cache_size == 0


def test_a_notification_of_the_same_key_replaces_the_one_before(phone):
    phone.notify(Notification(CHESS, 1, "One", "", 0))
    phone.notify(Notification(CHESS, 1, "Two", "", 0))
    phone.notify(Notification(CHESS, 2, "Stays", "", 0, ongoing=True))
    assert [n.title for n in phone.notifications] == ["Stays", "Two"]
    phone.clear_notifications()
    assert [n.title for n in phone.notifications] == ["Stays"]


def test_an_app_that_may_not_post_posts_nothing(phone):
    phone.notify(Notification(CHESS, 1, "Your move", "", 0))
    phone.packages[CHESS].permissions["POST_NOTIFICATIONS"] = False
    phone.notify(Notification(CHESS, 2, "Your move", "", 0))
    phone.notify(Notification(STRIDE, 1, "Walk", "", 0))
    assert [(n.package, n.id) for n in phone.notifications] == [(STRIDE, 1), (CHESS, 1)]


def test_a_snapshot_holds_everything_and_shares_nothing(phone):
    contacts.add(phone, "Ann Bell", "+15550100")
    phone.files.write("/sdcard/Download/a.txt", b"one")
    phone.launch(CHESS)
    phone.activity.fields["x"] = "typed"
    saved = phone.snapshot()
    twin = Phone.restore(saved)
    contacts.add(phone, "Bob Cole", "+15550101")
    phone.files.write("/sdcard/Download/a.txt", b"two")
    phone.activity.fields["x"] = "other"
    phone.clock.advance(60)
    phone.put("global", "wifi_on", 0)

    assert [c.name for c in contacts.all(twin)] == ["Ann Bell"]
    assert twin.files.read("/sdcard/Download/a.txt") == b"one"
    assert twin.activity.fields == {"x": "typed"}
    assert twin.setting("global", "wifi_on") == "1"
    assert twin.clock.ms == phone.clock.ms - 60_000
    assert Phone.restore(twin.snapshot()).snapshot() == Phone.restore(saved).snapshot()


def test_a_snapshot_keeps_what_is_no_longer_as_on_every_phone(phone):
    phone.files.chmod("/data/local/tmp", 0o700)
    phone.files.rmtree("/sdcard/Music")
    phone.files.write("/data/local/tmp/a", b"one")
    phone.packages[CHESS].permissions["POST_NOTIFICATIONS"] = False
    phone.packages[STRIDE].grant("CAMERA", True, once_ms=5)
    phone.uninstall("com.example.transit")
    twin = Phone.restore(phone.snapshot())
    assert list(twin.packages) == list(phone.packages)
    assert files(twin) == files(phone) != files(factory_phone())
    twin.packages[CHESS].permissions["POST_NOTIFICATIONS"] = True
    twin.packages[SETTINGS].refusals["CAMERA"] = 1
    assert phone.packages[CHESS].permissions["POST_NOTIFICATIONS"] is False
    assert not factory_phone().packages[SETTINGS].refusals


def files(phone: Phone) -> list[tuple[str, Stat]]:
    return [(path, phone.files.stat(path)) for path in phone.files.walk("/")]


def test_who_renews_a_device_first_and_who_does_later_get_the_same_phone():
    """The first one gets the phone that the line was run on, all others one of its snapshot."""
    line = (
        "content insert --uri content://sms/inbox --bind address:s:5550100 --bind body:s:Hi && "
        "am start -n com.android.messaging/.MainActivity && cmd uimode night yes"
    )
    device = PhoneDevice(DeviceOptions("phone", (360, 800)))
    device.start()
    seen = []
    for _ in range(3):
        said = device.renew((), line)
        first = device.capture().image.tobytes(), device.ui_tree(), device.facts()
        device.perform(Click(180, 120))
        device.perform(Open("Settings"))
        last = device.capture().image.tobytes(), device.ui_tree(), device.facts()
        device.shell("rm -r /sdcard/Download; content delete --uri content://sms")
        seen.append((said, first, last))
    assert seen[0] == seen[1] == seen[2]
    device.close()


def test_new_phones_share_nothing():
    one, two = factory_phone(), factory_phone()
    one.packages[CHESS].label = "Draughts"
    one.properties["a"] = "b"
    one.uninstall(STRIDE)
    assert two.packages[CHESS].label == "Chess"
    assert STRIDE in two.packages
    assert "a" not in two.properties
    assert factory_phone().snapshot() == two.snapshot()


def test_a_toast_is_gone_after_three_seconds(phone):
    phone.say("Saved")
    assert phone.toasting == "Saved"
    phone.clock.advance(3)
    assert phone.toasting == ""


def test_setting_the_clock_does_not_turn_the_uptime(phone):
    before = phone.clock.uptime_ms
    phone.clock.set(0)
    phone.clock.advance(2)
    assert phone.clock.ms == 2000
    assert phone.clock.uptime_ms == before + 2000
    phone.clock.advance(-5)
    assert phone.clock.ms == 2000


SIXTEEN = """
from ui_gym.playing.vector import UIVectorEnv
envs = UIVectorEnv(16, "AndroidWifi", device="phone")
print(len(envs.reset(seed=0)[0]["goal"]))
envs.close()
"""


def test_the_first_phones_of_a_process_may_start_together() -> None:
    """Their shells' commands are loaded once, and none is missed by a phone that comes second."""
    told = subprocess.run(
        [sys.executable, "-c", SIXTEEN], capture_output=True, text=True, timeout=100, check=False
    )
    assert told.stdout == "16\n", told.stderr
