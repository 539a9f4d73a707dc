"""dumpsys of what is on the screen: windows, and tasks with what is open in them."""

from __future__ import annotations

from ui_gym_phone.shell.commands.dumpsys import (
    component,
    facts,
    filled,
    mark,
    record,
    seen_record,
    service,
    uid_of,
)
from ui_gym_phone.state.activities import Activity
from ui_gym_phone.state.phone import Phone


@service("window")
def _window(phone: Phone, words: list[str]) -> str:
    title = "NotificationShade"
    if not phone.shade:
        title = component(phone, phone.launcher if phone.recents else phone.activity)
    window = f"Window{{{mark(title)} u0 {title}}}" if phone.awake else "null"
    focus = filled("window_focus", window=window, seen=seen_record(phone))
    displays = filled("window_displays", focus=focus, **facts(phone))
    policy = filled("window_policy", **facts(phone))
    part = words[0] if words else ""
    if part in ("displays", "d"):
        return displays
    if part in ("windows", "w"):
        return _windows(phone) + focus
    if part in ("policy", "p"):
        return policy
    return f"{policy}\n{displays}\n{_windows(phone)}"


def _windows(phone: Phone) -> str:
    titles = ["NotificationShade"] if phone.shade else []
    titles += ["StatusBar", "NavigationBar0"] + ["InputMethod"] * bool(phone.activity.focus)
    titles += [component(phone, a) for _, stack in _stacks(phone) for a in stack]
    rows = [
        filled("window_row", number=i, mark=mark(t), title=t, session=mark("session " + t))
        for i, t in enumerate(titles)
    ]
    return "WINDOW MANAGER WINDOWS (dumpsys window windows)\n" + "".join(rows)


@service("SurfaceFlinger")
def _surface_flinger(phone: Phone, words: list[str]) -> str:
    if "--list" in words:
        return "".join(f"{component(phone, a)}#0\n" for _, stack in _stacks(phone) for a in stack)
    if "--display-id" in words:
        return 'Display 0 (HWC display 0): port=0 pnpId=GGL displayName="Built-in Screen"\n'
    return filled("SurfaceFlinger", **facts(phone))


# -- tasks and what is open in them --


@service("activity")
def _activity(phone: Phone, words: list[str]) -> str:
    parts = {"r": _recents, "a": _activities, "p": _processes}
    section = words[0] if words else ""
    if not section:
        return "\n".join(part(phone) for part in parts.values())
    if section == "top":
        return _top(phone)
    if section in ("r", "recents", "a", "activities", "p", "processes"):
        return parts[section[0]](phone)
    return f"ACTIVITY MANAGER {section.upper()} (dumpsys activity {section})\n  (nothing)\n"


def _stacks(phone: Phone) -> list[tuple[int, list[Activity]]]:
    """(task, its activities from the top on), the task that is seen first."""
    found = [(t.id, list(reversed(t.activities))) for t in reversed(phone.tasks)]
    found.insert(0 if phone.at_home else len(found), (1, [phone.launcher]))
    return found


def _task(phone: Phone, number: int, activities: list[Activity]) -> str:
    package = activities[0].package
    return filled(
        "activity_task", mark=mark(f"task {number}"), number=number, package=package,
        kind="home" if number == 1 else "standard", uid=uid_of(phone, package, 10000),
        visible=phone.activity in activities, size=len(activities),
    ).rstrip("\n")  # fmt: skip


def _activities(phone: Phone) -> str:
    parts = [
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\n"
        "Display #0 (activities from top to bottom):\n"
    ]
    for number, activities in _stacks(phone):
        parts.append(f"  * {_task(phone, number, activities)}\n")
        for place, each in zip(range(len(activities))[::-1], activities, strict=True):
            seen = each is phone.activity
            parts.append(filled(
                "activity_row", place=place, package=each.package, visible=seen,
                record=record(phone, each, number), state="RESUMED" if seen else "STOPPED",
                component=component(phone, each, short=True),
            ))  # fmt: skip
    if phone.awake:
        parts.append(filled("activity_resumed", seen=seen_record(phone)))
    return "".join(parts) + f"  mFocusedApp={seen_record(phone)}\n"


def _top(phone: Phone) -> str:
    name, package = component(phone, phone.activity, short=True), phone.activity.package
    task = phone.front.id if phone.front else 1
    return filled(
        "activity_top", package=package, task=task, name=name, mark=mark(name), pid=pid_of(package)
    )


def _recents(phone: Phone) -> str:
    rows = [
        filled(
            "activity_recent_row", place=place, task=_task(phone, t.id, list(t.activities[::-1])),
            activity=component(phone, t.activities[0]), uptime=phone.clock.uptime_ms,
        )
        for place, t in enumerate(reversed(phone.tasks))
    ]  # fmt: skip
    if not rows:
        return "ACTIVITY MANAGER RECENT TASKS (dumpsys activity recents)\n  (nothing)\n"
    visible = [
        filled(
            "activity_visible_row", place=place, number=t.id, uptime=phone.clock.uptime_ms,
            base=component(phone, t.activities[0], short=True),
            top=component(phone, t.top, short=True),
        )
        for place, t in enumerate(reversed(phone.tasks))
    ]  # fmt: skip
    return (
        "ACTIVITY MANAGER RECENT TASKS (dumpsys activity recents)\n" + "".join(rows)
        + "\n  Visible recent tasks (most recent first):\n" + "".join(visible)
    )  # fmt: skip


def processes(phone: Phone) -> dict[str, int]:
    """The packages that run, the one that is seen first, with their users' numbers."""
    names = [phone.activity.package, *(t.package for t in phone.tasks)]
    return {name: uid_of(phone, name, 10000) for name in names}


def _processes(phone: Phone) -> str:
    rows = [
        filled(
            "activity_process_row", uid=uid, mark=mark(name), pid=pid_of(name), package=name,
            user=uid % 10000,
        )
        for name, uid in processes(phone).items()
    ]  # fmt: skip
    return "ACTIVITY MANAGER RUNNING PROCESSES (dumpsys activity processes)\n" + "".join(rows)


def pid_of(package: str) -> int:
    """A process's number, which follows from the package."""
    return 2000 + int(mark(package), 16) % 20000
