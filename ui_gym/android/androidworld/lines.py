"""AdbLines: command lines of `adb`, done on a device of the suite without an adb.

AndroidWorld does everything by such lines. On the built-in phone they reach the phone in this
process; on a real one they go over the connection that the device has.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.errors import DeviceError, nearest

INBOX = "content://sms/inbox"
PRIVATE = "/data/data/"
"""Where only root reads and writes."""
PASSING = "/data/local/tmp/ui-gym-androidworld"
"""Where a file lies on its way to where only root writes."""


class AdbLineFailed(Exception):
    """A line of adb ended with another exit code than 0; its text is what it wrote."""

    def __init__(self, code: int, output: bytes) -> None:
        super().__init__(output.decode("utf-8", "replace").strip() or f"exit code {code}")
        self.code, self.output = code, output


class AdbLines:
    """Does what ``adb <args>`` would do with the phone `device`."""

    def __init__(self, device: AndroidDevice) -> None:
        self.device = device
        self._root = ""
        """What a shell line begins with that is to be run as root, where that is not so anyway."""
        self._verbs: dict[str, Callable[[Sequence[str], float | None], bytes]] = {
            "shell": self._shell,
            "push": self._push,
            "pull": self._pull,
            "root": self._become_root,
            "emu": self._emulator,
        }

    def execute(self, args: Sequence[str], timeout: float | None = None) -> bytes:
        """What the line writes, errors included; `timeout` in seconds.

        Raises:
            AdbLineFailed: it ended with another exit code than 0, or there is no such line here.
            DeviceError: the phone is lost, or did not answer in time.
        """
        verb, *words = args
        if verb not in self._verbs:
            known = nearest(verb, self._verbs)
            raise AdbLineFailed(1, f"adb {verb} is not done here. {known}".encode())
        return self._verbs[verb](words, timeout)

    # -- parts --

    def _shell(self, words: Sequence[str], timeout: float | None) -> bytes:
        # adb joins its arguments with spaces and quotes nothing.
        return _output(self._run(" ".join(words), timeout))

    def _run(self, line: str, timeout: float | None) -> ShellResult:
        if self._root:
            line = f"{self._root} {shlex.quote(line)}"
        return self.device.shell(line, timeout=timeout)

    def _push(self, words: Sequence[str], timeout: float | None) -> bytes:
        local, remote = words
        data = Path(local).read_bytes()
        if self._run(f"test -d {shlex.quote(remote)}", timeout).code == 0:
            remote = f"{remote.rstrip('/')}/{Path(local).name}"
        try:
            if self._root and remote.startswith(PRIVATE):
                self.device.push(data, PASSING)
                _output(self._run(f"cp {PASSING} {shlex.quote(remote)}; rm {PASSING}", timeout))
            else:
                self.device.push(data, remote)
        except DeviceError as error:
            raise AdbLineFailed(1, f"adb: error: {error}".encode()) from None
        return f"{local}: 1 file pushed, 0 skipped.\n".encode()

    def _pull(self, words: Sequence[str], timeout: float | None) -> bytes:
        remote, local = words
        if self._root and remote.startswith(PRIVATE):
            data = _output(self._run(f"cat {shlex.quote(remote)}", timeout))
        else:
            try:
                data = self.device.pull(remote)
            except DeviceError as error:
                raise AdbLineFailed(1, f"adb: error: {error}".encode()) from None
        Path(local).write_bytes(data)
        return f"{remote}: 1 file pulled, 0 skipped.\n".encode()

    def _become_root(self, words: Sequence[str], timeout: float | None) -> bytes:
        """Find out how lines are run as root; where there is no way, they stay as they are."""
        for begin in ("su 0 sh -c", "su -c"):
            if self.device.shell(f"{begin} whoami", timeout=timeout).text == "root":
                self._root = begin
                return b"restarting adbd as root\n"
        return b"adbd cannot run as root in production builds\n"

    def _emulator(self, words: Sequence[str], timeout: float | None) -> bytes:
        """A text that comes in (``sms send NUMBER TEXT``), as the messages' provider keeps it."""
        if list(words[:2]) != ["sms", "send"] or len(words) < 4:
            raise AdbLineFailed(1, f"adb emu {' '.join(words[:2])} is not done here".encode())
        number, text = words[2], " ".join(words[3:])
        now = self.device.shell("date +%s", timeout=timeout).text
        cells = {
            "address": f"s:{number}", "body": f"s:{text}", "date": f"l:{now}000", "read": "i:0",
            "seen": "i:0", "type": "i:1",
        }  # fmt: skip
        bound = " ".join(f"--bind {shlex.quote(f'{k}:{v}')}" for k, v in cells.items())
        return _output(self._run(f"content insert --uri {INBOX} {bound}", timeout)) + b"OK\n"


def _output(result: ShellResult) -> bytes:
    whole = result.stdout + result.stderr
    if result.code != 0:
        raise AdbLineFailed(result.code, whole)
    return whole
