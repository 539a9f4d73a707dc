"""top, pidof: what runs. `ps` is with the commands that ask who somebody is."""

from __future__ import annotations

from typing import NamedTuple

from ui_gym_phone.data import table
from ui_gym_phone.shell.commands.dumpsys_screen import pid_of, processes
from ui_gym_phone.shell.registry import CommandContext, toybox
from ui_gym_phone.state.hardware import part
from ui_gym_phone.state.phone import Phone


class Process(NamedTuple):
    """A process of the phone."""

    user: str
    pid: int
    parent: int
    name: str


def running(phone: Phone) -> list[Process]:
    """What runs: always the same, and the apps that are open."""
    always = [Process(*row) for row in table("shell_names")["processes"]]
    apps = processes(phone).items()
    return always + [Process(f"u0_a{uid % 10000}", pid_of(name), 520, name) for name, uid in apps]


@toybox("top", flags="bHqn:d:s:o:O:k:p:u:m:")
def _top(ctx: CommandContext) -> None:
    """Once, or as often as ``-n`` says: nobody can press a key to end it."""
    found, memory = running(ctx.phone), part("memory")
    most = ctx.number("m", len(found))
    for _ in range(min(100, max(1, ctx.number("n", 1)))):
        ctx.spend(len(found))
        if "q" not in ctx.options:
            used, cached = memory["total"] - memory["free"], memory["cached"]
            ctx.out(
                f"Tasks: {len(found)} total,   1 running, {len(found) - 1} sleeping,"
                "   0 stopped,   0 zombie\n"
                f"  Mem: {memory['total']}K total, {used}K used, {memory['free']}K free,"
                " 0K buffers\n"
                f" Swap: 0K total, 0K used, 0K free, {cached}K cached\n"
                "200%cpu   1%user   0%nice   1%sys 198%idle   0%iow   0%irq   0%sirq   0%host\n"
            )
        ctx.out("  PID USER         PR  NI VIRT  RES  SHR S[%CPU] %MEM     TIME+ ARGS\n")
        for each in found[:most]:
            ctx.out(
                f"{each.pid:>5} {each.user:<12} 20   0 9.5G 4.0M 2.0M S  0.0   0.1   0:00.00"
                f" {each.name}\n"
            )


@toybox("pidof", flags="so:x", least=1)
def _pidof(ctx: CommandContext) -> None:
    found = [str(each.pid) for each in running(ctx.phone) if each.name in ctx.words]
    found = found[:1] if "s" in ctx.options else found
    ctx.out(" ".join(found) + "\n" if found else "")
    ctx.code = int(not found)
