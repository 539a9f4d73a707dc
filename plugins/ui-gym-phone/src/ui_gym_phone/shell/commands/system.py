"""su, sh, ps, id, which and others: who runs what, and about the machine itself."""

from __future__ import annotations

import shlex

from ui_gym_phone.shell.commands.dumpsys import pid_of, processes
from ui_gym_phone.shell.framework import quiet, says
from ui_gym_phone.shell.options import CommandOptions
from ui_gym_phone.shell.registry import CommandContext, command, decode, lookup
from ui_gym_phone.state import switches

UIDS = {"root": 0, "system": 1000, "shell": 2000, "media_rw": 1023, "u0_a120": 10120}
"""Numbers of the users and groups, as in Android's android_filesystem_config.h."""

GROUPS = (
    "2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),1078(ext_data_rw),"
    "1079(ext_obb_rw),3001(net_bt_admin),3002(net_bt),3003(inet),3006(net_bw_stats),3009(readproc),"
    "3011(uhid),3012(readtracefs)"
)
"""Those of the user `shell` of Android 13."""

KERNEL = "5.15.41-android13-8-00205-gf1bf82c3dacd-ab8747247"

PROCESSES = (
    ("root", 1, 0, "init"), ("root", 2, 0, "[kthreadd]"), ("system", 520, 1, "system_server"),
    ("u0_a120", 890, 520, "com.android.systemui"), ("shell", 4711, 1, "sh"),
)  # fmt: skip
"""(user, id, parent, name) of what always runs."""

ARGUMENTS = 100_000
"""Characters of arguments that `xargs` gives to one command."""


# -- commands that run commands --


@command("su")
def _su(ctx: CommandContext, argv: list[str]) -> int:
    """``su [USER] [COMMAND...]`` as AOSP has it, and ``su [USER] -c LINE`` as Magisk does. Who runs
    a command makes no difference here."""
    words = argv[1:]
    while words and words[0] in ("-", "-l", "--login", "-mm", "--mount-master", "-p"):
        words = words[1:]
    if words and not words[0].startswith("-"):
        words = words[1:]
    if words and words[0] in ("-c", "--command"):
        return ctx.shell(" ".join(words[1:]))
    return ctx.run(words) if words else ctx.shell(decode(ctx.stdin))


@command("run-as")
def _run_as(ctx: CommandContext, argv: list[str]) -> int:
    """Runs a command in a package's folder."""
    if len(argv) < 2:
        ctx.err("run-as: usage: run-as <package-name> [--user <uid>] <command> [<args>]\n")
        return 1
    name, words = argv[1], argv[2:]
    if words[:1] == ["--user"]:
        words = words[2:]
    package = ctx.phone.packages.get(name)
    if package is None or package.system:
        why = "unknown package" if package is None else "package not debuggable"
        ctx.err(f"run-as: {why}: {name}\n")
        return 1
    home = f"/data/data/{name}"
    if not ctx.files.is_dir(home):
        ctx.files.mkdir(home, parents=True)
    line = shlex.join(words) if words else decode(ctx.stdin)
    return ctx.shell(f"cd {home}\n{line}")


@command("sh")
def _sh(ctx: CommandContext, argv: list[str]) -> int:
    """``sh -c LINE [NAME ARGUMENT...]``, ``sh FILE [ARGUMENT...]``, or lines that it reads."""
    words = argv[1:]
    if words[:1] == ["-c"]:
        if len(words) < 2:
            ctx.err(f"{argv[0]}: -c: requires an argument\n")
            return 1
        return ctx.shell(words[1], words[2:] or [argv[0]])
    if not words:
        return ctx.shell(decode(ctx.stdin), [argv[0]])
    path = ctx.path(words[0])
    if not ctx.files.is_file(path):
        ctx.err(f"{argv[0]}: {words[0]}: No such file or directory\n")
        return 127
    return ctx.shell(decode(ctx.files.read(path)), words)


@command("toybox")
def _toybox(ctx: CommandContext, argv: list[str]) -> int:
    """``toybox COMMAND...``"""
    if len(argv) > 1 and lookup(argv[1]) is None:
        ctx.err(f"toybox: Unknown command {argv[1]}\n")
        return 127
    return ctx.run(argv[1:]) if len(argv) > 1 else 0


@command("xargs")
def _xargs(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "n:0I:r", permute=False)
    call, text = options.arguments or ["echo"], decode(ctx.stdin)
    if "I" in options:
        words = [line.strip() for line in text.split("\n") if line.strip()]
        calls = [[part.replace(options.text("I"), word) for part in call] for word in words]
    else:
        words = [word for word in text.split("\0") if word] if "0" in options else text.split()
        calls = [call + batch for batch in _batches(words, options.number("n", 1 << 30))]
        if not words and "r" not in options:
            calls = [call]
    code = 0
    for each in calls:
        if lookup(each[0].rpartition("/")[2]) is None and "/" not in each[0]:
            return ctx.fail(f"exec {each[0]}: No such file or directory", 127)
        code = 123 if ctx.run(each, b"") else code
    return code


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


@command("which")
def _which(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "a")
    options.need(1)
    found = [name for name in options.arguments if lookup(name) is not None]
    ctx.out("".join(f"/system/bin/{name}\n" for name in found))
    return int(len(found) < len(options.arguments))


# -- about the machine --


@command("id")
def _id(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "gnu")
    user = ctx.env.get("USER", "shell")
    number = UIDS.get(user, 2000)
    if "u" in options or "g" in options:
        ctx.out(f"{user if 'n' in options else number}\n")
    else:
        ctx.out(f"uid={number}({user}) gid={number}({user}) groups={GROUPS} context=u:r:shell:s0\n")
    return 0


@command("whoami")
def _whoami(ctx: CommandContext, argv: list[str]) -> int:
    ctx.out(ctx.env.get("USER", "shell") + "\n")
    return 0


@command("uname")
def _uname(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "paomvrns")
    values = {
        "s": "Linux", "n": "localhost", "r": KERNEL, "v": "#1 SMP PREEMPT Wed Jun 22 2022",
        "m": "aarch64", "o": "Android",
    }  # fmt: skip
    wanted = [each for each in values if each in options or "a" in options] or ["s"]
    ctx.out(" ".join(values[each] for each in wanted) + "\n")
    return 0


@command("ps")
def _ps(ctx: CommandContext, argv: list[str]) -> int:
    """The processes of the user, or with ``-A`` and ``-e`` all, open apps included."""
    ctx.out("USER           PID  PPID     VSZ    RSS WCHAN            ADDR S NAME\n")
    rows = [row for row in PROCESSES if row[0] == "shell"]
    if any("A" in each or "e" in each for each in argv[1:] if each.startswith("-")):
        apps = processes(ctx.phone).items()
        rows = [*PROCESSES, *((f"u0_a{uid % 10000}", pid_of(n), 520, n) for n, uid in apps)]
    for user, pid, parent, name in rows:
        ctx.out(f"{user:<12} {pid:>5} {parent:>5} {10_000_000:>7} {4096:>6} 0{0:>21} S {name}\n")
    return 0


@command("logcat")
def _logcat(ctx: CommandContext, argv: list[str]) -> int:
    """The log has one line: what is seen. Without ``-d``, too, it ends after that."""
    if {"-c", "--clear", "-S", "-g", "-G", "-p"}.intersection(argv):
        return 0
    phone = ctx.phone
    seen = f"Displayed {phone.activity.package}/{phone.activity.cls}"
    stamp = f"{phone.clock.local:%m-%d %H:%M:%S}.000   600   612"
    ctx.out(f"--------- beginning of main\n{stamp} I ActivityTaskManager: {seen}\n")
    return 0


@command("reboot")
def _reboot(ctx: CommandContext, argv: list[str]) -> int:
    switches.reboot(ctx.phone)
    return 0


command("true", "chcon", "restorecon", "sync")(quiet)
command("false")(says("", 1))
command("clear")(says("\x1b[2J\x1b[H"))
