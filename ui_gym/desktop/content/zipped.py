"""Zip files of office applications, before something that trusts them reads them."""

from __future__ import annotations

import io
import zipfile

LARGEST = 20 << 20
"""Bytes, unpacked, of the largest file that is read."""


def is_readable(data: bytes) -> bool:
    """Whether this is a whole zip file, and not one that unpacks to more than `LARGEST`."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return sum(one.file_size for one in archive.infolist()) <= LARGEST
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False
