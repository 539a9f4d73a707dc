"""Opening an app by its icon."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import moves, scenery
from ui_gym.android.checks import ShellCheck
from ui_gym.android.content.apps import BUILT_IN, THIRD_PARTY, packages_of
from ui_gym.android.device import AndroidDevice
from ui_gym.android.opening import launch
from ui_gym.android.scenery import Scenery
from ui_gym.android.task import AndroidTask
from ui_gym.contract.action import Action, Drag, Press
from ui_gym.contract.draws import other, pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo
from ui_gym.errors import UserError, nearest

FOCUS = "dumpsys window | grep mCurrentFocus"


@dataclass(frozen=True)
class OpenAppParams:
    """All that varies between episodes."""

    app: str
    """The app's name, as it stands below its icon."""
    start: str
    """The app that is open at the start; empty on the home screen."""
    phrasing: int
    scenery: Scenery


def open_by_icon(device: AndroidDevice, app: str) -> Iterator[Action]:
    """Touch an app's icon on the home screen, or in the drawer where it is not there."""
    if moves.find(device, app) is None:
        width, height = device.size
        yield Drag(width // 2, height * 2 // 5, width // 2, height // 8)
    yield from moves.tap(device, app)


@register("AndroidOpenApp", suite="android", category="app", difficulty="easy", max_steps=8)
class AndroidOpenApp(AndroidTask[OpenAppParams]):
    """Open an app.

    ## Description
    Any of the phone's apps but Settings. Some have an icon on the home screen, all have one in the
    drawer, which opens by a swipe up.

    ## Rewards
    1 if ``dumpsys window | grep mCurrentFocus`` names the app's package.

    ## Starting state
    The home screen, or another app; some notifications may be posted.

    ## Arguments
    | `app` | any | the name of the app that is asked for |
    """

    apps = ("com.android.calculator2", "com.android.contacts")
    mistakes = ("another",)
    goals = (
        "Open {app}.",
        "Please start the app {app}.",
        "Go to the {app} app.",
        "Find {app} among the apps and open it.",
    )
    choices: tuple[str, ...] = (*BUILT_IN, *THIRD_PARTY)
    """The apps that are asked for."""

    def __init__(self, *, app: str | None = None) -> None:
        if app is not None and app not in self.choices:
            raise UserError(f"{self.spec.name}: no app {app!r}. {nearest(app, self.choices)}")
        self.app = app

    def sample(self, rng: np.random.Generator) -> OpenAppParams:
        drawn = pick(rng, self.choices)
        app = self.app or drawn
        start = pick(rng, ("", "", "Calculator", "Contacts"))
        return OpenAppParams(
            app=app,
            start="" if start == app else start,
            phrasing=int(rng.integers(len(self.goals))),
            scenery=scenery.draw(rng),
        )

    def goal(self, params: OpenAppParams) -> str:
        return self.goals[params.phrasing].format(app=params.app)

    def prepare(self, params: OpenAppParams) -> Sequence[str]:
        opened = [launch(packages_of(params.start)[0])] if params.start else []
        return [*params.scenery.lines(), *opened]

    def checks(self, params: OpenAppParams) -> Sequence[ShellCheck]:
        wanted = [f" {package}/" for package in packages_of(params.app)]
        return [ShellCheck("focus", FOCUS, lambda r: any(part in r.text for part in wanted))]

    def oracle(self, device: AndroidDevice, params: OpenAppParams) -> Iterator[Action | Demo]:
        if params.start:
            yield Press("home")
        yield from open_by_icon(device, params.app)

    def misread(
        self, params: OpenAppParams, mistake: str, rng: np.random.Generator
    ) -> OpenAppParams:
        """``another``: another app is opened."""
        return dataclasses.replace(params, app=other(rng, list(BUILT_IN), params.app))


@register("AndroidOpenSettings", suite="android", category="app", difficulty="easy", max_steps=6)
class AndroidOpenSettings(AndroidOpenApp):
    """Open the Settings app.

    ## Description
    As AndroidOpenApp, always of Settings.

    ## Rewards
    1 if ``dumpsys window | grep mCurrentFocus`` names ``com.android.settings``.

    ## Starting state
    The home screen, or another app; some notifications may be posted.
    """

    goals = (
        "Open the Settings app.",
        "Open Settings.",
        "Please go to the phone's settings.",
        "Start the Settings app.",
    )
    choices = ("Settings",)

    def __init__(self) -> None:
        super().__init__()
