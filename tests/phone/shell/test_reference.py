"""The shell against mksh with toybox: the table's lines that have no need of a phone.

One mksh plays them all, each in a subshell and a folder of its own with the same files.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from table_phone import TREE, folder_of, fresh_handset, plant, table

from ui_gym_phone.handset import Handset
from ui_gym_phone.shell import ShellSession, run

CASES = [
    (folder_of(sender), case["line"])
    for sender, cases in table().items()
    for case in cases
    if case.get("mksh")
]
SHELLS = ("/system/bin/sh:", "sh:", "mksh:", "tr:")
"""How messages begin that are the shell's own, or of tools that come from elsewhere."""

PLAY = r"""
n=0
while [ $n -lt $COUNT ]; do
  rm -rf "$PLACE"; cp -r "$TEMPLATE" "$PLACE"
  ( cd "$PLACE"; PWD=$PLACE; HOME=/; eval "$(cat "$CASES/$n")" ) \
    < /dev/null > "$CASES/$n.out" 2> "$CASES/$n.err"
  echo $? > "$CASES/$n.code"
  n=$((n + 1))
done
"""


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to stand for Android's /system/bin."""
    folder = tmp_path_factory.mktemp("bin")
    found = {name: shutil.which(name, path="/usr/bin:/bin") for name in ("toybox", "mksh", "tr")}
    if None in found.values():
        pytest.skip("the reference needs mksh and toybox: apt-get install mksh toybox")
    applets = subprocess.run([str(found["toybox"])], capture_output=True, text=True, check=True)
    for applet in applets.stdout.split():
        (folder / applet).symlink_to(str(found["toybox"]))
    (folder / "tr").unlink(missing_ok=True)
    (folder / "tr").symlink_to(str(found["tr"]))
    (folder / "sh").symlink_to(str(found["mksh"]))
    return folder


def play_reference(cases: list[tuple[str, str]], tools: Path, folder: Path) -> list[object]:
    """What mksh answers to the lines: (out, messages of the tools, exit code) of each."""
    place, template = folder / "sdcard", folder / "template"
    for path, text in TREE.items():
        target = template / path
        (target if path.endswith("/") else target.parent).mkdir(parents=True, exist_ok=True)
        if not path.endswith("/"):
            target.write_bytes(text.encode())
            target.chmod(0o644)
    for number, (_, line) in enumerate(cases):
        (folder / str(number)).write_text(line.replace("/sdcard", str(place)))
    environment = {
        "PATH": str(tools), "TZ": "UTC", "PLACE": str(place), "TEMPLATE": str(template),
        "CASES": str(folder), "COUNT": str(len(cases)),
    }  # fmt: skip
    subprocess.run(
        [str(tools / "sh"), "-c", PLAY], env=environment, check=True, timeout=120,
        stdin=subprocess.DEVNULL, capture_output=True,
    )  # fmt: skip
    known, answers = str(place).encode(), list[object]()
    for number in range(len(cases)):
        out, err = (
            (folder / f"{number}.{kind}").read_bytes().replace(known, b"/sdcard")
            for kind in ("out", "err")
        )
        code = int((folder / f"{number}.code").read_text())
        answers.append((out, tool_messages(err), code))
    return answers


def ours(folder: str, line: str, handset: Handset) -> object:
    result = run(handset, line, session=ShellSession(folder)).result()
    return result.stdout, tool_messages(result.stderr), result.code


def tool_messages(stderr: bytes) -> list[bytes]:
    """The messages that tools wrote which both sides have in the same version."""
    others = tuple(map(str.encode, SHELLS))
    lines = [line for line in stderr.splitlines() if line and not line.startswith(others)]
    return [line for line in lines if b"/sh: " not in line and b"sh[" not in line]


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.nightly)])
def test_lines_do_what_they_do_in_mksh(step: int, tools: Path, tmp_path: Path) -> None:
    cases = CASES[::step]
    handset = fresh_handset()
    snapshot, faults = handset.snapshot(), list[str]()
    for (folder, line), wanted in zip(cases, play_reference(cases, tools, tmp_path), strict=True):
        handset.renew(snapshot)
        plant(handset.files, TREE)
        told = ours(folder, line, handset)
        if told != wanted:
            faults.append(f"{line!r}:\n  ours {told}\n  mksh {wanted}")
    assert not faults, "\n".join(faults)
