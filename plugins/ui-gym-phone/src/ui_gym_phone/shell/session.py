"""Session: what a shell remembers between two commands."""

from __future__ import annotations

from dataclasses import dataclass, field

from ui_gym_phone.shell.syntax import Node

ENVIRONMENT = {
    "ANDROID_ART_ROOT": "/apex/com.android.art",
    "ANDROID_ASSETS": "/system/app",
    "ANDROID_BOOTLOGO": "1",
    "ANDROID_DATA": "/data",
    "ANDROID_ROOT": "/system",
    "ANDROID_STORAGE": "/storage",
    "EXTERNAL_STORAGE": "/sdcard",
    "HOME": "/",
    "HOSTNAME": "phone",
    "LOGNAME": "shell",
    "PATH": "/product/bin:/apex/com.android.runtime/bin:/system/bin:/system/xbin:/vendor/bin",
    "SHELL": "/bin/sh",
    "TERM": "dumb",
    "TMPDIR": "/data/local/tmp",
    "USER": "shell",
}
"""What `adb shell` starts with."""

NAME = "/system/bin/sh"
"""What the shell calls itself."""


@dataclass
class Session:
    """Variables, functions and the current directory. Kept by an interactive shell."""

    cwd: str = "/"
    variables: dict[str, str] = field(default_factory=lambda: dict(ENVIRONMENT) | {"PWD": "/"})
    exported: set[str] = field(default_factory=lambda: {*ENVIRONMENT, "PWD"})
    readonly: set[str] = field(default_factory=set)
    functions: dict[str, Node] = field(default_factory=dict)
    params: list[str] = field(default_factory=lambda: [NAME])
    """``$0 $1 ...``"""
    status: int = 0
    """``$?``"""
    background: int = 0
    """``$!``"""
    options: set[str] = field(default_factory=set)
    """What `set` switched on: ``errexit``, ``nounset``, ``xtrace``, ``noglob``, ``pipefail``."""
    locals: list[dict[str, str | None]] = field(default_factory=list)
    """For every function that runs: the outer values of its local variables."""
    ended: bool = False
    """Whether the last line ended the shell, as `exit` does."""
    on_exit: str = ""
    """What `trap` set for the end."""

    def copy(self) -> Session:
        """A subshell's: what it changes is lost."""
        return Session(
            self.cwd, self.variables.copy(), self.exported.copy(), self.readonly.copy(),
            self.functions.copy(), self.params.copy(), self.status, self.background,
            self.options.copy(), [frame.copy() for frame in self.locals],
        )  # fmt: skip

    def environment(self) -> dict[str, str]:
        """The exported variables."""
        variables = self.variables
        return {name: variables[name] for name in self.exported if name in variables}
