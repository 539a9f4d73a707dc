"""su, sh, ps, id, which and others: who runs what, and about the machine itself."""

from __future__ import annotations

import shlex
from string import Template

from ui_gym_phone.data import table
from ui_gym_phone.shell.commands.processes import running
from ui_gym_phone.shell.framework import quiet, says, usage
from ui_gym_phone.shell.registry import CommandContext, command, decode, lookup, toybox
from ui_gym_phone.shell.session import ROOT
from ui_gym_phone.state import switches
from ui_gym_phone.state.hardware import part

ARGUMENTS = 100_000
"""Characters of arguments that `xargs` gives to one command."""


# -- commands that run commands --


@command("su")
def _su(ctx: CommandContext) -> None:
    """``su [USER] [COMMAND...]`` as AOSP has it, and ``su [USER] -c LINE`` as Magisk does. The user
    is root, or another by name or number."""
    words, who = ctx.words, ROOT
    while words and words[0] in ("-", "-l", "--login", "-mm", "--mount-master", "-p"):
        words = words[1:]
    if words and not words[0].startswith("-"):
        who = _user(ctx, words[0])
        words = words[1:]
    if words and words[0] in ("-c", "--command"):
        ctx.code = ctx.run_line(" ".join(words[1:]), who=who)
    elif words:
        if "/" not in words[0] and lookup(words[0]) is None:
            raise ctx.fault(f"failed to exec {words[0]}: No such file or directory")
        ctx.code = ctx.run_line('"$@"', ["sh", *words], who=who)
    else:
        ctx.code = ctx.run_script(who=who)


def _user(ctx: CommandContext, word: str) -> str:
    """The user of a name or a number."""
    word = word.partition(",")[0]  # a group may follow
    known: dict[str, int] = table("shell_names")["uids"]
    apps = {package.user: package.uid for package in ctx.phone.packages}
    for name, number in {**apps, **known}.items():
        if word in (name, str(number)):
            return name
    raise ctx.fault(f"bad uid '{word}'" if word.isdecimal() else f"invalid uid/gid '{word}'")


@command("run-as")
def _run_as(ctx: CommandContext) -> None:
    """Runs a command in a package's folder."""
    if not ctx.words:
        raise ctx.fault("usage: run-as <package-name> [--user <uid>] <command> [<args>]")
    name, *words = ctx.words
    if words[:1] == ["--user"]:
        words = words[2:]
    package = ctx.phone.packages.get(name)
    if package is None or package.system:
        why = "unknown package" if package is None else "package not debuggable"
        raise ctx.fault(f"{why}: {name}")
    home = f"/data/data/{name}"
    ctx.machine.files.mkdir(home, parents=True)
    line = f"cd {home} && " + (shlex.join(words) if words else "sh")
    ctx.code = ctx.run_line(line, who=name)


@command("sh")
def _sh(ctx: CommandContext) -> None:
    """``sh -c LINE [NAME ARGUMENT...]``, ``sh FILE [ARGUMENT...]``, or lines that it reads."""
    name, *words = ctx.argv
    if words == ["-c"]:
        raise ctx.ended(f"{name}: -c: requires an argument\n")
    if words[:1] == ["-c"]:
        ctx.code = ctx.run_line(words[1], words[2:] or [name])
    elif not words:
        ctx.code = ctx.run_script([name])
    elif not ctx.files.is_file(ctx.path(words[0])):
        raise ctx.ended(f"{name}: {words[0]}: No such file or directory\n", 127)
    else:
        ctx.code = ctx.run_file(ctx.files.read(ctx.path(words[0])), words)


@command("toybox")
def _toybox(ctx: CommandContext) -> None:
    """``toybox COMMAND...``"""
    if ctx.words and lookup(ctx.words[0]) is None:
        raise ctx.fault(f"Unknown command {ctx.words[0]}", 127)
    ctx.code = ctx.run(ctx.words) if ctx.words else 0


@toybox("xargs", flags="n:0I:r", permute=False)
def _xargs(ctx: CommandContext) -> None:
    call, text = ctx.words or ["echo"], decode(ctx.stdin)
    if "I" in ctx.options:
        words = [line.strip() for line in text.split("\n") if line.strip()]
        calls = [[part.replace(ctx.text("I"), word) for part in call] for word in words]
    else:
        words = [word for word in text.split("\0") if word] if "0" in ctx.options else text.split()
        calls = [call + batch for batch in _batches(words, ctx.number("n", 1 << 30))]
        if not words and "r" not in ctx.options:
            calls = [call]
    for each in calls:
        if lookup(each[0].rpartition("/")[2]) is None and "/" not in each[0]:
            raise ctx.fault(f"exec {each[0]}: No such file or directory", 127)
        if ctx.run(each, b""):
            ctx.code = 123


def _batches(words: list[str], most: int) -> list[list[str]]:
    """The arguments of each call."""
    batches, size = list[list[str]](), 0
    for word in words:
        if not batches or len(batches[-1]) >= most or size + len(word) > ARGUMENTS:
            batches.append([])
            size = 0
        batches[-1].append(word)
        size += len(word) + 1
    return batches


@toybox("which", flags="a", least=1)
def _which(ctx: CommandContext) -> None:
    found = [name for name in ctx.words if lookup(name) is not None]
    ctx.out("".join(f"/system/bin/{name}\n" for name in found))
    ctx.code = int(len(found) < len(ctx.words))


# -- about the machine --


@toybox("id", flags="gnu")
def _id(ctx: CommandContext) -> None:
    user, names = ctx.user, table("shell_names")
    number = names["uids"].get(user, 2000)
    of = ctx.shell.session.package
    package = ctx.phone.packages.get(of) if of else None
    groups, domain = names["groups"].get(user, f"{number}({user})"), names["domains"].get(user, "")
    if package is not None:
        number, domain = package.uid, "runas_app"
        groups = f"{number}({user}),9997(everybody),20{number}(u0_a{number % 10000}_cache)"
    if ctx.given("ug"):
        ctx.out(f"{user if 'n' in ctx.options else number}\n")
    else:
        context = f"u:r:{domain or 'shell'}:s0"
        ctx.out(f"uid={number}({user}) gid={number}({user}) groups={groups} context={context}\n")


@command("whoami")
def _whoami(ctx: CommandContext) -> None:
    ctx.out(ctx.user + "\n")


@toybox("uname", flags="paomvrns")
def _uname(ctx: CommandContext) -> None:
    told = table("shell_names")["uname"].items()
    values = {key: Template(value).substitute(part("kernel")) for key, value in told}
    wanted = [each for each in values if ctx.given(each + "a")] or ["s"]
    ctx.out(" ".join(values[each] for each in wanted) + "\n")


@command("ps")
def _ps(ctx: CommandContext) -> None:
    """The processes of the user, or with ``-A`` and ``-e`` all, open apps included."""
    if "--help" in ctx.words:
        ctx.out(usage("ps"))
        return
    ctx.out("USER           PID  PPID     VSZ    RSS WCHAN            ADDR S NAME\n")
    rows = running(ctx.phone)
    if not any("A" in each or "e" in each for each in ctx.words if each.startswith("-")):
        rows = [row for row in rows if row.user == ctx.user]
    for user, pid, parent, name in rows:
        ctx.out(f"{user:<12} {pid:>5} {parent:>5} {10_000_000:>7} {4096:>6} 0{0:>21} S {name}\n")


@command("logcat")
def _logcat(ctx: CommandContext) -> None:
    """The log has one line: what is seen. Without ``-d``, too, it ends after that."""
    if {"-c", "--clear", "-S", "-g", "-G", "-p"}.intersection(ctx.argv):
        return
    phone = ctx.phone
    seen = f"Displayed {phone.activity.package}/{phone.activity.cls}"
    stamp = f"{phone.clock.local:%m-%d %H:%M:%S}.000   600   612"
    ctx.out(f"--------- beginning of main\n{stamp} I ActivityTaskManager: {seen}\n")


command("reboot")(lambda ctx: switches.reboot(ctx.phone))
command("true", "chcon", "restorecon", "sync")(quiet)
command("false")(says("", 1))
command("clear")(says("\x1b[2J\x1b[H"))
