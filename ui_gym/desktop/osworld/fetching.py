"""Filling the file cache from the web."""

from __future__ import annotations

import contextlib
import fcntl
import http.client
import string
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from ui_gym.desktop.osworld.cache import FileCache

PAUSES = (1.0, 4.0)
"""Seconds before the second and the third try."""

TIMEOUT = 60.0
"""Seconds without a byte after which a transfer counts as broken."""

MOST_BYTES = 4 << 30
"""The largest file that is taken."""

LOCK_TIMEOUT = 3600.0
"""Seconds to wait for another process that fetches the same address."""

PARALLEL = 4
BLOCK = 1 << 16

Progress = Callable[[str, int, int | None], None]
"""Is told of an address how many bytes are there, and how many there will be, where that is known.
"""


@dataclass(frozen=True)
class Fetched:
    """What came of an address: `problem` is empty where its file is in the cache now."""

    url: str
    problem: str = ""


def fetch(
    addresses: Iterable[str],
    cache: FileCache,
    progress: Progress = lambda url, done, total: None,
    *,
    timeout: float = TIMEOUT,
    pauses: tuple[float, ...] = PAUSES,
) -> Iterator[Fetched]:
    """Bring what is not in the cache yet, several at once; yields each address as it is done.

    An interrupted transfer leaves a part, which the next one continues where the server can.
    """
    wanted = [url for url in dict.fromkeys(addresses) if cache.find(url) is None]
    cache.folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(PARALLEL, "ui-gym-fetch") as threads:
        jobs = [threads.submit(_fetch, url, cache, progress, timeout, pauses) for url in wanted]
        try:
            for job in as_completed(jobs):
                yield job.result()
        finally:
            for job in jobs:
                job.cancel()


def _fetch(
    url: str, cache: FileCache, progress: Progress, timeout: float, pauses: tuple[float, ...]
) -> Fetched:
    if not url.startswith(("http://", "https://")):
        return Fetched(url, "only http and https addresses are fetched")
    try:
        with _alone(cache.part(url)):
            # Another process may have brought it meanwhile.
            found = cache.find(url) is not None
            problem = "" if found else _brought(url, cache, progress, timeout, pauses)
    except OSError as error:
        problem = str(error)
    return Fetched(url, problem)


def _brought(
    url: str, cache: FileCache, progress: Progress, timeout: float, pauses: tuple[float, ...]
) -> str:
    """Why an address cannot be brought; empty where its file is in the cache now."""
    problem = ""
    for pause in (0.0, *pauses):
        time.sleep(pause)
        try:
            _transfer(url, cache.part(url), progress, timeout)
            cache.add(url, cache.part(url))
        except urllib.error.HTTPError as error:
            problem = f"the server answered {error.code} {error.reason}"
            if error.code == 416:  # the part is longer than the file
                cache.part(url).unlink(missing_ok=True)
            elif error.code < 500 and error.code != 429:
                break  # asking again changes nothing
        except (OSError, http.client.HTTPException, ValueError) as error:
            problem = str(getattr(error, "reason", error)) or type(error).__name__
        else:
            return ""
    return problem


@contextlib.contextmanager
def _alone(part: Path) -> Iterator[None]:
    """No other process, and no other thread, fetches into `part` meanwhile."""
    lock = part.with_suffix(".lock")
    deadline = time.monotonic() + LOCK_TIMEOUT
    with lock.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise TimeoutError(
                        f"another process has been fetching it for {LOCK_TIMEOUT:g} s"
                    ) from None
                time.sleep(0.1)
        yield
        # Who waits for this file still has it open, and finds that there is nothing to do.
        if not part.exists():
            lock.unlink(missing_ok=True)


def _transfer(url: str, part: Path, progress: Progress, timeout: float) -> None:
    """Bring the rest of a file. `OSError` if it breaks off."""
    begun = part.stat().st_size if part.exists() else 0
    # What may stand in an address stays as it is, the escapes in it too.
    quoted = urllib.parse.quote(url, safe=string.punctuation)
    request = urllib.request.Request(quoted, headers={"User-Agent": "ui-gym"})
    if begun:
        request.add_header("Range", f"bytes={begun}-")
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        if answer.status != 206:
            begun = 0  # the server sends it from the start
        length = answer.headers.get("Content-Length")
        total = None if length is None else begun + int(length)
        if total is not None and total > MOST_BYTES:
            raise ValueError(f"it has {total} bytes, more than {MOST_BYTES}")
        with part.open("ab" if begun else "wb") as file:
            while block := answer.read(BLOCK):
                file.write(block)
                begun += len(block)
                progress(url, begun, total)
                if begun > MOST_BYTES:
                    raise ValueError(f"it has more than {MOST_BYTES} bytes")
    if total is not None and begun != total:
        raise OSError(f"the transfer broke off after {begun} of {total} bytes")
