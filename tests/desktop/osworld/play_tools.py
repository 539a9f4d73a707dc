"""What players do on any desktop, and files that many plays need."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from play_case import Player

Acts = Callable[[Player], None]


def command(line: str) -> Acts:
    """A line of shell."""
    return lambda player: player.run(line)


def at_prompt(line: str) -> Acts:
    """A line typed into the terminal that the task opens."""

    def act(player: Player) -> None:
        player.await_window("Terminal")
        player.device.activate_window("Terminal")
        player.do(f"type({json.dumps(line)}, enter=True)", "wait(1)")

    return act


def photo(size: tuple[int, int] = (320, 240)) -> Callable[[Path], None]:
    """A picture with shapes and shades, in the format that its name says."""

    def write(path: Path) -> None:
        width, height = size
        y, x = np.mgrid[:height, :width]
        pixels = np.stack([x * 255 // width, y * 255 // height, (x + y) % 64 + 60], 2)
        pixels[height // 4 : height // 2, width // 8 : width // 3] = (200, 40, 40)
        Image.fromarray(pixels.astype(np.uint8)).save(path)

    return write


def cropped(path: Path) -> None:
    """The lower four fifths of `photo`."""
    photo()(path)
    picture = Image.open(path)
    picture.crop((0, 48, 320, 240)).save(path)


def put(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o644
    archive.addfile(member, io.BytesIO(data))


def by_libreoffice(path: Path, kind: str, *sources: tuple[str, bytes]) -> list[Path]:
    """What LibreOffice converts these files to, in a folder beside `path`."""
    folder = path.parent / f"{path.name}.d"
    folder.mkdir()
    for name, data in sources:
        (folder / name).write_bytes(data)
    subprocess.run(
        ["soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless",
         "--convert-to", kind, "--outdir", str(folder),
         *(str(folder / name) for name, _ in sources)],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    ending = kind.partition(":")[0]
    return sorted(folder.glob(f"*.{ending}"))
