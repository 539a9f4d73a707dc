"""pm install-existing: install an app that the phone knows of."""

from __future__ import annotations

from ui_gym_phone.shell.commands.packages import pm
from ui_gym_phone.shell.framework import refused
from ui_gym_phone.shell.registry import CommandContext
from ui_gym_phone.state import shelf


@pm("install-existing", flags="--instant --full --wait --restrict-permissions",
    valued="--user", needs="Error: package name not specified")  # fmt: skip
def _install_existing(ctx: CommandContext) -> None:
    name = ctx.words[0]
    if shelf.install(ctx.phone, name) or name in ctx.phone.packages:
        ctx.out(f"Package {name} installed for user: 0\n")
        return
    raise refused(
        ctx,
        f"android.content.pm.PackageManager$NameNotFoundException: Package {name} doesn't exist",
    )
