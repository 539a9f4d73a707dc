"""Apps ask for what they may do, when they first need it; the answer is what `pm` knows."""

from __future__ import annotations

import pytest
from driving import back, has, scroll_to, seen, tap

from ui_gym_phone.handset import Handset

CAMERA, CONTACTS = "com.android.camera2", "com.android.contacts"
QUESTION = "Allow Camera to take pictures and record video?"


@pytest.fixture
def handset() -> Handset:
    return Handset()


def start(handset: Handset, package: str) -> None:
    assert handset.phone.launch(package)
    handset.screen.refresh()


def granted(handset: Handset, package: str, name: str) -> bool:
    said = handset.shell(f"dumpsys package {package}").text
    return f"android.permission.{name}: granted=true" in said


def revoke(handset: Handset, package: str, name: str) -> None:
    assert handset.shell(f"pm revoke {package} android.permission.{name}").code == 0


def test_nothing_is_asked_that_the_factory_has_granted(handset):
    for package in [package.name for package in handset.phone.packages.launchable]:
        start(handset, package)
        assert not handset.screen.asked, package


def test_a_permission_is_granted_where_it_is_asked_for(handset):
    revoke(handset, CAMERA, "CAMERA")
    start(handset, CAMERA)
    assert seen(handset.screen)[0] == QUESTION
    assert "GrantPermissionsActivity" in handset.screen.focused_window
    handset.tap(540, 300)  # beside it: nothing happens
    assert has(handset.screen, QUESTION)
    tap(handset.screen, "While using the app")
    assert granted(handset, CAMERA, "CAMERA")
    assert has(handset.screen, "Shutter")


def test_the_tree_names_the_buttons_as_android_does(handset):
    revoke(handset, CAMERA, "CAMERA")
    start(handset, CAMERA)
    tree = handset.ui_tree()
    assert 'package="com.google.android.permissioncontroller"' in tree
    assert 'resource-id="com.android.permissioncontroller:id/permission_deny_button"' in tree


def test_after_two_refusals_an_app_asks_no_more(handset):
    revoke(handset, CONTACTS, "READ_CONTACTS")
    for _ in range(2):
        start(handset, CONTACTS)
        tap(handset.screen, "Don't allow")
        assert not granted(handset, CONTACTS, "READ_CONTACTS")
        assert has(handset.screen, "Contacts has no permission to access your contacts.")
        handset.shell(f"am force-stop {CONTACTS}")
    start(handset, CONTACTS)
    tap(handset.screen, "Open settings", "Permissions")
    tap(handset.screen, "Contacts", nth=1)  # below the app's own name
    tap(handset.screen, "Allow")
    assert granted(handset, CONTACTS, "READ_CONTACTS")


def test_going_back_answers_nothing(handset):
    revoke(handset, CAMERA, "CAMERA")
    start(handset, CAMERA)
    back(handset.screen)
    assert not has(handset.screen, QUESTION)
    handset.shell(f"am force-stop {CAMERA}")
    start(handset, CAMERA)
    assert has(handset.screen, QUESTION)


@pytest.mark.parametrize("line", [f"am force-stop {CAMERA}", "input keyevent 3; sleep 90"])
def test_only_this_time_ends_with_the_app_or_a_minute_out_of_sight(handset, line):
    revoke(handset, CAMERA, "CAMERA")
    start(handset, CAMERA)
    tap(handset.screen, "Only this time")
    handset.shell("sleep 100")
    assert granted(handset, CAMERA, "CAMERA")
    handset.shell("input keyevent 3; sleep 5")
    assert granted(handset, CAMERA, "CAMERA")
    handset.shell(line)
    handset.shell("input keyevent 3")
    assert not granted(handset, CAMERA, "CAMERA")


def test_what_is_refused_in_settings_is_not_asked_for(handset):
    revoke(handset, CAMERA, "CAMERA")
    handset.phone.start("com.android.settings", ".Settings$AppInfoActivity", {"package": CAMERA})
    tap(handset.screen, "Permissions")
    tap(handset.screen, "Camera", nth=1)  # below the app's own name
    tap(handset.screen, "Don't allow")
    start(handset, CAMERA)
    assert not has(handset.screen, QUESTION)


def test_filming_asks_for_the_microphone(handset):
    revoke(handset, CAMERA, "RECORD_AUDIO")
    start(handset, CAMERA)
    tap(handset.screen, "Video", "Start recording")
    assert has(handset.screen, "Allow Camera to record audio?")
    tap(handset.screen, "While using the app", "Start recording")
    assert has(handset.screen, "Stop recording")


def test_an_app_from_the_store_asks_whether_it_may_notify(handset):
    start(handset, "com.android.vending")
    scroll_to(handset.screen, "Lingua")
    tap(handset.screen, "Lingua", "Install", "Open")
    assert has(handset.screen, "Allow Lingua to send you notifications?")
    package = handset.phone.activity.package
    tap(handset.screen, "Allow")
    assert granted(handset, package, "POST_NOTIFICATIONS")
