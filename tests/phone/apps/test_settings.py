"""What the switches, sliders and dialogs of Settings do to the phone."""

from __future__ import annotations

import pytest
from driving import back, find, has, scroll_to, seen, tap, write
from gallery_settings import opened

from ui_gym_phone.apps.settings.app import PREFIX
from ui_gym_phone.state import switches
from ui_gym_phone.state.activities import Notification
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.scene import ViewNode
from ui_gym_phone.ui.screen import PhoneScreen

BANK = "com.example.pocketbank"


def go(screen: PhoneScreen, *titles: str) -> None:
    """From the home screen through Settings, by what is read."""
    screen.phone.tasks.clear()
    screen.phone.home()
    tap(screen, "Settings")
    for title in titles:
        scroll_to(screen, title)
        tap(screen, title)


def slide(screen: PhoneScreen, desc: str, share: float) -> None:
    """Drag the slider of this name to a share of its length."""

    def sliders(node: ViewNode) -> list[ViewNode]:
        mine = [node] if node.cls.endswith("SeekBar") and node.desc == desc else []
        return mine + [found for child in node.children for found in sliders(child)]

    screen.refresh()
    left, top, right, bottom = sliders(screen.scene.windows[0].root)[0].bounds
    middle = (left + right) // 2
    to = round(left + share * (right - 1 - left))
    screen.swipe(middle, (top + bottom) // 2, to, (top + bottom) // 2)


# -- network --


def test_wifi_is_switched_off_and_on(phone, screen):
    go(screen, "Network & internet", "Wi-Fi", "Use Wi-Fi")
    assert phone.setting("global", "wifi_on") == "0"
    assert not has(screen, "HomeNet")
    tap(screen, "Use Wi-Fi")
    assert phone.setting("global", "wifi_on") == "1"
    assert has(screen, "HomeNet")


def test_airplane_mode_takes_wifi_and_bluetooth_down_and_gives_them_back(phone, screen):
    go(screen, "Network & internet", "Airplane mode")
    assert phone.setting("global", "airplane_mode_on") == "1"
    assert not switches.wifi_on(phone)
    assert not switches.bluetooth_on(phone)
    tap(screen, "Airplane mode")
    assert phone.setting("global", "airplane_mode_on") == "0"
    assert switches.wifi_on(phone)
    assert switches.bluetooth_on(phone)


def test_a_secured_network_is_joined_with_a_password_of_eight_signs(phone, screen):
    go(screen, "Network & internet", "Wi-Fi", "HomeNet 5G")
    screen.text("seven77")
    assert not find(screen, "Connect").enabled
    screen.text("!")
    tap(screen, "Connect")
    assert seen(screen).index("Connected") == seen(screen).index("HomeNet 5G") + 1


def test_an_open_network_is_joined_at_once_and_can_be_forgotten(screen):
    go(screen, "Network & internet", "Wi-Fi", "Corner Cafe", "Corner Cafe", "Forget")
    assert "Connected" not in seen(screen)
    tap(screen, "Saved networks")
    assert has(screen, "HomeNet")
    assert not has(screen, "Corner Cafe")


def test_private_dns_takes_a_hostname_and_nothing_else(phone, screen):
    go(screen, "Network & internet", "Private DNS", "Private DNS provider hostname")
    screen.text("not a host")
    assert not find(screen, "Save").enabled
    screen.key(29, 113)  # Ctrl+A
    screen.text("dns.example.org")
    assert phone.setting("global", "private_dns_mode") == "opportunistic"
    tap(screen, "Save")
    assert phone.setting("global", "private_dns_mode") == "hostname"
    assert phone.setting("global", "private_dns_specifier") == "dns.example.org"
    assert has(screen, "dns.example.org")


def test_a_cancelled_dialog_changes_nothing(phone, screen):
    go(screen, "Network & internet", "Private DNS", "Off", "Cancel")
    assert phone.setting("global", "private_dns_mode") == "opportunistic"
    assert has(screen, "Automatic")


# -- connected devices --


def test_bluetooth_is_switched_off(phone, screen):
    go(screen, "Connected devices", "Bluetooth", "Use Bluetooth")
    assert phone.setting("global", "bluetooth_on") == "0"


def test_a_device_is_paired_and_forgotten(screen):
    go(screen, "Connected devices", "Pair new device", "Car Audio", "Pair")
    assert has(screen, "Car Audio")
    tap(screen, "Car Audio settings", "Forget", "Forget")
    assert not has(screen, "Car Audio")


# -- apps --


def test_an_app_is_uninstalled_after_being_asked(phone, screen):
    go(screen, "Apps", f"See all {len(phone.packages.launchable)} apps", "PocketBank", "Uninstall")
    assert BANK in phone.packages
    tap(screen, "OK")
    assert BANK not in phone.packages
    assert not has(screen, "PocketBank")


def test_a_system_app_can_be_disabled_but_not_uninstalled(phone, screen):
    phone.start("com.android.settings", PREFIX + "AppInfoActivity",
                {"package": "com.android.calculator2"})  # fmt: skip
    assert not has(screen, "Uninstall")
    tap(screen, "Disable", "Disable")
    assert not phone.packages["com.android.calculator2"].enabled
    tap(screen, "Enable")
    assert phone.packages["com.android.calculator2"].enabled


def test_force_stop_stops_an_app_and_greys_the_button(phone, screen):
    phone.launch(BANK)
    opened(PREFIX + "AppInfoActivity", "Force stop", "OK")(phone, screen)
    assert phone.packages[BANK].stopped
    assert [task.package for task in phone.tasks] == ["com.android.settings"]
    assert not find(screen, "Force stop").enabled


def test_the_cache_goes_and_the_data_stays(phone, screen):
    opened(PREFIX + "AppInfoActivity", "Storage & cache")(phone, screen)
    assert seen(screen)[-2:] == ["Total", "70.0 MB"]
    tap(screen, "Clear cache")
    package = phone.packages[BANK]
    assert (package.cache_size, package.data_size) == (0, 6_000_000)
    assert {"61.0 MB", "6.00 MB", "0 B", "67.0 MB"} <= set(seen(screen))


def test_clearing_the_storage_asks_first(phone, screen):
    opened(PREFIX + "AppStorageSettingsActivity", "Clear storage", "Cancel")(phone, screen)
    assert phone.packages[BANK].data_size == 6_000_000
    tap(screen, "Clear storage", "Delete")
    assert phone.packages[BANK].data_size == 0


def test_a_permission_is_denied_by_the_app_and_allowed_by_its_kind(phone, screen):
    opened(PREFIX + "AppInfoActivity", "Permissions", "Camera", "Don't allow")(phone, screen)
    assert phone.packages[BANK].permissions["CAMERA"] is False
    assert phone.packages["com.example.recipes"].permissions["CAMERA"] is True
    go(screen, "Privacy", "Permission manager", "Camera", "PocketBank")
    tap(screen, "Allow only while using the app")
    assert phone.packages[BANK].permissions["CAMERA"] is True


def test_an_app_that_may_not_notify_loses_what_it_posted(phone, screen):
    for package in (BANK, "com.example.transit"):
        phone.notify(Notification(package, 1, "Hello", "World", phone.clock.ms))
    go(screen, "Notifications", "App notifications", "PocketBank")
    assert phone.packages[BANK].permissions["POST_NOTIFICATIONS"] is False
    assert [one.package for one in phone.notifications] == ["com.example.transit"]


def test_all_apps_can_be_searched_and_system_apps_shown(screen):
    opened(PREFIX + "ManageApplicationsActivity", "Search")(screen.phone, screen)
    screen.text("pod")
    assert has(screen, "Podium")
    assert not has(screen, "PocketBank")
    back(screen)
    back(screen)
    assert has(screen, "Chatterly")
    assert not has(screen, "System UI")
    tap(screen, "More options", "Show system")
    scroll_to(screen, "System UI")


def test_the_page_of_an_app_that_went_says_so(phone, screen):
    opened(PREFIX + "AppInfoActivity")(phone, screen)
    phone.uninstall(BANK)
    assert has(screen, "This app is not installed.")


# -- display, sound, battery --


@pytest.mark.parametrize(("share", "level"), [(1.0, "255"), (0.0, "1")])
def test_the_ends_of_the_brightness_slider_are_exact(phone, screen, share, level):
    go(screen, "Display")
    slide(screen, "Brightness level", share)
    assert phone.setting("system", "screen_brightness") == level
    assert has(screen, "100%" if share else "0%")


def test_the_screen_timeout_is_chosen(phone, screen):
    go(screen, "Display", "Screen timeout", "10 minutes")
    assert phone.setting("system", "screen_off_timeout") == "600000"
    back(screen)
    assert has(screen, "After 10 minutes of inactivity")


def test_dark_theme_and_auto_rotate(phone, screen):
    go(screen, "Display", "Dark theme", "Auto-rotate screen")
    assert phone.setting("secure", "ui_night_mode") == "2"
    assert phone.setting("system", "accelerometer_rotation") == "1"


def test_the_font_size_follows_its_slider(phone, screen):
    go(screen, "Display", "Display size and text")
    slide(screen, "Font size", 1.0)
    assert phone.font_scale == 1.3
    tap(screen, "Make smaller")
    assert phone.font_scale == 1.15


@pytest.mark.parametrize(("share", "level"), [(1.0, 15), (0.0, 0), (0.4, 6)])
def test_media_volume_follows_its_slider(phone, screen, share, level):
    go(screen, "Sound & vibration")
    slide(screen, "Media volume", share)
    assert phone.setting("system", "volume_music") == str(level)
    assert phone.setting("system", "volume_notification") == "5"


def test_do_not_disturb_is_found_under_sound_and_under_notifications(phone, screen):
    go(screen, "Sound & vibration", "Do Not Disturb", "Use Do Not Disturb")
    assert phone.is_on("global", "zen_mode")
    go(screen, "Notifications", "Do Not Disturb", "Use Do Not Disturb")
    assert phone.setting("global", "zen_mode") == "0"


def test_battery_saver_is_refused_while_charging(phone, screen):
    go(screen, "Battery", "Battery Saver", "Use Battery Saver")
    assert phone.setting("global", "low_power") == "1"
    tap(screen, "Use Battery Saver")
    switches.set_battery(phone, ac=True)
    tap(screen, "Use Battery Saver")
    assert phone.setting("global", "low_power") == "0"
    assert phone.toasting == "Battery Saver isn't available while charging"


# -- system --


def test_the_time_is_set_by_hand_when_the_network_does_not(phone, screen):
    go(screen, "System", "Date & time")
    tap(screen, "Date")
    assert not has(screen, "Set date")
    tap(screen, "Set time automatically")
    assert phone.setting("global", "auto_time") == "0"
    tap(screen, "Date", "20", "OK")
    assert f"{phone.clock.local:%Y-%m-%d %H:%M}" == "2023-10-20 15:34"


def test_another_time_zone_moves_the_clock(phone, screen):
    go(screen, "System", "Date & time", "Set time zone automatically", "Time zone")
    write(screen, "Search region", "york")
    tap(screen, "New York")
    assert f"{phone.clock.local:%H:%M}" == "11:34"
    assert phone.properties["persist.sys.timezone"] == "America/New_York"
    tap(screen, "Use 24-hour format")
    assert phone.setting("system", "time_12_24") == "12"


def test_seven_touches_make_a_developer(phone, screen):
    go(screen, "About phone")
    scroll_to(screen, "Build number")
    for _ in range(6):
        tap(screen, "Build number")
    assert phone.toasting == "You are now 1 step away from being a developer."
    assert phone.setting("global", "development_settings_enabled") == "0"
    tap(screen, "Build number")
    assert phone.setting("global", "development_settings_enabled") == "1"
    go(screen, "System", "Developer options")
    assert has(screen, "USB debugging")


def test_the_phone_gets_another_name(phone, screen):
    go(screen, "About phone", "Device name")
    screen.text("Kitchen phone")
    tap(screen, "OK")
    assert phone.setting("global", "device_name") == "Kitchen phone"


def test_location_is_switched_off(phone, screen):
    go(screen, "Location", "Use location")
    assert phone.setting("secure", "location_mode") == "0"


def test_what_was_kept_comes_back_with_a_snapshot(phone, screen):
    go(screen, "Passwords & accounts", "Add account")
    screen.text("kim@example.org")
    tap(screen, "Add")
    again = PhoneScreen(Phone.restore(phone.snapshot()))
    assert {"kim@example.org", "alex.morgan@example.com"} <= set(seen(again))


def test_what_a_shell_wrote_into_settings_breaks_no_page(phone, screen):
    for values in phone.settings.values():
        for key in values:
            values[key] = "²9" * 3000
    phone.properties["persist.sys.timezone"] = "Nowhere/At all"
    for cls in phone.packages["com.android.settings"].activities:
        phone.start("com.android.settings", cls)
        assert seen(screen)
