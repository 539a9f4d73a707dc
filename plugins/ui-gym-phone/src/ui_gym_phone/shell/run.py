"""run: a line on a machine, within limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ui_gym.android.device import ShellResult
from ui_gym_phone.shell.budget import Budget, Exhausted, Limits
from ui_gym_phone.shell.interpreter import Shell
from ui_gym_phone.shell.session import NAME, ShellSession
from ui_gym_phone.shell.streams import InputBytes, OpenStream, Transcript

KILLED = 137
"""The exit code of a line that reached a bound: as though it was killed."""


@dataclass(frozen=True)
class Output:
    """What a line wrote, as (fd, bytes) in time order, and its exit code."""

    chunks: list[tuple[int, bytes]] = field(default_factory=list)
    code: int = 0

    def result(self) -> ShellResult:
        """The outputs apart, as shell v2 carries them."""
        out, err = (b"".join(data for fd, data in self.chunks if fd == n) for n in (1, 2))
        return ShellResult(out, err, self.code)


def run(
    machine: Any,
    line: str,
    *,
    stdin: bytes | Callable[[], bytes] = b"",
    session: ShellSession | None = None,
    limits: Limits | None = None,
) -> Output:
    """Run a line, or a script of several, on a machine (`registry.ShellMachine`).

    `stdin` may be a function that gives it, called if something reads. A `session` that is given
    goes on where it was, and keeps what the line changes. Never raises because of the line: what
    cannot be run says so on the standard error and has an exit code, as has a line that reaches
    one of the `limits`.
    """
    transcript, budget = Transcript(), Budget(limits or Limits())
    streams: dict[int, OpenStream] = {
        0: InputBytes(stdin),
        1: transcript.sink(1, budget),
        2: transcript.sink(2, budget),
    }
    shell = Shell(machine, session or ShellSession(), budget, streams)
    try:
        code = shell.main(line)
    except (Exhausted, RecursionError) as error:
        reason = str(error) if isinstance(error, Exhausted) else "stopped: nested too deeply"
        transcript.chunks.append((2, f"{NAME}: {reason}\n".encode()))
        code = KILLED
    shell.session.status = code
    return Output(transcript.chunks, code)
