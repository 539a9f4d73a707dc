"""Choices in Settings: private DNS, the screen's timeout."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from ui_gym.android import moves, scenery
from ui_gym.android.checks import ShellCheck, setting
from ui_gym.android.content import texts
from ui_gym.android.device import AndroidDevice
from ui_gym.android.facts import settings_change
from ui_gym.android.scenery import Scenery
from ui_gym.android.task import AndroidTask, Steps
from ui_gym.contract.draws import Rng, pick
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.errors import UserError

NAMES = ("dns", "resolver", "doh", "secure", "family", "private", "ns1", "safe")
PROVIDERS = (
    "quietwater.net", "northlight.org", "bluefern.com", "openharbour.net", "clearpath.org",
    "tallpine.com", "stonebridge.net", "sunhill.org", "redmaple.com", "silverlake.net",
)  # fmt: skip

STARTS = ("off", "opportunistic", "hostname")
"""Values of ``private_dns_mode``."""


@dataclass(frozen=True)
class PrivateDnsParams:
    host: str
    mode: str
    """What is chosen in the dialog, as Settings call it."""
    start: str
    """The mode at the start, of `STARTS`."""
    before: str
    """The host that is set at the start; empty if none is."""
    phrasing: int
    scenery: Scenery


@register(
    "AndroidPrivateDns", suite="android", category="settings", difficulty="medium", max_steps=15
)
class AndroidPrivateDns(AndroidTask[PrivateDnsParams]):
    """Set the provider of private DNS.

    ## Description
    A dialog in Settings, under Network & internet: a mode is chosen, a host typed, and both saved.

    ## Rewards
    1 if ``settings get global private_dns_mode`` is ``hostname`` and ``private_dns_specifier`` is
    the host.

    ## Starting state
    The home screen; private DNS is off, automatic, or set to another host.
    """

    mistakes = ("misspelt", "off")
    goals = texts.goals("AndroidPrivateDns")

    def sample(self, rng: Rng) -> PrivateDnsParams:
        hosts = [f"{pick(rng, NAMES)}.{pick(rng, PROVIDERS)}" for _ in range(2)]
        start = pick(rng, STARTS)
        another = hosts[1] if hosts[1] != hosts[0] else "dns.example.net"
        return PrivateDnsParams(
            host=hosts[0],
            mode="Private DNS provider hostname",
            start=start,
            before=another if start == "hostname" else "",
            phrasing=int(rng.integers(len(self.goals))),
            scenery=scenery.draw(rng),
        )

    def prepare(self, params: PrivateDnsParams) -> Sequence[str]:
        key = "global private_dns_specifier"
        before = (
            f"settings put {key} {params.before}" if params.before else f"settings delete {key}"
        )
        mode = f"settings put global private_dns_mode {params.start}"
        return [*params.scenery.lines(), before, mode]

    def checks(self, params: PrivateDnsParams) -> Sequence[ShellCheck]:
        line = "settings get global private_dns_mode; settings get global private_dns_specifier"
        return [ShellCheck("private DNS", line, f"hostname\n{params.host}")]

    def may_change(self, params: PrivateDnsParams) -> Sequence[AllowedChange]:
        return settings_change("global private_dns_mode")

    def oracle(self, device: AndroidDevice, params: PrivateDnsParams) -> Steps:
        yield from moves.launch(device, "Settings")
        yield from moves.path(device, "Network & internet", "Private DNS")
        yield from moves.tap(device, params.mode, role="radio")
        if params.mode != "Off":
            field = "Enter hostname of DNS provider"
            yield from moves.fill(device, field, params.host)
        yield from moves.tap(device, "Save")

    def misread(self, params: PrivateDnsParams, mistake: str, rng: Rng) -> PrivateDnsParams:
        """``misspelt``: a letter of the host is missing. ``off``: private DNS is turned off."""
        if mistake == "off":
            return dataclasses.replace(params, mode="Off")
        at = int(rng.integers(1, params.host.index(".") + 4))
        at += params.host[at] == "."
        return dataclasses.replace(params, host=params.host[:at] + params.host[at + 1 :])


TIMEOUTS = {
    "15 seconds": 15_000, "30 seconds": 30_000, "1 minute": 60_000, "2 minutes": 120_000,
    "5 minutes": 300_000, "10 minutes": 600_000, "30 minutes": 1_800_000,
}  # fmt: skip
"""Milliseconds by what Android's list of timeouts says."""


@dataclass(frozen=True)
class ScreenTimeoutParams:
    time: str
    """What is asked for, of `TIMEOUTS`."""
    start: str
    """What it is at the start."""
    phrasing: int
    scenery: Scenery


@register(
    "AndroidScreenTimeout", suite="android", category="settings", difficulty="medium", max_steps=12
)
class AndroidScreenTimeout(AndroidTask[ScreenTimeoutParams]):
    """Set after what time the screen turns off.

    ## Description
    A list of seven times, on a page of its own in Settings, under Display.

    ## Rewards
    1 if ``settings get system screen_off_timeout`` is the time that was asked for, in milliseconds.

    ## Starting state
    The home screen; the timeout is another of the seven.

    ## Arguments
    | `to` | any | the time that is asked for, such as "30 seconds" |
    """

    mistakes = ("next",)
    goals = texts.goals("AndroidScreenTimeout")

    def __init__(self, *, to: str | None = None) -> None:
        if to is not None and to not in TIMEOUTS:
            raise UserError(f"{self.spec.name}: to is one of {', '.join(TIMEOUTS)}, not {to!r}")
        self.to = to

    def sample(self, rng: Rng) -> ScreenTimeoutParams:
        names = list(TIMEOUTS)
        time = pick(rng, names) if self.to is None else self.to
        others = [name for name in names if name != time]
        return ScreenTimeoutParams(
            time=time,
            start=pick(rng, others),
            phrasing=int(rng.integers(len(self.goals))),
            scenery=scenery.draw(rng),
        )

    def prepare(self, params: ScreenTimeoutParams) -> Sequence[str]:
        start = f"settings put system screen_off_timeout {TIMEOUTS[params.start]}"
        return [*params.scenery.lines(), start]

    def checks(self, params: ScreenTimeoutParams) -> Sequence[ShellCheck]:
        return [setting("system", "screen_off_timeout", str(TIMEOUTS[params.time]))]

    def may_change(self, params: ScreenTimeoutParams) -> Sequence[AllowedChange]:
        return settings_change("system screen_off_timeout")

    def oracle(self, device: AndroidDevice, params: ScreenTimeoutParams) -> Steps:
        yield from moves.launch(device, "Settings")
        yield from moves.path(device, "Display", "Screen timeout", params.time)

    def misread(self, params: ScreenTimeoutParams, mistake: str, rng: Rng) -> ScreenTimeoutParams:
        """``next``: the time beside it in the list is taken."""
        names = list(TIMEOUTS)
        at = names.index(params.time)
        return dataclasses.replace(params, time=names[at - 1 if at else 1])
