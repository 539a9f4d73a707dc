"""The mini shell against mksh with toybox and the one true awk, and against dash.

Every line of ``corpus.txt`` runs in all of them, each in a folder with the same files.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from shell_machine import TREE, machine_with

from ui_gym_phone.shell import Session, run

HERE = Path(__file__).parent

FIXTURES = {
    "settings get system screen_brightness": "102\n",
    "settings get global wifi_on": "1\n",
    "settings get global airplane_mode_on": "null\n",
    "settings get system screen_off_timeout": "60000\n",
    "pm list packages": "package:com.android.settings\npackage:com.example.notes\n"
    "package:com.android.launcher3\n",
    "dumpsys window": "  mCurrentFocus=Window{72459d u0 com.android.settings/"
    "com.android.settings.Settings}\n  mFocusedApp=ActivityRecord{1 u0 com.android.settings/"
    ".Settings t12}\n",
    "dumpsys notification": "Current Notification Manager state:\n  Notification List:\n"
    "    NotificationRecord(0x0dfbaffe: pkg=com.example.mail user=UserHandle{0} id=1 tag=null\n"
    "      android.title=String (New mail)\n      android.text=String (Hi)\n",
    "dumpsys empty": "Current Notification Manager state:\n",
    "dumpsys audio": "- STREAM_RING:\n   Muted: false\n   Max: 7\n   streamVolume:5\n"
    "- STREAM_MUSIC:\n   Muted: false\n   Min: 0\n   Max: 15\n   streamVolume:7\n"
    "   Current: 2 (speaker): 7\n   Devices: speaker\n- STREAM_ALARM:\n   Max: 7\n",
    "dumpsys package com.example.notes": "  versionName=2.1.0\n    User 0: ceDataInode=1 "
    "installed=true hidden=false stopped=true\n      runtime permissions:\n"
    "        android.permission.CAMERA: granted=true, flags=[ USER_SET]\n",
    "dumpsys battery": "Current Battery Service state:\n  AC powered: false\n  level: 87\n",
    "dumpsys diskstats": 'Package Names: ["com.android.settings","com.example.notes"]\n',
    "dumpsys wifi": "Wi-Fi is enabled\n",
    "dumpsys activity": "  topResumedActivity=ActivityRecord{1 u0 com.example.notes/.Main t3}\n",
    "content query": "Row: 0 _id=1, address=+15551234, body=Hi\nRow: 1 _id=2, address=+1555, "
    "body=On my way\n",
}
"""What the commands of Android print, in all of the shells."""

PRELUDE = "".join(
    f'{name}() {{ cat "/sdcard/.fixtures/{name} $*"; }}\n'
    for name in ("settings", "pm", "dumpsys", "content")
)

DIFFERENT = {
    "sed 's/l/L/2' notes.txt": "toybox 0.8.9 writes freed memory there",
    "awk '{print' table.txt": "our message tells less of where the program went wrong",
    "cut notes.txt": "the options that the hint lists differ between builds",
}
"""Lines that differ on purpose, with the reason."""

OTHERS = ("tr:", "expr:", "dd:", "E: ", "W: ", "/system/bin/sh:", "sh:", "dash:")
"""How messages begin that are the shells' own, or of tools that come from elsewhere."""


def corpus() -> list[tuple[str, bool]]:
    """(line, whether dash must agree)."""
    lines, posix = list[tuple[str, bool]](), False
    for line in (HERE / "corpus.txt").read_text().splitlines():
        if line.startswith("##"):
            posix = "[posix]" in line
        elif line and not line.startswith("# "):
            text = line[1:].replace("\\n", "\n").replace("\\t", "\t") if line[0] == "@" else line
            lines.append((text, posix))
    return lines


def needed(name: str) -> str:
    found = shutil.which(name, path="/usr/bin:/bin:/usr/local/bin")
    if found is None:
        pytest.skip(f"the reference needs {name}: apt-get install mksh toybox dash original-awk")
    return found


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to stand for Android's /system/bin."""
    folder = tmp_path_factory.mktemp("bin")
    toybox = needed("toybox")
    applets = subprocess.run([toybox], capture_output=True, text=True, check=True).stdout.split()
    for applet in applets:
        (folder / applet).symlink_to(toybox)
    for name, source in {"awk": "original-awk", "tr": "tr", "expr": "expr", "dd": "dd"}.items():
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(needed(source))
    (folder / "sh").symlink_to(needed("mksh"))
    return folder


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that each line finds."""
    folder = tmp_path_factory.mktemp("template")
    for path, text in tree().items():
        target = folder / path
        (target if path.endswith("/") else target.parent).mkdir(parents=True, exist_ok=True)
        if not path.endswith("/"):
            target.write_bytes(text.encode())
            target.chmod(0o644)
    return folder


def tree() -> dict[str, str]:
    return TREE | {f".fixtures/{name}": text for name, text in FIXTURES.items()}


def reference(shell: str, line: str, template: Path, tools: Path, folder: Path):
    place = folder / "sdcard"
    shutil.copytree(template, place)
    script = (PRELUDE + line).replace("/sdcard", str(place))
    done = subprocess.run(
        [needed(shell), "-c", script],
        cwd=place,
        env={"PATH": str(tools), "HOME": "/", "PWD": str(place), "TZ": "UTC"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
    )
    known = str(place).encode()
    out, err = (each.replace(known, b"/sdcard") for each in (done.stdout, done.stderr))
    return out, tool_messages(err), done.returncode


def ours(line: str):
    output = run(machine_with(tree()), PRELUDE + line, session=Session(cwd="/sdcard")).result()
    return output.stdout, tool_messages(output.stderr), output.code


def tool_messages(stderr: bytes) -> list[bytes]:
    """The messages that tools wrote which both sides have in the same version."""
    others = tuple(map(str.encode, OTHERS))
    return [line for line in stderr.splitlines() if not line.startswith(others)]


@pytest.mark.parametrize("line", [line for line, _ in corpus() if line not in DIFFERENT])
def test_a_line_does_what_it_does_in_mksh(
    line: str, template: Path, tools: Path, tmp_path: Path
) -> None:
    assert ours(line) == reference("mksh", line, template, tools, tmp_path)


@pytest.mark.parametrize(
    "line", [line for line, posix in corpus() if posix and line not in DIFFERENT]
)
def test_a_posix_line_does_what_it_does_in_dash(
    line: str, template: Path, tools: Path, tmp_path: Path
) -> None:
    out, _, code = ours(line)
    expected, _, expected_code = reference("dash", line, template, tools, tmp_path)
    assert (out, code) == (expected, expected_code)


def test_the_corpus_is_large() -> None:
    assert len(corpus()) >= 170
    assert set(DIFFERENT) <= {line for line, _ in corpus()}
