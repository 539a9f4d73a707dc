"""Notifications: the shade, and clearing what is in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from ui_gym.android import moves, scenery
from ui_gym.android.checks import ShellCheck, focus
from ui_gym.android.content import texts
from ui_gym.android.device import AndroidDevice
from ui_gym.android.opening import launch
from ui_gym.android.scenery import NOTES, Scenery, note_line
from ui_gym.android.task import AndroidTask, Steps
from ui_gym.android.toggles import pull_shade
from ui_gym.contract.action import Drag
from ui_gym.contract.draws import Rng, pick
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.errors import TaskError

STARTS = ("", "com.android.settings", "com.android.calculator2", "com.android.contacts")
"""What is open at the start: the home screen, or an app."""


@dataclass(frozen=True)
class ShadeParams:
    start: str
    """The package that is open; empty on the home screen."""
    from_top: bool
    """Whether the oracle swipes from the very top."""
    phrasing: int
    scenery: Scenery


@register(
    "AndroidNotificationShade", suite="android", category="navigation", difficulty="easy",
    max_steps=5,
)  # fmt: skip
class AndroidNotificationShade(AndroidTask[ShadeParams]):
    """Open the notification shade.

    ## Description
    It is pulled down from the status bar, over the home screen or an app.

    ## Rewards
    1 if ``dumpsys window | grep mCurrentFocus`` names the window ``NotificationShade``.

    ## Starting state
    The home screen or an app; some notifications may be posted.
    """

    apps = ("com.android.settings", "com.android.calculator2", "com.android.contacts")
    mistakes = ("too_low",)
    goals = texts.goals("AndroidNotificationShade")

    def sample(self, rng: Rng) -> ShadeParams:
        return ShadeParams(
            start=pick(rng, STARTS),
            from_top=True,
            phrasing=int(rng.integers(len(self.goals))),
            scenery=scenery.draw(rng),
        )

    def prepare(self, params: ShadeParams) -> Sequence[str]:
        return [*params.scenery.lines(), *([launch(params.start)] if params.start else [])]

    def checks(self, params: ShadeParams) -> Sequence[ShellCheck]:
        return [focus("NotificationShade")]

    def may_change(self, params: ShadeParams) -> Sequence[AllowedChange]:
        return ()

    def oracle(self, device: AndroidDevice, params: ShadeParams) -> Steps:
        if params.from_top:
            yield from pull_shade(device)
        else:
            width, height = device.size
            yield Drag(width // 2, height // 8, width // 2, height // 2)

    def misread(self, params: ShadeParams, mistake: str, rng: Rng) -> ShadeParams:
        """``too_low``: the swipe begins below the status bar."""
        return dataclasses.replace(params, from_top=False)


@dataclass(frozen=True)
class ClearParams:
    notes: tuple[int, ...]
    """The notifications that are posted, of `scenery.NOTES`, the oldest first."""
    dismissed: tuple[int, ...]
    """Those that the oracle swipes away one by one; where there are none, it clears all."""
    phrasing: int
    scenery: Scenery


@register(
    "AndroidClearNotifications", suite="android", category="system", difficulty="medium",
    max_steps=12,
)  # fmt: skip
class AndroidClearNotifications(AndroidTask[ClearParams]):
    """Clear all notifications.

    ## Description
    Two to five notifications are posted. A button below them clears all; each can be swiped away.

    ## Rewards
    1 if ``dumpsys notification | grep -c NotificationRecord`` is 0.

    ## Starting state
    The home screen; notifications are posted.
    """

    mistakes = ("one_left",)
    goals = texts.goals("AndroidClearNotifications")

    def sample(self, rng: Rng) -> ClearParams:
        count = int(rng.integers(2, 6))
        notes = tuple(int(i) for i in rng.choice(len(NOTES), size=count, replace=False))
        one_by_one = count == 2 and rng.random() < 0.5
        return ClearParams(
            notes=notes,
            dismissed=notes if one_by_one else (),
            phrasing=int(rng.integers(len(self.goals))),
            scenery=scenery.draw(rng, most_notes=0),
        )

    def prepare(self, params: ClearParams) -> Sequence[str]:
        return [*params.scenery.lines(), *(note_line(i) for i in params.notes)]

    def checks(self, params: ClearParams) -> Sequence[ShellCheck]:
        return [
            ShellCheck("no notification", "dumpsys notification | grep -c NotificationRecord", "0")
        ]

    def may_change(self, params: ClearParams) -> Sequence[AllowedChange]:
        return ()

    def oracle(self, device: AndroidDevice, params: ClearParams) -> Steps:
        yield from pull_shade(device)
        if not params.dismissed:
            yield from moves.tap(device, "Clear all")
        for i in params.dismissed:
            title = NOTES[i][0]
            found = moves.find(device, title)
            if found is None:
                raise TaskError(f"the shade shows no notification {title!r}")
            x, y = found.center
            yield Drag(x, y, x + device.size[0] // 3, y)

    def misread(self, params: ClearParams, mistake: str, rng: Rng) -> ClearParams:
        """``one_left``: the others are swiped away one by one."""
        left = int(rng.integers(len(params.notes)))
        return dataclasses.replace(params, dismissed=params.notes[:left] + params.notes[left + 1 :])
