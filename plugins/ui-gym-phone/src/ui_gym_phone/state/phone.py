"""Phone: the one state that the built-in phone's apps, shell and screen share."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ui_gym_phone.state.activities import Activity, Notification, TaskStack
from ui_gym_phone.state.clock import Clock
from ui_gym_phone.state.databases import Databases
from ui_gym_phone.state.files import Files
from ui_gym_phone.state.packages import Package, Packages
from ui_gym_phone.state.settings import factory_properties, factory_settings

LAUNCHER = "com.android.launcher3"
SYSTEM_UI = "com.android.systemui"

DENSITY = 3
"""Pixels of the device in a dp."""

TOAST_MS = 3000

LOGGED = 20
"""How many changes of each namespace's settings are remembered, as by Android's `SettingsState`."""


class SettingChange(NamedTuple):
    """That a setting got another value, or was deleted."""

    ms: int
    """When, in milliseconds since 1970."""
    operation: str
    """``update`` or ``delete``."""
    namespace: str
    key: str


@dataclass
class Phone:
    """A phone's whole state, as plain data. `width` and `height` are its screen's, in pixels.

    What an app or a shell command changes, it changes here; the screen is drawn from it anew.
    """

    width: int = 1080
    height: int = 2400
    clock: Clock = field(default_factory=Clock)
    settings: dict[str, dict[str, str]] = field(default_factory=factory_settings)
    properties: dict[str, str] = field(default_factory=factory_properties)
    packages: Packages = field(default_factory=Packages)
    databases: Databases = field(default_factory=Databases)
    notifications: list[Notification] = field(default_factory=list)
    """Those that are posted, the newest first."""
    tasks: list[TaskStack] = field(default_factory=list)
    """What was opened, the one used last at the end."""
    clipboard: str = ""
    awake: bool = True
    shade: str = ""
    """What is pulled down: ``notifications``, ``settings`` or nothing."""
    recents: bool = False
    keyboard: str = "lower"
    """The keys that the on-screen keyboard shows: ``lower``, ``upper`` or ``symbols``."""
    toast: str = ""
    toast_until_ms: int = 0
    settings_log: list[SettingChange] = field(default_factory=list)
    """The settings that were changed, the last one last."""

    def __post_init__(self) -> None:
        self.files = Files(self.clock, keeper=self.databases)
        self.launcher = Activity(LAUNCHER, ".Launcher")
        self.system = Activity(SYSTEM_UI, ".NotificationShade")
        self.at_home = True
        self._next_task = 2

    # -- snapshots --

    def snapshot(self) -> bytes:
        """All of it, to be brought back by `restore`: under a millisecond each."""
        return pickle.dumps(self, pickle.HIGHEST_PROTOCOL)

    @staticmethod
    def restore(snapshot: bytes) -> Phone:
        """The phone of a snapshot that this process made; never of bytes from elsewhere."""
        phone = pickle.loads(snapshot)  # noqa: S301 - our own bytes, which never left the process
        assert isinstance(phone, Phone)
        return phone

    # -- settings --

    def setting(self, namespace: str, key: str, default: str = "0") -> str:
        return self.settings[namespace].get(key, default)

    def put(self, namespace: str, key: str, value: str | int) -> None:
        """Write a setting, as any of the phone's own switches does."""
        if self.settings[namespace].get(key) != str(value):
            self._log("update", namespace, key)
        self.settings[namespace][key] = str(value)

    def delete(self, namespace: str, key: str) -> bool:
        """Delete a setting. Whether there was one."""
        there = self.settings[namespace].pop(key, None) is not None
        if there:
            self._log("delete", namespace, key)
        return there

    def _log(self, operation: str, namespace: str, key: str) -> None:
        known = [change for change in self.settings_log if change.namespace == namespace]
        if len(known) == LOGGED:
            self.settings_log.remove(known[0])
        self.settings_log.append(SettingChange(self.clock.ms, operation, namespace, key))

    def is_on(self, namespace: str, key: str) -> bool:
        """Whether a setting that is 0 when off has another value."""
        return self.setting(namespace, key) not in ("", "0", "null")

    @property
    def dark(self) -> bool:
        """Whether the dark theme is on (2; 1 is light)."""
        return self.setting("secure", "ui_night_mode", "1") == "2"

    @property
    def font_scale(self) -> float:
        try:
            return min(2.0, max(0.5, float(self.setting("system", "font_scale", "1"))))
        except ValueError:
            return 1.0

    # -- activities --

    @property
    def front(self) -> TaskStack | None:
        """The task that is seen; None on the home screen."""
        return self.tasks[-1] if self.tasks and not self.at_home else None

    @property
    def activity(self) -> Activity:
        """The activity that is seen."""
        return self.front.top if self.front else self.launcher

    def launch(self, package: str) -> bool:
        """Open an app as the launcher does: where it was left, or anew. False if it cannot be."""
        found = self.packages.get(package)
        if found is None or not found.enabled or not found.launchable:
            return False
        task = next((t for t in self.tasks if t.package == package), None)
        if task is None:
            return self.start(package, found.main)
        self._show(task)
        return True

    def start(
        self, package: str, cls: str, extras: dict[str, Any] | None = None, *, fresh: bool = False
    ) -> bool:
        """Open an activity in its app's task; `fresh` closes what is open there before.

        False where there is no such activity.
        """
        found = self.packages.get(package)
        if found is None or not found.enabled or cls not in (found.main, *found.activities):
            return False
        found.stopped, package = False, found.name
        task = next((t for t in self.tasks if t.package == package), None)
        if task is None:
            task = TaskStack(self._next_task, package, [])
            self._next_task += 1
            self.tasks.append(task)
        if fresh or (task.activities and cls == found.main and not extras):
            task.activities.clear()
        task.activities.append(Activity(package, cls, dict(extras or {})))
        self._show(task)
        return True

    def push(self, cls: str, extras: dict[str, Any] | None = None) -> None:
        """Open an activity of the app that is seen, over the one that is seen."""
        task = self.front
        assert task is not None, "nothing is open"
        task.top.focus = ""
        task.activities.append(Activity(task.package, cls, dict(extras or {})))

    def finish(self) -> None:
        """Close the activity that is seen; the last one of a task leads home."""
        task = self.front
        if task is None:
            return
        task.activities.pop()
        if not task.activities:
            self.tasks.remove(task)
            self.at_home = True

    def close_task(self, task: TaskStack) -> None:
        """Swipe a task away."""
        self.at_home = self.at_home or task is self.tasks[-1]
        self.tasks.remove(task)

    def back(self) -> None:
        """The back key: closes what lies uppermost."""
        activity = self.activity
        if self.recents:
            self.recents = False
        elif self.shade:
            self.shade = ""
        elif activity.state.pop("dialog", None) is not None or activity.focus:
            activity.focus = ""
        elif activity.state.pop("overlay", None) is not None:
            pass  # a search, a selection, a drawer: closed by that
        elif self.front is not None:
            self.finish()

    def home(self) -> None:
        """The home key."""
        self._blur()
        self.shade, self.recents, self.at_home = "", False, True
        self.launcher.state.clear()
        self.launcher.scroll.clear()

    def toggle_recents(self) -> None:
        """The key of the overview."""
        self._blur()
        self.shade, self.recents = "", not self.recents

    def _show(self, task: TaskStack) -> None:
        self._blur()
        self.tasks.remove(task)
        self.tasks.append(task)
        self.at_home, self.recents, self.shade = False, False, ""

    def _blur(self) -> None:
        self.activity.focus = ""

    # -- packages --

    def install(self, package: Package) -> None:
        """Install an app, or another version of it."""
        self.packages.add(package)

    def uninstall(self, package: str) -> bool:
        """Remove an app with all that is its own. False for a system app or none."""
        found = self.packages.get(package)
        if found is None or found.system:
            return False
        self.force_stop(package)
        self.packages.remove(package)
        self.notifications = [n for n in self.notifications if n.package != package]
        self.files.rmtree(f"/data/data/{package}", missing_ok=True)
        return True

    def force_stop(self, package: str) -> None:
        """End an app: its tasks and its notifications go."""
        found = self.packages.get(package)
        if found is None:
            return
        for task in [t for t in self.tasks if t.package == package]:
            self.close_task(task)
        self.notifications = [n for n in self.notifications if n.package != package]
        found.stopped = True

    def clear_data(self, package: str) -> bool:
        """Bring an app to where it was when it was installed."""
        found = self.packages.get(package)
        if found is None:
            return False
        self.force_stop(package)
        found.data_size, found.cache_size = 0, 0
        found.permissions = dict.fromkeys(found.permissions, False)
        found.refusals, found.once = {}, {}
        self.databases.clear(package)
        self.files.rmtree(f"/data/data/{package}", missing_ok=True)
        return True

    # -- notifications --

    def notify(self, notification: Notification) -> None:
        """Post it, if its app may post any; one with the same key is replaced."""
        self.cancel(notification.key)
        package = self.packages.get(notification.package)
        if package is not None and package.permissions.get("POST_NOTIFICATIONS") is False:
            return
        self.notifications.insert(0, notification)

    def cancel(self, key: str) -> None:
        """Take a notification away."""
        self.notifications = [n for n in self.notifications if n.key != key]

    def clear_notifications(self) -> None:
        """What "Clear all" does: ongoing ones stay."""
        self.notifications = [n for n in self.notifications if n.ongoing]

    def say(self, text: str) -> None:
        """Show a toast for three seconds."""
        self.toast, self.toast_until_ms = text, self.clock.uptime_ms + TOAST_MS

    @property
    def toasting(self) -> str:
        """The toast that is seen now, if one is."""
        return self.toast if self.clock.uptime_ms < self.toast_until_ms else ""
