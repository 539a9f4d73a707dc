"""ShellSession: what a shell remembers between two commands."""

from __future__ import annotations

from dataclasses import dataclass, field

from ui_gym_phone.data import table


def environment() -> dict[str, str]:
    """What `adb shell` starts with."""
    return dict(table("shell_names")["environment"])


NAME = "/system/bin/sh"
"""What the shell calls itself."""


@dataclass
class ShellSession:
    """Variables and the current directory. Kept by an interactive shell."""

    cwd: str = "/"
    variables: dict[str, str] = field(default_factory=environment)
    exported: set[str] = field(default_factory=lambda: {*environment()})
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
