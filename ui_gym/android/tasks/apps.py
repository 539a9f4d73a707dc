"""Apps that a person has installed: removing one, stopping one, what one may do."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ui_gym.android import facts, moves, scenery
from ui_gym.android.checks import ShellCheck
from ui_gym.android.compact import CompactTask
from ui_gym.android.content import texts
from ui_gym.android.content.apps import THIRD_PARTY
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.opening import launch
from ui_gym.android.scenery import Scenery
from ui_gym.android.task import AndroidTask, Steps
from ui_gym.contract.action import Action
from ui_gym.contract.draws import Rng, other, pick, some
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
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
    app: str
    button: str
    """What the oracle touches on the app's page."""
    phrasing: int
    scenery: Scenery


@register("AndroidUninstall", suite="android", category="system", difficulty="medium", max_steps=15)
class AndroidUninstall(CompactTask[UninstallParams]):
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
    | `compact` | False | a screen of 256x320 pixels |
    """

    apps = ("com.android.settings", "com.android.vending")
    mistakes = ("another", "force_stop")
    goals = texts.goals("AndroidUninstall")
    compact_steps = 14

    def __init__(self, *, app: str | None = None, compact: bool = False) -> None:
        super().__init__(compact=compact)
        self.app = known_app(app)

    def sample(self, rng: Rng) -> UninstallParams:
        drawn = pick(rng, APPS)
        return UninstallParams(
            app=self.app or drawn,
            button="Uninstall",
            phrasing=int(rng.integers(len(self.goals))),
            scenery=self.scenery(rng),
        )

    def prepare(self, params: UninstallParams) -> Sequence[str]:
        there = [f"pm path {package} >/dev/null" for package in PACKAGES]
        return [*there, *params.scenery.lines()]

    def checks(self, params: UninstallParams) -> Sequence[ShellCheck]:
        gone = THIRD_PARTY[params.app][0]

        def all_but_it(result: ShellResult) -> bool:
            left = {line.removeprefix("package:") for line in result.text.split()}
            return left.intersection(PACKAGES) == set(PACKAGES) - {gone}

        return [ShellCheck("all but it are installed", "pm list packages -3", all_but_it)]

    def may_change(self, params: UninstallParams) -> Sequence[AllowedChange]:
        package = THIRD_PARTY[params.app][0]
        own = ("app", "data", "cache", "stopped", "permission", "kept")
        return [AllowedChange(f"{kind} {package}*", new=0) for kind in own]

    def oracle(self, device: AndroidDevice, params: UninstallParams) -> Steps:
        yield from app_info(device, params.app)
        yield from moves.tap(device, params.button)
        yield from moves.tap(device, "OK")

    def misread(self, params: UninstallParams, mistake: str, rng: Rng) -> UninstallParams:
        """``another``: another app is uninstalled. ``force_stop``: it is only stopped."""
        if mistake == "another":
            return dataclasses.replace(params, app=other(rng, APPS, params.app))
        return dataclasses.replace(params, button="Force stop")


@dataclass(frozen=True)
class ForceStopParams:
    app: str
    opened: tuple[str, ...]
    """The apps that were opened, the one that is to be stopped among them."""
    phrasing: int
    scenery: Scenery


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
    goals = texts.goals("AndroidForceStop")

    def __init__(self, *, app: str | None = None) -> None:
        self.app = known_app(app)

    def sample(self, rng: Rng) -> ForceStopParams:
        drawn = some(rng, APPS, 4)
        app = self.app or drawn[0]
        number = int(rng.integers(1, 5))
        opened = tuple(dict.fromkeys((app, *drawn)))[:number]
        return ForceStopParams(
            app=app,
            opened=some(rng, opened, number),
            phrasing=int(rng.integers(len(self.goals))),
            scenery=scenery.draw(rng),
        )

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

    def may_change(self, params: ForceStopParams) -> Sequence[AllowedChange]:
        return [AllowedChange(facts.stopped(THIRD_PARTY[params.app][0]))]

    def oracle(self, device: AndroidDevice, params: ForceStopParams) -> Steps:
        yield from app_info(device, params.app)
        yield from moves.tap(device, "Force stop")
        yield from moves.tap(device, "OK")

    def misread(self, params: ForceStopParams, mistake: str, rng: Rng) -> ForceStopParams:
        """``another``: another app is stopped."""
        return dataclasses.replace(params, app=other(rng, APPS, params.app))


@dataclass(frozen=True)
class PermissionParams:
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

PERMISSION_GOALS: Mapping[str, tuple[str, ...]] = texts.GOALS["AndroidPermission"]


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

    def sample(self, rng: Rng) -> PermissionParams:
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
        goals = PERMISSION_GOALS["allow" if params.granted else "deny"]
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

    def may_change(self, params: PermissionParams) -> Sequence[AllowedChange]:
        return [AllowedChange(facts.permission(THIRD_PARTY[params.app][0], params.permission))]

    def oracle(self, device: AndroidDevice, params: PermissionParams) -> Steps:
        label = dict(_asked(params.app))[params.permission]
        yield from app_info(device, params.app)
        yield from moves.path(device, "Permissions", label)
        answer = "Allow" if params.granted else "Don't allow"
        yield from moves.tap(device, answer, role="radio", exact=False)

    def misread(self, params: PermissionParams, mistake: str, rng: Rng) -> PermissionParams:
        """``another_app``, ``another_permission``: of these. ``opposite``: granted, not denied."""
        if mistake == "opposite":
            return dataclasses.replace(params, granted=not params.granted)
        if mistake == "another_permission" and params.others:
            return dataclasses.replace(params, permission=pick(rng, params.others)[0])
        app = other(rng, APPS, params.app)
        asked = [name for name, _ in _asked(app)]
        taken = pick(rng, asked)
        others = tuple((name, True) for name in asked if name != taken)
        return dataclasses.replace(params, app=app, permission=taken, others=others)


def _asked(app: str) -> tuple[tuple[str, str], ...]:
    """The permissions that an app asks for: (constant, what Settings call it)."""
    return (*THIRD_PARTY[app][1], NOTIFY)
