"""sed."""

from __future__ import annotations

from ui_gym_phone.shell.options import Options
from ui_gym_phone.shell.regex import RegexFault
from ui_gym_phone.shell.registry import Context, command, decode
from ui_gym_phone.shell.sed.editor import Editor
from ui_gym_phone.shell.sed.script import Script, SedFault


@command("sed")
def _sed(ctx: Context, argv: list[str]) -> int:
    long = {"regexp-extended": "E", "quiet": "n", "expression": "e", "in-place": "i"}
    options = Options(ctx, argv, "ne:f:Eriszu", long=long)
    pieces = list(options.values.get("e", []))
    for name in options.values.get("f", []):
        pieces.append(decode(ctx.read(name)).removesuffix("\n"))
    if not pieces:
        if not options.arguments:
            raise options.fault("no pattern")
        pieces = [options.arguments.pop(0)]
    script = "\n".join(pieces)
    try:
        commands = Script(script, bool({"E", "r"} & options.values.keys())).parse()
        return Editor(ctx, commands, options).run()
    except (SedFault, RegexFault) as fault:
        return ctx.fail(str(fault))
