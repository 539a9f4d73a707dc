"""Commands of the user that a run starts: at its end (`run.on_end`) and at alerts (`run.on_alert`).

A command is a list of words, split once as a shell would (`shlex`), and started without a shell.
Fields in braces are put into its words afterwards, so that a value never becomes another word; and
no field holds what a model or a page said.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ui_gym.errors import UserError
from ui_gym_agents.training.listeners import RunListener, Status
from ui_gym_agents.training.settings import RunSettings

END_FIELDS = ("status", "directory", "name")
ALERT_FIELDS = ("rule", "step", "message", "directory", "name")
SECONDS = 60.0
"""How long a command may take."""
_TAIL = 400
_FIELD = re.compile(r"\{(\w+)\}")


def check(settings: RunSettings) -> None:
    """Refuse a command that could not be started as it is meant.

    Raises:
        UserError: names the setting.
    """
    for name, fields in (("on_end", END_FIELDS), ("on_alert", ALERT_FIELDS)):
        command = getattr(settings, name)
        try:
            if command is not None:
                words(command, fields)
        except ValueError as error:
            raise UserError(f"--run.{name}: {error}") from None


def words(command: str, fields: Sequence[str]) -> list[str]:
    """The words of a command, with its fields as they stand.

    Raises:
        ValueError: it is empty, a quotation does not end, or a field is none of `fields`.
    """
    try:
        found = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"{command!r} is no command: {error}") from None
    if not found:
        raise ValueError("a command has at least one word")
    unknown = [name for word in found for name in _FIELD.findall(word) if name not in fields]
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in fields)
        raise ValueError(f"there is no field {{{unknown[0]}}}; a command may have {known}")
    return found


def filled(command: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """Words with the values of their fields. A value that looks like a field stays as it is."""
    return [_FIELD.sub(lambda match: values[match[1]], word) for word in command]


class Commands(RunListener):
    """Starts the commands of the run in `directory`; what goes wrong is noted and stops nothing.

    At an alert the run goes on meanwhile, and alerts that come before the command has ended start
    none. At the end it waits, at most `seconds`.
    """

    def __init__(
        self,
        directory: Path,
        note: Callable[[str], None],
        *,
        on_end: str | None = None,
        on_alert: str | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._about = {"directory": str(directory.absolute()), "name": directory.absolute().name}
        self._note = note
        self._on_end = words(on_end, END_FIELDS) if on_end else None
        self._on_alert = words(on_alert, ALERT_FIELDS) if on_alert else None
        self._seconds = seconds
        self._alerting = threading.Lock()

    def alert(self, step: int, rule: str, message: str) -> None:
        if self._on_alert is None or not self._alerting.acquire(blocking=False):
            return
        told = {**self._about, "rule": rule, "step": str(step), "message": message}
        command = filled(self._on_alert, told)

        def work() -> None:
            try:
                self._do("run.on_alert", command)
            finally:
                self._alerting.release()

        threading.Thread(target=work, name="on_alert", daemon=True).start()

    def ended(self, status: Status, step: int, error: str = "") -> None:
        if self._alerting.acquire(timeout=self._seconds + 5.0):  # one may be under way
            self._alerting.release()
        if self._on_end is not None:
            self._do("run.on_end", filled(self._on_end, {**self._about, "status": status}))

    def _do(self, setting: str, command: Sequence[str]) -> None:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            self._note(f"warning: {setting} did not start: {error}")
            return
        try:
            said, _ = process.communicate(timeout=self._seconds)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self._note(f"warning: {setting} was ended: it took longer than {self._seconds:g} s")
            return
        if process.returncode:
            last = " ".join(said.split())[-_TAIL:]
            self._note(f"warning: {setting} failed, with exit status {process.returncode}: {last}")
