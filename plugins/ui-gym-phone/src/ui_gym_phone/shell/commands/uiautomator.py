"""uiautomator: tells the views of the screen (AOSP ``DumpCommand``)."""

from __future__ import annotations

from ui_gym_phone.shell.machine import machine_of
from ui_gym_phone.shell.registry import Context, command

DEFAULT = "/sdcard/window_dump.xml"

USAGE = """Usage: uiautomator <subcommand> [options]

Available subcommands:

help: displays help message

runtest: executes UI automation tests

dump: creates an XML dump of current UI hierarchy
    dump [--verbose][file]
      [--compressed]: dumps compressed layout information.
      [file]: the location where the dumped XML should be stored, default is
      /sdcard/window_dump.xml

events: prints out accessibility events until terminated
"""


@command("uiautomator")
def uiautomator(ctx: Context, argv: list[str]) -> int:
    if argv[1:2] != ["dump"]:
        ctx.err(USAGE)
        return 0 if argv[1:2] == ["help"] else 1
    words = [w for w in argv[2:] if not w.startswith("--")]
    path = words[0] if words else DEFAULT
    try:
        ctx.write(path, machine_of(ctx).ui_tree().encode("utf-8", "replace"))
    except OSError:
        ctx.err(f"ERROR: could not write to {path}\n")
        return 1
    ctx.out(f"UI hierchary dumped to: {path}\n")  # spelt as Android does
    return 0
