"""Shell: runs syntax trees on a machine, within a budget; `run` does so with a whole line."""

from __future__ import annotations

import logging
import os
import posixpath
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from ui_gym.android.device import ShellResult
from ui_gym_phone.shell import builtins, registry, streams, syntax
from ui_gym_phone.shell.budget import Budget, Exhausted, Limits
from ui_gym_phone.shell.expansion import Expander, ExpansionFault
from ui_gym_phone.shell.globs import compile_glob
from ui_gym_phone.shell.parser import parse
from ui_gym_phone.shell.registry import ShellMachine
from ui_gym_phone.shell.session import NAME, ShellSession
from ui_gym_phone.shell.streams import InputBytes, KeptOutput, Streams
from ui_gym_phone.shell.syntax import ShellNode

log = logging.getLogger(__name__)

BIN = ("", "/system/bin", "/bin", "/system/xbin", "/vendor/bin")
"""Where commands are, for those who name them with their folder."""

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
) -> Output:
    """Run a line, or a script of several, on a machine.

    `stdin` may be a function that gives it, called if something reads. A `session` that is given
    goes on where it was, and keeps what the line changes. Never raises because of the line: what
    cannot be run says so on the standard error and has an exit code, as has a line that reaches
    one of the `limits`.
    """
    chunks, budget = list[tuple[int, bytes]](), Budget(limits or Limits())
    outputs: Streams = {fd: KeptOutput(budget, fd, chunks) for fd in (1, 2)}
    opened: Streams = {0: InputBytes(stdin), **outputs}
    shell = Shell(machine, session or ShellSession(), budget, opened)
    try:
        code = shell.main(line)
    except (Exhausted, RecursionError) as error:
        reason = str(error) if isinstance(error, Exhausted) else "stopped: nested too deeply"
        chunks.append((2, f"{NAME}: {reason}\n".encode()))
        code = KILLED
    shell.session.status = code
    return Output(chunks, code)


class Shell:
    """One shell: a session with open streams. Subshells are copies that share the budget."""

    def __init__(
        self, machine: ShellMachine, session: ShellSession, budget: Budget, opened: Streams
    ) -> None:
        self.machine, self.session, self.budget, self.streams = machine, session, budget, opened
        self.expander = Expander(self)
        self.loops = 0
        self._substituted = 0
        """The status of a command that is nothing but assignments: its last substitution's."""

    # -- whole lines --

    def main(self, line: str) -> int:
        """Run a line to its end; the exit code."""
        code = self._top(lambda: self.execute(parse(line)))
        self._close(self.streams, {})
        return code

    def _top(self, body: Callable[[], int]) -> int:
        try:
            return body()
        except builtins.Leave as leave:
            return leave.code
        except (syntax.ShellSyntaxError, ExpansionFault) as error:
            self.complain(str(error))
        except OSError as error:  # a file that could not be flushed
            self.complain(registry.message_of(error))
        return 1

    # -- what commands use (`registry.RunningShell`) --

    def complain(self, message: str) -> None:
        self.write(2, f"{self.session.params[0]}: {message}\n".encode("utf-8", "replace"))

    def write(self, fd: int, data: bytes) -> None:
        stream = self.streams.get(fd)
        if data and stream is not None and not isinstance(stream, InputBytes):
            stream.write(data)

    def read_stdin(self) -> bytes:
        stream = self.streams.get(0)
        return stream.read() if isinstance(stream, InputBytes) else b""

    def run_command(self, argv: list[str], stdin: bytes | None, environment: dict[str, str]) -> int:
        shell = self.subshell()
        if stdin is not None:
            shell.streams[0] = InputBytes(stdin)
        return shell.within(lambda: shell.external(argv, environment))

    def run_line(self, line: str, params: Sequence[str], environment: dict[str, str]) -> int:
        variables = environment | {"PWD": self.session.cwd}
        session = ShellSession(self.session.cwd, variables, set(variables), list(params))
        shell = Shell(self.machine, session, self.budget, dict(self.streams))
        return shell.within(lambda: shell.main(line))

    def assign(self, name: str, value: str) -> None:
        self.budget.check_text(len(value))
        self.session.variables[name] = value

    # -- subshells --

    def subshell(self) -> Shell:
        """A copy whose changes are lost."""
        return Shell(self.machine, self.session.copy(), self.budget, dict(self.streams))

    def within(self, body: Callable[[], int]) -> int:
        """Run the body of a subshell: `exit` ends no more than that."""
        self.budget.enter()
        try:
            return self._top(body)
        finally:
            self.budget.leave()

    def capture(self, body: ShellNode) -> str:
        """What ``$(...)`` stands for."""
        shell = self.subshell()
        output = shell.streams[1] = KeptOutput(self.budget)
        self._substituted = shell.within(lambda: shell.execute(body))
        self.budget.check_text(len(output.data))
        return registry.decode(output.data.replace(b"\0", b"").rstrip(b"\n"))

    # -- redirections --

    @contextmanager
    def _redirected(self, redirects: Sequence[syntax.Redirect]) -> Iterator[bool]:
        """The redirections, as long as the block lasts. Gives False where one cannot be made."""
        before, self.streams = self.streams, dict(self.streams)
        try:
            yield all(self._redirect(redirect) for redirect in redirects)
        finally:
            opened, self.streams = self.streams, before
            self._close(opened, before)

    def _close(self, opened: Streams, kept: Streams) -> None:
        """Flush the streams that are no longer open."""
        for stream in opened.values():
            if isinstance(stream, streams.FileSink) and stream not in kept.values():
                try:
                    stream.flush()
                except OSError as error:
                    self.complain(f"{stream.path}: {os.strerror(error.errno or 0)}")

    def _redirect(self, redirect: syntax.Redirect) -> bool:
        self.budget.spend()
        fd, operator = redirect.fd, redirect.operator
        target = self.expander.text(redirect.target)
        if operator in (">&", "<&"):
            problem = streams.duplicate(self.streams, fd, target)
        else:
            problem = self._open(fd, operator, target)
        if problem:
            self.complain(problem)
        return not problem

    def _open(self, fd: int, operator: str, target: str) -> str:
        """Open a file for a redirection; the message where that fails."""
        path = target if target.startswith("/") else f"{self.session.cwd}/{target}"
        opened, files = self.streams, self.machine.files
        streams.flush(opened)
        try:
            if operator == "<":
                opened[fd] = streams.source(opened, files, path)
            else:
                opened[fd] = streams.sink(opened, files, path, self.budget, keep=operator == ">>")
        except OSError as error:
            verb = "open" if operator == "<" else "create"
            return f"can't {verb} {target}: {os.strerror(error.errno or 0)}"
        if operator == "&>":
            opened[2] = opened[1]
        return ""

    # -- syntax trees --

    def execute(self, node: ShellNode) -> int:
        """Run a node; its exit status, which is also ``$?`` afterwards."""
        self.budget.spend()
        self.session.status = status = self._status(node)
        return status

    def _status(self, node: ShellNode) -> int:
        match node:
            case syntax.Simple():
                return self._simple(node)
            case syntax.Redirected():
                with self._redirected(node.redirects) as opened:
                    return self.execute(node.body) if opened else 1
            case syntax.Pipeline():
                return self._pipeline(node)
            case syntax.Negated():
                return int(not self.execute(node.body))
            case syntax.AndOr():
                status = self.execute(node.first)
                for operator, item in node.rest:
                    if (status == 0) == (operator == "&&"):
                        status = self.execute(item)
                return status
            case syntax.CommandList():
                status = 0 if node.items else self.session.status
                for item in node.items:
                    status = self.execute(item)
                return status
            case syntax.Subshell():
                shell = self.subshell()
                if node.background:  # nothing goes on beside the shell: it is run at once
                    shell.streams[0] = InputBytes()
                status = shell.within(lambda: shell.execute(node.body))
                return 0 if node.background else status
            case syntax.If():
                for condition, body in node.arms:
                    if self.execute(condition) == 0:
                        return self.execute(body)
                return self.execute(node.otherwise) if node.otherwise is not None else 0
            case syntax.Case():
                return self._case(node)
            case syntax.For() | syntax.Loop():
                return self._loop(node)

    def _pipeline(self, node: syntax.Pipeline) -> int:
        source, status = self.streams.get(0, InputBytes()), 0
        for index, command in enumerate(node.commands):
            shell = self.subshell()
            shell.streams[0] = source
            output = KeptOutput(self.budget)
            if index < len(node.commands) - 1:
                shell.streams[1] = output
            status = shell.within(partial(shell.execute, command))
            source = InputBytes(output.data)
        return status

    def _case(self, node: syntax.Case) -> int:
        subject = self.expander.text(node.subject)
        for patterns, body in node.arms:
            for pattern in patterns:
                if compile_glob(self.expander.pattern(pattern)).fullmatch(subject):
                    return self.execute(body)
        return 0

    def _turns(self, node: syntax.For | syntax.Loop) -> Iterator[None]:
        """Gives as often as the body is to be run."""
        if isinstance(node, syntax.For):
            for value in self.expander.arguments(node.words):
                self.assign(node.name, value)
                yield
        else:
            while (self.execute(node.condition) == 0) != node.until:
                yield

    def _loop(self, node: syntax.For | syntax.Loop) -> int:
        status = 0
        for _ in self._turns(node):
            self.loops += 1
            try:
                status = self.execute(node.body)
            except builtins.LoopJump as jump:
                status, jump.levels = 0, jump.levels - 1
                if jump.levels > 0 and self.loops > 1:
                    raise
                if jump.ends:
                    break
            finally:
                self.loops -= 1
        return status

    # -- simple commands --

    def _simple(self, node: syntax.Simple) -> int:
        self._substituted = 0
        argv = self.expander.arguments(node.words)
        if not node.redirects:
            return self._command(node, argv)
        with self._redirected(node.redirects) as opened:
            return self._command(node, argv) if opened else 1

    def _command(self, node: syntax.Simple, argv: list[str]) -> int:
        values = dict[str, str]()
        for name, word in node.assignments:
            values[name] = self.expander.text(word)
            if not argv:
                self.assign(name, values[name])
        if not argv:
            return self._substituted
        builtin = registry.BUILTINS.get(argv[0])
        if builtin is None:
            return self.external(argv, self.session.environment() | values)
        variables = self.session.variables
        before = {name: variables[name] for name in values if name in variables}
        variables.update(values)
        try:
            return builtin(self, argv)
        finally:
            for name in values:
                variables.pop(name, None)
            variables.update(before)

    def external(self, argv: list[str], environment: dict[str, str]) -> int:
        """Run a command of the machine."""
        self.budget.spend(5)
        folder, name = posixpath.split(argv[0])
        command = registry.lookup(name) if folder in BIN else None
        if command is None:
            return self._file(argv, environment)
        streams.flush(self.streams)
        try:
            return command.run(registry.CommandContext(self, argv, environment))
        except (builtins.LoopJump, builtins.Leave, Exhausted, RecursionError):
            raise
        except Exception:  # a fault of ours: the phone goes on, and the log says where it was
            log.exception("the command %r failed", argv[:20])
            self.complain(f"{name}: Aborted")
            return 134

    def _file(self, argv: list[str], environment: dict[str, str]) -> int:
        """Run a script, or say why there is nothing to run."""
        path, files = posixpath.join(self.session.cwd, argv[0]), self.machine.files
        if "/" not in argv[0] or not files.exists(path):
            self.complain(f"{argv[0]}: inaccessible or not found")
            return 127
        if files.is_dir(path) or not files.stat(path).mode & 0o111:
            self.complain(f"{argv[0]}: can't execute: Permission denied")
            return 126
        return self.run_line(registry.decode(files.read(path)), argv, environment)
