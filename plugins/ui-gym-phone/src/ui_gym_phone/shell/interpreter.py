"""Shell: runs syntax trees on a machine, within a budget."""

from __future__ import annotations

import logging
import posixpath
import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ui_gym_phone.shell import builtins, registry, streams, syntax
from ui_gym_phone.shell.budget import Budget, Exhausted
from ui_gym_phone.shell.expansion import Expander, ExpansionFault
from ui_gym_phone.shell.globs import compile_glob
from ui_gym_phone.shell.parser import parse
from ui_gym_phone.shell.redirection import close, redirected
from ui_gym_phone.shell.registry import ShellMachine
from ui_gym_phone.shell.scripts import ScriptReader
from ui_gym_phone.shell.session import ShellSession
from ui_gym_phone.shell.streams import InputBytes, KeptOutput, Streams
from ui_gym_phone.shell.syntax import ShellNode
from ui_gym_phone.state.access import files_for

log = logging.getLogger(__name__)

BIN = ("", "/system/bin", "/bin", "/system/xbin", "/vendor/bin")
"""Where commands are, for those who name them with their folder."""


class Shell:
    """One shell: a session with open streams. Subshells are copies that share the budget."""

    def __init__(
        self, machine: ShellMachine, session: ShellSession, budget: Budget, opened: Streams
    ) -> None:
        self.machine, self.session, self.budget, self.streams = machine, session, budget, opened
        self.files = files_for(machine.files, session.user, session.package)
        """The machine's files, as the shell's user may use them."""
        self.loops = 0
        self._substituted = 0
        """The status of a command that is nothing but assignments: its last substitution's."""
        self._asked = 0
        """How many conditions are being tried: in them, `set -e` lets commands fail."""
        self.frames: list[dict[str, str | None]] = []
        """Of each function that runs, the variables that it made its own, as they were before."""

    @property
    def expander(self) -> Expander:
        """What expands words. It is made anew: kept, it and the shell would lead to each other."""
        return Expander(self)

    # -- whole lines --

    def main(self, line: str, file: str = "") -> int:
        """Run a line, or what a `file` holds, to its end; the exit code."""
        code = self._top(lambda: self.commands(line, file))
        close(self, self.streams, {})
        return code

    def commands(self, text: str, file: str = "") -> int:
        """Run the commands of a text; the last one's exit code."""
        parsed, status = parse(text), 0
        for line, node in parsed.commands:
            self.session.place = f"{file}[{line}]: " * bool(file)
            status = self.execute(node)
        if parsed.error is not None:
            self.session.place = f"{file}[{parsed.line}]: " * bool(file)
            raise parsed.error
        return status

    def script(self, *, prompt: bool = False, renew: bool = False) -> int:
        """Run the commands that the standard input holds; the last one's exit code. With a `prompt`
        a person is asked for them, whose mistakes end nothing; with `renew` each may use the whole
        budget."""
        stream = self.streams.get(0)
        source = stream if isinstance(stream, InputBytes) else InputBytes()
        reader = ScriptReader(source, self._prompt) if prompt else ScriptReader(source)
        step = self._try_step if prompt else self._step

        def body() -> int:
            while step(reader):
                if renew:
                    self.budget.renew()
            return self.session.status

        code = self._top(body)
        close(self, self.streams, {})
        return code

    def _prompt(self, goes_on: bool) -> None:
        """Ask for a line."""
        where = f"{self.session.variables.get('HOSTNAME', '')}:{self.session.cwd}"
        sign = "#" if self.session.is_root else "$"
        self.write(2, b"> " if goes_on else f"{where} {sign} ".encode("utf-8", "replace"))

    def _step(self, reader: ScriptReader) -> bool:
        """Run the next command of a script. False at the end."""
        try:
            node = reader.next()
        finally:
            self.session.place = f"<stdin>[{reader.line}]: "
        if node is not None:
            self.execute(node)
        return node is not None

    def _try_step(self, reader: ScriptReader) -> bool:
        try:
            return self._step(reader)
        except (syntax.ShellSyntaxError, ExpansionFault, Exhausted, RecursionError) as error:
            self.complain(str(error))
            self.session.status = 1
            return True

    def _top(self, body: Callable[[], int]) -> int:
        try:
            return body()
        except (builtins.Leave, builtins.Return) as leave:
            return leave.code
        except (syntax.ShellSyntaxError, ExpansionFault) as error:
            self.complain(str(error))
        except OSError as error:  # a file that could not be flushed
            self.complain(registry.message_of(error))
        return 1

    # -- what commands use (`registry.RunningShell`) --

    def complain(self, message: str) -> None:
        session = self.session
        told = session.place if session.place[:1] not in ("", "<") else ""
        shown = told or f"{session.params[0]}: {session.place}"
        self.write(2, f"{shown}{message}\n".encode("utf-8", "replace"))

    def write(self, fd: int, data: bytes) -> None:
        stream = self.streams.get(fd)
        if data and stream is not None and not isinstance(stream, InputBytes):
            stream.write(data)

    def read_stdin(self, size: int | None = None) -> bytes:
        stream = self.streams.get(0)
        if not isinstance(stream, InputBytes):
            return b""
        return stream.read() if size is None else stream.read_up_to(size)

    def run_command(self, argv: list[str], stdin: bytes | None, environment: dict[str, str]) -> int:
        shell = self.subshell()
        if stdin is not None:
            shell.streams[0] = InputBytes(stdin)
        return shell.within(lambda: shell.external(argv, environment))

    def output_of(self, argv: list[str], environment: dict[str, str]) -> str:
        shell = self.subshell()
        shell.streams[0] = InputBytes()
        output = shell.streams[1] = KeptOutput(self.budget)
        shell.within(lambda: shell.external(argv, environment))
        self.budget.check_text(len(output.data))
        return registry.decode(output.data)

    def run_line(
        self, line: str, params: Sequence[str], environment: dict[str, str], who: str = ""
    ) -> int:
        shell = self._new(params, environment, who)
        return shell.within(lambda: shell.main(line))

    def run_file(self, data: bytes, params: Sequence[str], environment: dict[str, str]) -> int:
        shell = self._new(params, environment)
        return shell.within(lambda: shell.main(registry.decode(data), params[0]))

    def run_script(self, params: Sequence[str], environment: dict[str, str], who: str = "") -> int:
        shell = self._new(params, environment, who)
        return shell.within(shell.script)

    def _new(self, params: Sequence[str], environment: dict[str, str], who: str = "") -> Shell:
        """A shell that begins with these parameters and variables. `who` runs it: a user, or the
        one of a package."""
        now = self.session
        variables = environment | {"PWD": now.cwd}
        session = ShellSession(now.cwd, variables, set(variables), list(params))
        session.user, session.package = now.user, now.package
        if who:
            package = self.machine.phone.packages.get(who)
            session.user = package.user if package else who
            session.package = who if package else ""
        return Shell(self.machine, session, self.budget, dict(self.streams))

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

    # -- syntax trees --

    def execute(self, node: ShellNode) -> int:
        """Run a node; its exit status, which is also ``$?`` afterwards."""
        self.budget.spend()
        self.session.status = status = self._status(node)
        if status and "e" in self.session.options and not self._asked and _may_end(node):
            raise builtins.Leave(status)
        return status

    def _ask(self, node: ShellNode) -> int:
        """Run a node for its exit status, which may well tell of a failure."""
        self._asked += 1
        try:
            return self.execute(node)
        finally:
            self._asked -= 1

    def _status(self, node: ShellNode) -> int:
        match node:
            case syntax.Simple():
                return self._simple(node)
            case syntax.Redirected():
                with redirected(self, node.redirects) as opened:
                    return self.execute(node.body) if opened else 1
            case syntax.Pipeline():
                return self._pipeline(node)
            case syntax.Negated():
                return int(not self._ask(node.body))
            case syntax.AndOr():
                status = self._ask(node.first)
                for number, (operator, item) in enumerate(node.rest, 1):
                    if (status == 0) == (operator == "&&"):
                        last = number == len(node.rest)
                        status = self.execute(item) if last else self._ask(item)
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
                    if self._ask(condition) == 0:
                        return self.execute(body)
                return self.execute(node.otherwise) if node.otherwise is not None else 0
            case syntax.Case():
                return self._case(node)
            case syntax.Function():
                self.session.functions[node.name] = node.body
                return 0
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
            while (self._ask(node.condition) == 0) != node.until:
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
        with redirected(self, node.redirects) as opened:
            return self._command(node, argv) if opened else 1

    def _command(self, node: syntax.Simple, argv: list[str]) -> int:
        if "x" in self.session.options and argv:
            self.write(2, registry.encode(f"+ {shlex.join(argv)}\n"))
        values = dict[str, str]()
        for name, word in node.assignments:
            values[name] = self.expander.text(word)
            if not argv:
                self.assign(name, values[name])
        if not argv:
            return self._substituted
        function = self.session.functions.get(argv[0])
        builtin = registry.BUILTINS.get(argv[0])
        if builtin is None and function is None:
            return self.external(argv, self.session.environment() | values)
        variables = self.session.variables
        before = {name: variables[name] for name in values if name in variables}
        variables.update(values)
        try:
            if function is not None:
                return self._call(function, argv)
            assert builtin is not None, "it is one of the two"
            return builtin(self, argv)
        finally:
            for name in values:
                variables.pop(name, None)
            variables.update(before)

    def _call(self, body: ShellNode, argv: list[str]) -> int:
        """Run a function."""
        session, loops = self.session, self.loops
        params, session.params = session.params, [session.params[0], *argv[1:]]
        own = dict[str, str | None]()
        self.frames.append(own)
        self.loops = 0
        self.budget.enter()
        try:
            return self.execute(body)
        except builtins.Return as returned:
            return returned.code
        finally:
            self.budget.leave()
            self.frames.pop()
            self.loops, session.params = loops, params
            for name, value in own.items():
                session.variables.pop(name, None)
                session.variables.update({name: value} if value is not None else {})

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
        except (builtins.LoopJump, builtins.Leave, builtins.Return, Exhausted, RecursionError):
            raise
        except Exception:  # a fault of ours: the phone goes on, and the log says where it was
            log.exception("the command %r failed", argv[:20])
            self.complain(f"{name}: Aborted")
            return 134

    def _file(self, argv: list[str], environment: dict[str, str]) -> int:
        """Run a script, or say why there is nothing to run."""
        path, files = posixpath.join(self.session.cwd, argv[0]), self.files
        if "/" not in argv[0] or not files.exists(path):
            self.complain(f"{argv[0]}: inaccessible or not found")
            return 127
        if files.is_dir(path) or not files.stat(path).mode & 0o111:
            self.complain(f"{argv[0]}: can't execute: Permission denied")
            return 126
        return self.run_file(files.read(path), argv, environment)


def _may_end(node: ShellNode) -> bool:
    """Whether the failure of such a node ends a shell with ``set -e``; of others, what they are
    made of has done so, or may fail."""
    return isinstance(node, syntax.Simple | syntax.Pipeline | syntax.Subshell)
