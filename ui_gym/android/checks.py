"""Check: a question to a phone's shell, and the answer that is wanted.

Tasks are judged by these, so that what judges the built-in phone judges a real one.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.contract.task import Verdict


@dataclass(frozen=True)
class ShellCheck:
    """A shell line, and whether what it says is right.

    `wanted` is what the whole output must be, without its last newlines, or a function of the
    result. `name` says in a word or two what is looked at.
    """

    name: str
    line: str
    wanted: str | Callable[[ShellResult], bool]

    def holds(self, device: AndroidDevice) -> bool:
        """Ask the phone."""
        result = device.shell(self.line)
        return result.text == self.wanted if isinstance(self.wanted, str) else self.wanted(result)


def judged(device: AndroidDevice, checks: Sequence[ShellCheck]) -> Verdict:
    """The share of the checks that hold; done when all do."""
    held = {check.name: check.holds(device) for check in checks}
    score = sum(held.values()) / len(held)
    missing = [name for name, right in held.items() if not right]
    notes = f"not yet: {', '.join(missing)}" if missing else "all is as asked"
    return Verdict(score, done=not missing, notes=notes, details=held)


# -- what is often asked --


def setting(namespace: str, key: str, *wanted: str) -> ShellCheck:
    """A setting has one of the values."""
    return ShellCheck(
        f"{namespace} {key}", f"settings get {namespace} {key}", lambda r: r.text in wanted
    )


def focus(part: str) -> ShellCheck:
    """The window that has the focus is named so."""
    return ShellCheck("focus", "dumpsys window | grep mCurrentFocus", lambda r: part in r.text)


def exists(path: str, *, kind: str = "e") -> ShellCheck:
    """There is such a file (``-f``), folder (``-d``) or either (``-e``)."""
    return ShellCheck(
        f"there is {path}", f"test -{kind} {shlex.quote(path)}", lambda r: r.code == 0
    )


def rows(result: ShellResult) -> list[dict[str, str]]:
    """The rows that `content query` writes: column -> value.

    A value may hold ``, `` and ``=``: only what looks like the next column ends it.
    """
    found = []
    for part in re.split(r"^Row: \d+ ", result.text, flags=re.MULTILINE)[1:]:
        pieces = re.split(r"(?:^|, )(\w+)=", part.rstrip("\n"))[1:]
        found.append(dict(zip(pieces[::2], pieces[1::2], strict=True)))
    return found


def content(uri: str, columns: Iterable[str], where: str = "") -> str:
    """The line that asks a content provider for columns (of rows that meet `where`)."""
    line = f"content query --uri {uri} --projection {':'.join(columns)}"
    return f"{line} --where {shlex.quote(where)}" if where else line


DISKSTATS = "dumpsys diskstats | grep -E '^(Package Names|App Sizes|App Data Sizes|Cache Sizes):'"


def sizes(result: ShellResult) -> dict[str, tuple[int, int, int]]:
    """What `dumpsys diskstats` tells of each package: the app's, its data's, its cache's bytes.

    Source of the format: AOSP ``DiskStatsFileLogger``, four parallel JSON arrays.
    """
    told = dict(re.findall(r"^([A-Z][A-Za-z ]+): (\[.*\])$", result.text, re.MULTILINE))
    names = ("Package Names", "App Sizes", "App Data Sizes", "Cache Sizes")
    packages, *columns = (json.loads(told.get(name, "[]")) for name in names)
    return {
        name: (app, data, cache) for name, app, data, cache in zip(packages, *columns, strict=True)
    }
