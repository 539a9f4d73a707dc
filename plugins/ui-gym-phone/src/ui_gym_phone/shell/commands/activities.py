"""am, monkey: the activity manager (AOSP ``ActivityManagerShellCommand``, ``Monkey``)."""

from __future__ import annotations

from ui_gym_phone.shell.broadcasts import deliver
from ui_gym_phone.shell.intent_words import CLEAR_TASK, CLEAR_TOP, read
from ui_gym_phone.shell.machine import FAILED, machine_of, phone_of, refused, subcommand
from ui_gym_phone.shell.registry import Context, command
from ui_gym_phone.state import intents
from ui_gym_phone.state.intents import ACTION, CATEGORY, Intent
from ui_gym_phone.state.phone import Phone

USAGE = """Activity manager (activity) commands:
  help
      Print this help text.
  start-activity [-D] [-N] [-W] [-P <FILE>] [-S] [-R COUNT] [--user <USER_ID>] <INTENT>
      Start an Activity.
  start-service [--user <USER_ID>] <INTENT>
      Start a Service.
  force-stop [--user <USER_ID> | all | current] <PACKAGE>
      Completely stop the given application package.
  kill [--user <USER_ID> | all | current] <PACKAGE>
      Kill all background processes associated with the given application.
  broadcast [--user <USER_ID>] [-R] <INTENT>
      Send a broadcast Intent.
  stack [COMMAND] [...]: sub-commands for operating on activity stacks.
  get-current-user
      Returns id of the current foreground user.
"""

ON_TOP = (
    "Warning: Activity not started, intent has been delivered to currently running "
    "top-most instance."
)
TO_FRONT = "Warning: Activity not started, its current task has been brought to the front"

_OWN_FLAGS = ("-D", "-N", "-W", "-S", "--streaming", "--track-allocation", "--attach-agent-bind")


@command("am")
def am(ctx: Context, argv: list[str]) -> int:
    table = {
        "start": _start, "start-activity": _start, "startservice": _service,
        "start-service": _service, "start-foreground-service": _service, "stopservice": _service,
        "stop-service": _service, "force-stop": _force_stop, "stop-app": _force_stop,
        "kill": _quiet, "kill-all": _quiet, "broadcast": _broadcast, "stack": _stack,
        "get-current-user": _user, "instrument": _instrument, "idle-maintenance": _quiet,
        "wait-for-broadcast-idle": _idle, "wait-for-broadcast-barrier": _idle,
        "clear-debug-app": _quiet, "set-debug-app": _quiet, "crash": _force_stop,
    }  # fmt: skip
    return subcommand(ctx, argv, table, USAGE)


def _start(ctx: Context, argv: list[str]) -> int:
    own = [w for w in argv[1:] if w in _OWN_FLAGS]
    intent, fault = read([w for w in argv[1:] if w not in _OWN_FLAGS])
    if intent is None:
        return refused(ctx, fault)
    phone = phone_of(ctx)
    if "-S" in own:
        target = intents.resolve(phone, intent)
        if target is not None:
            ctx.out(f"Stopping: {target.package}\n")
            phone.force_stop(target.package)
    ctx.out(f"Starting: {intent}\n")
    known = {task.package for task in phone.tasks}
    target, word = _open(phone, intent)
    if word:  # as Android has it: those who wait read it on the standard output
        (ctx.out if "-W" in own else ctx.err)(f"{word}\n")
    if target is None:
        return 1
    if "-W" in own:
        state = "HOT" if word else "WARM" if target.package in known else "COLD"
        name = phone.packages[target.package].component(target.cls)
        ctx.out(
            f"Status: ok\nLaunchState: {state}\n"
            f"Activity: {intents.short_component(target.package, name)}\n"
            "TotalTime: 212\nWaitTime: 216\nComplete\n"
        )
    return 0


def _open(phone: Phone, intent: Intent) -> tuple[intents.IntentTarget | None, str]:
    """(what was opened, a warning), or (None, the error)."""
    home = intents.IntentTarget("com.android.launcher3", phone.launcher.cls, {})
    if intents.home(intent):
        phone.home()
        return home, ""
    target = intents.resolve(phone, intent)
    if target is None:
        if intent.component is not None:
            package, cls = intent.component
            return None, f"Error type 3\nError: Activity class {{{package}/{cls}}} does not exist."
        return None, f"Error: Activity not started, unable to resolve {intent}"
    if target.package == home.package:
        phone.home()
        return home, ""
    task = next((t for t in phone.tasks if t.package == target.package), None)
    plain = target.cls == phone.packages[target.package].main and not target.extras
    fresh = bool(intent.flags & (CLEAR_TASK | CLEAR_TOP))
    if task is not None and not fresh:
        same = task.top.cls == target.cls and task.top.extras == target.extras
        if task is phone.front and same:
            phone.shade, phone.recents = "", False
            return target, ON_TOP
        if plain:
            phone.launch(target.package)
            return target, TO_FRONT
    intents.start(phone, intent, fresh=fresh)
    return target, ""


def _service(ctx: Context, argv: list[str]) -> int:
    intent, fault = read(argv[1:])
    if intent is None:
        return refused(ctx, fault)
    verb = "Stopping" if argv[0].startswith("stop") else "Starting"
    ctx.out(f"{verb} service: {intent}\n")
    package = intent.component[0] if intent.component else intent.package
    if package not in phone_of(ctx).packages:
        none = "Service not stopped, was not running." if verb == "Stopping" else ""
        ctx.err(f"{none or 'Error: Not found; no service started.'}\n")
        return 0 if none else FAILED
    return 0


def _force_stop(ctx: Context, argv: list[str]) -> int:
    words = [w for w in argv[1:] if not w.startswith("-")]
    if not words:
        return refused(ctx, f'Error: Argument expected after "{argv[0]}"')
    phone_of(ctx).force_stop(words[-1])
    return 0


def _broadcast(ctx: Context, argv: list[str]) -> int:
    intent, fault = read([w for w in argv[1:] if w != "--async"])
    if intent is None:
        return refused(ctx, fault)
    intent.flags |= 0x00400000  # which `am` adds: FLAG_RECEIVER_FROM_SHELL
    ctx.out(f"Broadcasting: {intent}\n")
    code, data = deliver(machine_of(ctx), intent)
    told = "" if data is None else f', data="{data}"'
    ctx.out(f"Broadcast completed: result={code}{told}\n")
    return 0


def _stack(ctx: Context, argv: list[str]) -> int:
    if argv[1:2] != ["list"]:
        return refused(ctx, f"Error: unknown command '{' '.join(argv[1:2])}'")
    ctx.out(root_tasks(phone_of(ctx)))
    return 0


def root_tasks(phone: Phone) -> str:
    """What `am stack list` tells: the tasks from the one that is seen on down."""
    box = f"[0,0][{phone.width},{phone.height}]"
    tasks = [(t.id, t.top, t is phone.front) for t in reversed(phone.tasks)]
    place = 0 if phone.at_home else len(tasks)
    tasks.insert(place, (1, phone.launcher, phone.at_home))
    parts = []
    for number, activity, visible in tasks:
        package = phone.packages.get(activity.package)
        cls = package.component(activity.cls) if package else activity.package + activity.cls
        name = f"{activity.package}/{cls}"
        parts.append(
            f"RootTask id={number} bounds={box} displayId=0 userId=0\n"
            f"  taskId={number}: {name} bounds={box} userId=0"
            f" visible={str(visible).lower()} topActivity=ComponentInfo{{{name}}}\n\n"
        )
    return "".join(parts)


def _instrument(ctx: Context, argv: list[str]) -> int:
    name = next((w for w in reversed(argv[1:]) if "/" in w), "")
    ctx.out(
        "INSTRUMENTATION_STATUS: id=ActivityManagerService\n"
        "INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: "
        f"ComponentInfo{{{name}}}\nINSTRUMENTATION_STATUS_CODE: -1\n"
    )
    ctx.err(f"android.util.AndroidException: INSTRUMENTATION_FAILED: {name}\n")
    return 1


def _user(ctx: Context, argv: list[str]) -> int:
    ctx.out("0\n")
    return 0


def _idle(ctx: Context, argv: list[str]) -> int:
    ctx.out("All broadcast queues are idle!\n")
    return 0


def _quiet(ctx: Context, argv: list[str]) -> int:
    """What has no effect that could be seen."""
    return 0


@command("monkey")
def monkey(ctx: Context, argv: list[str]) -> int:
    """Opens a package, as its first event does. The events after that touch nothing."""
    package, categories, count = "", [], ""
    words = iter(argv[1:])
    for word in words:
        if word == "-p":
            package = next(words, "")
        elif word == "-c":
            categories.append(next(words, ""))
        elif word in ("-s", "--throttle", "--port", "--setup", "-f") or word.startswith("--pct-"):
            next(words, "")
        elif not word.startswith("-"):
            count = word
    if not count.isdecimal() or len(count) > 9:
        ctx.err("** Error: Count not specified\n" if not count else "** Error: not a number\n")
        return FAILED
    phone = phone_of(ctx)
    wanted = {CATEGORY + "LAUNCHER", CATEGORY + "MONKEY"}
    known = not categories or bool(wanted.intersection(categories))
    opens = package and known and int(count) > 0
    if package and (not known or not _startable(phone, package)):
        ctx.out("** No activities found to run, monkey aborted.\n")
        return 252
    if opens:
        launcher = Intent(ACTION + "MAIN", categories=(CATEGORY + "LAUNCHER",), package=package)
        _open(phone, launcher)
    ctx.out(f"Events injected: {count}\n")
    ctx.out("## Network stats: elapsed time=36ms (0ms mobile, 0ms wifi, 36ms not connected)\n")
    return 0


def _startable(phone: Phone, package: str) -> bool:
    found = phone.packages.get(package)
    return found is not None and found.enabled and found.launchable
