"""A machine to be served: files in a dict, and a shell of a few words."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import stat as modes
import struct
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ui_gym.android.adb.sync import SyncStat
from ui_gym.contract.device import DeviceOptions

Adb = Callable[..., Any]
"""Runs an adb with the words given; ``.port`` is its server's, ``.path`` the program's."""

SCREEN = (108, 240)

NOW = 1_700_000_000
"""What the toy's clock says."""

TREE = """<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="0">
<node index="0" text="" class="android.widget.LinearLayout" clickable="true" enabled="true"
 bounds="[0,20][108,60]"><node index="0" text="Wi-Fi" class="android.widget.TextView"
 bounds="[4,24][60,56]" /><node index="1" text="" class="android.widget.Switch" checkable="true"
 checked="true" bounds="[80,24][104,56]" /></node></hierarchy>"""


class Toy:
    """Serves `run` and files as a phone does."""

    serial = "toy-1"
    banner: Mapping[str, str] = {
        "ro.product.name": "toy", "ro.product.model": "Toy_1", "ro.product.device": "toy",
    }  # fmt: skip

    def __init__(self) -> None:
        self.files: dict[str, tuple[bytes, int, int]] = {"/sdcard/note.txt": (b"hello\n", 0o644, 7)}
        self.lines: list[str] = []
        self.installed = ["com.android.settings", "com.example.mail"]
        self.properties = {"ro.build.version.sdk": "34"}
        self.input_method = "com.android.inputmethod.latin/.LatinIME"
        self.launched: list[str] = []
        self.screen = SCREEN
        self.pictures: list[bytes] = []
        """What `screencap` gives next; the last one stays."""
        self.trees = [TREE]
        self.has_terminal = True
        self.sizes = "Physical size: {}x{}\n".format(*SCREEN)
        self.orientation = 0
        self.go = threading.Event()
        """What the command `hang` waits for."""
        self.hanging = threading.Event()

    # -- shell --

    def run(
        self,
        line: str,
        stdin: Any,
        write: Callable[[int, bytes], None],
        *,
        prompt: bool = False,
    ) -> int:
        if not line:
            return self._script(stdin, write, prompt)
        self.lines.append(line)
        code = 0
        for between, part in re.findall(r"(;|&&|\||^)\s*((?:'[^']*'|[^;&|])+)", line):
            if between == "&&" and code:
                continue
            try:
                words = shlex.split(part.replace("2>/dev/null", "").strip("() \n"))
            except ValueError:  # a quote that does not end
                return 2
            if words:
                code = self._command(words, code, stdin, write)
            if words[:1] == ["exit"]:
                break
        return code

    def _script(self, stdin: Any, write: Callable[[int, bytes], None], prompt: bool) -> int:
        """Lines that are sent, one at a time."""
        code, rest = 0, b""
        while True:
            if prompt and not rest:
                write(2, b"$ ")
            while b"\n" not in rest and (piece := stdin.read(100)):
                rest += piece
            line, _, rest = rest.partition(b"\n")
            if not line:
                return code
            code = self.run(line.decode(), None, write)
            if line.startswith(b"exit"):
                return code

    def _command(self, words: list[str], code: int, stdin: Any, write: Any) -> int:
        name, *rest = words
        command = getattr(self, f"_{name}", None)
        if command is None:
            write(2, f"/system/bin/sh: {name}: inaccessible or not found\n".encode())
            return 127
        if name == "echo":
            rest = [word.replace("$?", str(code)) for word in rest]
        found: int | None = command(rest, stdin, write)
        return found or 0

    def _echo(self, rest: list[str], stdin: Any, write: Any) -> None:
        write(1, " ".join(rest).encode() + b"\n")

    def _cat(self, rest: list[str], stdin: Any, write: Any) -> int:
        if not rest:
            write(1, stdin.read() if stdin is not None else b"")
        elif rest[0] in self.files:
            write(1, self.read(rest[0]))
        else:
            write(2, f"cat: {rest[0]}: No such file or directory\n".encode())
            return 1
        return 0

    def _err(self, rest: list[str], stdin: Any, write: Any) -> None:
        write(2, " ".join(rest).encode() + b"\n")

    def _exit(self, rest: list[str], stdin: Any, write: Any) -> int:
        return int(rest[0]) if rest else 0

    def _big(self, rest: list[str], stdin: Any, write: Any) -> None:
        write(1, big(int(rest[0]) if rest and rest[0].isdecimal() else 0))

    def _hang(self, rest: list[str], stdin: Any, write: Any) -> None:
        self.hanging.set()
        self.go.wait(30)

    def _getprop(self, rest: list[str], stdin: Any, write: Any) -> None:
        write(1, self.properties.get(rest[0], "").encode() + b"\n")

    def _wm(self, rest: list[str], stdin: Any, write: Any) -> None:
        if rest == ["size"]:
            write(1, self.sizes.encode())

    def _settings(self, rest: list[str], stdin: Any, write: Any) -> None:
        write(1, self.input_method.encode() + b"\n")

    def _screencap(self, rest: list[str], stdin: Any, write: Any) -> None:
        if self.pictures:
            shown = self.pictures[0]
            self.pictures = self.pictures[1:] or self.pictures
        else:
            shown = raw_picture(self.screen)
        write(1, shown)

    def _uiautomator(self, rest: list[str], stdin: Any, write: Any) -> None:
        tree = self.trees[0]
        self.trees = self.trees[1:] or self.trees
        if not tree.startswith("<"):
            write(2, tree.encode())
        elif rest[1] == "/dev/tty":
            if self.has_terminal:
                write(1, tree.encode() + b"UI hierchary dumped to: /dev/tty\n")
        else:
            self.files[rest[1]] = (tree.encode(), 0o644, 7)
            write(1, f"UI hierchary dumped to: {rest[1]}\n".encode())

    def _pm(self, rest: list[str], stdin: Any, write: Any) -> None:
        if rest[0] == "list":
            write(1, "".join(f"package:{name}\n" for name in self.installed).encode())
        if rest[0] == "install":
            self.installed.append(self.read(rest[-1]).decode())
            write(1, b"Success\n")

    def _am(self, rest: list[str], stdin: Any, write: Any) -> int:
        if rest[0] == "start" and "com.example.mail" in rest:
            write(1, b"Starting: Intent { }\nError: Activity not started, unable to resolve\n")
            return 0
        self.launched.append(rest[-1])
        return 0

    def _monkey(self, rest: list[str], stdin: Any, write: Any) -> None:
        self.launched.append(f"monkey {rest[1]}")
        write(1, b"Events injected: 1\n")

    def _input(self, rest: list[str], stdin: Any, write: Any) -> None:
        pass

    def _rm(self, rest: list[str], stdin: Any, write: Any) -> None:
        self.files.pop(rest[-1], None)

    def _touch(self, rest: list[str], stdin: Any, write: Any) -> None:
        data, mode, _ = self.files[rest[0]]
        self.files[rest[0]] = (data, mode, NOW)

    def _grep(self, rest: list[str], stdin: Any, write: Any) -> None:
        write(1, f"  {rest[0]}: {self.orientation}\n".encode())

    _cmd = _sleep = _dumpsys = _input

    # -- files --

    def stat(self, path: str) -> SyncStat | None:
        if path in self.files:
            data, mode, mtime = self.files[path]
            return SyncStat(modes.S_IFREG | mode, len(data), mtime)
        if any(name.startswith(path.rstrip("/") + "/") for name in self.files):
            return SyncStat(modes.S_IFDIR | 0o755, 4096, 7)
        return None

    def list(self, path: str) -> Sequence[tuple[str, SyncStat]]:
        start = path.rstrip("/") + "/"
        names = {
            name[len(start) :].partition("/")[0]
            for name in self.files
            if name[: len(start)] == start
        }
        found = [(name, self.stat(start + name)) for name in sorted(names)]
        return [(name, stat) for name, stat in found if stat is not None]

    def read(self, path: str) -> bytes:
        if path not in self.files:
            raise FileNotFoundError(2, os.strerror(2), path)
        return self.files[path][0]

    def write(self, path: str, data: bytes, mode: int, mtime: int) -> None:
        if not path.startswith(("/sdcard/", "/data/local/tmp/")):
            raise PermissionError(13, os.strerror(13), path)
        self.files[path] = (data, mode, mtime)


def big(count: int) -> bytes:
    """`count` bytes that are not all alike."""
    return (bytes(range(251)) * (count // 251 + 1))[:count]


def raw_picture(size: tuple[int, int], colour: tuple[int, int, int] = (10, 200, 30)) -> bytes:
    """What `screencap` writes of a screen of one colour, from Android 9 on."""
    return struct.pack("<4I", *size, 1, 0) + bytes([*colour, 255]) * (size[0] * size[1])


def adbs() -> dict[str, Path]:
    """The adbs of this machine by their version."""
    paths = [Path(found) for found in [shutil.which("adb")] if found]
    spec = importlib.util.find_spec("adbutils")
    if spec is not None and spec.origin is not None:
        paths.append(Path(spec.origin).parent / "binaries" / "adb")
    found = {}
    for path in paths:
        said = subprocess.run([path, "version"], capture_output=True, text=True, check=True).stdout
        match = re.search(r"^Version (\d+)", said, re.MULTILINE)
        if match:
            found[match[1]] = path
    return found


def options(kind: str, *, timeout: float = 10.0, **extra: str) -> DeviceOptions:
    """Half the size of the toy's screen is observed."""
    return DeviceOptions(kind, (54, 120), timeout=timeout, extra=extra)
