"""Clearing what an app has put by."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import moves, scenery
from ui_gym.android.checks import ShellCheck
from ui_gym.android.content.apps import THIRD_PARTY
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.scenery import Scenery
from ui_gym.android.task import AndroidTask
from ui_gym.android.tasks.installed_apps import APPS, app_info, known_app
from ui_gym.contract.action import Action
from ui_gym.contract.draws import other, pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo

DISKSTATS = "dumpsys diskstats | grep -E '^(Package Names|App Sizes|App Data Sizes|Cache Sizes):'"


def sizes(result: ShellResult) -> dict[str, tuple[int, int, int]]:
    """What `dumpsys diskstats` tells of each package: the app's, its data's, its cache's bytes.

    Source of the format: AOSP ``DiskStatsFileLogger``, four parallel JSON arrays.
    """
    told = dict(re.findall(r"^([A-Z][A-Za-z ]+): (\[.*\])$", result.text, re.MULTILINE))
    names = ("Package Names", "App Sizes", "App Data Sizes", "Cache Sizes")
    packages, *columns = (json.loads(told.get(name, "[]")) for name in names)
    return {
        name: (app, data, cache) for name, app, data, cache in zip(packages, *columns, strict=True)
    }


@dataclass(frozen=True)
class ClearCacheParams:
    """All that varies between episodes."""

    app: str
    button: str
    """What the oracle touches on the page of the app's storage."""
    phrasing: int
    scenery: Scenery


CACHE_GOALS = (
    "Clear the cache of {app}.",
    "Please clear {app}'s cache, but keep its data.",
    "{app} takes too much space: clear its cache in Settings.",
    "Open the storage page of {app} in Settings and clear the cache only.",
)


@register(
    "AndroidClearCache", suite="android", category="system", difficulty="medium", max_steps=15
)
class AndroidClearCache(AndroidTask[ClearCacheParams]):
    """Clear an app's cache.

    ## Description
    Settings clear it on the page of the app's storage, where a button beside it deletes all of the
    app's data. The ten apps are those that a person has installed on the built-in phone.

    ## Rewards
    1 if ``dumpsys diskstats`` tells a cache of 0 bytes of it, and still some data. (A real phone
    writes these sizes down but once a day.)

    ## Starting state
    The home screen; each app has a cache and data.

    ## Arguments
    | `app` | any | the name of the app |
    """

    mistakes = ("another", "all_data")

    def __init__(self, *, app: str | None = None) -> None:
        self.app = known_app(app)

    def sample(self, rng: np.random.Generator) -> ClearCacheParams:
        drawn = pick(rng, APPS)
        return ClearCacheParams(
            app=self.app or drawn,
            button="Clear cache",
            phrasing=int(rng.integers(len(CACHE_GOALS))),
            scenery=scenery.draw(rng),
        )

    def goal(self, params: ClearCacheParams) -> str:
        return CACHE_GOALS[params.phrasing].format(app=params.app)

    def prepare(self, params: ClearCacheParams) -> Sequence[str]:
        return [f"pm path {THIRD_PARTY[params.app][0]} >/dev/null", *params.scenery.lines()]

    def checks(self, params: ClearCacheParams) -> Sequence[ShellCheck]:
        def cleared(result: ShellResult) -> bool:
            _, data, cache = sizes(result).get(THIRD_PARTY[params.app][0], (0, 0, -1))
            return cache == 0 and data > 0

        return [ShellCheck("cache", DISKSTATS, cleared)]

    def oracle(self, device: AndroidDevice, params: ClearCacheParams) -> Iterator[Action | Demo]:
        yield from app_info(device, params.app)
        yield from moves.path(device, "Storage & cache", params.button)
        if params.button == "Clear storage":
            yield from moves.tap(device, "Delete")

    def misread(
        self, params: ClearCacheParams, mistake: str, rng: np.random.Generator
    ) -> ClearCacheParams:
        """``another``: another app's is cleared. ``all_data``: so is the app's data."""
        if mistake == "another":
            return dataclasses.replace(params, app=other(rng, APPS, params.app))
        return dataclasses.replace(params, button="Clear storage")
