"""am, monkey: the activity manager (AOSP ``ActivityManagerShellCommand``, ``Monkey``)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

from ui_gym_phone.data import table
from ui_gym_phone.shell.framework import FAILED, framework_command, quiet, refused, says
from ui_gym_phone.shell.registry import CommandContext, ShellMachine, command
from ui_gym_phone.state import intents, switches
from ui_gym_phone.state.display import display
from ui_gym_phone.state.intents import ACTION, CATEGORY, Intent
from ui_gym_phone.state.phone import Phone

ON_TOP = (
    "Warning: Activity not started, intent has been delivered to currently running "
    "top-most instance."
)
TO_FRONT = "Warning: Activity not started, its current task has been brought to the front"

MAX_TEXT = 20_000
"""Characters that one broadcast may type."""

_OWN_FLAGS = ("-D", "-N", "-W", "-S")
_A, _DEL, _CTRL, _ENTER = 29, 67, 113, 66
_RESULT_OK = -1


# -- the words that name an intent (AOSP ``Intent.parseCommandArgs``) --


def _truth(value: str) -> bool:
    if value.lower() in ("true", "t", "1"):
        return True
    if value.lower() in ("false", "f", "0"):
        return False
    raise ValueError(value)


def _whole(value: str) -> int:
    return int(value, 0)


def _list_of(read: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    return lambda value: [read(part) for part in value.split(",")]


_EXTRAS: dict[str, Callable[[str], Any]] = {
    "-e": str, "--es": str, "--ei": _whole, "--el": _whole, "--ef": float, "--ed": float,
    "--ez": _truth, "--eu": str, "--ecn": str, "--eia": _list_of(_whole), "--ela": _list_of(_whole),
    "--efa": _list_of(float), "--esa": _list_of(str), "--esal": _list_of(str),
}  # fmt: skip
_FIELDS = {"-a": "action", "-d": "data", "-t": "type", "-p": "package"}
_IGNORED = ("-i", "--user", "--display", "--windowingMode", "-R", "--receiver-permission")
CLEAR_TASK = 0x00008000
CLEAR_TOP = 0x04000000


class IntentFault(Exception):
    """Words that are no intent; the message is Android's."""


def intent_of(words: list[str]) -> Intent:
    """The intent of the words. Raises `IntentFault`."""
    intent, left, flags = Intent(), list(words), table("shell_names")["intent_flags"]

    def value(word: str) -> str:
        if not left:
            raise IntentFault(f'Error: Argument expected after "{word}"')
        return left.pop(0)

    while left:
        word = left.pop(0)
        if word in flags:
            intent.flags |= flags[word]
        elif word == "--esn":
            intent.extras[value(word)] = None
        elif word in _EXTRAS:
            key = value(word)
            try:
                intent.extras[key] = _EXTRAS[word](value(key))
            except ValueError as error:
                raise IntentFault(f"Error: Invalid value of extra {key}: {error}") from None
        elif word in _FIELDS:
            setattr(intent, _FIELDS[word], value(word))
        elif word == "-c":
            intent.categories = (*intent.categories, value(word))
        elif word == "-n":
            name = value(word)
            intent.component = component(name)
            if intent.component is None:
                raise IntentFault(f"Error: Bad component name: {name}")
        elif word == "-f":
            given = value(word)
            try:
                intent.flags |= int(given, 0)
            except ValueError:
                raise IntentFault(f"Error: Bad flags: {given}") from None
        elif word in _IGNORED:
            value(word)
        elif word.startswith("-"):
            raise IntentFault(f"Error: Unknown option: {word}")
        else:
            _free(intent, word)
    return intent


def _free(intent: Intent, word: str) -> None:
    """A word by itself: a URI, a component, or a package whose main activity is meant."""
    if ":" in word:
        intent.data = word
        intent.action = intent.action or ACTION + "VIEW"
    elif "/" in word:
        intent.component = component(word)
    else:
        intent.package = word
        intent.action = intent.action or ACTION + "MAIN"
        intent.categories = intent.categories or (CATEGORY + "LAUNCHER",)


def component(name: str) -> tuple[str, str] | None:
    """(package, full class) of ``package/.Class``; None where it is none."""
    package, slash, cls = name.partition("/")
    if not (package and slash and cls):
        return None
    return package, package + cls if cls.startswith(".") else cls


# -- am --

am = framework_command("am")
am.add(kill=quiet, kill_all=quiet, get_current_user=says("0\n"))


def _read(ctx: CommandContext, skipped: tuple[str, ...] = ()) -> Intent:
    """The intent that the words name."""
    try:
        return intent_of([word for word in ctx.words if word not in skipped])
    except IntentFault as fault:
        raise refused(ctx, str(fault)) from None


@am("start", "start-activity")
def _start(ctx: CommandContext) -> None:
    phone, intent = ctx.phone, _read(ctx, _OWN_FLAGS)
    waits = "-W" in ctx.words
    if "-S" in ctx.words and (target := intents.resolve(phone, intent)) is not None:
        ctx.out(f"Stopping: {target.package}\n")
        phone.force_stop(target.package)
    ctx.out(f"Starting: {intent}\n")
    known = {task.package for task in phone.tasks}
    target, word = _open(phone, intent)
    if word:  # as Android has it: those who wait read it on the standard output
        (ctx.out if waits else ctx.err)(f"{word}\n")
    if target is None:
        ctx.code = 1
    elif waits:
        state = "HOT" if word else "WARM" if target.package in known else "COLD"
        name = phone.packages[target.package].component(target.cls)
        ctx.out(
            f"Status: ok\nLaunchState: {state}\n"
            f"Activity: {intents.short_component(target.package, name)}\n"
            "TotalTime: 212\nWaitTime: 216\nComplete\n"
        )


def _open(phone: Phone, intent: Intent) -> tuple[intents.IntentTarget | None, str]:
    """(what was opened, a warning), or (None, the error)."""
    home = intents.IntentTarget("com.android.launcher3", phone.launcher.cls, {})
    target = home if intents.home(intent) else intents.resolve(phone, intent)
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


@am("startservice", "start-service", "start-foreground-service", "stopservice", "stop-service")
def _service(ctx: CommandContext) -> None:
    intent, stops = _read(ctx), ctx.verb.startswith("stop")
    ctx.out(f"{'Stopping' if stops else 'Starting'} service: {intent}\n")
    package = intent.component[0] if intent.component else intent.package
    if package not in ctx.phone.packages:
        none = "Service not stopped, was not running." if stops else ""
        ctx.err(f"{none or 'Error: Not found; no service started.'}\n")
        ctx.code = 0 if stops else FAILED


@am("force-stop", "stop-app")
def _force_stop(ctx: CommandContext) -> None:
    words = [w for w in ctx.words if not w.startswith("-")]
    if not words:
        raise refused(ctx, f'Error: Argument expected after "{ctx.verb}"')
    ctx.phone.force_stop(words[-1])


@am("stack")
def _stack(ctx: CommandContext) -> None:
    """``stack list``: the tasks from the one that is seen on down; ``stack remove TASK``."""
    phone, verb = ctx.phone, [*ctx.words, ""][0]
    if verb == "remove" and len(ctx.words) > 1:
        for task in [t for t in phone.tasks if str(t.id) == ctx.words[1]]:
            phone.close_task(task)
        return
    if verb != "list":
        raise refused(ctx, f"Error: unknown command '{verb}'")
    shown = display(phone)
    box = f"[0,0][{shown.width},{shown.height}]"
    tasks = [(t.id, t.top, t is phone.front) for t in reversed(phone.tasks)]
    tasks.insert(0 if phone.at_home else len(tasks), (1, phone.launcher, phone.at_home))
    for number, activity, visible in tasks:
        package = phone.packages.get(activity.package)
        cls = package.component(activity.cls) if package else activity.package + activity.cls
        name = f"{activity.package}/{cls}"
        ctx.out(
            f"RootTask id={number} bounds={box} displayId=0 userId=0\n"
            f"  taskId={number}: {name} bounds={box} userId=0"
            f" visible={str(visible).lower()} topActivity=ComponentInfo{{{name}}}\n\n"
        )


@am("instrument")
def _instrument(ctx: CommandContext) -> None:
    name = next((w for w in reversed(ctx.words) if "/" in w), "")
    ctx.out(
        "INSTRUMENTATION_STATUS: id=ActivityManagerService\n"
        "INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: "
        f"ComponentInfo{{{name}}}\nINSTRUMENTATION_STATUS_CODE: -1\n"
    )
    ctx.err(f"android.util.AndroidException: INSTRUMENTATION_FAILED: {name}\n")
    ctx.code = 1


# -- broadcasts --


@am("broadcast")
def _broadcast(ctx: CommandContext) -> None:
    intent = _read(ctx, ("--async",))
    intent.flags |= 0x00400000  # which `am` adds: FLAG_RECEIVER_FROM_SHELL
    ctx.out(f"Broadcasting: {intent}\n")
    code, data = _deliver(ctx.machine, intent)
    told = "" if data is None else f', data="{data}"'
    ctx.out(f"Broadcast completed: result={code}{told}\n")


def _deliver(machine: ShellMachine, intent: Intent) -> tuple[int, str | None]:
    """Hand a broadcast to what listens, the keyboard for typing (ADBKeyBoard's actions) and the
    clipboard (Clipper's): its (code, data), which are (0, None) where nothing does."""
    action, phone = intent.action, machine.phone
    text = str(intent.extras.get("msg") or "")
    if action == "clipper.get":
        return (_RESULT_OK, phone.clipboard) if phone.clipboard else (0, None)
    if action == "clipper.set":
        phone.clipboard = str(intent.extras.get("text") or "")
        return _RESULT_OK, "Text is copied into clipboard."
    if action == "ADB_INPUT_B64":
        try:
            text = base64.b64decode(text, validate=True).decode()
        except (binascii.Error, ValueError):
            return 0, None
        machine.text(text[:MAX_TEXT])
    elif action == "ADB_INPUT_TEXT":
        machine.text(text[:MAX_TEXT])
    elif action == "ADB_INPUT_CHARS":
        codes = intent.extras.get("chars")
        if isinstance(codes, list):
            machine.text("".join(chr(c) for c in codes[:MAX_TEXT] if 0 < c < 0xD800))
    elif action in ("ADB_INPUT_CODE", "ADB_EDITOR_CODE"):
        code = intent.extras.get("code")
        if isinstance(code, int):
            machine.key(_ENTER if action == "ADB_EDITOR_CODE" else code)
    elif action == "ADB_CLEAR_TEXT":
        machine.key(_A, _CTRL)
        machine.key(_DEL)
    elif action == ACTION + "AIRPLANE_MODE":
        switches.set_airplane(phone, switches.airplane(phone))
    elif action == ACTION + "CLOSE_SYSTEM_DIALOGS":
        phone.shade = ""
    return 0, None


# -- monkey --


@command("monkey")
def _monkey(ctx: CommandContext) -> None:
    """Opens a package, as its first event does. The events after that touch nothing."""
    package, categories, count = "", list[str](), ""
    words = iter(ctx.words)
    for word in words:
        if word.startswith("-p") and not word.startswith("--"):
            package = word[2:] or next(words, "")
        elif word.startswith("-c"):
            categories.append(word[2:] or next(words, ""))
        elif word in ("-s", "--throttle", "--port", "--setup", "-f") or word.startswith("--pct-"):
            next(words, "")
        elif not word.startswith("-"):
            count = word
    if not count.isdecimal() or len(count) > 9:
        raise refused(ctx, f"** Error: {'not a number' if count else 'Count not specified'}")
    phone = ctx.phone
    known = not categories or {CATEGORY + "LAUNCHER", CATEGORY + "MONKEY"} & set(categories)
    found = phone.packages.get(package)
    if package and not (known and found and found.enabled and found.launchable):
        ctx.out("** No activities found to run, monkey aborted.\n")
        ctx.code = 252
        return
    if package and int(count) > 0:
        _open(phone, Intent(ACTION + "MAIN", categories=(CATEGORY + "LAUNCHER",), package=package))
    ctx.out(f"Events injected: {count}\n")
    ctx.out("## Network stats: elapsed time=36ms (0ms mobile, 0ms wifi, 36ms not connected)\n")
