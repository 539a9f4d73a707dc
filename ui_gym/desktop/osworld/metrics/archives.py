"""Metrics that compare archives, file by file."""

from __future__ import annotations

import difflib
import tarfile
import tempfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

from ui_gym.desktop.osworld.metrics.pages import pdf_texts
from ui_gym.desktop.osworld.metrics.reading import (
    Broken,
    a_file,
    given,
    scored,
    unknown,
)
from ui_gym.desktop.osworld.registry import METRICS
from ui_gym.errors import UserError

BY_TYPE = {
    "text": "compare_text_file",
    "pdf": "compare_pdfs",
    "docx": "compare_docx_files",
    "ppt": "compare_pptx_files",
    "image": "compare_images",
    "csv": "compare_csv",
    "table": "compare_table",
    "audio": "compare_audios",
    "video": "compare_videos",
}
"""The metric for each ``file_type``."""
MAX_SIZE = 1 << 30
"""An archive that unpacks to more bytes is not opened."""
PDF_ALIKE = 0.95


@scored()
def compare_archive(result: object, expected: object, **options: Any) -> float:
    """The mean score of the files, compared name by name with the metric for ``file_type``
    ("text" by default), which is given the other options.

    ``file_path`` is the folder inside the archives to look at, with the folders in it. Other names
    of files are 0.
    """
    inside = options.pop("file_path", "")
    kind = options.pop("file_type", "text")
    if kind not in BY_TYPE:
        raise unknown("file_type", kind, ", ".join(BY_TYPE))
    compare = METRICS.find(BY_TYPE[kind])
    with tempfile.TemporaryDirectory(prefix="ui-gym-archive-") as folder:
        ours, theirs = Path(folder, "result"), Path(folder, "expected")
        given(lambda path: _unpack(path, theirs), expected)
        _unpack(result, ours)
        names = _names(ours / inside)
        if not names or _all_names(ours / inside) != given(_all_names, theirs / inside):
            return 0.0
        scores = [
            compare(str(ours / inside / name), str(theirs / inside / name), **options)
            for name in names
        ]
        return sum(scores) / len(scores)


@scored()
def compare_zip_files(result: object, expected: object, **options: Any) -> float:
    """1 if both have files of the same names and content; of PDF files 95 % of the text."""
    with tempfile.TemporaryDirectory(prefix="ui-gym-archive-") as folder:
        ours, theirs = Path(folder, "result"), Path(folder, "expected")
        given(lambda path: _unpack(path, theirs), expected)
        _unpack(result, ours)
        names = _all_names(ours)
        return names == _all_names(theirs) and all(
            _same_file(ours / name, theirs / name) for name in sorted(names)
        )


def _same_file(ours: Path, theirs: Path) -> bool:
    if ours.is_dir() or theirs.is_dir():
        return ours.is_dir() and theirs.is_dir()
    if ours.suffix.lower() != ".pdf":
        return ours.read_bytes() == theirs.read_bytes()
    texts = _pdf_text(ours), given(_pdf_text, theirs)
    return difflib.SequenceMatcher(None, *texts).ratio() >= PDF_ALIKE


def _pdf_text(path: Path) -> str:
    return "".join(pdf_texts(path))


def _unpack(path: object, folder: Path) -> None:
    """Unpack a zip or tar archive. Nothing is written outside `folder`."""
    file = a_file(path)
    folder.mkdir()
    try:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                _check_size(sum(info.file_size for info in archive.infolist()), file)
                archive.extractall(folder)
        else:
            with tarfile.open(file) as tar:
                _check_size(sum(member.size for member in tar.getmembers()), file)
                _unpack_tar(tar, folder)
    except Broken:
        raise
    except Exception as error:  # the libraries raise whatever a damaged archive leads them to
        raise Broken(f"{file} is not an archive: {error}") from error


def _unpack_tar(tar: tarfile.TarFile, folder: Path) -> None:
    """Its folders and plain files; links and devices are left out. (The library's own ways to do
    so safely are younger than Debian 12's Python.)"""
    for member in tar:
        path = folder / PurePosixPath(member.name.lstrip("/"))
        if ".." in path.parts:
            raise Broken(f"the archive's file {member.name!r} lies outside it")
        if member.isdir():
            path.mkdir(parents=True, exist_ok=True)
        elif member.isfile() and (content := tar.extractfile(member)) is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read())


def _check_size(size: int, file: Path) -> None:
    if size > MAX_SIZE:
        raise Broken(f"{file} would unpack to {size} bytes")


def _names(folder: Path) -> list[str]:
    if ".." in PurePosixPath(folder).parts:
        raise UserError(f"'file_path' leaves the archive: {folder}")
    if not folder.is_dir():
        raise Broken(f"the archive has no folder {folder.name!r}")
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _all_names(folder: Path) -> set[str]:
    """The paths of all files and folders below."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}
