"""pm: lists, permissions, installing and removing, as Android words it."""

from __future__ import annotations

import io
import json
import zipfile

import pytest


def apk(manifest: object, name: str = "ui-gym.json") -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        # With a fixed time: these bytes name tests.
        entry = zipfile.ZipInfo(name, (2023, 10, 15, 0, 0, 0))
        file.writestr(entry, manifest if isinstance(manifest, str) else json.dumps(manifest))
    return data.getvalue()


MALFORMED = "PARSE_FAILED_MANIFEST_MALFORMED"
MINE = {"package": "org.example.new", "label": "New", "version": "3.1", "permissions": ["CAMERA"]}


def test_packages_are_listed_by_what_they_are(sh):
    assert sh("pm list packages -3") == "package:com.example.chess\npackage:com.example.podium\n"
    assert "package:com.android.settings\n" in sh("pm list packages -s")
    assert sh("pm list packages chess") == "package:com.example.chess\n"
    assert sh("cmd package list packages -U chess").startswith("package:com.example.chess uid:101")
    assert sh("pm list packages -d") == ""
    sh("pm disable-user com.example.chess")
    assert sh("pm list packages -d") == "package:com.example.chess\n"
    sh("pm list packages --what")
    assert (sh.code, sh.err) == (255, "Error: Unknown option: --what\n")


def test_the_path_of_a_package(sh):
    path = sh("pm path com.example.chess")
    assert path.startswith("package:/data/app/~~")
    assert path.endswith("/base.apk\n")
    assert sh("pm list packages -f chess") == path.rstrip("\n") + "=com.example.chess\n"
    assert sh("pm path no.such; echo $?") == "1\n"


def test_uninstalling_removes_an_app_and_its_traces(sh):
    sh("am start -n com.example.chess/.MainActivity; mkdir -p /data/data/com.example.chess/files")
    assert sh("pm uninstall com.example.chess") == "Success\n"
    assert sh("pm path com.example.chess") == ""
    assert "chess" not in sh("ls /data/data")
    assert "launcher" in sh("dumpsys window | grep mCurrentFocus")
    for name in ("com.example.chess", "com.android.settings"):
        assert sh(f"pm uninstall {name}") == "Failure [DELETE_FAILED_INTERNAL_ERROR]\n"
        assert sh.code == 1


def test_an_apk_with_our_manifest_is_installed(sh):
    sh.files.write("/data/local/tmp/new.apk", apk(MINE))
    assert sh('pm install -r -t "/data/local/tmp/new.apk"') == "Success\n"
    assert sh("pm list packages -3 --show-versioncode new") == (
        "package:org.example.new versionCode:30100\n"
    )
    assert "android.permission.CAMERA: granted=false" in sh("dumpsys package org.example.new")
    assert sh.raw("pm install -S 99", stdin=apk(MINE)) == b"Success\n"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"not a zip", "PARSE_FAILED_NOT_APK: Failed to parse /sdcard/x.apk"),
        (apk(MINE)[:60], f"{MALFORMED}: Failed to parse /sdcard/x.apk"),
        (apk(MINE, "other"), "PARSE_FAILED_UNEXPECTED_EXCEPTION: Failed to parse /sdcard/x.apk"),
        (apk("[]"), f"{MALFORMED}: Failed to parse /sdcard/x.apk"),
        (apk("{" * 90_000), f"{MALFORMED}: Failed to parse /sdcard/x.apk"),
        (apk(MINE | {"package": "../evil"}), f"{MALFORMED}: Failed to parse /sdcard/x.apk"),
        (
            apk(MINE | {"package": "com.android.settings"}),
            "FAILED_UPDATE_INCOMPATIBLE: com.android.settings",
        ),
    ],
)
def test_what_cannot_be_installed(sh, data, why):
    before = sh("pm list packages")
    sh.files.write("/sdcard/x.apk", data)
    assert sh("pm install /sdcard/x.apk") == f"Failure [INSTALL_{why}]\n"
    assert sh.code == 1
    assert sh("pm list packages") == before


def test_a_missing_apk(sh):
    assert sh("pm install /sdcard/none.apk").startswith("Error: Unable to open file: /sdcard/none")
    assert sh.code == 1


def test_permissions_are_granted_and_revoked(sh):
    assert sh("pm revoke com.example.chess android.permission.CAMERA") == ""
    assert sh("dumpsys package com.example.chess | grep 'CAMERA: granted'") == (
        "        android.permission.CAMERA: granted=false, flags=[ USER_SET]\n"
    )
    sh("pm grant com.example.chess android.permission.CAMERA")
    assert sh.phone.packages["com.example.chess"].permissions["CAMERA"]
    sh("pm grant com.example.chess android.permission.SEND_SMS")
    assert sh.code == 255
    assert "has not requested permission android.permission.SEND_SMS" in sh.err
    sh("pm grant no.such android.permission.CAMERA")
    assert "java.lang.IllegalArgumentException: Unknown package: no.such" in sh.err


def test_clearing_an_app(sh):
    sh("am start -n com.example.chess/.MainActivity")
    assert sh("pm clear com.example.chess") == "Success\n"
    chess = sh.phone.packages["com.example.chess"]
    assert (chess.data_size, chess.cache_size, chess.stopped) == (0, 0, True)
    assert sh("pm clear no.such; echo $?") == "Failed\n1\n"


def test_a_disabled_app_does_not_start(sh):
    assert sh("pm disable-user --user 0 com.example.chess") == (
        "Package com.example.chess new state: disabled-user\n"
    )
    assert sh("dumpsys package com.example.chess | grep -o 'enabled=.'") == "enabled=3\n"
    sh("am start -n com.example.chess/.MainActivity")
    assert "does not exist." in sh.err
    sh("pm enable com.example.chess; am start -n com.example.chess/.MainActivity")
    assert sh.code == 0
    sh("pm disable-user com.android.systemui")
    assert "Cannot disable a protected package" in sh.err


def test_the_activity_of_a_package_is_told(sh):
    line = "cmd package resolve-activity --brief com.android.settings | tail -n 1"
    assert sh(line) == "com.android.settings/.Settings\n"
    assert sh("cmd package resolve-activity --brief no.such") == "No activity found\n"
