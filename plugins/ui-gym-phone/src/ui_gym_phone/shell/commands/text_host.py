"""id, uname, ps and the others that tell about the machine."""

from __future__ import annotations

import re

from ui_gym_phone.shell.listing import UIDS
from ui_gym_phone.shell.options import Options
from ui_gym_phone.shell.registry import Context, command

GROUPS = (
    "2000(shell)", "1004(input)", "1007(log)", "1011(adb)", "1015(sdcard_rw)", "1028(sdcard_r)",
    "1078(ext_data_rw)", "1079(ext_obb_rw)", "3001(net_bt_admin)", "3002(net_bt)", "3003(inet)",
    "3006(net_bw_stats)", "3009(readproc)", "3011(uhid)", "3012(readtracefs)",
)  # fmt: skip
"""Those of the user `shell` of Android 13."""

KERNEL = "5.15.41-android13-8-00205-gf1bf82c3dacd-ab8747247"

PROCESSES = (
    ("root", 1, 0, "init"), ("root", 2, 0, "[kthreadd]"), ("system", 520, 1, "system_server"),
    ("u0_a120", 890, 520, "com.android.systemui"), ("shell", 4711, 1, "sh"),
)  # fmt: skip
"""(user, id, parent, name)."""


def _name(ctx: Context) -> str:
    return ctx.env.get("USER", "shell")


@command("id")
def _id(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "GgnruZ")
    user = options.arguments[0] if options.arguments else _name(ctx)
    if user not in UIDS and not user.isdigit():
        return ctx.fail(f"not integer: {user}")
    number = UIDS.get(user, 2000)
    if "u" in options or "g" in options:
        ctx.out(f"{user if 'n' in options else number}\n")
    elif "G" in options:
        found = [re.split(r"[()]", group) for group in GROUPS]
        ctx.out(" ".join(each["n" in options] for each in found) + "\n")
    else:
        groups = ",".join(GROUPS) if user == "shell" else f"{number}({user})"
        ctx.out(f"uid={number}({user}) gid={number}({user}) groups={groups} context=u:r:shell:s0\n")
    return 0


@command("whoami", "logname")
def _whoami(ctx: Context, argv: list[str]) -> int:
    ctx.out(_name(ctx) + "\n")
    return 0


@command("groups")
def _groups(ctx: Context, argv: list[str]) -> int:
    ctx.out(" ".join(re.split(r"[()]", group)[1] for group in GROUPS) + "\n")
    return 0


@command("uname", "arch")
def _uname(ctx: Context, argv: list[str]) -> int:
    if argv[0].endswith("arch"):
        ctx.out("aarch64\n")
        return 0
    options = Options(ctx, argv, "paomvrns")
    values = {
        "s": "Linux", "n": "localhost", "r": KERNEL, "v": "#1 SMP PREEMPT Wed Jun 22 2022",
        "m": "aarch64", "o": "Android",
    }  # fmt: skip
    wanted = [each for each in values if each in options or "a" in options] or ["s"]
    ctx.out(" ".join(values[each] for each in wanted) + "\n")
    return 0


@command("nproc")
def _nproc(ctx: Context, argv: list[str]) -> int:
    ctx.out("8\n")
    return 0


@command("hostname")
def _hostname(ctx: Context, argv: list[str]) -> int:
    ctx.out("localhost\n")
    return 0


@command("tty")
def _tty(ctx: Context, argv: list[str]) -> int:
    ctx.out("not a tty\n")
    return 1


@command("ps")
def _ps(ctx: Context, argv: list[str]) -> int:
    ctx.out("USER           PID  PPID     VSZ    RSS WCHAN            ADDR S NAME\n")
    everything = any("A" in each or "e" in each for each in argv[1:] if each.startswith("-"))
    for user, pid, parent, name in PROCESSES:
        if everything or user == "shell":
            ctx.out(
                f"{user:<12} {pid:>5} {parent:>5} {10_000_000:>7} {4096:>6} 0{0:>21} S {name}\n"
            )
    return 0


@command("kill", "killall", "pkill", "renice", "chrt")
def _silent(ctx: Context, argv: list[str]) -> int:
    if len(argv) < 2:
        return ctx.fail(f'Needs 1 argument (see "{argv[0]} --help")')
    return 0


@command("pidof", "pgrep")
def _pidof(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "so:xflnv")
    found = [str(pid) for _, pid, _, name in PROCESSES if name in options.arguments]
    if found:
        ctx.out(" ".join(found) + "\n")
    return int(not found)


@command("free")
def _free(ctx: Context, argv: list[str]) -> int:
    ctx.out(
        "\t\ttotal        used        free      shared     buffers\n"
        "Mem:       4072677376  2836955136  1235722240    26460160     2625536\n"
        "-/+ buffers/cache:      2834329600  1238347776\n"
        "Swap:               0           0           0\n"
    )
    return 0
