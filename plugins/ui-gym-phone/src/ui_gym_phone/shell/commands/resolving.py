"""pm resolve-activity, query-activities: which activities an intent is for."""

from __future__ import annotations

from ui_gym_phone.shell.commands.activities import IntentFault, intent_of
from ui_gym_phone.shell.commands.packages import pm
from ui_gym_phone.shell.framework import refused
from ui_gym_phone.shell.registry import CommandContext
from ui_gym_phone.state import intents
from ui_gym_phone.state.intents import CATEGORY, Intent, short_component
from ui_gym_phone.state.phone import Phone

_MATCH = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault="


@pm("resolve-activity", "query-activities")
def _resolve(ctx: CommandContext) -> None:
    """``resolve-activity [--brief] [--components] INTENT``."""
    kinds = {"--brief", "--components"}
    asked = kinds.intersection(ctx.words)
    words, skipped = list[str](), {"--user", "--query-flags"}
    left = [word for word in ctx.words if word not in kinds]
    while left:
        word = left.pop(0)
        if word in skipped and left:
            left.pop(0)
        else:
            words.append(word)
    try:
        intent = intent_of(words)
    except IntentFault as fault:
        raise refused(ctx, str(fault)) from None
    found = _found(ctx.phone, intent)
    several = ctx.verb == "query-activities"
    if not found:
        ctx.out("No activities found\n" if several else "No activity found\n")
        return
    if several and not asked:
        ctx.out(f"{len(found)} activities found:\n")
    for number, (package, cls) in enumerate(found if several else found[:1]):
        if several and not asked:
            ctx.out(f"  Activity #{number}:\n")
        ctx.out(_told(package, cls, asked, "    " if several and not asked else ""))


def _found(phone: Phone, intent: Intent) -> list[tuple[str, str]]:
    """(package, full class) of what the intent is for, the one that would open first."""
    if CATEGORY + "LAUNCHER" in intent.categories and intent.component is None:
        wanted = intent.package
        apps = [p for p in phone.packages.launchable if wanted in ("", None, p.name)]
        return [(p.name, p.component(p.main)) for p in apps]
    target = intents.resolve(phone, intent)
    if target is None:
        return []
    package = phone.packages[target.package]
    return [(package.name, package.component(target.cls))]


def _told(package: str, cls: str, asked: set[str], indent: str) -> str:
    short = short_component(package, cls)
    if "--components" in asked:
        return f"{short}\n"
    if "--brief" in asked:
        return f"{_MATCH}true\n{short}\n"
    lines = [f"{_MATCH}true", "ActivityInfo:", f"  name={cls}", f"  packageName={package}",
             "  enabled=true exported=true directBootAware=false"]  # fmt: skip
    return "".join(f"{indent}{line}\n" for line in lines)
