"""What `adb` does beside shell and files, by the adb that everybody has, on the built-in phone."""

from __future__ import annotations

import io
import json
import socket
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from adb_toy import Adb
from waiting import eventually

from ui_gym_phone.adbd import AdbServer
from ui_gym_phone.console import EmulatorConsole
from ui_gym_phone.handset import Handset
from ui_gym_phone.state import messages

MMSSMS = "/data/data/com.android.providers.telephony/databases/mmssms.db"


@pytest.fixture
def handset() -> Handset:
    return Handset()


@pytest.fixture
def phone(any_adb: Adb, handset: Handset) -> Iterator[Any]:
    """Runs an adb with a built-in phone connected; ``.served`` serves the phone."""
    with AdbServer(handset) as served:
        assert any_adb("connect", served.address).stdout.startswith(b"connected to")

        def run(*words: str, stdin: bytes = b"") -> Any:
            return any_adb("-s", served.address, *words, stdin=stdin)

        run.served = served  # type: ignore[attr-defined]
        yield run
        any_adb("disconnect", served.address)


def test_a_script_on_the_standard_input_is_one_shell(phone: Any) -> None:
    script = b"cd /sdcard\nfor i in 1 2\ndo\n  echo $i\ndone\nfalse\necho $?\nread x\na line\n"
    script += b"echo $x; pwd\ncat <<EOF\nhere\nEOF\nnosuch\nexit 3\necho never\n"
    done = phone("shell", stdin=script)
    assert done.stdout == b"1\n2\n1\na line\n/sdcard\nhere\n"
    assert done.stderr == b"/system/bin/sh: <stdin>[13]: nosuch: inaccessible or not found\n"
    assert done.returncode == 3


def test_root_is_another_user_until_unroot(phone: Any) -> None:
    assert phone("shell", "whoami").stdout == b"shell\n"
    denied = phone("pull", MMSSMS, "/dev/null")
    assert denied.returncode == 1
    assert b"Permission denied" in denied.stderr + denied.stdout
    assert phone("root").stdout == b"restarting adbd as root\n"
    assert eventually(lambda: phone("shell", "whoami").stdout == b"root\n")
    assert phone("root").stdout == b"adbd is already running as root\n"
    assert phone("shell", f"head -c 6 {MMSSMS}").stdout == b"SQLite"
    assert phone("unroot").stdout == b"restarting adbd as non root\n"
    assert eventually(lambda: phone("shell", "whoami").stdout == b"shell\n")


def test_the_system_stays_read_only(phone: Any) -> None:
    done = phone("remount")
    assert b"Not running as root" in done.stdout + done.stderr


def test_ports_of_the_phone_are_reversed_and_listed(phone: Any) -> None:
    assert phone("reverse", "tcp:8081", "tcp:9090").returncode == 0
    assert b"tcp:8081 tcp:9090" in phone("reverse", "--list").stdout
    assert phone("reverse", "--no-rebind", "tcp:8081", "tcp:1").returncode == 1
    assert phone("reverse", "tcp:0", "tcp:9091").stdout == b"40000\n"
    assert phone("reverse", "--remove", "tcp:8081").returncode == 0
    refused = phone("reverse", "--remove", "tcp:8081")
    assert refused.returncode == 1
    assert b"listener 'tcp:8081' not found" in refused.stderr
    assert phone("reverse", "--remove-all").returncode == 0
    assert phone("reverse", "--list").stdout.strip() == b""


def test_the_phone_listens_on_the_port_that_it_is_told(phone: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert phone("tcpip", str(port)).stdout == f"restarting in TCP mode port: {port}\n".encode()
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        pass
    assert phone("tcpip", "0").returncode != 0 or b"invalid port" in phone("tcpip", "0").stdout


def test_a_report_is_pulled(phone: Any, tmp_path: Path) -> None:
    done = phone("bugreport", str(tmp_path / "report.zip"))
    assert done.returncode == 0, done
    with zipfile.ZipFile(tmp_path / "report.zip") as report:
        (name,) = [n for n in report.namelist() if n.startswith("bugreport-")]
        assert b"DUMP OF SERVICE battery" in report.read(name)


def test_an_app_in_parts_is_installed(phone: Any, handset: Handset, tmp_path: Path) -> None:
    for name, parts in {"base": {"package": "org.parts.app", "label": "Parts"}, "more": {}}.items():
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as apk:
            apk.writestr("ui-gym.json" if parts else "other", json.dumps(parts))
        (tmp_path / f"{name}.apk").write_bytes(held.getvalue())
    done = phone("install-multiple", str(tmp_path / "more.apk"), str(tmp_path / "base.apk"))
    assert done.returncode == 0, done
    assert "org.parts.app" in handset.phone.packages


def test_a_reboot_closes_what_was_open(phone: Any, handset: Handset) -> None:
    phone("shell", "am start -n com.android.settings/.Settings")
    assert not handset.phone.at_home
    phone("reboot")
    assert eventually(lambda: handset.phone.at_home)
    assert eventually(lambda: phone("shell", "echo up").stdout == b"up\n")


def test_an_emulators_console_is_spoken_to(
    any_adb: Adb, handset: Handset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`adb emu` finds the port in the serial, and the token in the home folder, by itself."""
    monkeypatch.setenv("HOME", str(tmp_path))
    with EmulatorConsole(handset) as console:
        emulator = f"emulator-{console.port}"
        done = any_adb("-s", emulator, "emu", "sms", "send", "5551234", "On", "my", "way")
        assert done.stdout.strip() == b"OK", done
        done = any_adb("-s", emulator, "emu", "gsm", "dance")
        assert b"KO: bad sub-command" in done.stdout
    (message,) = messages.all(handset.phone)
    assert (message.number, message.body) == ("5551234", "On my way")


@pytest.mark.parametrize("service", ["usb", "disable-verity", "sideload"])
def test_what_there_is_not_is_refused(phone: Any, service: str, tmp_path: Path) -> None:
    words = [service, str(tmp_path / "x.zip")] if service == "sideload" else [service]
    assert phone(*words).returncode != 0
