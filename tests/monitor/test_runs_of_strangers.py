"""What lies in a run of somebody else's, and what of it gets into what is taken away."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import pytest
from PIL import Image as PILImage

from ui_gym_agents.episode import Episode, Turn
from ui_gym_agents.monitor import archive
from ui_gym_agents.monitor.sources.folder import EvaluationFolder

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
