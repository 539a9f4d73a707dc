"""The routes of OSWorld's server that run commands.

Its clients act by commands, too: ``python -c "import pyautogui; ..."``. Scripts that are calls of
pyautogui with literal arguments are read and done as actions, with no Python. All else runs in the
desktop's own sandbox, and only on a server that was started so.
"""

from __future__ import annotations

import shlex
import threading
import time
from typing import Any

from ui_gym.desktop.device import Command, CommandResult
from ui_gym.desktop.http.lowering import PREFIX
from ui_gym.desktop.http.message import HttpAnswer, Request
from ui_gym.desktop.http.routes import Route
from ui_gym.desktop.http.shared import SharedDesktop
from ui_gym.desktop.osworld.scripts import code_of, is_script
from ui_gym.errors import ActionError, DeviceTimeout
from ui_gym.remote.guard import Mistake

LIMIT = 120.0
"""Seconds that a command may take, as OSWorld has it."""

MAX_SCRIPT = 100_000
"""The longest Python or shell script, in bytes: it is one argument of a command."""

_CHROMIUM = ("google-chrome", "chromium")


def execute(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    command, shell = _command(desktop, request.json())
    done = _act(desktop, command)
    if done is None:
        done = _run(desktop, _without_prefix(command), shell)
    return HttpAnswer.json({"status": "success", **_result(done)})


def execute_with_verification(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    """Run a command, and wait until windows and other commands are as was asked."""
    said = request.json()
    _check_allowed(desktop)
    command, shell = _command(desktop, said)
    result = _result(_run(desktop, command, shell))
    wanted = said.get("verification") or {}
    if not isinstance(wanted, dict):
        raise Mistake(400, "verification is no object")
    if not wanted:
        return HttpAnswer.json({"status": "success", **result})
    longest = _number(said, "max_wait_time", 10.0, most=LIMIT)
    pause = max(0.1, _number(said, "check_interval", 1.0, most=LIMIT))
    started = time.monotonic()
    while not _holds(desktop, wanted):
        if time.monotonic() - started >= longest:
            failed = {"verification": "failed", "wait_time": longest}
            return HttpAnswer.json({"status": "verification_failed", **result, **failed}, 500)
        threading.Event().wait(pause)
    passed = {"verification": "passed", "wait_time": time.monotonic() - started}
    return HttpAnswer.json({"status": "success", **result, **passed})


def launch(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    _check_allowed(desktop)
    command, shell = _command(desktop, request.json())
    if not shell:
        command = list(command)
        if (
            command[0] == _CHROMIUM[0]
            and not _has(desktop, command[0])
            and _has(desktop, _CHROMIUM[1])
        ):
            command[0] = _CHROMIUM[1]
        if not _has(desktop, command[0]):
            return HttpAnswer.error(_missing(command))
    desktop.device.launch(command)
    words = command if isinstance(command, str) else " ".join(command)
    return HttpAnswer.text(f"{words} launched successfully")


def run_python_script(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    said = request.json()
    code = _script(said, "code")
    if code is None:
        return _bad_script("code")
    command = ["python", "-c", code]
    return _scripted(desktop, command, said, 90, words=True)


def run_bash_script(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    said = request.json()
    script = _script(said, "script")
    if script is None:
        return _bad_script("script")
    return _scripted(desktop, ["/bin/bash", "-lc", script], said, 30)


ROUTES: dict[tuple[str, str], Route] = {
    ("POST", "/execute"): execute,
    ("POST", "/setup/execute"): execute,
    ("POST", "/execute_with_verification"): execute_with_verification,
    ("POST", "/setup/execute_with_verification"): execute_with_verification,
    ("POST", "/setup/launch"): launch,
    ("POST", "/run_python_script"): run_python_script,
    ("POST", "/run_bash_script"): run_bash_script,
}


def _act(desktop: SharedDesktop, command: Command) -> CommandResult | None:
    """Do a command that is a script of pyautogui; None for others, which are to be run."""
    code = code_of(command) if is_script(command) else None
    if code is None:
        return None
    try:
        desktop.act(code)
    except ActionError as error:
        if error.kind in ("parse", "name"):  # more than calls of pyautogui
            if desktop.allow_execute:
                return None
            raise Mistake(403, f"{error}. {_REFUSED}") from None
        return CommandResult(b"", f"ActionError: {error}\n".encode(), 1)
    return CommandResult(b"", b"", 0)


def _without_prefix(command: Command) -> Command:
    """OSWorld's client imports pyautogui in whatever it runs; the desktop has none."""
    code = code_of(command)
    rest = (code or "").removeprefix(f"{PREFIX}; ")
    if code is None or rest == code or "pyautogui" in rest:
        return command
    return ["python", "-c", f"import time; {rest}"]


def _run(desktop: SharedDesktop, command: Command, shell: bool) -> CommandResult:
    _check_allowed(desktop)
    try:
        result = desktop.run(command, timeout=LIMIT)
        if result.code == 127 and not shell and command[0] == "python":
            result = desktop.run(["python3", *command[1:]], timeout=LIMIT)
    except DeviceTimeout:
        raise Mistake(500, f"Command {command!r} timed out after {LIMIT:g} seconds") from None
    if result.code == 127 and not shell and not _has(desktop, command[0]):
        raise Mistake(500, _missing(command))
    return result


def _scripted(
    desktop: SharedDesktop,
    command: list[str],
    said: dict[str, Any],
    usual: float,
    *,
    words: bool = False,
) -> HttpAnswer:
    """Run a script: the status is always 200, and the answer says how it went."""
    done = _act(desktop, command)
    started = time.monotonic()
    if done is None:
        _check_allowed(desktop)
        folder = said.get("working_dir")
        cwd = desktop.path(folder) if isinstance(folder, str) and folder.strip() else None
        if cwd is not None and desktop.run(["test", "-d", cwd]).code != 0:
            missing = f"Working directory does not exist: {cwd}"
            return _unscripted(missing, "invalid_working_dir")
        seconds = _number(said, "timeout", usual, most=600.0)
        try:
            done = desktop.run(command, timeout=seconds, cwd=cwd)
            if done.code == 127 and command[0] == "python":
                done = desktop.run(["python3", *command[1:]], timeout=seconds, cwd=cwd)
        except DeviceTimeout:
            late = f"Timed out after {seconds:g} seconds"
            return _unscripted("Script execution timed out", late)
    status = "success" if done.code == 0 else "error"
    told: dict[str, Any] = {"status": status, **_result(done)}
    told["duration"] = time.monotonic() - started
    if words:
        ending = "executed successfully" if done.code == 0 else "execution failed"
        told["message"] = f"Script {ending}"
    return HttpAnswer.json(told)


def _bad_script(name: str) -> HttpAnswer:
    message = f"Field {name!r} is required and must be a string of 1 to {MAX_SCRIPT} bytes"
    return _unscripted(message, "invalid_request")


def _unscripted(message: str, error: str) -> HttpAnswer:
    told = {"status": "error", "message": message, "output": "", "error": error, "returncode": -1}
    return HttpAnswer.json(told)


_REFUSED = (
    "This server runs no commands: start it with --allow-execute to have them run in the "
    "desktop's sandbox"
)


def _check_allowed(desktop: SharedDesktop) -> None:
    if not desktop.allow_execute:
        raise Mistake(403, _REFUSED)


def _command(desktop: SharedDesktop, said: dict[str, Any]) -> tuple[Command, bool]:
    """The command, and whether it is one for a shell; as `subprocess` understands the two."""
    command, shell = said.get("command"), said.get("shell", False) is True
    if isinstance(command, str) and not shell:
        try:
            command = shlex.split(command)
        except ValueError as error:
            raise Mistake(500, f"the command cannot be split: {error}") from None
    if isinstance(command, str) and command.strip():
        return command, shell
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        raise Mistake(400, "command is a text, or a list of texts")
    if not command or any("\0" in word for word in command):
        raise Mistake(400, "the command is empty")
    home = desktop.device.home
    words = [home + word[1:] if word.startswith("~/") else word for word in command]
    return (["/bin/sh", "-c", *words] if shell else words), shell


def _script(said: dict[str, Any], name: str) -> str | None:
    text = said.get(name)
    fits = isinstance(text, str) and text.strip() and len(text.encode()) <= MAX_SCRIPT
    return text if fits and "\0" not in str(text) else None


def _result(result: CommandResult) -> dict[str, Any]:
    return {
        "output": result.stdout.decode("utf-8", "replace"),
        "error": result.stderr.decode("utf-8", "replace"),
        "returncode": result.code,
    }


def _holds(desktop: SharedDesktop, wanted: dict[str, Any]) -> bool:
    title, command = wanted.get("window_exists"), wanted.get("command_success")
    if isinstance(title, str):
        with desktop.turn:
            titles = [window.title.lower() for window in desktop.device.windows()]
        if not any(title.lower() in one for one in titles):
            return False
    if isinstance(command, str):
        try:
            return desktop.run(command, timeout=5.0).code == 0
        except DeviceTimeout:
            return False
    return True


def _has(desktop: SharedDesktop, program: str) -> bool:
    return desktop.run(["/bin/sh", "-c", 'command -v -- "$0"', program]).code == 0


def _missing(command: Command) -> str:
    return f"[Errno 2] No such file or directory: {command[0]!r}"


def _number(said: dict[str, Any], name: str, usual: float, *, most: float) -> float:
    value = said.get(name, usual)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
        raise Mistake(400, f"{name} is a number of seconds from 0 to {most:g}")
    return float(value)
