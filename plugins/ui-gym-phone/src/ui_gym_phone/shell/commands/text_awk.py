"""awk."""

from __future__ import annotations

from ui_gym_phone.shell.awk.expressions import AwkFault
from ui_gym_phone.shell.awk.lexer import AwkSyntaxError
from ui_gym_phone.shell.awk.library import CallFault
from ui_gym_phone.shell.awk.parser import parse
from ui_gym_phone.shell.awk.runtime import Machine
from ui_gym_phone.shell.regex import RegexFault
from ui_gym_phone.shell.registry import Context, command, decode

_USAGE = "usage: awk [-F fs] [-v var=value] [-f progfile | 'prog'] [file ...]\n"
_ESCAPES = {"\\t": "\t", "t": "\t", "\\n": "\n", "\\\\": "\\"}


@command("awk")
def _awk(ctx: Context, argv: list[str]) -> int:
    arguments, variables, sources = argv[1:], dict[str, str](), list[str]()
    while arguments and len(arguments[0]) > 1 and arguments[0][0] == "-":
        option = arguments.pop(0)
        if option == "--":
            break
        letter, value = option[1], option[2:]
        if letter not in "Fvf":
            ctx.err(f"awk: unknown option {option} ignored\n")
            continue
        if not value:
            if not arguments:
                return ctx.fail("no field separator" if letter == "F" else "no program filename", 2)
            value = arguments.pop(0)
        if letter == "F":
            variables["FS"] = _ESCAPES.get(value, value)
        elif letter == "f":
            sources.append(decode(ctx.read(value)))
        else:
            name, equals, text = value.partition("=")
            if not equals or not name.isidentifier():
                return ctx.fail(f"invalid -v argument `{value}'", 2)
            variables[name] = text.replace("\\n", "\n").replace("\\t", "\t")
    if not sources:
        if not arguments:
            ctx.err(_USAGE)
            return 1
        sources = [arguments.pop(0)]
    try:
        return Machine(ctx, parse("\n".join(sources)), variables).main(arguments)
    except AwkSyntaxError as error:
        return ctx.fail(str(error), 2)
    except (AwkFault, CallFault, RegexFault) as fault:
        return ctx.fail(str(fault), 2)
