"""What several commands, files and pages tell of one thing is the same."""

from __future__ import annotations

import re

import pytest

from ui_gym_phone.handset import Handset
from ui_gym_phone.state import hardware


@pytest.fixture
def phone() -> Handset:
    return Handset()


def settings(phone: Handset, page: str) -> str:
    """The text of a page of Settings, scrolled through."""
    phone.shell(f"am start -n 'com.android.settings/.Settings${page}'")
    told = ""
    for _ in range(4):
        told += phone.ui_tree()
        phone.shell("input swipe 500 1900 500 900 600")
    return told


def told(phone: Handset, line: str, pattern: str) -> str:
    """The first group of what a line tells."""
    text = phone.shell(line).text
    found = re.search(pattern, text)
    assert found is not None, text
    return found[1]


def test_the_network(phone: Handset) -> None:
    names = {
        told(phone, "cmd wifi status", 'connected to "(.*)"'),
        told(phone, "dumpsys wifi", 'SSID: "([^"]*)"'),
        told(phone, "dumpsys netstats", 'wifiNetworkKey="([^"]*)"'),
    }
    assert names == {hardware.ssid(phone.phone)}
    (name,) = names
    assert f'text="{name}"' in settings(phone, "WifiSettingsActivity")
    addresses = {
        told(phone, "ip addr show wlan0", r"inet ([\d.]+)"),
        told(phone, "ip route", r"src ([\d.]+)"),
        told(phone, "ifconfig wlan0", r"inet addr:([\d.]+)"),
    }
    macs = {
        told(phone, "ip link show wlan0", r"ether (\S+)"),
        told(phone, "ifconfig wlan0", r"HWaddr (\S+)"),
        told(phone, "cat /sys/class/net/wlan0/address", r"(\S+)"),
    }
    about = settings(phone, "MyDeviceInfoActivity")
    for (value,) in (addresses, macs):
        assert f'text="{value}"' in about


def test_a_network_that_is_left_is_told_by_nobody(phone: Handset) -> None:
    phone.shell("svc wifi disable")
    assert "HomeNet" not in phone.shell("cmd wifi status; dumpsys wifi; dumpsys netstats").text
    assert phone.shell("ip -4 addr show wlan0").text == ""
    assert "rmnet0" in phone.shell("ip route").text
    phone.shell("cmd connectivity airplane-mode enable")
    assert phone.shell("ip route").text == ""
    assert phone.shell("ping -c 1 1.1.1.1").code == 2


def test_the_machine(phone: Handset) -> None:
    abis = {
        phone.shell("getprop ro.product.cpu.abi").text,
        phone.shell("getprop ro.product.cpu.abilist").text,
        told(phone, "pm dump com.example.chess", "primaryCpuAbi=(.*)"),
    }
    assert abis == {"arm64-v8a"}
    assert phone.shell("uname -m").text == "aarch64"
    release = phone.shell("uname -r").text
    assert release == phone.shell("cat /proc/sys/kernel/osrelease").text
    assert release in phone.shell("cat /proc/version").text
    kernel = re.search(r'text="(5\.\d[^"]*)"', settings(phone, "FirmwareVersionActivity"))
    assert kernel is not None
    assert release.startswith(kernel[1])


def test_the_phone_itself(phone: Handset) -> None:
    about = settings(phone, "MyDeviceInfoActivity")
    for name in ("ro.product.model", "ro.build.version.release", "ro.build.display.id"):
        assert f'text="{phone.shell(f"getprop {name}").text}"' in about, name
    assert f'text="{hardware.BLUETOOTH_MAC}"' in about
    address = told(phone, "dumpsys bluetooth_manager", "address: (.*)")
    assert address.lower() == hardware.BLUETOOTH_MAC
    assert f'text="{hardware.PHONE_NUMBER}"' in about


def test_the_storage(phone: Handset) -> None:
    total = int(told(phone, "dumpsys diskstats", r"/ (\d+)K total")) * 1024
    assert total == hardware.STORAGE_BYTES
    assert total == int(told(phone, "dumpsys mount", r"total size: (\d+)"))
    free = int(told(phone, "dumpsys diskstats", r"Data-Free: (\d+)K"))
    assert free == int(told(phone, "df /sdcard", r"\d+ +\d+ +(\d+) +\d+%"))
    assert f"{hardware.used_bytes(phone.phone) / 1e9:.0f}"[:2] in settings(
        phone, "StorageDashboardActivity"
    )


def test_the_memory(phone: Handset) -> None:
    total = told(phone, "cat /proc/meminfo", r"MemTotal: +(\d+)")
    assert total == told(phone, "top -n 1", r"Mem: (\d+)K total")
    assert f"{int(total):,}" == told(phone, "dumpsys meminfo", r"Total RAM: ([\d,]+)K")


@pytest.mark.parametrize("rotation", [0, 1])
def test_the_screen(phone: Handset, rotation: int) -> None:
    phone.shell("am start -n com.android.settings/.Settings; wm size 720x1440; wm density 320")
    phone.shell(f"wm user-rotation lock {rotation}")
    sizes = {
        told(phone, "dumpsys window displays", r"cur=(\d+x\d+)"),
        told(phone, "dumpsys display", r"Override.*?real (\d+ x \d+)").replace(" ", ""),
        told(phone, "dumpsys input", r"logicalFrame=\[0, 0, (\d+, \d+)\]").replace(", ", "x"),
    }
    assert sizes == {"1440x720" if rotation else "720x1440"}
    turns = {
        told(phone, "dumpsys display", r"orientation=(\d)"),
        told(phone, "dumpsys input", r"SurfaceOrientation: (\d)"),
        str(int(told(phone, "dumpsys window", r"mCurrentRotation=ROTATION_(\d+)")) // 90),
    }
    assert turns == {str(rotation)}


def test_every_service_that_is_listed_is_told_of(phone: Handset) -> None:
    names = phone.shell("dumpsys -l").text.split("\n")[1:]
    silent = [n.strip() for n in names if not phone.shell(f"dumpsys {n}").stdout]
    assert silent == ["clipboard"]
    assert phone.shell("dumpsys no.such").stderr == b"Can't find service: no.such\n"
