"""Archives as `tar <https://www.gnu.org/software/tar/manual/>`_ makes them, read without unpacking
them anywhere."""

from __future__ import annotations

import io
import tarfile
import zlib
from pathlib import PurePosixPath

LARGEST = 8 << 20
"""Bytes of the largest archive that is read, unpacked."""

_GZIP = 16 + zlib.MAX_WBITS


def is_compressed(data: bytes) -> bool:
    """Whether this is what gzip makes."""
    return data[:2] == b"\x1f\x8b"


def members(data: bytes) -> dict[str, bytes] | None:
    """The files of an archive, which may be compressed by gzip, by their paths without ``./``.

    None if it is no archive, or larger than `LARGEST`.
    """
    try:
        if is_compressed(data):
            unpacker = zlib.decompressobj(_GZIP)
            data = unpacker.decompress(data, LARGEST)
            if unpacker.unconsumed_tail or not unpacker.eof:
                return None
        if len(data) > LARGEST:
            return None
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            return {
                str(PurePosixPath(member.name)): file.read()
                for member in archive
                if member.isfile() and (file := archive.extractfile(member)) is not None
            }
    except (tarfile.TarError, zlib.error, ValueError, EOFError, OSError):
        return None


def holds(data: bytes, folder: str, home: str, files: dict[str, bytes]) -> bool:
    """Whether an archive holds just these files, by their paths in the home folder `home`: named by
    these, or from the root, or from inside `folder`."""
    found = members(data)
    if found is None:
        return False
    inside = {path.removeprefix(f"{folder}/"): text for path, text in files.items()}
    rooted = {f"{home}/{path}": text for path, text in files.items()}
    unrooted = {path.lstrip("/"): text for path, text in rooted.items()}
    return any(found == named for named in (files, inside, rooted, unrooted))
