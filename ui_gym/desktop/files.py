"""Files: what a task's folders hold, and whether they hold what they should.

A task says which files there are before and after, as texts by their paths in the home folder.
Whatever differs from that, in the folders that these paths name, is wrong, and so is a file in the
home folder itself with the name of one of them; hidden files that the task does not name are not
looked at, as applications keep theirs there. A link to a file is no file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath

from ui_gym.contract.task import Verdict
from ui_gym.desktop.device import DesktopDevice

Files = Mapping[str, str]

_ODD = "@"
"""Marks in a listing what is neither a file nor a folder."""


def encoded(files: Files) -> dict[str, bytes]:
    """As a session's files are."""
    return {path: text.encode() for path, text in files.items()}


def same_text(data: bytes, text: str) -> bool:
    """Whether a file holds this text: spaces and empty lines at the ends do not count."""
    try:
        found = data.decode()
    except UnicodeDecodeError:
        return False
    return _plain(found) == _plain(text)


def judge_files(
    device: DesktopDevice, before: Files, after: Files, *, folders: Collection[str] = ()
) -> Verdict:
    """1 and done if the files are as they should be `after`, else 0.

    A file that was there before with the same text must not have changed at all. `folders` are
    those that must be there beside the folders of the files. The verdict's details name what is
    `missing`, `unexpected` and `different`.
    """
    wanted = {path for path in after if not _hidden(path)}
    wanted |= {f"{folder}/" for folder in {*parents([*before, *after]), *folders}}
    found = listing(device, {path.partition("/")[0] for path in wanted if "/" in path})
    names = {PurePosixPath(path).name for path in (*before, *after)}
    found |= {entry for entry in listing(device, ["."]) if entry.removesuffix(_ODD) in names}
    missing, unexpected = sorted(wanted - found), sorted(found - wanted)
    different = []
    for path, text in after.items():
        data = None if path in missing else device.read(path)
        if data is None:
            missing += [] if path in missing else [path]
        elif data != text.encode() if before.get(path) == text else not same_text(data, text):
            different.append(path)
    wrong = {"missing": missing, "unexpected": unexpected, "different": different}
    notes = "; ".join(f"{what}: {', '.join(paths)}" for what, paths in wrong.items() if paths)
    return Verdict(0.0 if notes else 1.0, done=not notes, notes=notes, details=wrong)


def listing(device: DesktopDevice, folders: Iterable[str]) -> set[str]:
    """The visible files in these folders of the home folder, and the folders with a slash; links
    and the like have an ``@`` behind them. Of ``.`` alone, the home folder, only what lies directly
    in it."""
    where = sorted(folders)
    if where == ["."]:
        what = [".", "-mindepth", "1", "-maxdepth", "1", "-not", "-name", ".*"]
        command = ["find", *what, "-printf", r"%y %P\0"]
    elif where:
        command = ["find", *where, "-not", "-path", "*/.*", "-printf", r"%y %p\0"]
    else:
        return set()
    found = set()
    for entry in device.run(command).stdout.decode("utf-8", "replace").split("\0"):
        kind, _, path = entry.partition(" ")
        if path:
            found.add(path + {"d": "/", "f": ""}.get(kind, _ODD))
    return found


def parents(paths: Iterable[str]) -> set[str]:
    """The folders above these paths, the home folder left out."""
    return {
        str(parent)
        for path in paths
        for parent in PurePosixPath(path).parents
        if str(parent) != "." and not _hidden(str(parent))
    }


def _hidden(path: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(path).parts)


def _plain(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines
