"""An app's storage: clearing its cache, telling how much it uses."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ui_gym.android import facts, moves, scenery
from ui_gym.android.answers import answered, is_size, told
from ui_gym.android.checks import DISKSTATS, ShellCheck, sizes
from ui_gym.android.content import texts
from ui_gym.android.content.apps import THIRD_PARTY
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.scenery import Scenery
from ui_gym.android.task import AndroidTask, Steps
from ui_gym.android.tasks.apps import APPS, app_info, known_app
from ui_gym.contract.action import Action, Answer
from ui_gym.contract.draws import Rng, other, pick
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.contract.task import Verdict
from ui_gym.errors import TaskError, UserError, nearest


@dataclass(frozen=True)
class ClearCacheParams:
    app: str
    button: str
    """What the oracle touches on the page of the app's storage."""
    phrasing: int
    scenery: Scenery


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
    goals = texts.goals("AndroidClearCache")

    def __init__(self, *, app: str | None = None) -> None:
        self.app = known_app(app)

    def sample(self, rng: Rng) -> ClearCacheParams:
        drawn = pick(rng, APPS)
        return ClearCacheParams(
            app=self.app or drawn,
            button="Clear cache",
            phrasing=int(rng.integers(len(self.goals))),
            scenery=scenery.draw(rng),
        )

    def prepare(self, params: ClearCacheParams) -> Sequence[str]:
        return [f"pm path {THIRD_PARTY[params.app][0]} >/dev/null", *params.scenery.lines()]

    def checks(self, params: ClearCacheParams) -> Sequence[ShellCheck]:
        def cleared(result: ShellResult) -> bool:
            _, data, cache = sizes(result).get(THIRD_PARTY[params.app][0], (0, 0, -1))
            return cache == 0 and data > 0

        return [ShellCheck("cache", DISKSTATS, cleared)]

    def may_change(self, params: ClearCacheParams) -> Sequence[AllowedChange]:
        return [AllowedChange(facts.cache(THIRD_PARTY[params.app][0]), gone=1, new=0)]

    def oracle(self, device: AndroidDevice, params: ClearCacheParams) -> Steps:
        yield from app_info(device, params.app)
        yield from moves.path(device, "Storage & cache", params.button)
        if params.button == "Clear storage":
            yield from moves.tap(device, "Delete")

    def misread(self, params: ClearCacheParams, mistake: str, rng: Rng) -> ClearCacheParams:
        """``another``: another app's is cleared. ``all_data``: so is the app's data."""
        if mistake == "another":
            return dataclasses.replace(params, app=other(rng, APPS, params.app))
        return dataclasses.replace(params, button="Clear storage")


PARTS: Mapping[str, tuple[str, ...]] = texts.GOALS["AndroidAppStorage"]
"""What is asked for, as Settings call it, and the goals."""


COLUMNS = ("App size", "User data", "Cache")
"""The parts that make up the total, in the order of `sizes`."""


@dataclass(frozen=True)
class AppStorageParams:
    app: str
    part: str
    """What is asked for, of `PARTS`."""
    cleared: bool
    """Whether the app has neither data nor a cache at the start."""
    read: str
    """The app whose page the oracle reads."""
    phrasing: int
    scenery: Scenery


@register(
    "AndroidAppStorage", suite="android", category="system", difficulty="medium", max_steps=15
)
class AndroidAppStorage(AndroidTask[AppStorageParams]):
    """Answer how much storage an app uses.

    ## Description
    Settings tell it on the page of the app's storage: the app's own size, its data's, its cache's,
    and their sum. The ten apps are those that a person has installed on the built-in phone; in some
    episodes the app's data were cleared before.

    ## Action space
    The size is given by ``answer``, or in the message of ``finish``.

    ## Rewards
    1 if the answer names the size that ``dumpsys diskstats`` tells, and no other one, within the
    rounding of three figures. Without a unit it is taken for megabytes.

    ## Starting state
    The home screen; the app is installed.

    ## Episode end
    Termination: something was answered.

    ## Arguments
    | `app` | any | the name of the app |
    | `part` | any | "Total", "App size", "User data" or "Cache": what is asked for |
    """

    mistakes = ("another_app", "another_part")

    def __init__(self, *, app: str | None = None, part: str | None = None) -> None:
        if part is not None and part not in PARTS:
            raise UserError(f"{self.spec.name}: no part {part!r}. {nearest(part, PARTS)}")
        self.app = known_app(app)
        self.part = part

    def sample(self, rng: Rng) -> AppStorageParams:
        drawn_app, drawn_part = pick(rng, APPS), pick(rng, list(PARTS))
        app, part = self.app or drawn_app, self.part or drawn_part
        return AppStorageParams(
            app=app,
            part=part,
            cleared=bool(rng.random() < 0.4) and part in ("Total", "App size"),
            read=app,
            phrasing=int(rng.integers(3)),
            scenery=scenery.draw(rng),
        )

    def goal(self, params: AppStorageParams) -> str:
        return PARTS[params.part][params.phrasing].format(app=params.app)

    def prepare(self, params: AppStorageParams) -> Sequence[str]:
        package = THIRD_PARTY[params.app][0]
        before = f"pm clear {package}" if params.cleared else f"pm path {package} >/dev/null"
        return [before, *params.scenery.lines()]

    def judge(
        self, device: AndroidDevice, params: AppStorageParams, history: Sequence[Action]
    ) -> Verdict:
        if told(history) is None:
            return Verdict(0.0, notes="no answer yet")
        found = sizes(device.shell(DISKSTATS)).get(THIRD_PARTY[params.app][0], (0, 0, 0))
        size = dict(zip(COLUMNS, found, strict=True)).get(params.part, sum(found))
        return answered(history, lambda text: is_size(text, size), f"{size / 1e6:.3g} MB")

    def may_change(self, params: AppStorageParams) -> Sequence[AllowedChange]:
        return ()

    def oracle(self, device: AndroidDevice, params: AppStorageParams) -> Steps:
        yield from app_info(device, params.read)
        yield from moves.path(device, "Storage & cache")
        yield from moves.scroll_to(device, params.part)
        yield Answer(_shown(device, params.part))

    def misread(self, params: AppStorageParams, mistake: str, rng: Rng) -> AppStorageParams:
        """``another_app``: another app's page is read. ``another_part``: another line of it."""
        if mistake == "another_app":
            return dataclasses.replace(params, read=other(rng, APPS, params.app))
        # Of an app without data, the total is the app's size.
        alike = ("Total", "App size") if params.cleared else (params.part,)
        return dataclasses.replace(params, part=other(rng, list(PARTS), *alike))


def _shown(device: AndroidDevice, part: str) -> str:
    """The size beside a name on the page of an app's storage."""
    names = [element.name for element in moves.elements(device)]
    for name, following in zip(names, [*names[1:], ""], strict=True):
        if name == part:
            return following
        if name.startswith(f"{part}, "):
            return name.removeprefix(f"{part}, ")
    raise TaskError(f"the phone's screen shows no size called {part!r}")
