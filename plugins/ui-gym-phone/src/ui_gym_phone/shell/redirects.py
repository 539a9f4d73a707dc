"""Redirections: which stream a command's descriptors stand for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ui_gym_phone.shell.protocol import RunningShell
from ui_gym_phone.shell.streams import FileSink, InputBytes, NullSink, OpenStream
from ui_gym_phone.shell.syntax import Redirect

_OUTPUTS = {"/dev/stdout": 1, "/dev/tty": 1, "/dev/stderr": 2}


@contextmanager
def applied(shell: RunningShell, redirects: Sequence[Redirect]) -> Iterator[bool]:
    """The redirections, as long as the block lasts.

    Gives False where one cannot be made: the shell has said why.
    """
    before = shell.streams
    shell.streams = dict(before)
    try:
        yield all(_made(shell, redirect) for redirect in redirects)
    finally:
        after, shell.streams = shell.streams, before
        close(shell, after, before)


def flush(streams: Mapping[int, OpenStream]) -> None:
    """Bring what files' writers keep back into the files, for a command that may read them."""
    for stream in streams.values():
        if isinstance(stream, FileSink):
            stream.flush()


def close(
    shell: RunningShell, streams: Mapping[int, OpenStream], kept: Mapping[int, OpenStream]
) -> None:
    """Flush the streams that are no longer open."""
    for stream in streams.values():
        if isinstance(stream, FileSink) and stream not in kept.values():
            try:
                stream.flush()
            except OSError as error:
                shell.complain(f"{stream.path}: {os.strerror(error.errno or 0)}")


def _made(shell: RunningShell, redirect: Redirect) -> bool:
    shell.budget.spend()
    problem = _apply(shell, redirect)
    if problem:
        shell.complain(problem)
    return not problem


def _apply(shell: RunningShell, redirect: Redirect) -> str:
    """Make one redirection; the message where that fails."""
    fd, operator = redirect.fd, redirect.operator
    target = shell.expander.text(redirect.target)
    if operator in (">&", "<&"):
        stream = shell.streams.get(int(target)) if target in tuple("0123456789") else None
        if stream is None and target != "-":
            return f"can't dup {target}: Bad file descriptor"
        shell.streams[fd] = stream or NullSink()
        return ""
    path = target if target.startswith("/") else f"{shell.session.cwd}/{target}"
    flush(shell.streams)
    try:
        if operator == "<":
            shell.streams[fd] = _source(shell, path)
        else:
            shell.streams[fd] = _sink(shell, path, keep=operator == ">>")
    except OSError as error:
        verb = "open" if operator == "<" else "create"
        return f"can't {verb} {target}: {os.strerror(error.errno or 0)}"
    if operator == "&>":
        shell.streams[2] = shell.streams[1]
    return ""


def _source(shell: RunningShell, path: str) -> OpenStream:
    if path in ("/dev/stdin", "/dev/tty"):
        return shell.streams.get(0, InputBytes())
    if path in ("/dev/zero", "/dev/urandom", "/dev/random"):
        return InputBytes(bytes(1 << 20))
    if shell.files.is_dir(path):  # which opens, and fails when it is read
        return InputBytes()
    return InputBytes(shell.files.read(path))


def _sink(shell: RunningShell, path: str, *, keep: bool) -> OpenStream:
    if path in _OUTPUTS:
        return shell.streams.get(_OUTPUTS[path], NullSink())
    if path == "/dev/null":
        return NullSink()
    if not keep or not shell.files.exists(path):
        shell.files.write(path, b"")
    elif shell.files.is_dir(path):
        shell.files.read(path)  # raises what it should
    return FileSink(shell.files, path, shell.budget)
