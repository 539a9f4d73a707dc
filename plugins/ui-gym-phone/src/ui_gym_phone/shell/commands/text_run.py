"""sh, xargs, env, which and the others that run commands."""

from __future__ import annotations

import shlex

from ui_gym_phone.shell import registry
from ui_gym_phone.shell.options import Options
from ui_gym_phone.shell.registry import Context, command, decode

ARGUMENTS = 100_000
"""Characters of arguments that `xargs` gives to one command."""


@command("sh", "mksh")
def _sh(ctx: Context, argv: list[str]) -> int:
    arguments, switches = argv[1:], list[str]()
    line: str | None = None
    while arguments and arguments[0][:1] in ("-", "+") and len(arguments[0]) > 1:
        option = arguments.pop(0)
        if option in ("-", "--"):
            break
        letters = option[1:].replace("c", "").replace("l", "").replace("i", "").replace("s", "")
        switches += [option[0] + letters] if letters else []
        if "c" in option:
            if not arguments:
                ctx.err(f"{argv[0]}: -c: requires an argument\n")
                return 1
            line = arguments.pop(0)
            break
    lead = f"set {shlex.join(switches)};" if switches else ""
    if line is not None:
        params = arguments or [argv[0]]
        return ctx.shell(lead + line, params)
    if not arguments:
        return ctx.shell(lead + decode(ctx.stdin), [argv[0]], b"")
    path = ctx.path(arguments[0])
    if not ctx.files.is_file(path):
        ctx.err(f"{argv[0]}: {arguments[0]}: No such file or directory\n")
        return 127
    return ctx.shell(lead + decode(ctx.files.read(path)), arguments)


@command("xargs")
def _xargs(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "E:P:optrn:s:0I:L:", permute=False)
    template = options.arguments or ["echo"]
    text = decode(ctx.stdin)
    ends = options.text("E")
    if "0" in options:
        words = [word for word in text.split("\0") if word]
    elif "I" in options or "L" in options:
        words = [line.strip() for line in text.split("\n") if line.strip()]
    else:
        words = text.split()
    if ends and ends in words:
        words = words[: words.index(ends)]
    if "I" in options:
        mark = options.text("I")
        calls = [[part.replace(mark, word) for part in template] for word in words]
    else:
        calls = [template + batch for batch in _batches(words, options)]
    if not words:
        calls = [] if "r" in options or "I" in options else [template]
    code = 0
    for call in calls:
        if registry.lookup(call[0].rpartition("/")[2]) is None and "/" not in call[0]:
            return ctx.fail(f"exec {call[0]}: No such file or directory", 127)
        if "t" in options:
            ctx.err(" ".join(call) + " \n")
        status = ctx.run(call, b"")
        if status == 255:
            return ctx.fail(f"{call[0]}: exited 255; aborting", 124)
        code = 123 if status else code
    return code


def _batches(words: list[str], options: Options) -> list[list[str]]:
    """The arguments of each call."""
    most = options.number("n", 0) or options.number("L", 0) or 1 << 30
    batches, size = list[list[str]](), 0
    for word in words:
        if not batches or len(batches[-1]) >= most or size + len(word) > ARGUMENTS:
            batches.append([])
            size = 0
        batches[-1].append(word)
        size += len(word) + 1
    return batches


@command("env", "printenv")
def _env(ctx: Context, argv: list[str]) -> int:
    if argv[0].endswith("printenv"):
        return _printenv(ctx, argv)
    options = Options(ctx, argv, "i0u:", permute=False)
    environment = {} if "i" in options else dict(ctx.env)
    for name in options.values.get("u", []):
        environment.pop(name, None)
    words = options.arguments
    while words and "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    if not words:
        ends = "\0" if "0" in options else "\n"
        ctx.out("".join(f"{name}={value}{ends}" for name, value in sorted(environment.items())))
        return 0
    if registry.lookup(words[0].rpartition("/")[2]) is None:
        return ctx.fail(f"exec {words[0]}: No such file or directory", 127)
    return ctx.run_with(words, environment)


def _printenv(ctx: Context, argv: list[str]) -> int:
    names, code = argv[1:], 0
    if not names:
        ctx.out("".join(f"{name}={value}\n" for name, value in sorted(ctx.env.items())))
    for name in names:
        if name in ctx.env:
            ctx.out(ctx.env[name] + "\n")
        else:
            code = 1
    return code


@command("which")
def _which(ctx: Context, argv: list[str]) -> int:
    options, code = Options(ctx, argv, "a"), 0
    options.need(1)
    for name in options.arguments:
        if registry.lookup(name) is not None:
            ctx.out(f"/system/bin/{name}\n")
        else:
            code = 1
    return code


@command("nohup", "nice", "setsid", "ionice", "taskset")
def _plainly(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "n:c:p:t:dw", permute=False)
    options.need(1)
    return ctx.run(options.arguments)
