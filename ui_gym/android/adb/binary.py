"""Where the program `adb` is."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path


def find_adb() -> str | None:
    """The path of an adb: of the PATH, of an Android SDK, or the one in the wheel of adbutils."""
    found = shutil.which("adb")
    if found is not None:
        return found
    for folder in _folders():
        found = shutil.which("adb", path=str(folder))
        if found is not None:
            return found
    return None


def _folders() -> list[Path]:
    roots = (os.environ.get(name) for name in ("ANDROID_HOME", "ANDROID_SDK_ROOT"))
    folders = [Path(root) / "platform-tools" for root in roots if root]
    spec = importlib.util.find_spec("adbutils")  # it is not imported
    if spec is not None and spec.origin is not None:
        folders.append(Path(spec.origin).parent / "binaries")
    return folders
