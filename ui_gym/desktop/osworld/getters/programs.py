"""Getters of programs' own files: VLC, GIMP, VS Code."""

from __future__ import annotations

import base64

from ui_gym.contract.action import Press, Type
from ui_gym.desktop.osworld.getters.files import fetch, keep
from ui_gym.desktop.osworld.registry import Config, EvaluationContext, getter
from ui_gym.desktop.osworld.wire import connect, request
from ui_gym.errors import DeviceError, DeviceLost, DeviceTimeout

VLC_PORT = 8080
VLC_PASSWORD = "password"
"""What OSWorld's machine sets for VLC's web interface."""
GIMP_FOLDERS = (".config/GIMP/2.10", ".config/GIMP/3.0", ".config/GIMP/2.99")
TIMEOUT = 10.0


@getter("vlc_config")
def vlc_config(context: EvaluationContext, config: Config) -> str | None:
    """The local copy of VLC's ``vlcrc``."""
    return fetch(context, ".config/vlc/vlcrc", config["dest"])


@getter("vlc_playing_info")
def vlc_playing_info(context: EvaluationContext, config: Config) -> str | None:
    """The local copy of ``status.xml``, in which VLC's web interface (port 8080) says what is
    played; None where VLC does not run, or without it."""
    connection = connect(context.device, VLC_PORT)
    if connection is None:
        return None
    token = base64.b64encode(f":{VLC_PASSWORD}".encode()).decode()
    headers = {"Authorization": f"Basic {token}"}
    try:
        status, body = request(
            connection, "GET", "/requests/status.xml", headers=headers, timeout=TIMEOUT
        )
    except (DeviceLost, DeviceTimeout):
        raise
    except DeviceError:
        return None
    return keep(context, config["dest"], body) if status == 200 else None


@getter("gimp_config_file")
def gimp_config_file(context: EvaluationContext, config: Config) -> str | None:
    """The local copy of a file of GIMP's settings: of 2.10, or of a later GIMP where it has
    written none for 2.10."""
    paths = (f"{folder}/{config['file_name']}" for folder in GIMP_FOLDERS)
    copies = (fetch(context, path, config["dest"]) for path in paths)
    return next(filter(None, copies), None)


@getter("vscode_config")
def vscode_config(context: EvaluationContext, config: Config) -> str | None:
    """The local copy of the file ``path`` that VS Code's command ``vscode_extension_command``
    writes; the command is given by the keyboard."""
    device = context.device
    command = Type(config["vscode_extension_command"])
    for action in (Press("ctrl+shift+p"), command, Press("Enter")):
        device.perform(action)
        device.settle()
    return fetch(context, config["path"], config["dest"])
