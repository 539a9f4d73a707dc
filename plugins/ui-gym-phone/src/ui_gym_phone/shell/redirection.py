"""Redirection: what ``<``, ``>`` and their like open for a command, as long as it runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ui_gym_phone.shell import streams
from ui_gym_phone.shell.expansion import Expander
from ui_gym_phone.shell.registry import RunningShell, encode
from ui_gym_phone.shell.streams import InputBytes, Streams
from ui_gym_phone.shell.syntax import Redirect


@contextmanager
def redirected(shell: RunningShell, redirects: Sequence[Redirect]) -> Iterator[bool]:
    """The redirections, as long as the block lasts. Gives False where one cannot be made."""
    before, shell.streams = shell.streams, dict(shell.streams)
    try:
        yield all(_redirect(shell, redirect) for redirect in redirects)
    finally:
        opened, shell.streams = shell.streams, before
        close(shell, opened, before)


def close(shell: RunningShell, opened: Streams, kept: Streams) -> None:
    """Flush the streams that are no longer open."""
    for stream in opened.values():
        if isinstance(stream, streams.FileSink) and stream not in kept.values():
            try:
                stream.flush()
            except OSError as error:
                shell.complain(f"{stream.path}: {os.strerror(error.errno or 0)}")


def _redirect(shell: RunningShell, redirect: Redirect) -> bool:
    shell.budget.spend()
    fd, operator, expander = redirect.fd, redirect.operator, Expander(shell)
    if redirect.document is not None:
        shell.streams[fd] = InputBytes(encode(expander.text(redirect.document.body)))
        return True
    target = expander.text(redirect.target)
    if operator == "<<<":
        shell.streams[fd] = InputBytes(encode(target + "\n"))
        return True
    if operator in (">&", "<&"):
        problem = streams.duplicate(shell.streams, fd, target)
    else:
        problem = _open(shell, fd, operator, target)
    if problem:
        shell.complain(problem)
    return not problem


def _open(shell: RunningShell, fd: int, operator: str, target: str) -> str:
    """Open a file for a redirection; the message where that fails."""
    path = target if target.startswith("/") else f"{shell.session.cwd}/{target}"
    opened, files = shell.streams, shell.files
    streams.flush(opened)
    try:
        if operator == "<":
            opened[fd] = streams.source(opened, files, path)
        else:
            opened[fd] = streams.sink(opened, files, path, shell.budget, keep=operator == ">>")
    except OSError as error:
        verb = "open" if operator == "<" else "create"
        return f"can't {verb} {target}: {os.strerror(error.errno or 0)}"
    if operator == "&>":
        opened[2] = opened[1]
    return ""
