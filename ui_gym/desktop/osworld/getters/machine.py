"""Getters of the machine: what commands say, its screen, windows, folders and desktop."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from ui_gym.contract.action import Press, Type
from ui_gym.desktop.device import CommandResult
from ui_gym.desktop.osworld.commands import guest_command
from ui_gym.desktop.osworld.getters.files import fetch, keep, on_machine
from ui_gym.desktop.osworld.registry import Config, EvaluationContext, getter
from ui_gym.errors import UserError

COMMAND_TIMEOUT = 120.0
"""Seconds for a command, as OSWorld's server allows."""
STATE = "{https://accessibility.ubuntu.example.org/ns/state}"
PICTURE_KEYS = ("picture-uri", "picture-uri-dark")
VIDEO_TYPES = (
    "3gp 3gpp 3gpp2 avi divx dv fli flv mp2t mp4 mp4v-es mpeg mpeg-system msvideo ogg quicktime "
    "vnd.divx vnd.mpegurl vnd.rn-realvideo webm x-anim x-avi x-flc x-fli x-flv x-m4v x-matroska "
    "x-mpeg x-mpeg-system x-mpeg2 x-ms-asf x-ms-asf-plugin x-ms-asx x-ms-wm x-ms-wmv x-ms-wmx "
    "x-ms-wvx x-msvideo x-nsv x-ogm x-ogm+ogg x-theora x-theora+ogg"
)
"""The kinds of film whose program is asked for."""


@getter("vm_command_line")
def vm_command_line(context: EvaluationContext, config: Config) -> str:
    """What a command writes to its standard output."""
    return _run(context, config).stdout.decode("utf-8", "replace")


@getter("vm_command_error")
def vm_command_error(context: EvaluationContext, config: Config) -> str:
    """What a command writes to its standard error."""
    return _run(context, config).stderr.decode("utf-8", "replace")


@getter("accessibility_tree")
def accessibility_tree(context: EvaluationContext, config: Config) -> str:
    """The accessibility tree, as XML."""
    return context.device.ui_tree()


@getter("vm_terminal_output")
def vm_terminal_output(context: EvaluationContext, config: Config) -> str | None:
    """What the terminal shows that has the focus, without blanks at its end; None without one.

    A device's own ``terminal_output()`` is asked where it has one, else the accessibility tree.
    """
    own = getattr(context.device, "terminal_output", None)
    if own is not None:
        output: str | None = own()
        return output
    try:
        tree = ElementTree.fromstring(context.device.ui_tree())
    except ElementTree.ParseError:
        return None
    terminals = [element for element in tree.iter("terminal") if element.text]
    focused = [element for element in terminals if element.get(f"{STATE}focused") == "true"]
    chosen = focused if focused else terminals
    return str(chosen[0].text).rstrip() if len(chosen) == 1 else None


@getter("vm_screen_size")
def vm_screen_size(context: EvaluationContext, config: Config) -> dict[str, int]:
    """The screen's ``width`` and ``height``, in pixels."""
    return {"width": context.size[0], "height": context.size[1]}


@getter("vm_window_size")
def vm_window_size(context: EvaluationContext, config: Config) -> dict[str, int] | None:
    """``width`` and ``height``, in pixels, of the first window of the class ``app_class_name``.

    A device's own ``window_size(name)`` is asked where it has one.
    """
    name = config["app_class_name"]
    own = getattr(context.device, "window_size", None)
    size: tuple[int, int] | None = own(name) if own is not None else None
    if own is None:
        sizes = (w.box[2:] for w in context.device.windows() if w.app.lower() == name.lower())
        size = next(sizes, None)
    return None if size is None else {"width": size[0], "height": size[1]}


@getter("vm_wallpaper")
def vm_wallpaper(context: EvaluationContext, config: Config) -> str | None:
    """The local copy of the desktop's background picture.

    A device's own ``wallpaper()`` is asked where it has one, else GNOME's settings.
    """
    own = getattr(context.device, "wallpaper", None)
    if own is not None:
        data: bytes | None = own()
        return keep(context, config["dest"], data) if data else None
    for key in PICTURE_KEYS:
        command = ["gsettings", "get", "org.gnome.desktop.background", key]
        found = context.device.run(command, timeout=COMMAND_TIMEOUT)
        path = found.text.strip().strip("'").removeprefix("file://")
        copy = fetch(context, path, config["dest"]) if found.code == 0 and path else None
        if copy is not None:
            return copy
    return None


@getter("list_directory")
def list_directory(context: EvaluationContext, config: Config) -> dict[str, Any] | None:
    """A folder as a tree of ``{"type", "name", "children"}``; None where there is none.

    Links are neither followed nor told from files.
    """
    return directory_tree(context, config["path"])


@getter("default_video_player")
def default_video_player(context: EvaluationContext, config: Config) -> str:
    """The ``.desktop`` file of the program for most kinds of film, or "unknown"."""
    lines = "; ".join(f"xdg-mime query default video/{kind}" for kind in VIDEO_TYPES.split())
    output = context.device.run(lines, timeout=COMMAND_TIMEOUT).stdout.decode("utf-8", "replace")
    programs = output.splitlines(keepends=True)
    return max(programs, key=programs.count, default="unknown")


@getter("replay")
def replay(context: EvaluationContext, config: Config) -> None:
    """Do the actions of ``trajectory``: ``{"type": "hotkey" | "typewrite" | "press", "param"}``."""
    for step in config["trajectory"]:
        kind, parameter = step["type"], step["param"]
        if kind == "hotkey":
            context.device.perform(Press("+".join(parameter)))
        elif kind == "typewrite":
            context.device.perform(Type(parameter))
        elif kind == "press":
            context.device.perform(Press(parameter))
        else:
            raise UserError(f"a trajectory has no step {kind!r} (known: hotkey, typewrite, press)")


def directory_tree(context: EvaluationContext, path: str) -> dict[str, Any] | None:
    """A folder of the machine as a tree; None where there is none."""
    folder = on_machine(context, path)
    command = ["find", folder, "-mindepth", "1", "-printf", r"%y\t%P\0"]
    test = context.device.run(["test", "-d", folder], timeout=COMMAND_TIMEOUT)
    if test.code != 0:
        return None
    output = context.device.run(command, timeout=COMMAND_TIMEOUT).stdout.decode("utf-8", "replace")
    tree = _directory(folder.rstrip("/").rpartition("/")[2])
    folders = {"": tree}
    for entry in sorted(filter(None, output.split("\0")), key=lambda entry: entry.split("\t")[1]):
        kind, _, inner = entry.partition("\t")
        above, _, name = inner.rpartition("/")
        node = _directory(name) if kind == "d" else {"type": "file", "name": name}
        if kind == "d":
            folders[inner] = node
        if above in folders:
            folders[above]["children"].append(node)
    return tree


def _directory(name: str) -> dict[str, Any]:
    return {"type": "directory", "name": name, "children": []}


def _run(context: EvaluationContext, config: Config) -> CommandResult:
    command = guest_command(config["command"], config.get("shell"), context.device.home)
    return context.device.run(command, timeout=COMMAND_TIMEOUT)
