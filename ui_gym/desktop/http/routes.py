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
from ui_gym.desktop.device import Session, Warm
from ui_gym.desktop.http.desk import REMEDY, Desk
from ui_gym.desktop.http.message import Answer, Mistake, Request
from ui_gym.desktop.uitree import terminal_text
from ui_gym.errors import ActionError

Route = Callable[[Desk, Request], Answer]

_BACKGROUND = ("org.gnome.desktop.background", "picture-uri")


def screenshot(desk: Desk, request: Request) -> Answer:
    return Answer(desk.screenshot(), "image/png")


def accessibility(desk: Desk, request: Request) -> Answer:
    with desk.turn:
        return Answer.json({"AT": desk.device.ui_tree()})


def terminal(desk: Desk, request: Request) -> Answer:
    with desk.turn:
        xml = desk.device.ui_tree()
    return Answer.json({"output": terminal_text(xml), "status": "success"})


def platform(desk: Desk, request: Request) -> Answer:
    return Answer.text("Linux")


def cursor_position(desk: Desk, request: Request) -> Answer:
    """Where the last action left it; before any, X has it in the middle."""
    width, height = desk.device.size
    return Answer.json(list(desk.pointer or (width // 2, height // 2)))


def screen_size(desk: Desk, request: Request) -> Answer:
    width, height = desk.device.size
    return Answer.json({"width": width, "height": height})


def set_screen_resolution(desk: Desk, request: Request) -> Answer:
    said: dict[str, Any] = {**request.form().fields} or request.json()
    try:
        asked = int(said["width"]), int(said["height"])
    except (KeyError, TypeError, ValueError):
        raise Mistake(400, "Width and height must be integers") from None
    width, height = desk.device.size
    if asked != (width, height):
        raise Mistake(501, f"this screen stays at {width}x{height}: start the server with --size")
    return Answer.json({"status": "success", "message": f"The screen is {width}x{height}"})


def window_size(desk: Desk, request: Request) -> Answer:
    name = _field(request, "app_class_name")
    with desk.turn:
        windows = desk.device.windows()
    for window in windows:
        if window.app.lower() == name.lower():
            return Answer.json({"width": window.box[2], "height": window.box[3]})
    return Answer.json({"error": f"no window of {name}"}, 404)


def activate_window(desk: Desk, request: Request) -> Answer:
    name, strict, by_class = _window(request)
    with desk.turn:
        found = desk.device.activate_window(name, strict=strict, by_class=by_class)
    return _told(found, name, "activated")


def close_window(desk: Desk, request: Request) -> Answer:
    name, strict, by_class = _window(request)
    with desk.turn:
        found = desk.device.close_window(name, strict=strict, by_class=by_class)
    return _told(found, name, "closed")


def open_file(desk: Desk, request: Request) -> Answer:
    """Open a file or a folder; else, start the program of that name."""
    said = _text(request, "path")
    path = desk.path(said)
    if desk.run(["test", "-e", path]).code == 0:
        with desk.turn:
            desk.device.open_file(path)
    elif "/" in said:
        return Answer.text(f"Application/file not found: {said}", 404)
    else:
        try:
            desk.perform(Open(said))
        except ActionError as error:
            return Answer.text(f"Application/file not found: {error}", 404)
    return Answer.text("File opened and window activated successfully")


def desktop_path(desk: Desk, request: Request) -> Answer:
    return Answer.json({"desktop_path": f"{desk.device.home}/Desktop"})


def file(desk: Desk, request: Request) -> Answer:
    path = desk.path(_field(request, "file_path"))
    data = desk.device.read(path)
    if data is None:
        return Answer.json({"error": "File not found"}, 404)
    return Answer(data, "application/octet-stream")


def upload(desk: Desk, request: Request) -> Answer:
    form = request.form()
    if "file_path" not in form.fields or "file_data" not in form.files:
        return Answer.json({"error": "file_path and file_data are required"}, 400)
    data = form.files["file_data"]
    desk.device.write(desk.path(form.fields["file_path"]), data)
    return Answer.text(f"File Uploaded: {len(data)} bytes")


def list_directory(desk: Desk, request: Request) -> Answer:
    path = desk.path(_text(request, "path"))
    listed = desk.run(["find", path, "-printf", r"%y%P\0"])
    entries = listed.stdout.decode("utf-8", "replace").split("\0")[:-1]
    if not entries or entries[0] != "d":
        return Answer.json({"error": "The provided path is not a directory"}, 400)
    root = _folder(path.rstrip("/").rpartition("/")[2])
    folders = {"": root}
    for entry in entries[1:]:  # a folder comes before what is in it
        kind, (above, _, name) = entry[0], entry[1:].rpartition("/")
        node = _folder(name) if kind == "d" else {"type": "file", "name": name}
        folders[above]["children"].append(node)
        if kind == "d":
            folders[entry[1:]] = node
    return Answer.json({"directory_tree": root})


def wallpaper(desk: Desk, request: Request) -> Answer:
    said = desk.run(["gsettings", "get", *_BACKGROUND])
    path = said.text.strip("'").removeprefix("file://")
    data = desk.device.read(path) if said.code == 0 and path.startswith("/") else None
    if data is None:
        return Answer.text("Wallpaper file not found", 404)
    return Answer(data, "image/png")


def change_wallpaper(desk: Desk, request: Request) -> Answer:
    path = desk.path(_text(request, "path"))
    if desk.run(["test", "-e", path]).code != 0:
        return Answer.text(f"File not found: {path}", 404)
    said = desk.run(["gsettings", "set", *_BACKGROUND, f"file://{path}"])
    if said.code != 0:
        reason = said.stderr.decode("utf-8", "replace").strip()
        return Answer.text(f"Failed to change wallpaper. Error: {reason}", 500)
    return Answer.text("Wallpaper changed successfully")


def download_file(desk: Desk, request: Request) -> Answer:
    raise Mistake(501, "this desktop has no network: send the file to /setup/upload")


# -- ours alone --


def ours(desk: Desk, request: Request) -> Answer:
    """By which our own client knows this server."""
    return Answer.json({"server": "ui-gym", "allow_execute": desk.allow_execute})


def windows(desk: Desk, request: Request) -> Answer:
    with desk.turn:
        return Answer.json([asdict(window) for window in desk.device.windows()])


def renew(desk: Desk, request: Request) -> Answer:
    """Bring back how the server began, or begin the ``session`` that is given."""
    said = request.json().get("session")
    desk.renew(None if said is None else _session(desk, said))
    return Answer.json({"status": "success"})


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


def _session(desk: Desk, said: object) -> Session:
    """A session as our client sends it: its fields by name, files in Base64."""
    if not isinstance(said, dict):
        raise Mistake(400, "session is no object")
    try:
        files = {
            desk.path(str(path)): base64.b64decode(data, validate=True)
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
    if (launch or warm) and not desk.allow_execute:
        raise Mistake(403, f"programs are not started for clients{REMEDY}")
    return Session(files, launch, packages, said.get("accessible") is True, warm, titles)


def _folder(name: str) -> dict[str, Any]:
    return {"type": "directory", "name": name, "children": []}


def _told(found: bool, name: str, what: str) -> Answer:
    if not found:
        return Answer.text(f"Window {name} not found", 404)
    return Answer.text(f"Window {what} successfully")


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
