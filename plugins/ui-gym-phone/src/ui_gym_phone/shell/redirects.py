"""Redirections: which stream a command's descriptors stand for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from ui_gym_phone.shell.budget import Budget
from ui_gym_phone.shell.expansion import Expander
from ui_gym_phone.shell.registry import encode
from ui_gym_phone.shell.session import Session
from ui_gym_phone.shell.streams import FileSink, Null, Source, Stream
from ui_gym_phone.shell.syntax import Redirect
from ui_gym_phone.state.files import Files

_OUTPUTS = {
    "/dev/stdout": 1, "/dev/tty": 1, "/dev/stderr": 2, "/proc/self/fd/1": 1, "/proc/self/fd/2": 2,
}  # fmt: skip


class Owner(Protocol):
    """The shell whose streams are changed."""

    streams: dict[int, Stream]
    session: Session
    budget: Budget
    expander: Expander

    @property
    def files(self) -> Files: ...

    def complain(self, message: str) -> None: ...


@contextmanager
def applied(shell: Owner, redirects: Sequence[Redirect]) -> Iterator[bool]:
    """The redirections, as long as the block lasts.

    Gives False where one cannot be made: the shell has said why.
    """
    before = shell.streams
    shell.streams = dict(before)
    try:
        yield apply(shell, redirects)
    finally:
        after, shell.streams = shell.streams, before
        close(shell, after, before)


def apply(shell: Owner, redirects: Sequence[Redirect]) -> bool:
    """Change the shell's streams for good, as `exec` does. False where one cannot be made."""
    for redirect in redirects:
        shell.budget.spend()
        problem = _apply(shell, redirect)
        if problem:
            shell.complain(problem)
            return False
    return True


def flush(streams: Mapping[int, Stream]) -> None:
    """Bring what files' writers keep back into the files, for a command that may read them."""
    for stream in streams.values():
        if isinstance(stream, FileSink):
            stream.flush()


def close(shell: Owner, streams: Mapping[int, Stream], kept: Mapping[int, Stream]) -> None:
    """Flush the streams that are no longer open."""
    for stream in streams.values():
        if isinstance(stream, FileSink) and stream not in kept.values():
            try:
                stream.flush()
            except OSError as error:
                shell.complain(f"{stream.path}: {os.strerror(error.errno or 0)}")


def _apply(shell: Owner, redirect: Redirect) -> str:
    """Make one redirection; the message where that fails."""
    fd, operator = redirect.fd, redirect.operator
    target = shell.expander.text(redirect.target)
    if operator in ("<<", "<<-", "<<<"):
        shell.streams[fd] = Source(encode(target + "\n" * (operator == "<<<")))
        return ""
    if operator in (">&", "<&"):
        return _duplicate(shell, fd, target)
    path = target if target.startswith("/") else f"{shell.session.cwd}/{target}"
    flush(shell.streams)
    try:
        if operator == "<":
            shell.streams[fd] = _source(shell, target, path)
        else:
            shell.streams[fd] = _sink(shell, path, keep=operator in (">>", "<>"))
    except OSError as error:
        verb = "open" if operator == "<" else "create"
        return f"can't {verb} {target}: {os.strerror(error.errno or 0)}"
    if operator == "&>":
        shell.streams[2] = shell.streams[1]
    return ""


def _source(shell: Owner, name: str, path: str) -> Stream:
    if path in ("/dev/stdin", "/dev/tty", "/proc/self/fd/0"):
        return shell.streams.get(0, Source())
    if path in ("/dev/zero", "/dev/urandom", "/dev/random"):
        return Source(bytes(1 << 20))
    if shell.files.is_dir(path):  # which opens, and fails when it is read
        return Source()
    return Source(shell.files.read(path))


def _sink(shell: Owner, path: str, *, keep: bool) -> Stream:
    if path in _OUTPUTS:
        return shell.streams.get(_OUTPUTS[path], Null())
    if path == "/dev/null":
        return Null()
    if not keep or not shell.files.exists(path):
        shell.files.write(path, b"")
    elif shell.files.is_dir(path):
        shell.files.read(path)  # raises what it should
    return FileSink(shell.files, path, shell.budget)


def _duplicate(shell: Owner, fd: int, target: str) -> str:
    if target == "-":
        shell.streams[fd] = Null()
        return ""
    stream = shell.streams.get(int(target)) if target.isdigit() and len(target) < 4 else None
    if stream is None:
        return f"can't dup {target}: Bad file descriptor"
    shell.streams[fd] = stream
    return ""
