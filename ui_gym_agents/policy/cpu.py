"""Settings of the process that make a CPU fast."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from ui_gym.child_process import cores

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_LARGEST_MMAP_THRESHOLD = 32 << 20


def keep_freed_memory() -> None:
    """Let glibc keep what torch frees, up to 1 GiB, rather than give it back each time.

    Activations are large blocks, which glibc maps and unmaps anew each time; the page faults cost
    more than the arithmetic of a small model (on a virtual machine: 45 against 5 ms for the pixels
    of 32 pictures). Elsewhere than on glibc this does nothing.
    """
    if platform.libc_ver()[0] != "glibc":
        return
    libc = ctypes.CDLL(None)
    libc.mallopt(_M_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD)
    libc.mallopt(_M_TRIM_THRESHOLD, 1 << 30)


LANES = 2
"""Micro-batches that a small model learns from at once, where there are cores for it: in threads,
so that none waits for another within an operation."""


def lanes() -> int:
    """How many of them this machine has cores for."""
    return min(LANES, cores())


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Run torch with `count` CPU threads (None: as it is) inside.

    Threads that meet at a barrier wait for the slowest, so that two of them on two cores that a
    browser uses as well are slower than one (half as fast, measured, with one core busy).
    """
    before = torch.get_num_threads()
    if count is None or count == before:
        yield
        return
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
