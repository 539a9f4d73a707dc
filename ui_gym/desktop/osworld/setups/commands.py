"""Steps that run programs: ``execute`` (``command`` is another name for it), ``launch``,
``execute_with_verification``."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ui_gym.desktop.device import Command, CommandResult
from ui_gym.desktop.osworld.commands import guest_command
from ui_gym.desktop.osworld.pauses import expect_window
from ui_gym.desktop.osworld.placeholders import filled
from ui_gym.desktop.osworld.registry import EvaluationContext, setup
from ui_gym.desktop.osworld.scripts import is_script, run_script
from ui_gym.errors import DeviceStartError, DeviceTimeout, UserError

SECONDS = 120.0
"""How long a command may take, as on OSWorld's machines."""

FAILURES = 5
"""After so many tries that gave no result, ``until`` is given up."""

INTERVAL = 0.3
"""Seconds between two tries."""

STAND_INS = {"google-chrome": ("google-chrome-stable", "chromium"), "python": ("python3",)}
"""What may do in the place of a program that is not there."""

PACKAGES = {
    "google-chrome": "chromium",
    "python": "python3",
    "soffice": "libreoffice",
    "localc": "libreoffice-calc",
    "lowriter": "libreoffice-writer",
}
"""The Debian package of a program, where it is called otherwise."""

FORWARDERS = frozenset({"socat", "tinyproxy"})
"""Programs that show no window and make Chrome's port one for others, as OSWorld's machines need
it. A device that reaches that port itself may do without."""


@setup("execute", "command")
def execute(
    context: EvaluationContext,
    command: Command,
    stdout: str = "",
    stderr: str = "",
    shell: bool = False,
    until: Mapping[str, Any] | None = None,
) -> None:
    """Run a command and wait for its end; a program of pyautogui is done as actions.

    `stdout` and `stderr` name files of the episode's folder for what it writes (the getter
    ``cache_file`` has them). `until` repeats it until its ``returncode`` is that, or its output
    (``stdout``, ``stderr``) holds a text.
    """
    wanted = dict(until or {})
    deadline = time.monotonic() + SECONDS
    failures = 0
    while True:
        result = _run(context, command, bool(shell))
        if result is None:
            failures += 1
        else:
            _keep(context, stdout, result.stdout)
            _keep(context, stderr, result.stderr)
        if not wanted or failures >= FAILURES or (result and _meets(result, wanted)):
            return
        if time.monotonic() > deadline:
            raise DeviceTimeout(f"{command!r} did not come to {wanted} within {SECONDS:g} s")
        time.sleep(INTERVAL)


@setup("execute_with_verification")
def execute_with_verification(
    context: EvaluationContext,
    command: Command,
    verification: Mapping[str, Any] | None = None,
    max_wait_time: float = 10,
    check_interval: float = 1.0,
    shell: bool = False,
) -> None:
    """Run a command, then wait until a window of a name (``window_exists``) is there and a line of
    shell (``command_success``) succeeds; in vain after `max_wait_time` seconds."""
    _run(context, command, bool(shell))
    wanted = dict(verification or {})
    until = time.monotonic() + max_wait_time
    while not _is_verified(context, wanted):
        if time.monotonic() > until:
            raise DeviceTimeout(f"{command!r} did not come to {wanted} in {max_wait_time:g} s")
        time.sleep(max(min(check_interval, until - time.monotonic()), 0))


@setup("launch")
def launch(context: EvaluationContext, command: Command, shell: bool = False) -> None:
    """Start a program and do not wait for its end.

    Raises:
        DeviceStartError: the desktop does not have it.
    """
    if not command:
        raise UserError("the command is empty")
    words = guest_command(command, bool(shell), context.device.home)
    if not isinstance(words, str) and len(words) == 2 and words[0] == "pkill":
        words = ["pkill", _killed(context, words[1])]
        context.device.launch(words)
        return
    if not isinstance(words, str) and words[0] in FORWARDERS:
        if not _is_there(context, words[0]):
            context.note(f"{words[0]} is not there, and was not started")
            return
    else:
        if not shell and not isinstance(words, str):
            words = [_program(context, words[0]), *words[1:]]
        expect_window(context)
    context.device.launch(words)


def _run(context: EvaluationContext, command: Command, shell: bool) -> CommandResult | None:
    """What came of a command; None if it took too long.

    Its placeholders are filled in here, and not in what is said of it: one is the password.
    """
    if not command:
        raise UserError("the command is empty")
    whole = _filled(command, context)
    if is_script(whole):
        run_script(context.device, whole)
        return CommandResult(b"", b"", 0)
    words = guest_command(whole, shell, context.device.home)
    try:
        result = context.device.run(words, timeout=SECONDS, cwd=context.device.home)
    except DeviceTimeout:
        context.note(f"{command!r}: took longer than {SECONDS:g} s")
        return None
    if result.code != 0:
        said = (result.stderr or result.stdout).decode("utf-8", "replace").strip()[-200:]
        context.note(f"{command!r}: exit code {result.code}. {said}")
    return result


def _filled(command: Command, context: EvaluationContext) -> Command:
    if isinstance(command, str):
        return filled(command, context)
    return [filled(word, context) for word in command]


def _meets(result: CommandResult, wanted: Mapping[str, Any]) -> bool:
    out, err = (text.decode("utf-8", "replace") for text in (result.stdout, result.stderr))
    return (
        ("returncode" in wanted and result.code == wanted["returncode"])
        or ("stdout" in wanted and wanted["stdout"] in out)
        or ("stderr" in wanted and wanted["stderr"] in err)
    )


def _keep(context: EvaluationContext, name: str, data: bytes) -> None:
    if not name:
        return
    path = (context.folder / name).resolve()
    if not path.is_relative_to(context.folder.resolve()):
        raise UserError(f"{name!r} is no file of the episode's folder; name it without a path")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _is_verified(context: EvaluationContext, wanted: Mapping[str, Any]) -> bool:
    name = str(wanted.get("window_exists", "")).lower()
    if name and not any(name in window.title.lower() for window in context.device.windows()):
        return False
    line = wanted.get("command_success")
    if line is None:
        return True
    command = guest_command(line, True, context.device.home)
    return context.device.run(command, timeout=SECONDS).code == 0


def check_programs(context: EvaluationContext, names: Sequence[str]) -> None:
    """Raise `DeviceStartError` for a program that the desktop does not have."""
    for name in names:
        if not _is_there(context, name):
            raise _absent(name)


def _program(context: EvaluationContext, name: str) -> str:
    """The program of that name, or what stands in for it."""
    for candidate in (name, *STAND_INS.get(name, ())):
        if _is_there(context, candidate):
            return candidate
    raise _absent(name)


def _killed(context: EvaluationContext, pattern: str) -> str:
    """What ``pkill`` is to look for: task files end Chrome by ``chrome``, which is no part of the
    name of what stands in for it."""
    if pattern == "chrome" and not _is_there(context, "google-chrome"):
        return "chrom"
    return pattern


def _absent(name: str) -> DeviceStartError:
    package = PACKAGES.get(name, Path(name).name)
    return DeviceStartError(
        f"there is no program {name!r} on this desktop. Where a package has it: apt-get install "
        f"{package}; or play the task on a machine of OSWorld's (device='osworld:http://...')"
    )


def _is_there(context: EvaluationContext, name: str) -> bool:
    look: Sequence[str] = ("/bin/sh", "-c", 'command -v -- "$1"', "sh", name)
    return context.device.run(look, timeout=SECONDS).code == 0
