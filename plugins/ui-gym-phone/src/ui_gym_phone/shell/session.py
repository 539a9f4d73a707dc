"""ShellSession: what a shell remembers between two commands."""

from __future__ import annotations

from dataclasses import dataclass, field

from ui_gym_phone.data import table
from ui_gym_phone.shell.syntax import ShellNode


def environment() -> dict[str, str]:
    """What `adb shell` starts with."""
    return dict(table("shell_names")["environment"])


SHELL, ROOT = "shell", "root"
"""Users."""

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
    functions: dict[str, ShellNode] = field(default_factory=dict)
    options: frozenset[str] = frozenset()
    """The letters of what `set` turned on."""
    place: str = ""
    """Where in a script the shell is, for its messages."""
    user: str = SHELL
    """Who runs it."""
    package: str = ""
    """The app of that user, if it is one's."""

    @property
    def is_root(self) -> bool:
        return self.user == ROOT

    def copy(self) -> ShellSession:
        """A subshell's: what it changes is lost."""
        return ShellSession(
            self.cwd, self.variables.copy(), self.exported.copy(), self.params.copy(), self.status,
            self.functions.copy(), self.options, self.place, self.user, self.package,
        )  # fmt: skip

    def environment(self) -> dict[str, str]:
        """The exported variables."""
        variables = self.variables
        return {name: variables[name] for name in self.exported if name in variables}
