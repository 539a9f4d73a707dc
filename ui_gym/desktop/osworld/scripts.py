"""Setup steps that are programs of pyautogui: read and done as actions, never run.

OSWorld's task files press keys and click by ``python -c "import pyautogui; ..."``, which its server
runs in the machine. Here such a program is read as an agent's code is (`ui_gym.dialects.pyautogui`)
and its actions are performed, so that a desktop needs neither Python nor pyautogui.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from ui_gym.contract.action import Action, shorten
from ui_gym.desktop.device import Command, DesktopDevice
from ui_gym.dialects.pyautogui import read_script
from ui_gym.dialects.seen import Point, Seen
from ui_gym.errors import ActionError, UserError

MAX_ACTIONS = 200
"""The most actions of one program."""

MAX_SLEEP = 5.0
"""The longest single ``time.sleep`` in seconds; what asks for more gets this."""

_PYTHON = re.compile(r"(?:/\S*/)?python(?:3(?:\.\d+)?)?")
_NAMED = re.compile(r"\bpyautogui\b")


def code_of(command: Command) -> str | None:
    """The program of ``python -c PROGRAM``, be it a list or a line; None for other commands."""
    words = _words(command)
    if len(words) != 3 or words[1] != "-c" or not _PYTHON.fullmatch(words[0]):
        return None
    return words[2]


def is_script(command: Command) -> bool:
    """Whether a command is a program that moves the mouse or presses keys by pyautogui."""
    code = code_of(command)
    return code is not None and _NAMED.search(code) is not None


def actions(code: str, size: tuple[int, int], pointer: Point | None = None) -> list[Action]:
    """What a program does, on a screen of `size` (width, height) pixels.

    `pointer` is where the mouse is before it, if that is known.

    Raises:
        UserError: it holds what is not allowed; says what.
    """
    try:
        return read_script(code, size, Seen(pointer=pointer), limit=MAX_ACTIONS, longest=MAX_SLEEP)
    except ActionError as error:
        raise UserError(f"the setup script {shorten(code)} cannot be done: {error}") from error


def run_script(device: DesktopDevice, script: Command) -> None:
    """Do a program, or the command that would run one, on a desktop.

    Raises:
        UserError: it holds what is not allowed, or cannot be done there.
        DeviceError: the desktop failed.
    """
    code = code_of(script)
    if code is None:
        if not isinstance(script, str):
            raise UserError(f"{shorten(' '.join(script))} is no program of pyautogui")
        code = script
    found = actions(code, device.size)
    try:
        for action in found:  # one by one, so that each has its own deadline
            device.perform(action)
    except ActionError as error:
        raise UserError(f"the setup script {shorten(code)} cannot be done: {error}") from error


def _words(command: Command) -> Sequence[str]:
    if not isinstance(command, str):
        return command
    try:
        return shlex.split(command)
    except ValueError:  # quotes that do not end
        return ()
