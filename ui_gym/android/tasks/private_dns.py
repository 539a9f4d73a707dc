"""Private DNS."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import moves, scenery
from ui_gym.android.checks import ShellCheck
from ui_gym.android.device import AndroidDevice
from ui_gym.android.scenery import Scenery
from ui_gym.android.task import AndroidTask
from ui_gym.contract.action import Action
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo

NAMES = ("dns", "resolver", "doh", "secure", "family", "private", "ns1", "safe")
PROVIDERS = (
    "quietwater.net", "northlight.org", "bluefern.com", "openharbour.net", "clearpath.org",
    "tallpine.com", "stonebridge.net", "sunhill.org", "redmaple.com", "silverlake.net",
)  # fmt: skip

GOALS = (
    "Set the private DNS provider to {host}.",
    "Use {host} as the phone's private DNS.",
    "In the network settings, set Private DNS to the hostname {host} and save it.",
    "Please let the phone look names up at {host}, by private DNS.",
)
STARTS = ("off", "opportunistic", "hostname")
"""Values of ``private_dns_mode``."""


@dataclass(frozen=True)
class PrivateDnsParams:
    """All that varies between episodes."""

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

    def sample(self, rng: np.random.Generator) -> PrivateDnsParams:
        hosts = [f"{pick(rng, NAMES)}.{pick(rng, PROVIDERS)}" for _ in range(2)]
        start = pick(rng, STARTS)
        another = hosts[1] if hosts[1] != hosts[0] else "dns.example.net"
        return PrivateDnsParams(
            host=hosts[0],
            mode="Private DNS provider hostname",
            start=start,
            before=another if start == "hostname" else "",
            phrasing=int(rng.integers(len(GOALS))),
            scenery=scenery.draw(rng),
        )

    def goal(self, params: PrivateDnsParams) -> str:
        return GOALS[params.phrasing].format(host=params.host)

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

    def oracle(self, device: AndroidDevice, params: PrivateDnsParams) -> Iterator[Action | Demo]:
        yield from moves.launch(device, "Settings")
        yield from moves.path(device, "Network & internet", "Private DNS")
        yield from moves.tap(device, params.mode, role="radio")
        if params.mode != "Off":
            field = "Enter hostname of DNS provider"
            yield from moves.fill(device, field, params.host)
        yield from moves.tap(device, "Save")

    def misread(
        self, params: PrivateDnsParams, mistake: str, rng: np.random.Generator
    ) -> PrivateDnsParams:
        """``misspelt``: a letter of the host is missing. ``off``: private DNS is turned off."""
        if mistake == "off":
            return dataclasses.replace(params, mode="Off")
        at = int(rng.integers(1, params.host.index(".") + 4))
        at += params.host[at] == "."
        return dataclasses.replace(params, host=params.host[:at] + params.host[at + 1 :])
