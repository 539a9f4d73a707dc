"""What an emulator's console is told, done to the phone: texts and calls come in, power goes.

The answers are those of Android's emulator: lines that end in ``OK``, or ``KO: why``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ui_gym_phone.data import table
from ui_gym_phone.state import calling, messages, switches
from ui_gym_phone.state.phone import Phone

MAX_TEXT = 5_000
"""Characters of a text message."""

_NUMBER = re.compile(r"\+?[\d#*]{1,32}")
_PUNCTUATION = re.compile(r"[ .()-]")
_ESCAPE = re.compile(r"\\(n|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|\\)")


class _Refused(Exception):
    """The command cannot be done; the message says why."""


ConsoleCommand = Callable[[Phone, str], str]
"""Gets what follows the command's words; gives the lines that it answers."""

_COMMANDS: dict[str, ConsoleCommand] = {}


def answer(phone: Phone, line: str) -> str:
    """Do what a line says."""
    words = line.split()
    name = next((n for n in (" ".join(words[:2]), *words[:1]) if n in _COMMANDS), "")
    try:
        if not name:
            raise _Refused(_unknown(words))
        rest = line.split(maxsplit=len(name.split()))[len(name.split()) :]
        told = _COMMANDS[name](phone, rest[0] if rest else "")
    except _Refused as refused:
        return f"KO: {refused}\r\n"
    return "".join(f"{each}\r\n" for each in told.splitlines()) + "OK\r\n"


def _unknown(words: list[str]) -> str:
    group = words[0] if words else ""
    if any(name.startswith(group + " ") for name in _COMMANDS):
        return "bad sub-command" if len(words) > 1 else "missing sub-command"
    return "unknown command, try 'help'"


def _says(*names: str) -> Callable[[ConsoleCommand], ConsoleCommand]:
    def register(function: ConsoleCommand) -> ConsoleCommand:
        _COMMANDS.update(dict.fromkeys(names, function))
        return function

    return register


@_says("help", "help-verbose", "?")
def _help(phone: Phone, rest: str) -> str:
    told: str = table("shell_usage")["console"]
    return told


@_says("ping")
def _ping(phone: Phone, rest: str) -> str:
    return "I am alive!"


@_says("avd name")
def _name(phone: Phone, rest: str) -> str:
    return phone.properties["ro.product.device"]


@_says("avd status")
def _status(phone: Phone, rest: str) -> str:
    return "virtual device is running"


# -- texts and calls --


def _number(word: str, usage: str) -> str:
    if not word:
        raise _Refused(f"missing argument, try '{usage}'")
    number = _PUNCTUATION.sub("", word)
    if not _NUMBER.fullmatch(number):
        raise _Refused("bad phone number format, use [+]digits")
    return number


@_says("sms send")
def _send(phone: Phone, rest: str) -> str:
    word, _, text = rest.partition(" ")
    usage = "sms send <phonenumber> <text message>"
    number = _number(word, usage)
    if not text.strip():
        raise _Refused(f"missing argument, try '{usage}'")
    if len(text) > MAX_TEXT:
        raise _Refused("text message is too long")
    messages.receive(phone, number, _ESCAPE.sub(_unescaped, text.strip()))
    return ""


def _unescaped(found: re.Match[str]) -> str:
    kind, rest = found[1][0], found[1][1:]
    return {"n": "\n", "\\": "\\"}.get(kind) or chr(int(rest, 16))


@_says("gsm call")
def _call(phone: Phone, rest: str) -> str:
    number = _number(rest, "gsm call <phonenumber>")
    if not switches.airplane(phone):
        calling.ring(phone, number)
    return ""


@_says("gsm accept")
def _accept(phone: Phone, rest: str) -> str:
    if calling.caller(phone) != _number(rest, "gsm accept <phonenumber>"):
        raise _Refused("current call does not exist")
    calling.answer(phone)
    return ""


@_says("gsm cancel")
def _cancel(phone: Phone, rest: str) -> str:
    number = _number(rest, "gsm cancel <phonenumber>")
    if calling.caller(phone) == number:
        calling.miss(phone)
    elif calling.speaks_to(phone) == number:
        calling.end(phone)
    else:
        raise _Refused("could not cancel this number")
    return ""


@_says("gsm busy")
def _busy(phone: Phone, rest: str) -> str:
    if calling.speaks_to(phone) != _number(rest, "gsm busy <phonenumber>"):
        raise _Refused("no current outgoing call to this number")
    calling.end(phone)
    return ""


@_says("gsm list")
def _list(phone: Phone, rest: str) -> str:
    rings, speaks = calling.caller(phone), calling.speaks_to(phone)
    told = [f"inbound from  {rings} : incoming"] if rings else []
    return "\n".join(told + ([f"outbound to  {speaks} : active"] if speaks else []))


# -- power and place --


@_says("power ac")
def _ac(phone: Phone, rest: str) -> str:
    if rest not in ("on", "off"):
        raise _Refused('Usage: "ac on" or "ac off"')
    switches.set_battery(phone, ac=int(rest == "on"), status=2 if rest == "on" else 3)
    return ""


@_says("power capacity")
def _capacity(phone: Phone, rest: str) -> str:
    if not rest.isdecimal() or int(rest[:4]) > 100:
        raise _Refused('Usage: "capacity <percentage>"')
    switches.set_battery(phone, level=int(rest))
    return ""


@_says("power display")
def _display(phone: Phone, rest: str) -> str:
    now = switches.battery(phone)
    names = {2: "Charging", 3: "Discharging", 4: "Not charging", 5: "Full"}
    return (
        f"AC: {'online' if now.ac else 'offline'}\nstatus: {names.get(now.status, 'Unknown')}\n"
        f"health: Good\npresent: true\ncapacity: {now.level}"
    )


@_says("rotate")
def _rotate(phone: Phone, rest: str) -> str:
    """A quarter turn against the clock, as the emulator's button does."""
    switches.set_auto_rotate(phone, False)
    now = phone.setting("system", "user_rotation")
    phone.put("system", "user_rotation", (int(now) + 1) % 4 if now in ("0", "1", "2", "3") else 1)
    return ""
