"""Apps that a person has installed: removing one, stopping one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import moves, scenery
from ui_gym.android.checks import ShellCheck
from ui_gym.android.content.apps import THIRD_PARTY
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.opening import launch
from ui_gym.android.scenery import Scenery
from ui_gym.android.task import AndroidTask
from ui_gym.contract.action import Action
from ui_gym.contract.draws import other, pick, some
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo
from ui_gym.errors import UserError, nearest

APPS = tuple(THIRD_PARTY)
PACKAGES = tuple(package for package, _ in THIRD_PARTY.values())


def app_info(device: AndroidDevice, app: str) -> Iterator[Action]:
    """Open an app's page in Settings."""
    yield from moves.launch(device, "Settings")
    yield from moves.path(device, "Apps")
    yield from moves.tap(device, "See all", exact=False)
    yield from moves.tap(device, app)


def known_app(app: str | None) -> str | None:
    """`app` if it is None or one of the built-in phone's, else a `UserError`."""
    if app is not None and app not in APPS:
        raise UserError(f"the built-in phone has no app {app!r}. {nearest(app, APPS)}")
    return app


@dataclass(frozen=True)
class UninstallParams:
    """All that varies between episodes."""

    app: str
    button: str
    """What the oracle touches on the app's page."""
    phrasing: int
    scenery: Scenery


UNINSTALL_GOALS = (
    "Uninstall {app}.",
    "Please remove the app {app} from the phone.",
    "I no longer use {app}. Uninstall it.",
    "In Settings, find {app} and uninstall it.",
)


@register("AndroidUninstall", suite="android", category="system", difficulty="medium", max_steps=15)
class AndroidUninstall(AndroidTask[UninstallParams]):
    """Uninstall an app.

    ## Description
    One of ten apps that a person has installed on the built-in phone. Settings uninstall it from
    its page, after a question; the Play Store does so, too.

    ## Rewards
    1 if ``pm list packages -3`` names all of the ten but this one. One that was uninstalled by
    mistake cannot be brought back.

    ## Starting state
    The home screen; all ten are installed.

    ## Arguments
    | `app` | any | the name of the app |
    """

    apps = ("com.android.settings", "com.android.vending")
    mistakes = ("another", "force_stop")

    def __init__(self, *, app: str | None = None) -> None:
        self.app = known_app(app)

    def sample(self, rng: np.random.Generator) -> UninstallParams:
        drawn = pick(rng, APPS)
        return UninstallParams(
            app=self.app or drawn,
            button="Uninstall",
            phrasing=int(rng.integers(len(UNINSTALL_GOALS))),
            scenery=scenery.draw(rng),
        )

    def goal(self, params: UninstallParams) -> str:
        return UNINSTALL_GOALS[params.phrasing].format(app=params.app)

    def prepare(self, params: UninstallParams) -> Sequence[str]:
        there = [f"pm path {package} >/dev/null" for package in PACKAGES]
        return [*there, *params.scenery.lines()]

    def checks(self, params: UninstallParams) -> Sequence[ShellCheck]:
        gone = THIRD_PARTY[params.app][0]

        def all_but_it(result: ShellResult) -> bool:
            left = {line.removeprefix("package:") for line in result.text.split()}
            return left.intersection(PACKAGES) == set(PACKAGES) - {gone}

        return [ShellCheck("all but it are installed", "pm list packages -3", all_but_it)]

    def oracle(self, device: AndroidDevice, params: UninstallParams) -> Iterator[Action | Demo]:
        yield from app_info(device, params.app)
        yield from moves.tap(device, params.button)
        yield from moves.tap(device, "OK")

    def misread(
        self, params: UninstallParams, mistake: str, rng: np.random.Generator
    ) -> UninstallParams:
        """``another``: another app is uninstalled. ``force_stop``: it is only stopped."""
        if mistake == "another":
            return dataclasses.replace(params, app=other(rng, APPS, params.app))
        return dataclasses.replace(params, button="Force stop")


@dataclass(frozen=True)
class ForceStopParams:
    """All that varies between episodes."""

    app: str
    opened: tuple[str, ...]
    """The apps that were opened, the one that is to be stopped among them."""
    phrasing: int
    scenery: Scenery


STOP_GOALS = (
    "Force-stop {app}.",
    "Please force {app} to stop.",
    "{app} hangs. Force stop it in the app's settings.",
    "In Settings, open the app info of {app} and force stop it.",
)


@register("AndroidForceStop", suite="android", category="system", difficulty="medium", max_steps=15)
class AndroidForceStop(AndroidTask[ForceStopParams]):
    """Force-stop an app.

    ## Description
    Settings stop it from its page, after a question. Some other apps were opened, too.

    ## Rewards
    1 if ``dumpsys package`` tells ``stopped=true`` of it, and ``stopped=false`` of the others that
    were opened.

    ## Starting state
    The home screen; one to four apps were opened.

    ## Arguments
    | `app` | any | the name of the app |
    """

    mistakes = ("another",)

    def __init__(self, *, app: str | None = None) -> None:
        self.app = known_app(app)

    def sample(self, rng: np.random.Generator) -> ForceStopParams:
        drawn = some(rng, APPS, 4)
        app = self.app or drawn[0]
        number = int(rng.integers(1, 5))
        opened = tuple(dict.fromkeys((app, *drawn)))[:number]
        return ForceStopParams(
            app=app,
            opened=some(rng, opened, number),
            phrasing=int(rng.integers(len(STOP_GOALS))),
            scenery=scenery.draw(rng),
        )

    def goal(self, params: ForceStopParams) -> str:
        return STOP_GOALS[params.phrasing].format(app=params.app)

    def prepare(self, params: ForceStopParams) -> Sequence[str]:
        opened = [launch(THIRD_PARTY[app][0]) for app in params.opened]
        return [*params.scenery.lines(), *opened, "input keyevent 3"]

    def checks(self, params: ForceStopParams) -> Sequence[ShellCheck]:
        packages = " ".join(THIRD_PARTY[app][0] for app in params.opened)
        line = (
            f"for p in {packages}; do dumpsys package $p | grep -o ' stopped=[a-z]*' "
            "| head -n 1; done"
        )
        wanted = [f"stopped={'true' if app == params.app else 'false'}" for app in params.opened]
        return [ShellCheck("stopped", line, lambda r: r.text.split() == wanted)]

    def oracle(self, device: AndroidDevice, params: ForceStopParams) -> Iterator[Action | Demo]:
        yield from app_info(device, params.app)
        yield from moves.tap(device, "Force stop")
        yield from moves.tap(device, "OK")

    def misread(
        self, params: ForceStopParams, mistake: str, rng: np.random.Generator
    ) -> ForceStopParams:
        """``another``: another app is stopped."""
        return dataclasses.replace(params, app=other(rng, APPS, params.app))
