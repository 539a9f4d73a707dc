"""Built-ins: the commands that change the shell itself, and so are no commands of the machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ui_gym_phone.shell import conditions, escapes, flow, registry
from ui_gym_phone.shell.arithmetic import ArithmeticFault, evaluate, wrap
from ui_gym_phone.shell.expansion import BLANKS, ExpansionFault, normal
from ui_gym_phone.shell.parser import parse
from ui_gym_phone.shell.streams import Source
from ui_gym_phone.shell.syntax import ShellSyntaxError

if TYPE_CHECKING:
    from ui_gym_phone.shell.interpreter import Shell

Builtin = Callable[["Shell", list[str]], int]

SPECIAL = frozenset(
    (".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set",
     "shift", "trap", "unset")
)  # fmt: skip
"""POSIX' special built-ins: an assignment before them stays."""

KEYWORDS = frozenset(
    ("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
     "in", "function", "{", "}", "!", "[[", "]]", "time", "select")
)  # fmt: skip

MKSH = frozenset(
    ("[", "cat", "echo", "false", "kill", "printf", "pwd", "realpath", "sleep", "test", "true")
)
"""Commands of the machine that mksh has built in too."""

_OPTIONS = {"e": "errexit", "u": "nounset", "x": "xtrace", "f": "noglob", "a": "allexport"}
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)

_builtins: dict[str, Builtin] = {}


def builtin(*names: str) -> Callable[[Builtin], Builtin]:
    def register(function: Builtin) -> Builtin:
        for name in names:
            _builtins[name] = function
        return function

    return register


def lookup(name: str) -> Builtin | None:
    """The built-in of a name."""
    return _builtins.get(name)


def _refuse(shell: Shell, name: str, message: str, code: int = 1) -> int:
    shell.complain(f"{name}: {message}")
    return code


def _number(shell: Shell, argv: list[str], default: int) -> int:
    if len(argv) < 2:
        return default
    if not re.fullmatch(r"[-+]?\d{1,9}", argv[1], re.ASCII):
        _refuse(shell, argv[0], f"{argv[1]}: bad number")
        raise flow.Leave(1)
    return int(argv[1])


@builtin(":")
def _colon(shell: Shell, argv: list[str]) -> int:
    return 0


@builtin("cd", "chdir")
def _cd(shell: Shell, argv: list[str]) -> int:
    session = shell.session
    arguments = [each for each in argv[1:] if each not in ("-P", "-L", "--")]
    target = arguments[0] if arguments else session.variables.get("HOME", "/")
    back = target == "-"
    if back:
        target = session.variables.get("OLDPWD", "")
        if not target:
            return _refuse(shell, "cd", "no OLDPWD", 2)
    path = normal(session.cwd, target)
    if not shell.files.is_dir(path):
        reason = "Not a directory" if shell.files.exists(path) else "No such file or directory"
        return _refuse(shell, "cd", f"{path}: {reason}", 2)
    session.variables["OLDPWD"], session.cwd = session.cwd, path
    session.variables["PWD"] = path
    if back:
        shell.write(1, registry.encode(path + "\n"))
    return 0


@builtin("exit")
def _exit(shell: Shell, argv: list[str]) -> int:
    raise flow.Leave(_number(shell, argv, shell.session.status))


@builtin("return")
def _return(shell: Shell, argv: list[str]) -> int:
    code = _number(shell, argv, shell.session.status)
    raise flow.Return(code) if shell.session.locals else flow.Leave(code)


@builtin("break", "continue")
def _break(shell: Shell, argv: list[str]) -> int:
    levels = max(1, _number(shell, argv, 1))
    if not shell.loops:
        return _refuse(shell, argv[0], f"can't {argv[0]}", 0)
    raise flow.Break(levels) if argv[0] == "break" else flow.Continue(levels)


@builtin("shift")
def _shift(shell: Shell, argv: list[str]) -> int:
    count, params = _number(shell, argv, 1), shell.session.params
    if count < 0 or count > len(params) - 1:
        return _refuse(shell, "shift", "nothing to shift")
    del params[1 : 1 + count]
    return 0


@builtin("set")
def _set(shell: Shell, argv: list[str]) -> int:
    session, arguments = shell.session, argv[1:]
    if not arguments:
        for name in sorted(session.variables):
            shell.write(1, registry.encode(f"{name}={_quote(session.variables[name])}\n"))
    while arguments and re.fullmatch(r"[-+][a-zA-Z]+", arguments[0]):
        option = arguments.pop(0)
        switch = session.options.add if option[0] == "-" else session.options.discard
        for letter in option[1:]:
            if letter == "o" and arguments:
                switch(arguments.pop(0))
            elif letter in _OPTIONS:
                switch(_OPTIONS[letter])
    if arguments or "--" in argv:
        rest = arguments[1:] if arguments[:1] == ["--"] else arguments
        session.params = [session.params[0], *rest]
    return 0


@builtin("export", "readonly", "local", "typeset", "declare")
def _declare(shell: Shell, argv: list[str]) -> int:
    session, name = shell.session, argv[0]
    options = "".join(each[1:] for each in argv[1:] if re.fullmatch(r"-[a-zA-Z]+", each))
    arguments = [each for each in argv[1:] if not re.fullmatch(r"[-+][a-zA-Z]*", each)]
    if not arguments and name in ("export", "readonly"):
        chosen = session.exported if name == "export" else session.readonly
        for each in sorted(chosen & session.variables.keys()):
            value = _quote(session.variables[each])
            shell.write(1, registry.encode(f"{name} {each}={value}\n"))
    for argument in arguments:
        variable, equals, value = argument.partition("=")
        if not _NAME.fullmatch(variable):
            return _refuse(shell, name, f"{argument}: is not an identifier")
        if name in ("local", "typeset", "declare") and session.locals:
            session.locals[-1].setdefault(variable, session.variables.get(variable))
            if not equals:
                session.variables.pop(variable, None)
        if equals:
            if "i" in options:
                value = str(_let(shell, value))
            shell.assign(variable, value)
        if name == "export" or "x" in options:
            session.exported.add(variable)
        if name == "readonly" or "r" in options:
            session.readonly.add(variable)
    return 0


@builtin("unset")
def _unset(shell: Shell, argv: list[str]) -> int:
    functions = "-f" in argv
    for name in argv[1:]:
        if name in ("-f", "-v"):
            continue
        if functions:
            shell.session.functions.pop(name, None)
            continue
        if name in shell.session.readonly:
            raise ExpansionFault(f"read-only: {name}", 2)
        shell.session.variables.pop(name, None)
        shell.session.exported.discard(name)
    return 0


@builtin("let")
def _let_command(shell: Shell, argv: list[str]) -> int:
    value = 0
    for expression in argv[1:]:
        value = _let(shell, expression)
    return int(value == 0)


def _let(shell: Shell, expression: str) -> int:
    try:
        return wrap(evaluate(expression, shell.session.variables, shell.assign))
    except ArithmeticFault as fault:
        raise ExpansionFault(str(fault)) from None


@builtin("eval")
def _eval(shell: Shell, argv: list[str]) -> int:
    shell.budget.enter()
    try:
        return shell.execute(parse(" ".join(argv[1:])))
    except ShellSyntaxError as error:
        shell.complain(str(error))
        return 1
    finally:
        shell.budget.leave()


@builtin(".", "source")
def _source(shell: Shell, argv: list[str]) -> int:
    if len(argv) < 2:
        return _refuse(shell, argv[0], "missing argument")
    path = normal(shell.session.cwd, argv[1])
    if not shell.files.is_file(path):
        return _refuse(shell, argv[0], f"{argv[1]}: No such file or directory")
    shell.budget.enter()
    shell.session.locals.append({})
    try:
        return shell.execute(parse(registry.decode(shell.files.read(path))))
    except flow.Return as back:
        return back.code
    finally:
        shell.session.locals.pop()
        shell.budget.leave()


@builtin("exec")
def _exec(shell: Shell, argv: list[str]) -> int:
    if len(argv) < 2:
        return 0
    raise flow.Leave(shell.invoke(argv[1:], {}, functions=False))


@builtin("command", "builtin")
def _command(shell: Shell, argv: list[str]) -> int:
    arguments = argv[1:]
    if arguments[:1] in (["-v"], ["-V"]):
        return _describe(shell, arguments[1:], words=arguments[0] == "-V")
    while arguments[:1] in (["-p"], ["--"]):
        arguments.pop(0)
    return shell.invoke(arguments, {}, functions=False) if arguments else 0


@builtin("type", "whence")
def _type(shell: Shell, argv: list[str]) -> int:
    return _describe(shell, [each for each in argv[1:] if each != "-p"], words=argv[0] == "type")


def _describe(shell: Shell, names: list[str], *, words: bool) -> int:
    """What each name is: in words, or as `command -v` says it."""
    status = 0
    for name in names:
        shell.budget.spend()
        told, short = "not found", ""
        if name in KEYWORDS:
            told, short = "is a reserved word", name
        elif name in shell.session.functions:
            told, short = "is a function", name
        elif name in SPECIAL:
            told, short = "is a special shell builtin", name
        elif name in _builtins or name in MKSH:
            told, short = "is a shell builtin", name
        elif registry.lookup(name) is not None:
            short = f"/system/bin/{name}"
            told = f"is {short}"
        status = status if short else 1
        if words:
            shell.write(1, registry.encode(f"{name} {told}\n"))
        elif short:
            shell.write(1, registry.encode(short + "\n"))
    return status


@builtin("read")
def _read(shell: Shell, argv: list[str]) -> int:
    raw, names = False, list[str]()
    arguments = argv[1:]
    while arguments:
        each = arguments.pop(0)
        if each in ("-p", "-t", "-d", "-n", "-N", "-u") and arguments:
            arguments.pop(0)
        elif each == "-r":
            raw = True
        elif not each.startswith("-"):
            names.append(each)
    source = shell.streams.get(0)
    line = source.line() if isinstance(source, Source) else b""
    ended = not line.endswith(b"\n")
    text = registry.decode(line.removesuffix(b"\n").replace(b"\0", b""))
    while not raw and isinstance(source, Source) and re.search(r"(?<!\\)(\\\\)*\\$", text):
        shell.budget.spend()
        more = source.line()
        ended = not more.endswith(b"\n")
        text = text[:-1] + registry.decode(more.removesuffix(b"\n"))
        if not more:
            break
    names = names or ["REPLY"]
    for name, value in zip(names, _read_fields(shell, text, len(names), raw), strict=True):
        if not _NAME.fullmatch(name):
            return _refuse(shell, "read", f"{name}: is not an identifier", 2)
        shell.assign(name, value)
    return int(ended)


def _read_fields(shell: Shell, text: str, count: int, raw: bool) -> list[str]:
    """The first words of a line, and the rest of it as the last one."""
    separators = shell.session.variables.get("IFS", BLANKS)
    blanks = "".join(char for char in separators if char in BLANKS)
    fields, position = list[str](), 0
    text = text.strip(blanks) if blanks else text
    while len(fields) < count - 1 and position < len(text):
        value = ""
        while position < len(text) and text[position] not in separators:
            if text[position] == "\\" and not raw:
                position += 1
            value += text[position : position + 1]
            position += 1
        fields.append(value)
        position = _skip(text, position, blanks)
        if position < len(text) and text[position] in separators:
            position = _skip(text, position + 1, blanks)
    rest = text[position:]
    if not raw:
        rest = re.sub(r"\\(.)", r"\1", rest, flags=re.DOTALL)
    others = [char for char in separators if char not in blanks]
    if rest and rest[-1] in others and not any(char in rest[:-1] for char in others):
        rest = rest[:-1]
    return (fields + [rest] + [""] * count)[:count]


def _skip(text: str, position: int, characters: str) -> int:
    while position < len(text) and text[position] in characters:
        position += 1
    return position


@builtin("trap")
def _trap(shell: Shell, argv: list[str]) -> int:
    if len(argv) > 2 and {"EXIT", "0"} & set(argv[2:]):
        shell.session.on_exit = "" if argv[1] == "-" else argv[1]
    return 0


@builtin("print")
def _print(shell: Shell, argv: list[str]) -> int:
    arguments, raw, newline, fd = argv[1:], False, True, 1
    while arguments and re.fullmatch(r"-[nrRsl]+|-u\d?|-|--", arguments[0]):
        option = arguments.pop(0)
        raw = raw or "r" in option or "R" in option
        newline = newline and "n" not in option
        if option.startswith("-u"):
            fd = int(option[2:] or "1")
        if option in ("-", "--"):
            break
    text, stop = (" ".join(arguments), False) if raw else escapes.echo(" ".join(arguments))
    shell.write(fd, registry.encode(text + "\n" * (newline and not stop)))
    return 0


@builtin("test", "[")
def _test(shell: Shell, argv: list[str]) -> int:
    arguments = argv[1:]
    if argv[0] == "[" and (not arguments or arguments.pop() != "]"):
        return _refuse(shell, "[", "missing ]", 2)
    try:
        return int(not conditions.test(shell.files, shell.session, arguments))
    except conditions.ConditionFault as fault:
        return _refuse(shell, argv[0], str(fault), 2)


@builtin("wait", "jobs", "bg", "fg", "ulimit", "umask", "alias", "unalias", "hash")
def _nothing(shell: Shell, argv: list[str]) -> int:
    if argv[0] == "umask" and len(argv) == 1:
        shell.write(1, b"0000\n")
    return 0


@builtin("times")
def _times(shell: Shell, argv: list[str]) -> int:
    shell.write(1, b"0m0.00s 0m0.00s\n0m0.00s 0m0.00s\n")
    return 0


def _quote(value: str) -> str:
    """A value as `set` shows it."""
    if value and re.fullmatch(r"[\w@%+=:,./-]+", value, re.ASCII):
        return value
    return "'" + value.replace("'", "'\\''") + "'"
