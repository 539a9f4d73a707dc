"""What an app may do: its permissions."""

from __future__ import annotations

import dataclasses
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
from ui_gym.errors import UserError


@dataclass(frozen=True)
class PermissionParams:
    """All that varies between episodes."""

    app: str
    permission: str
    """Without ``android.permission.``."""
    granted: bool
    """Whether the app is to have it."""
    others: tuple[tuple[str, bool], ...]
    """The app's other permissions, and whether it has them."""
    phrasing: int
    scenery: Scenery


NOTIFY = ("POST_NOTIFICATIONS", "Notifications")

PERMISSION_GOALS = {
    False: (
        "Deny {app} the {permission} permission.",
        "Take the {permission} permission away from {app}.",
        "{app} should no longer have the permission {permission}. Change that in Settings.",
    ),
    True: (
        "Allow {app} the {permission} permission.",
        "Give {app} the {permission} permission.",
        "{app} should have the permission {permission}. Change that in Settings.",
    ),
}


@register(
    "AndroidPermission", suite="android", category="system", difficulty="medium", max_steps=15
)
class AndroidPermission(AndroidTask[PermissionParams]):
    """Deny an app a permission, or grant it.

    ## Description
    Each of the built-in phone's ten installed apps asks for some permissions. Settings list them on
    the app's page, and each has a page of its own.

    ## Rewards
    1 if ``dumpsys package`` tells ``granted=false`` (or ``true``) of it, and of the app's other
    permissions what it told at the start.

    ## Starting state
    The home screen; the permission is not as asked.

    ## Arguments
    | `app` | any | the name of the app |
    | `to` | either | "deny" or "allow": what is asked for |
    """

    mistakes = ("another_app", "another_permission", "opposite")

    def __init__(self, *, app: str | None = None, to: str | None = None) -> None:
        if to not in (None, "deny", "allow"):
            raise UserError(f"{self.spec.name}: to is 'deny' or 'allow', not {to!r}")
        self.app = known_app(app)
        self.to = to

    def sample(self, rng: np.random.Generator) -> PermissionParams:
        drawn, drawn_on = pick(rng, APPS), bool(rng.random() < 0.4)
        app = self.app or drawn
        asked = [name for name, _ in _asked(app)]
        permission = pick(rng, asked)
        others = tuple((name, bool(rng.random() < 0.5)) for name in asked if name != permission)
        return PermissionParams(
            app=app,
            permission=permission,
            granted=drawn_on if self.to is None else self.to == "allow",
            others=others,
            phrasing=int(rng.integers(3)),
            scenery=scenery.draw(rng),
        )

    def goal(self, params: PermissionParams) -> str:
        label = dict(_asked(params.app))[params.permission]
        goals = PERMISSION_GOALS[params.granted]
        return goals[params.phrasing].format(app=params.app, permission=label)

    def prepare(self, params: PermissionParams) -> Sequence[str]:
        start = (*params.others, (params.permission, not params.granted))
        package = THIRD_PARTY[params.app][0]
        given = [
            f"pm {'grant' if on else 'revoke'} {package} android.permission.{name}"
            for name, on in start
        ]
        return [*params.scenery.lines(), *given]

    def checks(self, params: PermissionParams) -> Sequence[ShellCheck]:
        wanted = dict((*params.others, (params.permission, params.granted)))

        def as_asked(result: ShellResult) -> bool:
            return all(
                f"android.permission.{name}: granted={str(on).lower()}" in result.text
                for name, on in wanted.items()
            )

        line = f"dumpsys package {THIRD_PARTY[params.app][0]} | grep granted="
        return [ShellCheck("permissions", line, as_asked)]

    def oracle(self, device: AndroidDevice, params: PermissionParams) -> Iterator[Action | Demo]:
        label = dict(_asked(params.app))[params.permission]
        yield from app_info(device, params.app)
        yield from moves.path(device, "Permissions", label)
        answer = "Allow" if params.granted else "Don't allow"
        yield from moves.tap(device, answer, role="radio", exact=False)

    def misread(
        self, params: PermissionParams, mistake: str, rng: np.random.Generator
    ) -> PermissionParams:
        """``another_app``, ``another_permission``: of these. ``opposite``: granted, not denied."""
        if mistake == "opposite":
            return dataclasses.replace(params, granted=not params.granted)
        if mistake == "another_permission" and params.others:
            return dataclasses.replace(params, permission=pick(rng, params.others)[0])
        app = other(rng, APPS, params.app)
        return dataclasses.replace(params, app=app, permission=pick(rng, _asked(app))[0])


def _asked(app: str) -> tuple[tuple[str, str], ...]:
    """The permissions that an app asks for: (constant, what Settings call it)."""
    return (*THIRD_PARTY[app][1], NOTIFY)
