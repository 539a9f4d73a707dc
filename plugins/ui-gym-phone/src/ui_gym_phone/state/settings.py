"""Settings: the three namespaces of Android's settings provider, as a phone leaves the factory."""

from __future__ import annotations

Namespaces = dict[str, dict[str, str]]


def factory_settings() -> Namespaces:
    """``system``, ``secure`` and ``global``: key -> value."""
    return {
        "system": {
            "accelerometer_rotation": "0",
            "alarm_alert": "content://settings/system/alarm_alert",
            "dtmf_tone": "1",
            "font_scale": "1.0",
            "haptic_feedback_enabled": "1",
            "ringtone": "content://settings/system/ringtone",
            "screen_brightness": "102",
            "screen_brightness_mode": "0",
            "screen_off_timeout": "60000",
            "show_battery_percent": "0",
            "sound_effects_enabled": "1",
            "time_12_24": "24",
            "user_rotation": "0",
            "vibrate_when_ringing": "0",
            "volume_alarm": "6",
            "volume_music": "7",
            "volume_notification": "5",
            "volume_ring": "5",
            "volume_voice": "4",
        },
        "secure": {
            "accessibility_display_inversion_enabled": "0",
            "accessibility_enabled": "0",
            "android_id": "3f5a1c7b9d2e4860",
            # Takes ADBKeyBoard's broadcasts, so that any sign can be typed over ADB.
            "default_input_method": "com.android.adbkeyboard/.AdbIME",
            "enabled_input_methods": "com.android.adbkeyboard/.AdbIME",
            "location_mode": "3",
            "lock_screen_show_notifications": "1",
            "night_display_activated": "0",
            "ui_night_mode": "1",
            "user_setup_complete": "1",
        },
        "global": {
            "adb_enabled": "1",
            "airplane_mode_on": "0",
            "auto_time": "1",
            "auto_time_zone": "1",
            "bluetooth_on": "1",
            "data_roaming": "0",
            "development_settings_enabled": "0",
            "device_name": "Pixel",
            "device_provisioned": "1",
            "low_power": "0",
            "mobile_data": "1",
            "private_dns_mode": "opportunistic",
            "stay_on_while_plugged_in": "0",
            "wifi_on": "1",
            "window_animation_scale": "0",
            "transition_animation_scale": "0",
            "animator_duration_scale": "0",
            "zen_mode": "0",
        },
    }


def factory_properties() -> dict[str, str]:
    """What `getprop` tells."""
    return {
        "dalvik.vm.heapsize": "512m",
        "gsm.operator.alpha": "Carrier",
        "gsm.sim.state": "LOADED",
        "init.svc.adbd": "running",
        "persist.sys.locale": "en-US",
        "persist.sys.timezone": "UTC",
        "ro.boot.serialno": "UIGYM0001",
        "ro.build.characteristics": "phone",
        "ro.build.fingerprint": "uigym/phone/phone:14/UG1A/1:userdebug/test-keys",
        "ro.build.id": "UG1A",
        "ro.build.type": "userdebug",
        "ro.build.version.release": "14",
        "ro.build.version.sdk": "34",
        "ro.debuggable": "1",
        "ro.hardware": "uigym",
        "ro.kernel.qemu": "1",
        "ro.product.brand": "uigym",
        "ro.product.cpu.abi": "x86_64",
        "ro.product.device": "phone",
        "ro.product.manufacturer": "ui-gym",
        "ro.product.model": "ui-gym phone",
        "ro.product.name": "phone",
        "ro.secure": "0",
        "ro.serialno": "UIGYM0001",
        "ro.sf.lcd_density": "480",
        "sys.boot_completed": "1",
        "sys.usb.state": "adb",
    }
