"""bugreport, bugreportz, remount: what `adb` makes of its commands of these names."""

from __future__ import annotations

import io
import zipfile

from ui_gym_phone.adb_services import remount
from ui_gym_phone.shell.registry import CommandContext, command
from ui_gym_phone.state.access import SHELL_PACKAGE

FOLDER = f"/data/user_de/0/{SHELL_PACKAGE}/files/bugreports"

_SECTIONS = (
    ("SYSTEM PROPERTIES", ["getprop"]),
    ("PROCESSES AND THREADS", ["ps", "-A"]),
    ("IP ADDRESSES", ["ip", "addr"]),
    ("DUMPSYS", ["dumpsys"]),
    ("SYSTEM LOG", ["logcat", "-d"]),
)


@command("bugreportz")
def _bugreportz(ctx: CommandContext) -> None:
    """Writes a report as a ZIP file and tells where it is; ``-p`` tells how far it is, too."""
    if "-v" in ctx.words:
        ctx.err("1.1\n")
        return
    name = f"bugreport-{ctx.phone.properties['ro.product.device']}"
    name += f"-{ctx.phone.properties['ro.build.id']}"
    name += f"-{ctx.phone.clock.local:%Y-%m-%d-%H-%M-%S}"
    path = f"{FOLDER}/{name}.zip"
    if "-p" in ctx.words:
        ctx.out(f"BEGIN:{path}\nPROGRESS:0/100\n")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as report:
        # The time in a ZIP has to be the phone's: the same state makes the same bytes.
        when = ctx.phone.clock.local.timetuple()[:6]
        parts = {f"{name}.txt": _text(ctx), "main_entry.txt": f"{name}.txt", "version.txt": "2.0"}
        for inside, text in parts.items():
            report.writestr(zipfile.ZipInfo(inside, when), text)
    ctx.machine.files.mkdir(FOLDER, parents=True)
    ctx.write(path, buffer.getvalue())
    ctx.out("PROGRESS:100/100\n" * ("-p" in ctx.words) + f"OK:{path}\n")


@command("bugreport")
def _bugreport(ctx: CommandContext) -> None:
    """Prints the report, as before Android 7."""
    ctx.out(_text(ctx))


@command("remount")
def _remount(ctx: CommandContext) -> None:
    ctx.err(remount(ctx.shell.session.is_root))
    ctx.code = 1


def _text(ctx: CommandContext) -> str:
    """A report's words."""
    clock, told = ctx.phone.clock.local, ctx.phone.properties
    parts = [
        f"== dumpstate: {clock:%Y-%m-%d %H:%M:%S}\n\nBuild: {told['ro.build.display.id']}\n"
        f"Build fingerprint: '{told['ro.build.fingerprint']}'\n"
    ]
    for title, argv in _SECTIONS:
        parts.append(f"------ {title} ({' '.join(argv)}) ------\n{ctx.output_of(argv)}")
    return "\n".join(parts)
