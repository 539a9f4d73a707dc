"""Files that an agent leaves for the judge to choke on: small ones that unpack to much."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image as PILImage

from ui_gym.desktop.osworld.metrics import reading
from ui_gym.desktop.osworld.metrics.documents import odt_part
from ui_gym.desktop.osworld.registry import METRICS
from ui_gym.errors import UserError

LIMIT = 1 << 20
"""Bytes of XML, here, so that a bomb is quickly made."""

SIZE = 24 * LIMIT


@pytest.fixture
def word() -> bytes:
    """A document as python-docx makes it."""
    made = io.BytesIO()
    pytest.importorskip("docx").Document().save(made)
    return made.getvalue()


@pytest.fixture
def book() -> bytes:
    """A workbook as openpyxl makes it."""
    made = io.BytesIO()
    pytest.importorskip("openpyxl").Workbook().save(made)
    return made.getvalue()


def bomb(package: bytes, part: str, path: Path) -> str:
    """The same file with so many blanks at the end of a part."""
    with (
        zipfile.ZipFile(io.BytesIO(package)) as before,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as after,
    ):
        for name in before.namelist():
            after.writestr(name, before.read(name) + b" " * SIZE * (name == part))
    assert path.stat().st_size < LIMIT
    return str(path)


def peak(score: Callable[[], float]) -> tuple[float, int]:
    """A score, and the most bytes that Python held meanwhile."""
    tracemalloc.start()
    try:
        return score(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_office_file_that_unpacks_to_too_much_is_not_read(
    word: bytes, book: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.docx").write_bytes(word)
    (tmp_path / "a.xlsx").write_bytes(book)
    wide = [{"type": "sheet_data", "sheet_idx0": "RI0", "sheet_idx1": "EI0"}]
    docx = bomb(word, "word/document.xml", tmp_path / "bomb.docx")
    xlsx = bomb(book, "xl/workbook.xml", tmp_path / "bomb.xlsx")
    compare, table = METRICS.find("compare_docx_files"), METRICS.find("compare_table")
    for score in (
        lambda: compare(docx, str(tmp_path / "a.docx")),
        lambda: table(xlsx, str(tmp_path / "a.xlsx"), rules=wide),
    ):
        assert peak(score)[1] > SIZE  # without the wall, all of it is in memory
        with monkeypatch.context() as patch:
            patch.setattr(reading, "MAX_XML", LIMIT)
            value, most = peak(score)
        assert value == 0.0
        assert most < SIZE
    monkeypatch.setattr(reading, "MAX_XML", LIMIT)
    with pytest.raises(UserError, match="would unpack to"):  # the task's own is its author's fault
        compare(str(tmp_path / "a.docx"), docx)
    assert compare(str(tmp_path / "a.docx"), str(tmp_path / "a.docx")) == 1.0


def test_entities_of_a_document_do_not_multiply(book: bytes, tmp_path: Path) -> None:
    """A billion laughs: expat ends what grows a hundredfold, and says nothing of files here."""
    secret = tmp_path / "secret"
    secret.write_text("a secret of the host")
    names = "".join(
        f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' if n else '<!ENTITY a0 "ha">' for n in range(12)
    )
    laughs = f"<!DOCTYPE x [{names}]><x>&a11;</x>".encode()
    outside = f'<!DOCTYPE x [<!ENTITY s SYSTEM "{secret.as_uri()}">]><x>&s;</x>'.encode()
    plain = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><x>&b;</x>'
    assert words_of(plain, tmp_path) == "haha"  # a few are what they say
    for text in (laughs, outside):
        with pytest.raises(reading.Broken) as told:
            words_of(text, tmp_path)
        assert "a secret" not in str(told.value)


def words_of(text: bytes, folder: Path) -> str:
    """The words of a document with this content."""
    path = folder / "made.odt"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("content.xml", text)
    return reading.opened(path, lambda file: "".join(odt_part(file, "content.xml").itertext()))


def test_an_archive_writes_nothing_beside_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    good, bad = tmp_path / "good.tar", tmp_path / "bad.tar"
    with tarfile.open(good, "w") as made:
        made.addfile(tarfile.TarInfo("a"))
    for name, link in (("../sprung", ""), (f"{tmp_path}/sprung", ""), ("way/sprung", "..")):
        with tarfile.open(bad, "w") as made:
            made.addfile(tarfile.TarInfo("a"))
            if link:
                way = tarfile.TarInfo("way")
                way.type, way.linkname = tarfile.SYMTYPE, link
                made.addfile(way)
            made.addfile(tarfile.TarInfo(name))
        assert METRICS.find("compare_zip_files")(str(bad), str(good)) == 0.0
        assert sorted(tmp_path.iterdir()) == [bad, good]
        with tarfile.open(bad) as made:
            # The control. Older libraries trust by themselves.
            trusted = {"filter": "fully_trusted"} if hasattr(tarfile, "data_filter") else {}
            made.extractall(tmp_path / "out", **trusted)  # type: ignore[arg-type]
        (tmp_path / "sprung").unlink()
        shutil.rmtree(tmp_path / "out")


def test_a_picture_starts_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostScript, which Pillow has Ghostscript run."""
    mine, its, ran = tmp_path / "mine.png", tmp_path / "its.png", tmp_path / "ran"
    mine.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 20 20\n%%EndComments\n%%EOF\n")
    PILImage.new("RGB", (20, 20)).save(its)
    (tmp_path / "gs").write_text(f'#!/bin/sh\necho "$*" >>{ran}\nexit 1\n')
    (tmp_path / "gs").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("PIL.EpsImagePlugin.gs_binary", None)
    with pytest.raises(subprocess.CalledProcessError):  # the control
        PILImage.open(mine).load()
    ran.unlink()
    for name in ("compare_images", "check_structure_sim"):
        assert METRICS.find(name)(str(mine), str(its)) == 0.0
    assert not ran.exists()


def test_damaged_archives_score_nothing(tmp_path: Path) -> None:
    good, zipped, tarred = (tmp_path / name for name in ("good.zip", "bad.zip", "bad.tar.xz"))
    words = " ".join(map(str, range(2000))).encode()
    for path in (good, zipped):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.txt", words)
    with tarfile.open(tarred, "w:xz") as tar:
        info = tarfile.TarInfo("a.txt")
        info.size = len(words)
        tar.addfile(info, io.BytesIO(words))
    for path, at in ((zipped, 60), (tarred, 400)):
        damaged = bytearray(path.read_bytes())
        damaged[at : at + 40] = b"\xff" * 40
        path.write_bytes(damaged)
        for name in ("compare_archive", "compare_zip_files"):
            assert METRICS.find(name)(str(path), str(good)) == 0.0
            assert METRICS.find(name)(str(good), str(good)) == 1.0
