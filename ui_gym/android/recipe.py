"""The demo tasks of the CUA-RL recipe: its ids as our tasks, and its own validators.

The recipe (``tinker_cookbook/recipes/cua_rl``: ``demo_tasks.py``, ``core/reward.py``) has 23 demo
tasks to train on and 9 to evaluate with, all on an Android phone. Each is registered here under the
recipe's id, as one of our tasks with what the id says fixed, judged by our checks::

    gym.make("UI/train_02_max_brightness-v0")
    TaskSource.from_recipe({"source_type": "ids", "task_ids": ["train_02_max_brightness"]})
    TaskSource(tags=("cua-recipe", "demo_training"))

`VALIDATORS` are the recipe's own, kept as they are to compare with its numbers. Some never hold, or
always: see each one's note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ui_gym.android.device import AndroidDevice
from ui_gym.contract.spec import Difficulty, TaskSpec

COLLECTION = "cua-recipe"
MODULE = "ui_gym.android.recipe_tasks"


@dataclass(frozen=True)
class RecipeEntry:
    """A demo task of the recipe."""

    id: str
    """The recipe's id: ``train_02_max_brightness``."""
    task: str
    """The name of our task that it is."""
    steps: int
    """The recipe's `max_steps`."""
    query: str
    """The recipe's `validation_query`: which of `VALIDATORS` judges it."""
    expected: Any
    """The recipe's `expected_result`."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of our task."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Fields of its params, where it has no argument for them."""
    category: str = "settings"
    difficulty: Difficulty = "medium"

    @property
    def kind(self) -> str:
        """The recipe's `source_type` that it belongs to."""
        return "demo_training" if self.id.startswith("train_") else "demo_eval"

    @property
    def spec(self) -> TaskSpec:
        """What a catalogue knows of it."""
        fixed = ", ".join(f"{k}={v!r}" for k, v in {**self.arguments, **self.params}.items())
        return TaskSpec(
            name=self.id,
            suite="android",
            entry_point=f"{MODULE}:{self.id}",
            category=self.category,
            difficulty=self.difficulty,
            max_steps=self.steps,
            tags=(COLLECTION, self.kind),
            summary=f"{self.task} of the CUA-RL recipe{f', with {fixed}' if fixed else ''}.",
            collection=COLLECTION,
        )


def _timeout(id: str, steps: int, to: str, ms: int) -> RecipeEntry:
    return RecipeEntry(id, "AndroidScreenTimeout", steps, "screen_timeout", ms, {"to": to})


def _uninstall(id: str, steps: int, package: str, app: str) -> RecipeEntry:
    expected = {"package": package, "installed": False}
    return RecipeEntry(
        id, "AndroidUninstall", steps, "app_installed", expected, {"app": app}, category="system"
    )


def _folder(id: str, name: str) -> RecipeEntry:
    expected = {"path": f"/storage/emulated/0/Download/{name}", "exists": True}
    fixed = {"folder": "Download", "name": name}
    return RecipeEntry(
        id, "AndroidMkdir", 16, "file_exists", expected, params=fixed, category="system"
    )


def _logo(id: str) -> RecipeEntry:
    expected = {"path": "/storage/emulated/0/Download/logo.svg", "exists": True}
    return RecipeEntry(
        id, "AndroidDownloadFile", 25, "file_exists", expected, category="input", difficulty="hard"
    )


def _storage(id: str, app: str, expected: str = "storage_size_reported") -> RecipeEntry:
    query = "finish_message_contains"
    if expected == "storage_size_reported":
        query = "finish_message_contains_size"
    return RecipeEntry(
        id,
        "AndroidAppStorage",
        16,
        query,
        expected,
        {"app": app, "part": "Total"},
        category="system",
    )


_ALL = (
    RecipeEntry("train_01_open_settings", "AndroidOpenSettings", 5, "current_app",
          "com.android.settings", category="app", difficulty="easy"),
    RecipeEntry("train_02_max_brightness", "AndroidBrightness", 10, "brightness_level", 255,
          {"to": "max"}),
    RecipeEntry("train_03_airplane_mode", "AndroidAirplane", 8, "airplane_mode", True),
    RecipeEntry("train_04_check_brightness", "AndroidBrightnessRead", 10, "result_message_contains",
          "83"),
    RecipeEntry("train_05_disable_wifi", "AndroidWifi", 8, "wifi_enabled", False, {"to": "off"}),
    RecipeEntry("train_06_min_brightness", "AndroidBrightness", 10, "brightness_level", 1,
          {"to": "min"}),
    RecipeEntry("train_09_clear_notifications", "AndroidClearNotifications", 8,
                "notification_count", 0, category="system"),
    _timeout("train_10_timeout_30s", 12, "30 seconds", 30_000),
    _timeout("train_11_timeout_1min", 12, "1 minute", 60_000),
    _timeout("train_12_timeout_2min", 12, "2 minutes", 120_000),
    RecipeEntry("train_13_disable_auto_time", "AndroidAutoTimeOff", 10, "auto_time_enabled", False),
    RecipeEntry("train_14_enable_battery_saver", "AndroidBatterySaver", 12, "battery_saver_enabled",
          True),
    _uninstall("train_19_uninstall_instagram", 12, "com.instagram.android", "Chatterly"),
    _folder("train_21_create_downloads_folder", "abc"),
    _logo("train_22_download_gbox_logo"),
    _storage("train_23_check_gbox_keyboard_storage", "Chess", "73.73KB"),
    _storage("train_26_check_chrome_storage", "Shoply"),
    _uninstall("train_30_uninstall_facebook", 16, "com.facebook.katana", "Podium"),
    _storage("train_32_check_instagram_storage", "Chatterly"),
    _timeout("train_35_timeout_5min", 16, "5 minutes", 300_000),
    _timeout("train_36_timeout_10min", 16, "10 minutes", 600_000),
    RecipeEntry("train_43_clear_all_notifications", "AndroidClearNotifications", 16,
          "notification_count", 0, category="system"),
    _timeout("train_48_timeout_30min", 16, "30 minutes", 1_800_000),
    _timeout("eval_01_display_timeout_5min", 16, "5 minutes", 300_000),
    RecipeEntry("eval_02_dnd_mode_enable", "AndroidDoNotDisturb", 16, "dnd_enabled", True),
    RecipeEntry("eval_05_enable_battery_saver", "AndroidBatterySaver", 16, "battery_saver_enabled",
          True),
    _uninstall("eval_06_uninstall_instagram", 16, "com.instagram.android", "Chatterly"),
    _folder("eval_09_create_downloads_folder", "abc"),
    _logo("eval_10_download_gbox_logo"),
    _storage("eval_11_check_gbox_keyboard_storage", "Chess", "73.73KB"),
    _storage("eval_12_check_chrome_storage", "Shoply", "51.54MB"),
    _folder("eval_16_create_downloads_folder_xyz", "xyz"),
)  # fmt: skip

ENTRIES: Mapping[str, RecipeEntry] = {entry.id: entry for entry in _ALL}
"""The recipe's tasks by id. Apps, sites and sizes that are of the recipe's own phone are those of
the built-in one here: another app is uninstalled, another file downloaded."""


# -- the recipe's own validators --


@dataclass(frozen=True)
class RecipeValidator:
    """How the recipe judges: a shell line, and what it makes of the output."""

    line: str
    """With fields of the expected result in braces. Empty where it reads the last message."""
    reads: Callable[[str, Any], bool]
    """(output or message, expected result) -> whether it is a success."""
    note: str = ""
    """What is wrong with it, if something is."""

    def holds(self, device: AndroidDevice, expected: Any, message: str = "") -> bool:
        """Judge as the recipe does; a line that it cannot read is no success.

        Args:
            device: The phone.
            expected: The recipe's `expected_result`.
            message: What the agent said last.
        """
        if not self.line:
            return self.reads(message, expected)
        output = device.shell(self.filled(expected)).stdout.decode("utf-8", "replace")
        try:
            return self.reads(output, expected)
        except ValueError:
            return False

    def filled(self, expected: Any) -> str:
        """The line for an expected result."""
        fields = expected if isinstance(expected, Mapping) else {}
        return re.sub(r"\{(\w+)\}", lambda m: str(fields[m[1]]), self.line)


def _is_set(output: str, expected: Any) -> bool:
    return bool(int(output.strip())) == bool(expected)


def _is_above_zero(output: str, expected: Any) -> bool:
    return (int(output.strip()) > 0) == bool(expected)


def _is_number(output: str, expected: Any) -> bool:
    return int(output.strip()) == int(expected)


def _names(output: str, expected: Any) -> bool:
    return str(expected) in output


def _names_in_any_case(output: str, expected: Any) -> bool:
    return str(expected).lower() in output.lower()


def _is_home(output: str, expected: Any) -> bool:
    lowered = output.lower()
    return bool(lowered) and ("launcher" in lowered or "home" in lowered) == bool(expected)


def _volume(output: str, expected: Any) -> bool:
    match = re.search(r"volume:\s*(\d+)/(\d+)", output)
    if match is None:
        return int(output.strip()) == int(expected)
    return int(int(match[1]) / int(match[2]) * 100) == int(expected)


def _cache(output: str, expected: Any) -> bool:
    match = re.search(r"cacheSize[=:]\s*(\d+)", output)
    return match is not None and (int(match[1]) < 1_048_576) == bool(expected)


def _language(output: str, expected: Any) -> bool:
    match = re.search(r"([a-z]{2})[-_]", output.lower())
    actual = match[1] if match else output.strip()[:2].lower()
    return str(expected).lower() in actual or actual in str(expected).lower()


def _flag(name: str) -> Callable[[str, Any], bool]:
    return lambda output, expected: (int(output.strip()) == 1) == bool(expected[name])


def _size(message: str, expected: Any) -> bool:
    return bool(re.search(r"\d+\.?\d*\s*(KB|MB|GB|TB|bytes?)", message, re.IGNORECASE))


_FOCUS = "dumpsys window | grep mCurrentFocus || dumpsys activity | grep mResumedActivity"
_CACHE = "dumpsys package {0} | grep -A 5 'cacheSize' || pm clear {0} --dry-run"
_NO_CACHE_SIZE = "never holds: dumpsys package tells no cacheSize; sizes are in dumpsys diskstats"


def _cache_of(package: str) -> RecipeValidator:
    return RecipeValidator(_CACHE.format(package), _cache, _NO_CACHE_SIZE)


VALIDATORS: Mapping[str, RecipeValidator] = {
    "current_app": RecipeValidator(_FOCUS, _names),
    "current_activity": RecipeValidator(_FOCUS, _names_in_any_case),
    "is_home_screen": RecipeValidator(_FOCUS, _is_home),
    "wifi_enabled": RecipeValidator(
        "settings get global wifi_on", _is_set,
        "takes 3, off for the time of airplane mode, for on",
    ),
    "airplane_mode": RecipeValidator("settings get global airplane_mode_on", _is_set),
    "brightness_level": RecipeValidator("settings get system screen_brightness", _is_number),
    "screen_timeout": RecipeValidator("settings get system screen_off_timeout", _is_number),
    "dnd_enabled": RecipeValidator("settings get global zen_mode", _is_above_zero),
    "bluetooth_enabled": RecipeValidator(
        "settings get global bluetooth_on || settings get secure bluetooth_on", _is_set
    ),
    "media_volume": RecipeValidator(
        "dumpsys audio | grep -A 10 'STREAM_MUSIC' | grep 'volume:' | head -1 "
        "|| settings get system volume_music", _volume,
        "never holds: Android prints streamVolume:7, and the status of the pipe is head's",
    ),
    "notification_count": RecipeValidator(
        "dumpsys notification | grep -c 'NotificationRecord' || echo '0'", _is_number,
        "never holds at 0: grep -c prints 0 and fails, so that there are two lines",
    ),
    "auto_time_enabled": RecipeValidator("settings get global auto_time", _is_set),
    "battery_saver_enabled": RecipeValidator("settings get global low_power", _is_set),
    "chrome_cache_cleared": _cache_of("com.android.chrome"),
    "facebook_cache_cleared": _cache_of("com.facebook.katana"),
    "instagram_cache_cleared": _cache_of("com.instagram.android"),
    "system_language": RecipeValidator(
        "settings get system system_locales || getprop ro.product.locale", _language
    ),
    "dark_theme_enabled": RecipeValidator(
        "settings get secure ui_night_mode || settings get system dark_theme", _is_above_zero,
        "takes the light theme for the dark one: 1 is light, and 2 dark",
    ),
    "app_installed": RecipeValidator(
        "pm list packages | grep -q '^{package}$' && echo '1' || echo '0'", _flag("installed"),
        "no app is ever found: each line begins with package:",
    ),
    "app_permission": RecipeValidator(
        "dumpsys package {package} | grep -A 2 '{permission}' | grep 'granted=true' "
        "&& echo '1' || echo '0'", _flag("granted"),
        "holds for no granted one: the line that was found comes before the 1; and one that is "
        "granted within two lines of it counts, too",
    ),
    "file_exists": RecipeValidator("test -e '{path}' && echo '1' || echo '0'", _flag("exists")),
    "result_message_contains": RecipeValidator("", _names),
    "finish_message_contains": RecipeValidator("", _names),
    "finish_message_contains_size": RecipeValidator("", _size, "any size is right"),
}  # fmt: skip
"""The recipe's validators by `validation_query`, their lines to the letter."""
