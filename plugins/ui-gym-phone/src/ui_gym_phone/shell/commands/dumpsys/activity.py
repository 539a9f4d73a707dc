"""dumpsys activity: tasks and what is open in them."""

from __future__ import annotations

from ui_gym_phone.shell.commands.dumpsys.services import mark, service, word
from ui_gym_phone.shell.commands.dumpsys.window import component, record, seen
from ui_gym_phone.state.activities import Activity
from ui_gym_phone.state.phone import Phone


@service("activity")
def activity(phone: Phone, words: list[str]) -> str:
    section = words[0] if words else ""
    if section in ("activities", "a"):
        return _activities(phone)
    if section == "top":
        return _top(phone)
    if section in ("recents", "r"):
        return _recents(phone)
    if section in ("processes", "p"):
        return _processes(phone)
    if section:
        return f"ACTIVITY MANAGER {section.upper()} (dumpsys activity {section})\n  (nothing)\n"
    return "\n".join((_recents(phone), _activities(phone), _processes(phone)))


def _stacks(phone: Phone) -> list[tuple[int, list[Activity]]]:
    """(task, its activities from the top on), the task that is seen first."""
    found = [(t.id, list(reversed(t.activities))) for t in reversed(phone.tasks)]
    found.insert(0 if phone.at_home else len(found), (1, [phone.launcher]))
    return found


def _task(phone: Phone, number: int, activities: list[Activity]) -> str:
    package = phone.packages.get(activities[0].package)
    uid = package.uid if package else 10000
    visible = word(phone.activity in activities)
    kind = "home" if number == 1 else "standard"
    return (
        f"Task{{{mark(f'task {number}')} #{number} type={kind} A={uid}:{activities[0].package} U=0"
        f" visible={visible} visibleRequested={visible} mode=fullscreen translucent=false"
        f" sz={len(activities)}}}"
    )


def _activities(phone: Phone) -> str:
    parts = [
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\n"
        "Display #0 (activities from top to bottom):\n"
    ]
    for number, activities in _stacks(phone):
        parts.append(f"  * {_task(phone, number, activities)}\n")
        for i, each in enumerate(activities):
            place = len(activities) - 1 - i
            state = "RESUMED" if each is phone.activity else "STOPPED"
            parts.append(
                f"    * Hist  #{place}: {record(phone, each, number)}\n"
                f"      packageName={each.package} processName={each.package}\n"
                f"      mActivityComponent={component(phone, each, short=True)}\n"
                f"      state={state} nowVisible={word(each is phone.activity)}\n"
            )
    if phone.awake:
        parts.append(
            f"\n    mResumedActivity: {seen(phone)}\n\n"
            f"  ResumedActivity: {seen(phone)}\n"
            f"  topResumedActivity={seen(phone)}\n"
        )
    parts.append(f"  mFocusedApp={seen(phone)}\n")
    return "".join(parts)


def _top(phone: Phone) -> str:
    task = phone.front.id if phone.front else 1
    name = component(phone, phone.activity, short=True)
    return (
        f"TASK {phone.activity.package} id={task} userId=0\n"
        f"  ACTIVITY {name} {mark(name)} pid={pid_of(phone.activity.package)} userId=0\n"
        "    Local Activity State:\n      mResumed=true mStopped=false mFinished=false\n"
    )


def _recents(phone: Phone) -> str:
    parts = ["ACTIVITY MANAGER RECENT TASKS (dumpsys activity recents)\n"]
    tasks = [(t.id, list(reversed(t.activities))) for t in reversed(phone.tasks)]
    for place, (number, activities) in enumerate(tasks):
        parts.append(f"  * Recent #{place}: {_task(phone, number, activities)}\n")
        parts.append(
            f"    realActivity={{{component(phone, activities[-1])}}}\n"
            f"    lastActiveTime={phone.clock.uptime_ms} (inactive for 0s)\n"
        )
    if not tasks:
        parts.append("  (nothing)\n")
    return "".join(parts)


def _processes(phone: Phone) -> str:
    parts = ["ACTIVITY MANAGER RUNNING PROCESSES (dumpsys activity processes)\n"]
    for name in dict.fromkeys([phone.activity.package, *(t.package for t in phone.tasks)]):
        package = phone.packages.get(name)
        uid = package.uid if package else 10000
        parts.append(
            f"  *APP* UID {uid} ProcessRecord"
            f"{{{mark(name)} {pid_of(name)}:{name}/u0a{uid % 10000}}}\n"
        )
    return "".join(parts)


def pid_of(package: str) -> int:
    """A process's number, which follows from the package."""
    return 2000 + int(mark(package), 16) % 20000
