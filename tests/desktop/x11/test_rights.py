"""What a program in a sandbox might become or call, were it not in one."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from ui_gym.desktop.x11.confinement import interpreter
from ui_gym.desktop.x11.sandbox import Sandbox


@pytest.mark.skipif(os.geteuid() != 0, reason="a program of root's takes root")
def test_a_program_that_makes_root_of_anybody_does_not_there() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        path = shutil.copy("/usr/bin/id", folder)
        os.chmod(path, 0o4755)
        outside = subprocess.run([path, "-u"], user="nobody", stdout=subprocess.PIPE, check=True)
        if outside.stdout != b"0\n":
            pytest.skip("this file system heeds no such bit")
        box = Sandbox({}, share=[path], confinement="bubblewrap")
        try:
            assert box.run([path, "-u"]).text.strip() == "1000"
        finally:
            box.close()


CALL = """
import socket, sys
for name in sys.argv[1:]:
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.connect(name.replace("@", "\\0", 1))
            print("reached")
        except OSError:
            print("refused")
"""


def test_no_socket_of_another_display_is_reached() -> None:
    """An X server that can be spoken to sees every key that is pressed on it."""
    with (
        tempfile.TemporaryDirectory(dir="/tmp") as folder,
        socket.socket(socket.AF_UNIX) as named,
        socket.socket(socket.AF_UNIX) as unnamed,
    ):
        os.chmod(folder, 0o755)
        path = str(Path(folder, "X99"))
        named.bind(path)
        os.chmod(path, 0o777)
        unnamed.bind("\0" + path)
        for listener in (named, unnamed):
            listener.listen()
        call = ["-c", CALL, path, f"@{path}"]
        outside = subprocess.run(
            [interpreter(), *call], stdout=subprocess.PIPE, check=True, text=True
        )
        assert outside.stdout.split() == ["reached", "reached"]
        box = Sandbox({}, confinement="bubblewrap")
        try:
            assert box.run([interpreter(), *call]).text.split() == ["refused", "refused"]
        finally:
            box.close()
