"""Running: a whole line or script on a machine, and what it wrote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ui_gym.android.device import ShellResult
from ui_gym_phone.shell.budget import Budget, Exhausted, Limits
from ui_gym_phone.shell.interpreter import Shell
from ui_gym_phone.shell.registry import ShellMachine
from ui_gym_phone.shell.session import NAME, ShellSession
from ui_gym_phone.shell.streams import InputBytes, KeptOutput, Streams

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
    machine: ShellMachine,
    line: str,
    *,
    stdin: bytes | Callable[[], bytes] = b"",
    session: ShellSession | None = None,
    limits: Limits | None = None,
    chunks: list[tuple[int, bytes]] | None = None,
    prompt: bool = False,
) -> Output:
    """Run a line, or a script of several, on a machine; without a line, the commands that the
    standard input holds, each when it is come to: a command that reads takes what follows it there.

    `stdin` may be a function that gives the next bytes, called when something reads, until it gives
    none. A `session` that is given goes on where it was, and keeps what the line changes. Output is
    added to `chunks` as it arises, if those are given. With `prompt` the shell asks a person for
    each command. Never raises because of the line: what cannot be run says so on the standard error
    and has an exit code, as has a line that reaches one of the `limits`; of commands that are read,
    each has all of these.
    """
    chunks = [] if chunks is None else chunks
    budget = Budget(limits or Limits())
    outputs: Streams = {fd: KeptOutput(budget, fd, chunks) for fd in (1, 2)}
    opened: Streams = {0: InputBytes(stdin), **outputs}
    shell = Shell(machine, session or ShellSession(), budget, opened)
    try:
        code = shell.main(line) if line else shell.script(prompt=prompt, renew=True)
    except (Exhausted, RecursionError) as error:
        reason = str(error) if isinstance(error, Exhausted) else "stopped: nested too deeply"
        chunks.append((2, f"{NAME}: {reason}\n".encode()))
        code = KILLED
    shell.session.status = code
    return Output(chunks, code)
