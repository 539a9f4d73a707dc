"""What lies in a run of somebody else's, and what of it gets into what is taken away."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import pytest
from PIL import Image as PILImage

from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode, Turn
from ui_gym_agents.monitor import archive
from ui_gym_agents.monitor.sources import Picture
from ui_gym_agents.monitor.sources.folder import EvaluationFolder
from ui_gym_agents.monitor.thumbnails import Thumbnails
from ui_gym_agents.pictures import decoded
from ui_gym_agents.store import ScreenshotStore

KEY, LINK = "ab" * 32, "cd" * 32


def test_a_link_among_pictures_leads_to_no_other_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a secret of this machine")
    store = tmp_path / "run" / "screenshots"
    for key in (KEY, LINK):
        (store / key[:2]).mkdir(parents=True)
    PILImage.new("RGB", (5, 3)).save(store / "ab" / f"{KEY}.webp", "WEBP", lossless=True)
    (store / "cd" / f"{LINK}.webp").symlink_to(secret)
    source = EvaluationFolder(tmp_path / "run")
    shown = source.picture(KEY)
    assert shown is not None
    assert shown.data == (store / "ab" / f"{KEY}.webp").read_bytes()
    assert source.picture(LINK) is None
    assert (store / "cd" / f"{LINK}.webp").read_text() == secret.read_text()  # there it is

    played = Episode("t", 0, "g", [Turn(KEY, "x"), Turn(LINK, "y")])
    taken = b"".join(archive.episodes_zip([played], source.picture, manifest={"run": "r"}))
    with zipfile.ZipFile(io.BytesIO(taken)) as file:
        assert not [name for name in file.namelist() if b"a secret" in file.read(name)]
        assert "1 pictures are missing" in file.read("README.txt").decode()


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t"])
def test_a_name_of_a_metric_is_no_formula_in_a_sheet(begin: str) -> None:
    name = f'{begin}HYPERLINK("http://evil.example","x")'
    text = "".join(archive.metrics_csv([name, "loss"], [[1, 2.5, -1.5, f"x\r{name}"]]))
    head, row = csv.reader(io.StringIO(text, newline=""))
    assert head == ["step", "seconds", f"'{name}", "loss"]
    assert row == ["1", "2.5", "-1.5", f"x {name}"]  # a number stays one, and a row too


def test_without_the_apostrophe_it_would_be_one() -> None:
    """The control: the module alone writes it as it is."""
    text = io.StringIO()
    csv.writer(text).writerow(["=1+1"])
    assert text.getvalue().startswith("=")


def test_a_name_that_is_no_hash_leads_out_of_no_folder(tmp_path: Path) -> None:
    own = tmp_path / "private.png"
    PILImage.new("RGB", (5, 3)).save(own)
    folder = tmp_path / "run" / "screenshots"
    folder.mkdir(parents=True)
    store = ScreenshotStore(folder)
    for name in (str(own.with_suffix("")), "../private"):
        way = folder / name[:2] / name
        assert way.with_suffix(".png").resolve() == own  # the control: there it leads
        assert store.encoded(name) is None
        assert not store.keeps(name)
        with pytest.raises(UserError, match="no screenshot"):
            store.get(name)


class Shown:
    """A source with one picture, whatever is asked for."""

    def __init__(self, id: str, colour: str) -> None:
        self.id = id
        self._data = io.BytesIO()
        PILImage.new("RGB", (9, 9), colour).save(self._data, "PNG")

    def picture(self, key: str) -> Picture:
        return Picture("image/png", self._data.getvalue())


def test_a_forged_picture_is_nobody_elses_thumbnail(tmp_path: Path) -> None:
    thumbnails = Thumbnails(tmp_path)
    of_stranger = thumbnails.get(KEY, Shown("a" * 12, "red"))  # type: ignore[arg-type]
    own = thumbnails.get(KEY, Shown("b" * 12, "white"))  # type: ignore[arg-type]
    assert own is not None
    assert own != of_stranger
    with PILImage.open(io.BytesIO(own.data)) as small:
        assert small.convert("RGB").getpixel((4, 4)) == (255, 255, 255)


def test_no_picture_starts_a_program_or_takes_all_memory() -> None:
    postscript = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 20 20\n%%EndComments\n%%EOF\n"
    with PILImage.open(io.BytesIO(postscript)) as control:
        assert control.format == "EPS"
    large = io.BytesIO()
    PILImage.new("1", (8000, 8000)).save(large, "PNG")
    assert large.tell() < 20_000
    for data, told in ((postscript, "is no PNG"), (large.getvalue(), "8000x8000 is too large")):
        with pytest.raises(UserError, match=told):
            decoded(data)
