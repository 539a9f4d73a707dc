"""AndroidDevice: what a phone is to a task, be it built in or real."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ui_gym.contract.device import Device, Element
from ui_gym.contract.harm import Fact

COLUMNS = "ui_gym_columns"
"""The secure setting, no phone's but the built-in one, that lays its screen out on a grid for small
vision models: how many cells it is wide. A row of a list is one cell high, and begins where a cell
does."""


@dataclass(frozen=True)
class ShellResult:
    """What a shell line wrote, and its exit code."""

    stdout: bytes
    stderr: bytes
    code: int

    @property
    def text(self) -> str:
        """The standard output as text, without its last newlines."""
        return self.stdout.decode("utf-8", "replace").rstrip("\n")


@runtime_checkable
class AndroidDevice(Device, Protocol):
    """A phone. Whatever a task wants of it beyond looking and touching goes through its shell, so
    that the same task is played and judged on the built-in phone and on a real one."""

    def shell(self, line: str, *, timeout: float | None = None) -> ShellResult:
        """Run a line in the phone's shell, as user ``shell``; `timeout` in seconds.

        Raises:
            DeviceError: the phone is lost, or did not answer in time.
        """

    def push(self, data: bytes, path: str) -> None:
        """Write a file. `DeviceError` where the phone refuses it."""

    def pull(self, path: str) -> bytes:
        """Read a file. `DeviceError` where there is none."""

    def ui_tree(self) -> str:
        """The window's nodes as `uiautomator dump` writes them: XML."""

    def elements(self) -> tuple[Element, ...]:
        """What `ui_tree` tells, as elements in observed pixels; no picture is taken."""

    def renew(self, apps: Sequence[str] = (), line: str = "") -> ShellResult:
        """Come to a known start: the launcher, awake, nothing unfolded; then run a shell line.

        The built-in phone is as it left the factory. Of a real one the packages `apps` are stopped
        and all else stays: what a task needs of it, the line writes. Returns what that said.
        """

    def facts(self) -> tuple[Fact, ...]:
        """What it holds and how it is set, by the names of `ui_gym.android.facts`."""

    def settings_log(self) -> tuple[str, ...] | None:
        """The settings that were changed (``global wifi_on``), the last one last; as many of them
        as it remembers. None where it keeps no such log."""
