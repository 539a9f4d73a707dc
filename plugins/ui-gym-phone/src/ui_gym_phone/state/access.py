"""UserFiles: the files as a user of the shell may use them."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator

from ui_gym_phone.state.files import Files, Node

ROOT = "root"
SHELL_PACKAGE = "com.android.shell"
"""The app that has the same user as the shell of adb."""

_OWN = re.compile(r"/data/(?:data|user/\d+|user_de/\d+)/([^/]+)(/.*)?")
"""What lies in an app's own folder, which only the app and root may open (mode 0700)."""

_CLOSED = re.compile(r"/data/(?:misc|system|system_ce|system_de|vendor)(/.*)?")
_PASSED = re.compile(r"/data(?:/data|/user(?:/\d+)?|/user_de(?:/\d+)?|/app)?")
"""Folders (mode 0771) that others may pass through, but neither list nor change."""


class UserFiles(Files):
    """The same tree as `files`; what a user may not do raises PermissionError, as Linux would.

    `package` is the app whose folders the user may open, as `run-as` has it.
    """

    def __init__(self, files: Files, package: str = "") -> None:
        # One tree and one count of bytes: whatever is changed here is changed there.
        self.__dict__ = files.__dict__
        self._of = _Rights(package)

    # The tree's attributes are shared, so this one's own must not be among them.
    __slots__ = ("_of",)

    def exists(self, path: str) -> bool:
        return self._may_see(path) and super().exists(path)

    def is_dir(self, path: str) -> bool:
        return self._may_see(path) and super().is_dir(path)

    def is_file(self, path: str) -> bool:
        return self._may_see(path) and super().is_file(path)

    def enters(self, path: str) -> bool:
        return self._of.enters(self.canonical(path))

    def list(self, path: str) -> list[str]:
        if not self._of.lists(self.canonical(path)):
            raise _denied(path)
        return super().list(path)

    def walk(self, path: str) -> Iterator[str]:
        """As `Files.walk`; a folder that may not be listed seems to be empty."""
        waiting = [path]
        while waiting:
            here = waiting.pop()
            yield here
            if self.is_dir(here) and self._of.lists(self.canonical(here)):
                waiting += [f"{here.rstrip('/')}/{name}" for name in reversed(self.list(here))]

    def _may_see(self, path: str) -> bool:
        return self._of.sees(self.canonical(path))

    def _find(self, path: str) -> Node | None:
        if not self._may_see(path):
            raise _denied(path)
        return super()._find(path)

    def _writable(self, path: str) -> None:
        if not self._of.writes(self.canonical(path)):
            raise _denied(path)
        super()._writable(path)


class _Rights:
    """What somebody who is not root may do to a canonical path."""

    def __init__(self, package: str) -> None:
        self._package = package or SHELL_PACKAGE

    def sees(self, path: str) -> bool:
        if not path.startswith("/data/"):
            return True
        own = _OWN.fullmatch(path)
        if own is not None:
            return own[1] == self._package or not own[2]
        closed = _CLOSED.fullmatch(path)
        return closed is None or not closed[1]

    def enters(self, path: str) -> bool:
        own = _OWN.fullmatch(path)
        if own is not None:
            return own[1] == self._package
        return not _CLOSED.fullmatch(path)

    def lists(self, path: str) -> bool:
        if not path.startswith("/data"):
            return True
        own = _OWN.fullmatch(path)
        if own is not None:
            return own[1] == self._package
        return not _PASSED.fullmatch(path) and not _CLOSED.fullmatch(path)

    def writes(self, path: str) -> bool:
        if not path.startswith("/data"):
            return True
        open_above = self.lists(path.rpartition("/")[0]) and not _PASSED.fullmatch(path)
        return self.sees(path) and open_above


def files_for(files: Files, user: str, package: str = "") -> Files:
    """The files as a user of the shell may use them."""
    return files if user == ROOT else UserFiles(files, package)


def _denied(path: str) -> OSError:
    return PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
