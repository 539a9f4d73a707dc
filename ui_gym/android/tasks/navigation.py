"""Getting about: to an app, to a page of Settings, and home again."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ui_gym.android import moves, scenery
from ui_gym.android.checks import ShellCheck
from ui_gym.android.compact import CompactTask
from ui_gym.android.content import texts
from ui_gym.android.content.apps import BUILT_IN, PAGES, THIRD_PARTY, packages_of
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.opening import launch
from ui_gym.android.scenery import Scenery
from ui_gym.android.task import AndroidTask, Steps
from ui_gym.contract.action import Action, Drag, Press
from ui_gym.contract.draws import Rng, other, pick
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.errors import UserError, nearest

FOCUS = "dumpsys window | grep mCurrentFocus"


@dataclass(frozen=True)
class OpenAppParams:
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
class AndroidOpenApp(CompactTask[OpenAppParams]):
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
    | `compact` | False | a screen of 256x320 pixels |
    """

    apps = ("com.android.calculator2", "com.android.contacts")
    mistakes = ("another",)
    goals = texts.goals("AndroidOpenApp")
    choices: tuple[str, ...] = (*BUILT_IN, *THIRD_PARTY)
    """The apps that are asked for."""
    compact_steps = 8

    def __init__(self, *, app: str | None = None, compact: bool = False) -> None:
        super().__init__(compact=compact)
        if app is not None and app not in self.choices:
            raise UserError(f"{self.spec.name}: no app {app!r}. {nearest(app, self.choices)}")
        self.app = app

    def sample(self, rng: Rng) -> OpenAppParams:
        drawn = pick(rng, self.choices)
        app = self.app or drawn
        start = pick(rng, ("", "", "Calculator", "Contacts"))
        return OpenAppParams(
            app=app,
            start="" if start == app or self.compact else start,
            phrasing=int(rng.integers(len(self.goals))),
            scenery=self.scenery(rng),
        )

    def prepare(self, params: OpenAppParams) -> Sequence[str]:
        opened = [launch(packages_of(params.start)[0])] if params.start else []
        return [*params.scenery.lines(), *opened]

    def checks(self, params: OpenAppParams) -> Sequence[ShellCheck]:
        wanted = [f" {package}/" for package in packages_of(params.app)]
        return [ShellCheck("focus", FOCUS, lambda r: any(part in r.text for part in wanted))]

    def may_change(self, params: OpenAppParams) -> Sequence[AllowedChange]:
        return ()

    def oracle(self, device: AndroidDevice, params: OpenAppParams) -> Steps:
        if params.start:
            yield Press("home")
        yield from open_by_icon(device, params.app)

    def misread(self, params: OpenAppParams, mistake: str, rng: Rng) -> OpenAppParams:
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

    goals = texts.goals("AndroidOpenSettings")
    choices = ("Settings",)

    def __init__(self) -> None:
        super().__init__()


@dataclass(frozen=True)
class OpenPageParams:
    page: str
    """The page, of `content.apps.PAGES`."""
    open_before: bool
    """Whether Settings are open at the start."""
    phrasing: int
    scenery: Scenery


@register(
    "AndroidOpenSettingsPage", suite="android", category="navigation", difficulty="easy",
    max_steps=10,
)  # fmt: skip
class AndroidOpenSettingsPage(CompactTask[OpenPageParams]):
    """Open a page of Settings.

    ## Description
    One of twenty pages, a level or two deep; compact, one of those that the first page leads to,
    of which not all are seen at once. Changing anything there is neither needed nor judged.

    ## Rewards
    1 if the window that has the focus (``dumpsys window | grep mCurrentFocus``) is the page's. On
    phones whose pages all are the activity ``SubSettings``, its title is looked for on the screen.

    ## Starting state
    The home screen, or the first page of Settings.

    ## Arguments
    | `page` | any | the title of the page that is asked for |
    | `compact` | False | a screen of 256x320 pixels |
    """

    mistakes = ("sibling",)
    goals = texts.goals("AndroidOpenSettingsPage")
    compact_steps = 7

    def __init__(self, *, page: str | None = None, compact: bool = False) -> None:
        super().__init__(compact=compact)
        self.pages = [page for page, way in PAGES.items() if len(way) == 2 or not compact]
        if page is not None and page not in self.pages:
            raise UserError(f"{self.spec.name}: no page {page!r}. {nearest(page, self.pages)}")
        self.page = page

    def sample(self, rng: Rng) -> OpenPageParams:
        drawn = pick(rng, self.pages)
        return OpenPageParams(
            page=self.page or drawn,
            open_before=bool(rng.random() < 0.3),
            phrasing=int(rng.integers(len(self.goals))),
            scenery=self.scenery(rng),
        )

    def prepare(self, params: OpenPageParams) -> Sequence[str]:
        opened = [launch("com.android.settings")] if params.open_before else []
        return [*params.scenery.lines(), *opened]

    def checks(self, params: OpenPageParams) -> Sequence[ShellCheck]:
        cls = PAGES[params.page][-1]
        title = html.escape(params.page, quote=False)
        line = (
            f"case \"$({FOCUS})\" in *'Settings${cls}}}'*) echo yes;; "
            f"*com.android.settings/*SubSettings*) uiautomator dump /dev/tty "
            f"| grep -q '=\"{title}\"' && echo yes;; esac"
        )
        return [ShellCheck("page", line, "yes")]

    def may_change(self, params: OpenPageParams) -> Sequence[AllowedChange]:
        return ()

    def oracle(self, device: AndroidDevice, params: OpenPageParams) -> Steps:
        if not params.open_before:
            yield from open_by_icon(device, "Settings")
        *path, _ = PAGES[params.page]
        yield from moves.path(device, *path)

    def misread(self, params: OpenPageParams, mistake: str, rng: Rng) -> OpenPageParams:
        """``sibling``: another page is opened."""
        return dataclasses.replace(params, page=other(rng, self.pages, params.page))


@dataclass(frozen=True)
class GoHomeParams:
    action: str
    """The page of Settings that is open, as the last part of its action."""
    key: str
    """What the oracle presses."""
    phrasing: int
    scenery: Scenery


PLACES = (
    "WIFI_SETTINGS", "BLUETOOTH_SETTINGS", "DISPLAY_SETTINGS", "SOUND_SETTINGS",
    "DATE_SETTINGS", "LOCATION_SOURCE_SETTINGS", "ACCESSIBILITY_SETTINGS",
    "BATTERY_SAVER_SETTINGS", "DEVICE_INFO_SETTINGS", "INTERNAL_STORAGE_SETTINGS",
)  # fmt: skip


@register("AndroidGoHome", suite="android", category="navigation", difficulty="easy", max_steps=5)
class AndroidGoHome(AndroidTask[GoHomeParams]):
    """Go to the home screen.

    ## Description
    A page of Settings is open over its first page, so that going back once does not lead home.

    ## Rewards
    1 if a launcher has the focus (``dumpsys window | grep mCurrentFocus``) and is the activity on
    top (``dumpsys activity activities | grep topResumedActivity``).

    ## Starting state
    A page of Settings is open.
    """

    mistakes = ("back_once",)
    goals = texts.goals("AndroidGoHome")

    def sample(self, rng: Rng) -> GoHomeParams:
        return GoHomeParams(
            action=pick(rng, PLACES),
            key="home",
            phrasing=int(rng.integers(len(self.goals))),
            scenery=scenery.draw(rng),
        )

    def prepare(self, params: GoHomeParams) -> Sequence[str]:
        page = f"am start -a android.settings.{params.action}"
        return [*params.scenery.lines(), launch("com.android.settings"), page]

    def checks(self, params: GoHomeParams) -> Sequence[ShellCheck]:
        line = f"{FOCUS}; dumpsys activity activities | grep topResumedActivity"

        def at_home(result: ShellResult) -> bool:
            lines = result.text.lower().splitlines()
            return len(lines) > 1 and all("launcher" in line for line in lines)

        return [ShellCheck("home", line, at_home)]

    def may_change(self, params: GoHomeParams) -> Sequence[AllowedChange]:
        return ()

    def oracle(self, device: AndroidDevice, params: GoHomeParams) -> Steps:
        yield Press(params.key)

    def misread(self, params: GoHomeParams, mistake: str, rng: Rng) -> GoHomeParams:
        """``back_once``: the back key is pressed, once."""
        return dataclasses.replace(params, key="back")
