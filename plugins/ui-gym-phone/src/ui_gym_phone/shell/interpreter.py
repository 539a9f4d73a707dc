"""Shell: runs syntax trees on a machine, within a budget."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ui_gym_phone.shell import builtins, redirects, registry
from ui_gym_phone.shell.budget import Budget, Exhausted
from ui_gym_phone.shell.expansion import Expander, ExpansionFault
from ui_gym_phone.shell.globs import compile_glob
from ui_gym_phone.shell.options import UsageFault
from ui_gym_phone.shell.parser import parse
from ui_gym_phone.shell.session import ShellSession
from ui_gym_phone.shell.streams import CapturedOutput, InputBytes, OpenStream
from ui_gym_phone.shell.syntax import (
    AndOr,
    Background,
    Case,
    CommandList,
    For,
    If,
    Loop,
    Pipeline,
    Redirected,
    ShellNode,
    ShellSyntaxError,
    Simple,
    Subshell,
)
from ui_gym_phone.state.files import Files

log = logging.getLogger(__name__)

BIN = ("", "/system/bin", "/bin", "/system/xbin", "/vendor/bin")
"""Where commands are, for those who name them with their folder."""


class Shell:
    """One shell: a session with open streams. Subshells are copies that share the budget."""

    def __init__(
        self, machine: Any, session: ShellSession, budget: Budget, streams: dict[int, OpenStream]
    ) -> None:
        self.machine = machine
        self.session = session
        self.budget = budget
        self.streams = streams
        self.expander = Expander(self)
        self.loops = 0
        """How many loops are running."""
        self._substituted = 0
        """The status of a command that is nothing but assignments: its last substitution's."""

    @property
    def files(self) -> Files:
        files: Files = self.machine.files
        return files

    # -- whole lines --

    def main(self, line: str) -> int:
        """Run a line to its end; the exit code."""
        code = self._top(lambda: self.execute(parse(line)))
        redirects.close(self, self.streams, {})
        return code

    def _top(self, body: Callable[[], int]) -> int:
        try:
            return body()
        except builtins.Leave as leave:
            return leave.code
        except (ShellSyntaxError, ExpansionFault) as error:
            self.complain(str(error))
        except OSError as error:  # a file that could not be flushed
            self.complain(registry.message_of(error))
        return 1

    def complain(self, message: str) -> None:
        """Say something in the shell's own name."""
        self.write(2, f"{self.session.params[0]}: {message}\n".encode("utf-8", "replace"))

    # -- what commands use (`registry.CommandRunner`) --

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
        output = shell.streams[1] = CapturedOutput(self.budget)
        self._substituted = shell.within(lambda: shell.execute(body))
        self.budget.check_text(len(output.data))
        return registry.decode(output.data.replace(b"\0", b"").rstrip(b"\n"))

    def assign(self, name: str, value: str) -> None:
        """Set a variable."""
        self.budget.check_text(len(value))
        self.session.variables[name] = value

    # -- syntax trees --

    def execute(self, node: ShellNode) -> int:
        """Run a node; its exit status, which is also ``$?`` afterwards."""
        self.budget.spend()
        status = _EXECUTE[type(node)](self, node)
        self.session.status = status
        return status

    def _list(self, node: CommandList) -> int:
        status = 0 if node.items else self.session.status
        for item in node.items:
            status = self.execute(item)
        return status

    def _and_or(self, node: AndOr) -> int:
        status = self.execute(node.first)
        for operator, item in node.rest:
            if (status == 0) == (operator == "&&"):
                status = self.execute(item)
        return status

    def _pipeline(self, node: Pipeline) -> int:
        if len(node.commands) == 1:
            return int(not self.execute(node.commands[0]))
        source, status = self.streams.get(0, InputBytes()), 0
        for index, command in enumerate(node.commands):
            shell = self.subshell()
            shell.streams[0] = source
            output = CapturedOutput(self.budget)
            if index < len(node.commands) - 1:
                shell.streams[1] = output
            status = shell.within(partial(shell.execute, command))
            source = InputBytes(output.data)
        return int(not status) if node.negated else status

    def _background(self, node: Background) -> int:
        """Nothing goes on beside the shell: it is run at once."""
        shell = self.subshell()
        shell.streams[0] = InputBytes()
        shell.within(lambda: shell.execute(node.body))
        return 0

    def _subshell(self, node: Subshell) -> int:
        shell = self.subshell()
        return shell.within(lambda: shell.execute(node.body))

    def _if(self, node: If) -> int:
        for condition, body in node.arms:
            if self.execute(condition) == 0:
                return self.execute(body)
        return self.execute(node.otherwise) if node.otherwise is not None else 0

    def _for(self, node: For) -> int:
        status = 0
        for value in self.expander.arguments(node.words):
            self.assign(node.name, value)
            status, ended = self._turn(node.body)
            if ended:
                break
        return status

    def _loop(self, node: Loop) -> int:
        status = 0
        while (self.execute(node.condition) == 0) != node.until:
            status, ended = self._turn(node.body)
            if ended:
                break
        return status

    def _turn(self, body: ShellNode) -> tuple[int, bool]:
        """One turn of a loop: its status, and whether it was the last."""
        self.loops += 1
        try:
            return self.execute(body), False
        except builtins.LoopJump as jump:
            jump.levels -= 1
            if jump.levels > 0 and self.loops > 1:
                raise
            return 0, jump.ends
        finally:
            self.loops -= 1

    def _case(self, node: Case) -> int:
        subject = self.expander.text(node.subject)
        for patterns, body in node.arms:
            for pattern in patterns:
                if compile_glob(self.expander.pattern(pattern)).fullmatch(subject):
                    return self.execute(body)
        return 0

    def _redirected(self, node: Redirected) -> int:
        with redirects.applied(self, node.redirects) as opened:
            return self.execute(node.body) if opened else 1

    # -- simple commands --

    def _simple(self, node: Simple) -> int:
        self._substituted = 0
        argv = self.expander.arguments(node.words)
        if not node.redirects:
            return self._command(node, argv)
        with redirects.applied(self, node.redirects) as opened:
            return self._command(node, argv) if opened else 1

    def _command(self, node: Simple, argv: list[str]) -> int:
        values = dict[str, str]()
        for name, word in node.assignments:
            values[name] = self.expander.text(word)
            if not argv:
                self.assign(name, values[name])
        if not argv:
            return self._substituted
        builtin = builtins.BUILTINS.get(argv[0])
        if builtin is None:
            return self.external(argv, self.session.environment() | values)
        variables = self.session.variables
        before = {name: variables.get(name) for name in values}
        variables.update(values)
        try:
            return builtin(self, argv)
        finally:
            for name, value in before.items():
                if value is None:
                    variables.pop(name, None)
                else:
                    variables[name] = value

    def external(self, argv: list[str], environment: dict[str, str]) -> int:
        """Run a command of the machine."""
        self.budget.spend(5)
        folder, name = posixpath.split(argv[0])
        function = registry.lookup(name) if folder in BIN else None
        if function is None:
            return self._file(argv, environment)
        redirects.flush(self.streams)
        context = registry.CommandContext(self.machine, self, argv, self.session.cwd, environment)
        try:
            return function(context, argv) & 255
        except OSError as error:
            return context.fail(registry.message_of(error))
        except UsageFault as fault:
            return fault.code
        except (builtins.LoopJump, builtins.Leave, Exhausted, RecursionError):
            raise
        except Exception:  # a fault of ours: the phone goes on, and the log says where it was
            log.exception("the command %r failed", argv[:20])
            self.complain(f"{name}: Aborted")
            return 134

    def _file(self, argv: list[str], environment: dict[str, str]) -> int:
        """Run a script, or say why there is nothing to run."""
        path = posixpath.join(self.session.cwd, argv[0])
        if "/" not in argv[0] or not self.files.exists(path):
            self.complain(f"{argv[0]}: inaccessible or not found")
            return 127
        if self.files.is_dir(path) or not self.files.stat(path).mode & 0o111:
            self.complain(f"{argv[0]}: can't execute: Permission denied")
            return 126
        return self.run_line(registry.decode(self.files.read(path)), argv, environment)


_EXECUTE: dict[type[Any], Callable[[Shell, Any], int]] = {
    Simple: Shell._simple,
    Pipeline: Shell._pipeline,
    AndOr: Shell._and_or,
    Background: Shell._background,
    CommandList: Shell._list,
    Subshell: Shell._subshell,
    If: Shell._if,
    For: Shell._for,
    Loop: Shell._loop,
    Case: Shell._case,
    Redirected: Shell._redirected,
}
