"""Interpreter: runs syntax trees on a machine, within a budget."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ui_gym_phone.shell import builtins, conditions, flow, redirects, registry
from ui_gym_phone.shell.budget import Budget, Exhausted
from ui_gym_phone.shell.expansion import Expander, ExpansionFault
from ui_gym_phone.shell.globs import compile_glob
from ui_gym_phone.shell.options import UsageFault
from ui_gym_phone.shell.parser import parse
from ui_gym_phone.shell.session import Session
from ui_gym_phone.shell.streams import Capture, Source, Stream
from ui_gym_phone.shell.syntax import (
    AndOr,
    Background,
    Calculation,
    Case,
    Condition,
    For,
    Function,
    If,
    Loop,
    Node,
    Pipeline,
    Redirected,
    ShellSyntaxError,
    Simple,
    Subshell,
)
from ui_gym_phone.shell.syntax import Sequence as Commands
from ui_gym_phone.state.files import Files

log = logging.getLogger(__name__)

BIN = ("/system/bin", "/bin", "/system/xbin", "/vendor/bin")
"""Where commands are, for those who name them with their folder."""


class Shell:
    """One shell: a session with open streams. Subshells are copies that share the budget."""

    def __init__(
        self, machine: Any, session: Session, budget: Budget, streams: dict[int, Stream]
    ) -> None:
        self.machine = machine
        self.session = session
        self.budget = budget
        self.streams = streams
        self.expander = Expander(self)
        self.tested = 0
        """Above 0 where a status is asked for, and `set -e` does not end the shell."""
        self._left = False
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
        """Run a line to its end, `exit` and the trap of it included; the exit code."""
        code = self._top(lambda: self.execute(parse(line)))
        self.session.ended = self._left
        if self.session.on_exit:
            action, self.session.on_exit = self.session.on_exit, ""
            self.session.status = code
            self._top(lambda: self.execute(parse(action)))
        redirects.close(self, self.streams, {})
        return code

    def _top(self, body: Callable[[], int]) -> int:
        try:
            return body()
        except flow.Leave as leave:
            self._left = True
            return leave.code
        except flow.Jump:
            return self.session.status
        except ShellSyntaxError as error:
            self.complain(str(error))
            return 1
        except ExpansionFault as fault:
            self.complain(str(fault))
            return fault.code
        except OSError as error:  # a file that could not be flushed
            self.complain(registry.message_of(error))
            return 1

    def complain(self, message: str) -> None:
        """Say something in the shell's own name."""
        self.write(2, f"{self.session.params[0]}: {message}\n".encode("utf-8", "replace"))

    # -- what commands use (`registry.Runner`) --

    def write(self, fd: int, data: bytes) -> None:
        stream = self.streams.get(fd)
        if data and stream is not None and not isinstance(stream, Source):
            stream.write(data)

    def read_stdin(self) -> bytes:
        stream = self.streams.get(0)
        return stream.read() if isinstance(stream, Source) else b""

    def run_command(self, argv: list[str], stdin: bytes | None, environment: dict[str, str]) -> int:
        shell = self.subshell()
        shell.session.variables = environment.copy()
        shell.session.exported = set(environment)
        if stdin is not None:
            shell.streams[0] = Source(stdin)
        return shell.within(lambda: shell.external(argv, environment))

    def run_line(
        self, line: str, params: Sequence[str], stdin: bytes | None, environment: dict[str, str]
    ) -> int:
        shell = self._fresh(params, stdin, environment)
        return shell.within(lambda: shell.main(line))

    def capture_line(
        self, line: str, stdin: bytes | None, environment: dict[str, str]
    ) -> tuple[int, bytes]:
        shell = self._fresh(("sh",), stdin, environment)
        output = shell.streams[1] = Capture(self.budget)
        code = shell.within(lambda: shell.main(line))
        return code, output.data

    def _fresh(
        self, params: Sequence[str], stdin: bytes | None, environment: dict[str, str]
    ) -> Shell:
        """A shell that has no more of this one than its directory and its streams."""
        variables = environment | {"PWD": self.session.cwd}
        session = Session(
            self.session.cwd, variables=variables, exported=set(variables), params=list(params)
        )
        shell = Shell(self.machine, session, self.budget, dict(self.streams))
        if stdin is not None:
            shell.streams[0] = Source(stdin)
        return shell

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

    def capture(self, body: Node) -> str:
        """What ``$(...)`` stands for."""
        shell = self.subshell()
        output = shell.streams[1] = Capture(self.budget)
        self._substituted = shell.within(lambda: shell.execute(body))
        self.budget.check_text(len(output.data))
        return registry.decode(output.data.replace(b"\0", b"").rstrip(b"\n"))

    def assign(self, name: str, value: str) -> None:
        """Set a variable. ExpansionFault where it is read-only."""
        if name in self.session.readonly:
            raise ExpansionFault(f"read-only: {name}", 2)
        self.budget.check_text(len(value))
        self.session.variables[name] = value
        if "allexport" in self.session.options:
            self.session.exported.add(name)

    # -- syntax trees --

    def execute(self, node: Node) -> int:
        """Run a node; its exit status, which is also ``$?`` afterwards."""
        self.budget.spend()
        status = _EXECUTE[type(node)](self, node)
        self.session.status = status
        return status

    def _sequence(self, node: Commands) -> int:
        status = self.session.status if not node.items else 0
        for item in node.items:
            status = self.execute(item)
        return status

    def _and_or(self, node: AndOr) -> int:
        self.tested += 1
        try:
            status = self.execute(node.first)
        finally:
            self.tested -= 1
        last = len(node.rest) - 1
        for index, (operator, item) in enumerate(node.rest):
            if (status == 0) == (operator == "&&"):
                if index == last:
                    return self.execute(item)
                status = self.test(item)
        return status

    def test(self, node: Node) -> int:
        """Run what is a condition: that it fails ends no shell."""
        self.tested += 1
        try:
            return self.execute(node)
        finally:
            self.tested -= 1

    def _pipeline(self, node: Pipeline) -> int:
        if len(node.commands) == 1:
            return int(not self.test(node.commands[0])) if node.negated else 0
        source, failed, status = self.streams.get(0, Source()), 0, 0
        last = len(node.commands) - 1
        for index, command in enumerate(node.commands):
            shell = self.subshell()
            shell.streams[0] = source
            shell.tested = self.tested + 1
            output = Capture(self.budget)
            if index < last:
                shell.streams[1] = output
            status = shell.within(partial(shell.execute, command))
            failed = status or failed
            source = Source(output.data)
        if "pipefail" in self.session.options:
            status = failed
        return self._checked(int(not status) if node.negated else status, node.negated)

    def _checked(self, status: int, exempt: bool = False) -> int:
        """A status that ends the shell where `set -e` says so."""
        if status and "errexit" in self.session.options and not self.tested and not exempt:
            raise flow.Leave(status)
        return status

    def _background(self, node: Background) -> int:
        shell = self.subshell()
        shell.streams[0] = Source()
        shell.within(lambda: shell.execute(node.body))
        self.session.background = (self.session.background or 4711) + 1
        return 0

    def _subshell(self, node: Subshell) -> int:
        shell = self.subshell()
        shell.tested = self.tested
        return self._checked(shell.within(lambda: shell.main_of(node.body)))

    def main_of(self, body: Node) -> int:
        """A subshell's commands, with the trap that they may set."""
        code = self._top(lambda: self.execute(body))
        if self.session.on_exit:
            action, self.session.on_exit = self.session.on_exit, ""
            self._top(lambda: self.execute(parse(action)))
        return code

    def _if(self, node: If) -> int:
        for condition, body in node.arms:
            if self.test(condition) == 0:
                return self.execute(body)
        return self.execute(node.otherwise) if node.otherwise is not None else 0

    def _for(self, node: For) -> int:
        if node.words is None:
            values = self.session.params[1:]
        else:
            values = self.expander.arguments(node.words)
        status = 0
        for value in values:
            self.assign(node.name, value)
            status, ended = self._turn(node.body)
            if ended:
                break
        return status

    def _loop(self, node: Loop) -> int:
        status = 0
        while (self.test(node.condition) == 0) != node.until:
            status, ended = self._turn(node.body)
            if ended:
                break
        return status

    def _turn(self, body: Node) -> tuple[int, bool]:
        """One turn of a loop: its status, and whether it was the last."""
        self.loops += 1
        try:
            return self.execute(body), False
        except flow.Jump as jump:
            if jump.passes_on() and (self.loops > 1 or isinstance(jump, flow.Return)):
                raise
            return 0, not isinstance(jump, flow.Continue)
        finally:
            self.loops -= 1

    def _case(self, node: Case) -> int:
        subject = self.expander.text(node.subject)
        for patterns, body in node.arms:
            for pattern in patterns:
                if compile_glob(self.expander.pattern(pattern)).fullmatch(subject):
                    return self.execute(body)
        return 0

    def _function(self, node: Function) -> int:
        self.session.functions[node.name] = node.body
        return 0

    def _condition(self, node: Condition) -> int:
        return self._checked(int(not conditions.holds(self, node.tree)))

    def _calculation(self, node: Calculation) -> int:
        return self._checked(int(self.expander.calculate(node.expression) == 0))

    def _redirected(self, node: Redirected) -> int:
        with redirects.applied(self, node.redirects) as opened:
            return self.execute(node.body) if opened else self._checked(1)

    # -- simple commands --

    def _simple(self, node: Simple) -> int:
        self._substituted = 0
        argv = self.expander.arguments(node.words)
        if not node.redirects:
            return self._checked(self._command(node, argv))
        if argv == ["exec"]:  # which changes the shell's own streams
            before = dict(self.streams)
            done = redirects.apply(self, node.redirects)
            redirects.close(self, before, self.streams)
            return self._checked(int(not done))
        with redirects.applied(self, node.redirects) as opened:
            if not opened:
                return self._checked(1)
            return self._checked(self._command(node, argv))

    def _command(self, node: Simple, argv: list[str]) -> int:
        values = dict[str, str]()
        for each in node.assignments:
            value = self.expander.text(each.value)
            if each.append:
                value = self.session.variables.get(each.name, "") + value
            if argv:
                values[each.name] = value
            else:
                self.assign(each.name, value)
        if "xtrace" in self.session.options and argv:
            self.write(2, registry.encode("+ " + " ".join(argv) + "\n"))
        return self.invoke(argv, values) if argv else self._substituted

    def invoke(self, argv: list[str], values: dict[str, str], functions: bool = True) -> int:
        """Run a function, a built-in or a command, with variables that are set for it alone."""
        name = argv[0]
        body = self.session.functions.get(name) if functions else None
        builtin = builtins.lookup(name)
        if body is None and builtin is None:
            environment = self.session.environment()
            environment.update(values)
            return self.external(argv, environment)
        saved = {name: self.session.variables.get(name) for name in values}
        for variable, value in values.items():
            self.assign(variable, value)
        try:
            if body is not None:
                return self._call(body, argv)
            assert builtin is not None
            return builtin(self, argv)
        finally:
            if name not in builtins.SPECIAL:
                self.restore(saved)

    def restore(self, saved: dict[str, str | None]) -> None:
        """Bring variables back."""
        for name, value in saved.items():
            if value is None:
                self.session.variables.pop(name, None)
            else:
                self.session.variables[name] = value

    def _call(self, body: Node, argv: list[str]) -> int:
        session, params = self.session, self.session.params
        session.params = [params[0], *argv[1:]]
        session.locals.append({})
        self.budget.enter()
        try:
            return self.execute(body)
        except flow.Return as back:
            return back.code
        finally:
            self.budget.leave()
            self.restore(session.locals.pop())
            session.params = params

    def external(self, argv: list[str], environment: dict[str, str]) -> int:
        """Run a command of the machine."""
        self.budget.spend(5)
        folder, name = posixpath.split(argv[0])
        function = registry.lookup(name) if folder in ("", *BIN) else None
        if function is None:
            return self._file(argv, environment)
        redirects.flush(self.streams)
        context = registry.Context(self.machine, self, argv, self.session.cwd, environment)
        try:
            return function(context, argv) & 255
        except OSError as error:
            return context.fail(registry.message_of(error))
        except UsageFault as fault:
            return fault.code
        except (flow.Jump, flow.Leave, Exhausted, RecursionError):
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
        script = registry.decode(self.files.read(path))
        return self.run_line(script, argv, None, environment)


_EXECUTE: dict[type[Any], Callable[[Shell, Any], int]] = {
    Simple: Shell._simple,
    Pipeline: Shell._pipeline,
    AndOr: Shell._and_or,
    Background: Shell._background,
    Commands: Shell._sequence,
    Subshell: Shell._subshell,
    If: Shell._if,
    For: Shell._for,
    Loop: Shell._loop,
    Case: Shell._case,
    Function: Shell._function,
    Condition: Shell._condition,
    Calculation: Shell._calculation,
    Redirected: Shell._redirected,
}
