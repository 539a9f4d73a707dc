"""Getting about: to a page of Settings, and home again."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import moves, scenery
from ui_gym.android.checks import ShellCheck
from ui_gym.android.content.apps import PAGES
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.opening import launch
from ui_gym.android.scenery import Scenery
from ui_gym.android.task import AndroidTask
from ui_gym.android.tasks.open_app import FOCUS, open_by_icon
from ui_gym.contract.action import Action, Press
from ui_gym.contract.draws import other, pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo
from ui_gym.errors import UserError, nearest


@dataclass(frozen=True)
class OpenPageParams:
    """All that varies between episodes."""

    page: str
    """The page, of `content.apps.PAGES`."""
    open_before: bool
    """Whether Settings are open at the start."""
    phrasing: int
    scenery: Scenery


PAGE_GOALS = (
    "Open the {page} page of Settings.",
    "In Settings, go to {page}.",
    "Show me the {page} settings.",
    "Please bring up the page {page} in the Settings app.",
)


@register(
    "AndroidOpenSettingsPage", suite="android", category="navigation", difficulty="easy",
    max_steps=10,
)  # fmt: skip
class AndroidOpenSettingsPage(AndroidTask[OpenPageParams]):
    """Open a page of Settings.

    ## Description
    One of twenty pages, a level or two deep. Changing anything there is neither needed nor judged.

    ## Rewards
    1 if the window that has the focus (``dumpsys window | grep mCurrentFocus``) is the page's. On
    phones whose pages all are the activity ``SubSettings``, its title is looked for on the screen.

    ## Starting state
    The home screen, or the first page of Settings.

    ## Arguments
    | `page` | any | the title of the page that is asked for |
    """

    mistakes = ("sibling",)

    def __init__(self, *, page: str | None = None) -> None:
        if page is not None and page not in PAGES:
            raise UserError(f"{self.spec.name}: no page {page!r}. {nearest(page, PAGES)}")
        self.page = page

    def sample(self, rng: np.random.Generator) -> OpenPageParams:
        drawn = pick(rng, list(PAGES))
        return OpenPageParams(
            page=self.page or drawn,
            open_before=bool(rng.random() < 0.3),
            phrasing=int(rng.integers(len(PAGE_GOALS))),
            scenery=scenery.draw(rng),
        )

    def goal(self, params: OpenPageParams) -> str:
        return PAGE_GOALS[params.phrasing].format(page=params.page)

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

    def oracle(self, device: AndroidDevice, params: OpenPageParams) -> Iterator[Action | Demo]:
        if not params.open_before:
            yield from open_by_icon(device, "Settings")
        *path, _ = PAGES[params.page]
        yield from moves.path(device, *path)

    def misread(
        self, params: OpenPageParams, mistake: str, rng: np.random.Generator
    ) -> OpenPageParams:
        """``sibling``: another page is opened."""
        return dataclasses.replace(params, page=other(rng, list(PAGES), params.page))


@dataclass(frozen=True)
class GoHomeParams:
    """All that varies between episodes."""

    action: str
    """The page of Settings that is open, as the last part of its action."""
    key: str
    """What the oracle presses."""
    phrasing: int
    scenery: Scenery


HOME_GOALS = (
    "Go to the home screen.",
    "Please return to the home screen.",
    "Leave this app and show the home screen.",
    "Take me back to the launcher.",
)
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

    def sample(self, rng: np.random.Generator) -> GoHomeParams:
        return GoHomeParams(
            action=pick(rng, PLACES),
            key="home",
            phrasing=int(rng.integers(len(HOME_GOALS))),
            scenery=scenery.draw(rng),
        )

    def goal(self, params: GoHomeParams) -> str:
        return HOME_GOALS[params.phrasing]

    def prepare(self, params: GoHomeParams) -> Sequence[str]:
        page = f"am start -a android.settings.{params.action}"
        return [*params.scenery.lines(), launch("com.android.settings"), page]

    def checks(self, params: GoHomeParams) -> Sequence[ShellCheck]:
        line = f"{FOCUS}; dumpsys activity activities | grep topResumedActivity"

        def at_home(result: ShellResult) -> bool:
            lines = result.text.lower().splitlines()
            return len(lines) > 1 and all("launcher" in line for line in lines)

        return [ShellCheck("home", line, at_home)]

    def oracle(self, device: AndroidDevice, params: GoHomeParams) -> Iterator[Action | Demo]:
        yield Press(params.key)

    def misread(self, params: GoHomeParams, mistake: str, rng: np.random.Generator) -> GoHomeParams:
        """``back_once``: the back key is pressed, once."""
        return dataclasses.replace(params, key="back")
