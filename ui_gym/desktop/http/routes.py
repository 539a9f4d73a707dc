"""The routes of OSWorld's server that look, act, and look after windows and files.

Shapes of requests and answers follow https://github.com/xlang-ai/OSWorld
(``desktop_env/server/main.py``), so that its clients see no difference.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from ui_gym.contract.action import Open
from ui_gym.desktop.device import SessionSpec, Warm
from ui_gym.desktop.http.message import HttpAnswer, Request
from ui_gym.desktop.http.shared import REMEDY, SharedDesktop
from ui_gym.desktop.uitree import terminal_text
from ui_gym.errors import ActionError
from ui_gym.remote.guard import Mistake

Route = Callable[[SharedDesktop, Request], HttpAnswer]

_BACKGROUND = ("org.gnome.desktop.background", "picture-uri")


def screenshot(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    return HttpAnswer(desktop.screenshot(), "image/png")


def accessibility(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    with desktop.turn:
        return HttpAnswer.json({"AT": desktop.device.ui_tree()})


def terminal(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    with desktop.turn:
        xml = desktop.device.ui_tree()
    return HttpAnswer.json({"output": terminal_text(xml), "status": "success"})


def platform(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    return HttpAnswer.text("Linux")


def cursor_position(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    """Where the last action left it; before any, X has it in the middle."""
    width, height = desktop.device.size
    return HttpAnswer.json(list(desktop.pointer or (width // 2, height // 2)))


def screen_size(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    width, height = desktop.device.size
    return HttpAnswer.json({"width": width, "height": height})


def set_screen_resolution(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    said: dict[str, Any] = {**request.form().fields} or request.json()
    try:
        asked = int(said["width"]), int(said["height"])
    except (KeyError, TypeError, ValueError):
        raise Mistake(400, "Width and height must be integers") from None
    width, height = desktop.device.size
    if asked != (width, height):
        raise Mistake(501, f"this screen stays at {width}x{height}: start the server with --size")
    return HttpAnswer.json({"status": "success", "message": f"The screen is {width}x{height}"})


def window_size(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    name = _field(request, "app_class_name")
    with desktop.turn:
        windows = desktop.device.windows()
    for window in windows:
        if window.app.lower() == name.lower():
            return HttpAnswer.json({"width": window.box[2], "height": window.box[3]})
    return HttpAnswer.json({"error": f"no window of {name}"}, 404)


def activate_window(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    name, strict, by_class = _window(request)
    with desktop.turn:
        found = desktop.device.activate_window(name, strict=strict, by_class=by_class)
    return _told(found, name, "activated")


def close_window(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    name, strict, by_class = _window(request)
    with desktop.turn:
        found = desktop.device.close_window(name, strict=strict, by_class=by_class)
    return _told(found, name, "closed")


def open_file(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    """Open a file or a folder; else, start the program of that name."""
    said = _text(request, "path")
    path = desktop.path(said)
    if desktop.run(["test", "-e", path]).code == 0:
        with desktop.turn:
            desktop.device.open_file(path)
    elif "/" in said:
        return HttpAnswer.text(f"Application/file not found: {said}", 404)
    else:
        try:
            desktop.perform(Open(said))
        except ActionError as error:
            return HttpAnswer.text(f"Application/file not found: {error}", 404)
    return HttpAnswer.text("File opened and window activated successfully")


def desktop_path(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    return HttpAnswer.json({"desktop_path": f"{desktop.device.home}/Desktop"})


def file(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    path = desktop.path(_field(request, "file_path"))
    data = desktop.device.read(path)
    if data is None:
        return HttpAnswer.json({"error": "File not found"}, 404)
    return HttpAnswer(data, "application/octet-stream")


def upload(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    form = request.form()
    if "file_path" not in form.fields or "file_data" not in form.files:
        return HttpAnswer.json({"error": "file_path and file_data are required"}, 400)
    data = form.files["file_data"]
    desktop.device.write(desktop.path(form.fields["file_path"]), data)
    return HttpAnswer.text(f"File Uploaded: {len(data)} bytes")


def list_directory(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    path = desktop.path(_text(request, "path"))
    listed = desktop.run(["find", path, "-printf", r"%y%P\0"])
    entries = listed.stdout.decode("utf-8", "replace").split("\0")[:-1]
    if not entries or entries[0] != "d":
        return HttpAnswer.json({"error": "The provided path is not a directory"}, 400)
    root = _folder(path.rstrip("/").rpartition("/")[2])
    folders = {"": root}
    for entry in entries[1:]:  # a folder comes before what is in it
        kind, (above, _, name) = entry[0], entry[1:].rpartition("/")
        node = _folder(name) if kind == "d" else {"type": "file", "name": name}
        folders[above]["children"].append(node)
        if kind == "d":
            folders[entry[1:]] = node
    return HttpAnswer.json({"directory_tree": root})


def wallpaper(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    said = desktop.run(["gsettings", "get", *_BACKGROUND])
    path = said.text.strip("'").removeprefix("file://")
    data = desktop.device.read(path) if said.code == 0 and path.startswith("/") else None
    if data is None:
        return HttpAnswer.text("Wallpaper file not found", 404)
    return HttpAnswer(data, "image/png")


def change_wallpaper(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    path = desktop.path(_text(request, "path"))
    if desktop.run(["test", "-e", path]).code != 0:
        return HttpAnswer.text(f"File not found: {path}", 404)
    said = desktop.run(["gsettings", "set", *_BACKGROUND, f"file://{path}"])
    if said.code != 0:
        reason = said.stderr.decode("utf-8", "replace").strip()
        return HttpAnswer.text(f"Failed to change wallpaper. Error: {reason}", 500)
    return HttpAnswer.text("Wallpaper changed successfully")


def download_file(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    raise Mistake(501, "this desktop has no network: send the file to /setup/upload")


# -- ours alone --


def ours(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    """By which our own client knows this server."""
    return HttpAnswer.json({"server": "ui-gym", "allow_execute": desktop.allow_execute})


def windows(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    with desktop.turn:
        return HttpAnswer.json([asdict(window) for window in desktop.device.windows()])


def renew(desktop: SharedDesktop, request: Request) -> HttpAnswer:
    """Bring back how the server began, or begin the ``session`` that is given."""
    said = request.json().get("session")
    desktop.renew(None if said is None else _session(desktop, said))
    return HttpAnswer.json({"status": "success"})


ROUTES: dict[tuple[str, str], Route] = {
    ("GET", "/screenshot"): screenshot,
    ("GET", "/accessibility"): accessibility,
    ("GET", "/terminal"): terminal,
    ("GET", "/platform"): platform,
    ("GET", "/cursor_position"): cursor_position,
    ("POST", "/screen_size"): screen_size,
    ("POST", "/set_screen_resolution"): set_screen_resolution,
    ("POST", "/window_size"): window_size,
    ("POST", "/setup/activate_window"): activate_window,
    ("POST", "/setup/close_window"): close_window,
    ("POST", "/setup/open_file"): open_file,
    ("POST", "/desktop_path"): desktop_path,
    ("POST", "/file"): file,
    ("POST", "/setup/upload"): upload,
    ("POST", "/list_directory"): list_directory,
    ("POST", "/wallpaper"): wallpaper,
    ("POST", "/setup/change_wallpaper"): change_wallpaper,
    ("POST", "/setup/download_file"): download_file,
    ("GET", "/ui_gym"): ours,
    ("GET", "/ui_gym/windows"): windows,
    ("POST", "/ui_gym/renew"): renew,
}


def _session(desktop: SharedDesktop, said: object) -> SessionSpec:
    """A session as our client sends it: its fields by name, files in Base64."""
    if not isinstance(said, dict):
        raise Mistake(400, "session is no object")
    try:
        files = {
            desktop.path(str(path)): base64.b64decode(data, validate=True)
            for path, data in dict(said.get("files") or {}).items()
        }
        launch = [[str(word) for word in command] for command in said.get("launch") or ()]
        packages = {str(k): str(v) for k, v in dict(said.get("packages") or {}).items()}
        titles = [str(title) for title in said.get("titles") or ()]
        warm = [
            Warm(tuple(str(word) for word in command), str(ready))
            for command, ready in said.get("warm") or ()
        ]
    except (TypeError, ValueError) as error:
        raise Mistake(400, f"the session cannot be read: {error}") from None
    if not all(launch) or not all(program.command for program in warm):
        raise Mistake(400, "a command of the session is empty")
    if (launch or warm) and not desktop.allow_execute:
        raise Mistake(403, f"programs are not started for clients{REMEDY}")
    return SessionSpec(files, launch, packages, said.get("accessible") is True, warm, titles)


def _folder(name: str) -> dict[str, Any]:
    return {"type": "directory", "name": name, "children": []}


def _told(found: bool, name: str, what: str) -> HttpAnswer:
    if not found:
        return HttpAnswer.text(f"Window {name} not found", 404)
    return HttpAnswer.text(f"Window {what} successfully")


def _window(request: Request) -> tuple[str, bool, bool]:
    said = request.json()
    strict, by_class = said.get("strict", False), said.get("by_class", False)
    return _text(request, "window_name"), strict is True, by_class is True


def _text(request: Request, name: str) -> str:
    """A text of the JSON body that must be there."""
    value = request.json().get(name)
    if not isinstance(value, str) or not value or "\0" in value:
        raise Mistake(400, f"{name} required")
    return value


def _field(request: Request, name: str) -> str:
    """A field of the form that must be there."""
    value = request.form().fields.get(name, "")
    if not value or "\0" in value:
        raise Mistake(400, f"{name} is required")
    return value
