"""Whether a machine can be accelerated here: found out by a timed start, and remembered.

That there is a ``/dev/kvm`` says little: inside some clouds' virtual machines it is there, and a
guest does not get past its firmware in minutes. So the image is started with it, once for each
machine and image, and must show a sign of life in time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import tempfile
import threading
from pathlib import Path

from ui_gym.desktop.qemu.liveness import await_life
from ui_gym.desktop.qemu.settings import QemuSettings
from ui_gym.desktop.qemu.vm import Acceleration, VirtualMachine
from ui_gym.errors import DeviceLost, DeviceStartError, DeviceTimeout, UserError

VARIABLE = "UI_GYM_QEMU_ACCEL"
"""The environment variable that decides instead: ``kvm`` or ``tcg``."""

KVM = Path("/dev/kvm")

_PROBE_SIZE = (800, 600)
# The slots of a vector env start at once; one of them finds out for all.
_probing = threading.Lock()


def acceleration(settings: QemuSettings) -> Acceleration:
    """How the image is best run here: as the environment says, as remembered, or by a probe.

    Raises:
        UserError: the environment says neither ``kvm`` nor ``tcg``.
        DeviceStartError: QEMU is not installed.
    """
    match os.environ.get(VARIABLE, "").strip():
        case "kvm":
            return "kvm"
        case "tcg":
            return "tcg"
        case "":
            pass
        case other:
            raise UserError(f"{VARIABLE} is 'kvm' or 'tcg', not {other!r}")
    if not os.access(KVM, os.R_OK | os.W_OK):
        return "tcg"
    with _probing:
        known = _recall(settings)
        if known is None:
            known, why = probe_acceleration(settings)
            _remember(settings, known, why)
        return known


def probe_acceleration(settings: QemuSettings) -> tuple[Acceleration, str]:
    """Start the image with KVM and say whether it came to life within `settings.probe` seconds.

    Gives back what to use, and why. `DeviceStartError` where QEMU is not installed or the image
    cannot be used; neither has to do with acceleration.
    """
    try:
        vm = VirtualMachine(settings, "kvm", _PROBE_SIZE)
    except DeviceStartError as error:
        if "ended at once" not in str(error):
            raise
        return "tcg", str(error)
    except DeviceTimeout as error:
        return "tcg", str(error)
    try:
        return "kvm", f"its {await_life(vm, settings.probe)} was there in time"
    except (DeviceTimeout, DeviceLost) as error:
        return "tcg", str(error)
    finally:
        vm.close()


# -- what was found out --


def memory_file() -> Path:
    """Where it is remembered; deleting the file asks anew."""
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "ui-gym" / "qemu-acceleration.json"


def _recall(settings: QemuSettings) -> Acceleration | None:
    found = _remembered().get(_key(settings))
    value = found.get("use") if isinstance(found, dict) else None
    if value == "kvm":
        return "kvm"
    return "tcg" if value == "tcg" else None


def _remember(settings: QemuSettings, use: Acceleration, why: str) -> None:
    path = memory_file()
    known = _remembered()
    known[_key(settings)] = {"image": str(settings.image), "use": use, "why": why}
    # A home that cannot be written to costs a probe each time, and nothing else.
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            json.dump(known, file, indent=1)
        Path(file.name).replace(path)


def _remembered() -> dict[str, object]:
    try:
        known = json.loads(memory_file().read_text())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _key(settings: QemuSettings) -> str:
    """This machine (its name, kernel and processor) and this image (its path, size and time)."""
    state = settings.image.stat()
    parts = [
        platform.node(), platform.release(), platform.machine(), _processor(),
        str(settings.image.resolve()), str(state.st_size), str(state.st_mtime_ns),
        str(settings.firmware),
    ]  # fmt: skip
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()
