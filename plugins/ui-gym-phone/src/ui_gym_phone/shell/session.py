"""ShellSession: what a shell remembers between two commands."""

from __future__ import annotations

from dataclasses import dataclass, field

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
class ShellSession:
    """Variables and the current directory. Kept by an interactive shell."""

    cwd: str = "/"
    variables: dict[str, str] = field(default_factory=lambda: dict(ENVIRONMENT) | {"PWD": "/"})
    exported: set[str] = field(default_factory=lambda: {*ENVIRONMENT, "PWD"})
    params: list[str] = field(default_factory=lambda: [NAME])
    """``$0 $1 ...``"""
    status: int = 0
    """``$?``"""

    def copy(self) -> ShellSession:
        """A subshell's: what it changes is lost."""
        return ShellSession(
            self.cwd, self.variables.copy(), self.exported.copy(), self.params.copy(), self.status
        )

    def environment(self) -> dict[str, str]:
        """The exported variables."""
        variables = self.variables
        return {name: variables[name] for name in self.exported if name in variables}
