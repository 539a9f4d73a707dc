"""su, run-as: commands as another user. Who runs them makes no difference here."""

from __future__ import annotations

import shlex

from ui_gym_phone.shell.machine import phone_of
from ui_gym_phone.shell.registry import Context, command, decode


@command("su")
def su(ctx: Context, argv: list[str]) -> int:
    """``su [USER] [COMMAND...]`` as AOSP has it, and ``su [USER] -c LINE`` as Magisk does."""
    words = argv[1:]
    while words and words[0] in ("-", "-l", "--login", "-mm", "-M", "--mount-master", "-p"):
        words = words[1:]
    if words and not words[0].startswith("-"):
        words = words[1:]
    if words and words[0] in ("-c", "--command"):
        return ctx.shell(" ".join(words[1:]))
    if words:
        return ctx.run(words)
    return ctx.shell(decode(ctx.stdin))


@command("run-as")
def run_as(ctx: Context, argv: list[str]) -> int:
    """Runs a command in a package's folder."""
    words = argv[1:]
    if not words:
        ctx.err("run-as: usage: run-as <package-name> [--user <uid>] <command> [<args>]\n")
        return 1
    name, words = words[0], words[1:]
    if words[:1] == ["--user"]:
        words = words[2:]
    package = phone_of(ctx).packages.get(name)
    if package is None:
        ctx.err(f"run-as: unknown package: {name}\n")
        return 1
    if package.system:
        ctx.err(f"run-as: package not debuggable: {name}\n")
        return 1
    home = f"/data/data/{name}"
    if not ctx.files.is_dir(home):
        ctx.files.mkdir(home, parents=True)
    line = shlex.join(words) if words else decode(ctx.stdin)
    return ctx.shell(f"cd {home}\n{line}")
