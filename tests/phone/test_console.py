"""An emulator's console: texts and calls come in, power goes; and who may say so."""

from __future__ import annotations

import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from ui_gym.errors import UserError
from ui_gym_phone.console import EmulatorConsole
from ui_gym_phone.handset import Handset


@pytest.fixture
def handset() -> Handset:
    return Handset()


@pytest.fixture
def console(handset: Handset, tmp_path: Path) -> Iterator[EmulatorConsole]:
    with EmulatorConsole(handset, 0, tmp_path / "token") as made:
        yield made


def said(port: int, *lines: str) -> str:
    """What a client is told that says these lines and leaves."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as sock:
        sock.sendall("".join(f"{line}\n" for line in (*lines, "quit")).encode())
        with sock.makefile(encoding="utf-8", newline="") as told:
            return told.read()


def test_a_text_comes_in_with_its_notification(handset: Handset) -> None:
    assert handset.console("sms send somebody Hello") == (
        "KO: bad phone number format, use [+]digits\r\n"
    )
    assert handset.console("sms send +15551234 Hello\\nthere  you") == "OK\r\n"
    line = "content query --uri content://sms/inbox --projection address:body:read"
    assert handset.shell(line).text == "Row: 0 address=+15551234, body=Hello\nthere  you, read=0"
    assert "Hello" in handset.shell("dumpsys notification --noredact").text


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("ping", "I am alive!\r\nOK\r\n"),
        ("sms send", "KO: missing argument, try 'sms send <phonenumber> <text message>'\r\n"),
        ("sms", "KO: missing sub-command\r\n"),
        ("sms dance", "KO: bad sub-command\r\n"),
        ("dance", "KO: unknown command, try 'help'\r\n"),
        ("", "KO: unknown command, try 'help'\r\n"),
        ("gsm accept 5551", "KO: current call does not exist\r\n"),
        ("gsm cancel 5551", "KO: could not cancel this number\r\n"),
        ("power capacity 101", 'KO: Usage: "capacity <percentage>"\r\n'),
    ],
)
def test_what_is_said_is_answered(handset: Handset, line: str, answer: str) -> None:
    assert handset.console(line) == answer


def state(handset: Handset) -> str:
    return handset.shell("dumpsys telephony.registry | grep -o 'mCallState=.'").text[-1]


def calls(handset: Handset) -> list[str]:
    line = "content query --uri content://call_log/calls --projection number:type:duration"
    return handset.shell(line).text.splitlines()


def test_a_call_rings_until_the_caller_gives_up(handset: Handset) -> None:
    handset.console("gsm call 5551234")
    assert state(handset) == "1"
    assert handset.console("gsm list") == "inbound from  5551234 : incoming\r\nOK\r\n"
    assert "Incoming call" in handset.shell("dumpsys notification --noredact").text
    handset.console("gsm cancel 5551234")
    assert state(handset) == "0"
    assert calls(handset) == ["Row: 0 number=5551234, type=3, duration=0"]


def test_a_call_is_answered_and_ended_by_keys(handset: Handset) -> None:
    handset.console("gsm call 5551234")
    handset.shell("input keyevent KEYCODE_CALL; sleep 30")
    assert state(handset) == "2"
    assert "InCallActivity" in handset.focused_window
    handset.shell("input keyevent KEYCODE_ENDCALL")
    assert state(handset) == "0"
    assert "Launcher" in handset.focused_window
    assert calls(handset) == ["Row: 0 number=5551234, type=1, duration=31"]


def test_a_call_is_refused_by_a_key(handset: Handset) -> None:
    handset.console("gsm call 5551234")
    handset.shell("input keyevent 6")
    assert calls(handset) == ["Row: 0 number=5551234, type=5, duration=0"]


def test_power_is_told_and_turns_the_phone(handset: Handset) -> None:
    handset.console("power capacity 12")
    handset.console("power ac on")
    assert "AC: online\r\n" in handset.console("power display")
    assert handset.shell("dumpsys battery | grep -E 'level|AC'").text == (
        "  AC powered: true\n  level: 12"
    )
    handset.console("rotate")
    assert handset.shell("settings get system user_rotation").text == "1"


# -- over its port --


def test_a_client_has_to_know_the_token(console: EmulatorConsole, tmp_path: Path) -> None:
    token = tmp_path / "token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    told = said(console.port, "sms send 5551 Hi", "auth wrong", "auth " + token.read_text(), "ping")
    assert told.startswith("Android Console: Authentication required\r\n")
    assert str(token) in told
    assert "KO: unknown command, try 'help'\r\nKO: authentication token does not match" in told
    assert told.endswith("Android Console: type 'help' for a list of commands\r\nOK\r\n"
                         "I am alive!\r\nOK\r\n")  # fmt: skip


def test_an_empty_token_lets_everybody_in(handset: Handset, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("")
    with EmulatorConsole(handset, 0, tmp_path / "token") as console:
        assert said(console.port, "sms send 5551 Hi").endswith("OK\r\nOK\r\n")
    assert handset.shell("content query --uri content://sms/inbox --projection body").text == (
        "Row: 0 body=Hi"
    )


def test_a_token_stays_as_it_is(handset: Handset, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("known\n")
    with EmulatorConsole(handset, 0, tmp_path / "token") as console:
        assert "I am alive!" in said(console.port, "auth known", "ping")
    assert (tmp_path / "token").read_text() == "known\n"


def test_a_port_or_a_folder_that_cannot_be_is_told(handset: Handset, tmp_path: Path) -> None:
    with (
        EmulatorConsole(handset, 0, tmp_path / "token") as console,
        pytest.raises(UserError, match=f"port {console.port}"),
    ):
        EmulatorConsole(handset, console.port, tmp_path / "token")
    with pytest.raises(UserError, match="token cannot be kept"):
        EmulatorConsole(handset, 0, tmp_path / "none" / "token")
