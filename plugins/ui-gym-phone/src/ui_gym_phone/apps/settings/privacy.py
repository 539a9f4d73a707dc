"""Security, Privacy and Location."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.notifications import ON_LOCK_SCREEN
from ui_gym_phone.apps.settings.parts import (
    fact,
    link,
    listed,
    main_switch,
    note,
    page,
    pick,
    switch,
)
from ui_gym_phone.apps.settings.permissions import KIND
from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.page import AppPage
from ui_gym_phone.ui.widgets import Header, Item

MANAGER = PREFIX + "PermissionManagerActivity"

LOCKS = (("None", "1"), ("Swipe", "0"))
"""Values of ``lockscreen.disabled``."""

LOCK_AFTER = (("Immediately", "0"), ("5 seconds", "5000"), ("1 minute", "60000"))


@APP.screen(PREFIX + "SecurityDashboardActivity")
def security(ui: Ui) -> AppPage:
    """Security."""
    phone = ui.phone
    lock = phone.setting("secure", "lockscreen.disabled", "1")
    after = phone.setting("secure", "lock_screen_lock_after_timeout", "5000")
    dialog = None
    if ui.dialog == "lock":
        dialog = pick(ui, "Screen lock", LOCKS, lock,
                      partial(phone.put, "secure", "lockscreen.disabled"))  # fmt: skip
    elif ui.dialog == "after":
        dialog = pick(ui, "Lock after screen timeout", LOCK_AFTER, after,
                      partial(phone.put, "secure", "lock_screen_lock_after_timeout"))  # fmt: skip
    return page(
        ui, "Security",
        Header("Security status"),
        fact("App security", "No harmful apps found"),
        fact("Security update", "October 5, 2023"),
        Header("Device unlock"),
        Item("Screen lock", listed(LOCKS, lock, "None"), partial(ui.ask, "lock"), icon="lock"),
        Item("Lock after screen timeout", listed(LOCK_AFTER, after), partial(ui.ask, "after"),
             icon="timer-outline"),
        Header("More"),
        switch(ui, "Find My Device", "Locate this phone when it is lost", "secure",
               "find_my_device", default="1", icon="crosshairs-gps"),
        switch(ui, "Show passwords", "Display characters briefly as you type", "system",
               "show_password", default="1", icon="eye"),
        fact("Encryption", "Encrypted"),
        dialog=dialog,
    )  # fmt: skip


@APP.screen(PREFIX + "PrivacyDashboardActivity")
def privacy(ui: Ui) -> AppPage:
    """Privacy."""
    phone = ui.phone
    lock = phone.setting("secure", "lock_screen_show_notifications", "1")
    dialog = None
    if ui.dialog == "lock":
        dialog = pick(ui, "Notifications on lock screen", ON_LOCK_SCREEN, lock,
                      partial(phone.put, "secure", "lock_screen_show_notifications"))  # fmt: skip
    return page(
        ui, "Privacy",
        link(ui, "Permission manager", "Control app access to your data", MANAGER,
             icon="shield-check"),
        switch(ui, "Camera access", "For apps and services", "secure", "camera_access",
               default="1", icon="camera"),
        switch(ui, "Microphone access", "For apps and services", "secure", "microphone_access",
               default="1", icon="microphone"),
        switch(ui, "Show clipboard access", "Show a message when apps access text that you've "
               "copied", "secure", "clipboard_show_access_notifications", default="1",
               icon="clipboard-outline"),
        switch(ui, "Show passwords", "Display characters briefly as you type", "system",
               "show_password", default="1", icon="eye"),
        Item("Notifications on lock screen", listed(ON_LOCK_SCREEN, lock),
             partial(ui.ask, "lock"), icon="bell-outline"),
        dialog=dialog,
    )  # fmt: skip


def location_on(phone: Phone) -> bool:
    return phone.setting("secure", "location_mode", "3") != "0"


@APP.screen(PREFIX + "LocationSettingsActivity")
def location(ui: Ui) -> AppPage:
    """Location."""
    phone = ui.phone
    on = location_on(phone)
    asking = [p for p in phone.packages if "ACCESS_FINE_LOCATION" in p.permissions]
    granted = sum(p.permissions["ACCESS_FINE_LOCATION"] for p in asking)
    return page(
        ui, "Location",
        main_switch("Use location", on, partial(switches.set_location, phone)),
        link(ui, "App location permissions", f"{granted} of {len(asking)} apps have access", KIND,
             icon="map-marker", permission="ACCESS_FINE_LOCATION"),
        Header("Location services"),
        switch(ui, "Wi-Fi scanning", "Let apps scan for networks, even when Wi-Fi is off", "global",
               "wifi_scan_always_enabled", icon="wifi"),
        switch(ui, "Bluetooth scanning", "Let apps scan for devices, even when Bluetooth is off",
               "global", "ble_scan_always_enabled", icon="bluetooth"),
        note("Location may use sources like GPS, Wi-Fi, mobile networks and sensors to help "
             "estimate your device's location."),
    )  # fmt: skip
