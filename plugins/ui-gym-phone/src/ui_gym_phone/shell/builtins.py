"""Built-ins: the commands that change the shell itself, and so are no commands of the machine."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from ui_gym_phone.shell import conditions, registry
from ui_gym_phone.shell.expansion import BLANKS
from ui_gym_phone.shell.globs import normal
from ui_gym_phone.shell.registry import BUILTINS, RunningShell, ShellBuiltin
from ui_gym_phone.shell.streams import InputBytes

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_OPTIONS = frozenset("eufx")
"""What `set` knows: ``-e`` ends the shell at a failure, ``-u`` at a variable that is not set;
``-f`` leaves patterns alone, ``-x`` shows each command."""


class Leave(Exception):
    """`exit`."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code & 255


class Return(Leave):
    """`return`: as `exit`, of no more than a function or a script that is read."""


class LoopJump(Exception):
    """`break` (which `ends` a loop) or `continue`, that many `levels` out."""

    def __init__(self, levels: int, ends: bool) -> None:
        super().__init__(levels)
        self.levels, self.ends = levels, ends


def builtin(*names: str) -> Callable[[ShellBuiltin], ShellBuiltin]:
    def register(function: ShellBuiltin) -> ShellBuiltin:
        BUILTINS.update(dict.fromkeys(names, function))
        return function

    return register


def _refuse(shell: RunningShell, name: str, message: str, code: int = 1) -> int:
    shell.complain(f"{name}: {message}")
    return code


def _number(shell: RunningShell, argv: list[str], default: int) -> int:
    if len(argv) < 2:
        return default
    if not re.fullmatch(r"[-+]?\d{1,9}", argv[1], re.ASCII):
        raise Leave(_refuse(shell, argv[0], f"{argv[1]}: bad number"))
    return int(argv[1])


@builtin(":", "wait")
def _colon(shell: RunningShell, argv: list[str]) -> int:
    return 0


@builtin("cd")
def _cd(shell: RunningShell, argv: list[str]) -> int:
    session, files = shell.session, shell.files
    target = argv[1] if len(argv) > 1 else session.variables.get("HOME", "/")
    back = target == "-"
    if back:
        target = session.variables.get("OLDPWD", "")
        if not target:
            return _refuse(shell, "cd", "no OLDPWD", 2)
    path = normal(session.cwd, target)
    if not files.is_dir(path):
        reason = "Not a directory" if files.exists(path) else "No such file or directory"
        return _refuse(shell, "cd", f"{path}: {reason}", 2)
    if not files.enters(path):
        return _refuse(shell, "cd", f"{path}: Permission denied", 2)
    session.variables.update(OLDPWD=session.cwd, PWD=path)
    session.cwd = path
    if back:
        shell.write(1, registry.encode(path + "\n"))
    return 0


@builtin("exit")
def _exit(shell: RunningShell, argv: list[str]) -> int:
    raise Leave(_number(shell, argv, shell.session.status))


@builtin("return")
def _return(shell: RunningShell, argv: list[str]) -> int:
    raise Return(_number(shell, argv, shell.session.status))


@builtin("break", "continue")
def _break(shell: RunningShell, argv: list[str]) -> int:
    levels = max(1, _number(shell, argv, 1))
    if not shell.loops:
        return _refuse(shell, argv[0], f"can't {argv[0]}", 0)
    raise LoopJump(levels, argv[0] == "break")


@builtin("export")
def _export(shell: RunningShell, argv: list[str]) -> int:
    for argument in argv[1:]:
        name, equals, value = argument.partition("=")
        if not _NAME.fullmatch(name):
            return _refuse(shell, "export", f"{argument}: is not an identifier")
        if equals:
            shell.assign(name, value)
        shell.session.exported.add(name)
    return 0


@builtin("local")
def _local(shell: RunningShell, argv: list[str]) -> int:
    """``local NAME[=VALUE]...``: the function's own, until it ends."""
    for argument in argv[1:]:
        name, equals, value = argument.partition("=")
        if not _NAME.fullmatch(name):
            return _refuse(shell, "local", f"{argument}: is not an identifier")
        if shell.frames:
            shell.frames[-1].setdefault(name, shell.session.variables.get(name))
        if equals:
            shell.assign(name, value)
    return 0


@builtin("shift")
def _shift(shell: RunningShell, argv: list[str]) -> int:
    params, count = shell.session.params, _number(shell, argv, 1)
    if not 0 <= count < len(params):
        raise Leave(_refuse(shell, "shift", "nothing to shift"))
    del params[1 : 1 + count]
    return 0


@builtin("set")
def _set(shell: RunningShell, argv: list[str]) -> int:
    """``set [-eu...] [+eu...] [--] [PARAMETER...]``; without any, the variables."""
    session, words = shell.session, argv[1:]
    if not words:
        told = "".join(f"{k}={shlex.quote(v)}\n" for k, v in sorted(session.variables.items()))
        shell.write(1, registry.encode(told))
        return 0
    while words and words[0][:1] in ("-", "+") and len(words[0]) > 1 and words[0] != "--":
        sign, letters = words[0][0], frozenset(words.pop(0)[1:])
        if letters - _OPTIONS:
            return _refuse(shell, "set", f"-{min(letters - _OPTIONS)}: unknown option")
        session.options = session.options | letters if sign == "-" else session.options - letters
    if words:
        session.params[1:] = words[1:] if words[0] == "--" else words
    return 0


@builtin("eval")
def _eval(shell: RunningShell, argv: list[str]) -> int:
    shell.budget.enter()
    try:
        return shell.commands(" ".join(argv[1:]))
    finally:
        shell.budget.leave()


@builtin(".")
def _source(shell: RunningShell, argv: list[str]) -> int:
    """``. FILE``: runs its commands in this shell."""
    if len(argv) < 2:
        return _refuse(shell, ".", "missing argument")
    path = normal(shell.session.cwd, argv[1])
    if not shell.files.is_file(path):
        raise Leave(_refuse(shell, ".", f"{argv[1]}: No such file or directory"))
    shell.budget.enter()
    try:
        return shell.commands(registry.decode(shell.files.read(path)), argv[1])
    except Return as returned:
        return returned.code
    finally:
        shell.budget.leave()


@builtin("unset")
def _unset(shell: RunningShell, argv: list[str]) -> int:
    for name in argv[1:]:
        shell.session.functions.pop(name, None)
        shell.session.variables.pop(name, None)
        shell.session.exported.discard(name)
    return 0


@builtin("command", "type")
def _describe(shell: RunningShell, argv: list[str]) -> int:
    """``command -v NAME`` and ``type NAME``: where a command is; else `command` runs it."""
    word, *names = argv
    if word == "command":
        if names[:1] != ["-v"]:
            return shell.external(names, shell.session.environment()) if names else 0
        names = names[1:]
    status = 0
    for name in names:
        shell.budget.spend()
        short, told = name, "is a shell builtin"
        if name in shell.session.functions:
            told = "is a function"
        elif name not in BUILTINS:
            known = registry.lookup(name) is not None
            short = f"/system/bin/{name}" if known else ""
            told, status = (f"is {short}", status) if known else ("not found", 1)
        if word == "type" or short:
            shell.write(1, registry.encode((f"{name} {told}" if word == "type" else short) + "\n"))
    return status


@builtin("read")
def _read(shell: RunningShell, argv: list[str]) -> int:
    """``read [-r] NAME...``: a line's words, of which the last name gets the rest."""
    names = [each for each in argv[1:] if not each.startswith("-")] or ["REPLY"]
    stream = shell.streams.get(0)
    line = stream.line() if isinstance(stream, InputBytes) else b""
    text = registry.decode(line.removesuffix(b"\n").replace(b"\0", b""))
    separators = shell.session.variables.get("IFS", BLANKS)
    text = text if "-r" in argv else re.sub(r"\\(.)", r"\1", text)
    blanks = "".join(char for char in separators if char in BLANKS)
    text = text.strip(blanks) if blanks else text
    divider = re.compile(f"[{re.escape(separators)}]+" if separators else "(?!)")
    values = divider.split(text, maxsplit=len(names) - 1) if len(names) > 1 else [text]
    for name, value in zip(names, values + [""] * len(names), strict=False):
        if not _NAME.fullmatch(name):
            return _refuse(shell, "read", f"{name}: is not an identifier", 2)
        shell.assign(name, value)
    return int(not line.endswith(b"\n"))


@builtin("test", "[")
def _test(shell: RunningShell, argv: list[str]) -> int:
    arguments = argv[1:]
    if argv[0] == "[" and (not arguments or arguments.pop() != "]"):
        return _refuse(shell, "[", "missing ]", 2)
    try:
        return int(not conditions.holds(shell.files, shell.session, arguments))
    except conditions.ConditionFault as fault:
        return _refuse(shell, argv[0], str(fault), 2)
