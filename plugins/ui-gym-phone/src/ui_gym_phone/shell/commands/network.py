"""ip, ifconfig, ping: the network as the phone's switches leave it. Nothing is ever sent."""

from __future__ import annotations

import ipaddress

from ui_gym_phone.shell.framework import usage
from ui_gym_phone.shell.registry import CommandContext, command, toybox
from ui_gym_phone.state.hardware import NetworkLink, links, part

_MOST_PINGS = 10_000
_PING_MS = 1.5
"""How long an answer takes, in milliseconds."""

_NAMES = {"localhost": "127.0.0.1", "ip6-localhost": "::1"}
_HOST_ADDRESS = "93.184.216.34"
"""What every name in the world outside is taken for."""


# -- ip --


@command("ip")
def _ip(ctx: CommandContext) -> None:
    """``ip [-4] [-6] addr|link|route [show] [dev NAME]``."""
    words, family = list(ctx.words), ""
    while words and words[0].startswith("-"):
        word = words.pop(0)
        family = {"-4": "inet", "-6": "inet6"}.get(word, family)
    what, *rest = words or [""]
    rest = [word for word in rest if word not in ("show", "list", "ls", "dev", "table", "all")]
    objects = {"address": _addresses, "link": _links, "route": _routes}
    show = next((f for name, f in objects.items() if what and name.startswith(what)), None)
    if show is None:
        known = f'Object "{what}" is unknown, try "ip help".\n' if what else usage("ip")
        raise ctx.ended(known, 1 if what else 255)
    name = rest[0] if rest else ""
    if name and show is not _routes and name not in _interfaces(ctx):
        raise ctx.ended(f'Device "{name}" does not exist.\n')
    show(ctx, name, family)


def _interfaces(ctx: CommandContext) -> dict[str, NetworkLink | None]:
    """The interfaces that there are, with the link of those that are up."""
    up: dict[str, NetworkLink | None] = {link.interface: link for link in links(ctx.phone)}
    return {"lo": None, "wlan0": None, part("cell")["interface"]: None, **up}


def _head(number: int, name: str, link: NetworkLink | None) -> str:
    """How `ip` begins what it tells of an interface."""
    if name == "lo":
        return (
            f"{number}: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group"
            " default qlen 1000\n    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n"
        )
    kind = f"link/ether {part('wifi')['mac']} brd ff:ff:ff:ff:ff:ff"
    flags, state = ("BROADCAST,MULTICAST,UP,LOWER_UP", "UP") if link else (
        "NO-CARRIER,BROADCAST,MULTICAST,UP", "DOWN")  # fmt: skip
    if name != "wlan0":
        kind, flags = "link/[519] ", "UP,LOWER_UP" if link else "NO-CARRIER"
    return (
        f"{number}: {name}: <{flags}> mtu 1500 qdisc mq state {state} group default qlen 3000\n"
        f"    {kind}\n"
    )


def _links(ctx: CommandContext, wanted: str, family: str) -> None:
    for number, (name, link) in enumerate(_interfaces(ctx).items(), 1):
        if wanted in ("", name):
            ctx.out(_head(number, name, link))


def _addresses(ctx: CommandContext, wanted: str, family: str) -> None:
    for number, (name, link) in enumerate(_interfaces(ctx).items(), 1):
        if wanted not in ("", name):
            continue
        inet, inet6 = _address_lines(name, link)
        told = inet * (family != "inet6") + inet6 * (family != "inet")
        head = _head(number, name, link)
        if family:
            head = head.partition("\n")[0] + "\n" if told else ""
        ctx.out(head + told)


def _address_lines(name: str, link: NetworkLink | None) -> tuple[str, str]:
    forever = "       valid_lft forever preferred_lft forever\n"
    if name == "lo":
        return (
            f"    inet 127.0.0.1/8 scope host lo\n{forever}",
            f"    inet6 ::1/128 scope host \n{forever}",
        )
    if link is None:
        return "", ""
    broadcast = f" brd {part('wifi')['broadcast']}" * (link.kind == "WIFI")
    return (
        f"    inet {link.address}/{link.prefix}{broadcast} scope global {name}\n{forever}",
        f"    inet6 {link.address6}/64 scope link \n{forever}",
    )


def _routes(ctx: CommandContext, wanted: str, family: str) -> None:
    for link in links(ctx.phone):
        if wanted not in ("", "0", link.interface):
            continue
        if family == "inet6":
            ctx.out(f"fe80::/64 dev {link.interface} proto kernel metric 256 pref medium\n")
        else:
            ctx.out(
                f"{link.network} dev {link.interface} proto kernel scope link src {link.address}\n"
            )


# -- ifconfig --


@toybox("ifconfig", flags="aS")
def _ifconfig(ctx: CommandContext) -> None:
    interfaces = _interfaces(ctx)
    wanted = ctx.words[0] if ctx.words else ""
    if wanted and wanted not in interfaces:
        raise ctx.fault(f"ioctl 8913: {wanted}: No such device")
    for name, link in interfaces.items():
        if wanted == name or (not wanted and (name == "lo" or link or "a" in ctx.options)):
            ctx.out(_configuration(name, link) + "\n")


def _configuration(name: str, link: NetworkLink | None) -> str:
    counts = (
        "          RX packets:{0} errors:0 dropped:0 overruns:0 frame:0 \n"
        "          TX packets:{0} errors:0 dropped:0 overruns:0 carrier:0 \n"
        "          collisions:0 txqueuelen:{1} \n"
        "          RX bytes:{2} TX bytes:{2} \n"
    )
    if name == "lo":
        return (
            "lo        Link encap:Local Loopback  \n"
            "          inet addr:127.0.0.1  Mask:255.0.0.0 \n"
            "          inet6 addr: ::1/128 Scope: Host\n"
            "          UP LOOPBACK RUNNING  MTU:65536  Metric:1\n"
        ) + counts.format(12, 1000, 1008)
    mac = f"Ethernet  HWaddr {part('wifi')['mac']}" if name == "wlan0" else "UNSPEC    "
    head = f"{name:<10}Link encap:{mac}\n"
    if link is None:
        return (
            head + "          BROADCAST MULTICAST  MTU:1500  Metric:1\n" + counts.format(0, 3000, 0)
        )
    mask = ipaddress.ip_network(link.network).netmask
    broadcast = f"  Bcast:{part('wifi')['broadcast']}" * (link.kind == "WIFI")
    return (
        f"{head}          inet addr:{link.address}{broadcast}  Mask:{mask} \n"
        f"          inet6 addr: {link.address6}/64 Scope: Link\n"
        "          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1\n"
    ) + counts.format(4096, 3000, 1_048_576)


# -- ping --


@toybox("ping", flags="c:i:w:W:s:I:4q", least=0)
def _ping(ctx: CommandContext) -> None:
    """Answers come while a network is up, and are made up. Without ``-c`` it ends after four, as
    nobody can interrupt it."""
    if not ctx.words:
        raise ctx.ended(usage("ping"), 2)
    host, count, size = ctx.words[0], ctx.number("c", 4), ctx.number("s", 56)
    if not 1 <= count <= _MOST_PINGS or not 0 <= size <= 65_507:
        raise ctx.ended("ping: invalid argument\n", 1)
    address, local = _resolved(host)
    up = local or bool(links(ctx.phone))
    if not up and address == _HOST_ADDRESS:
        raise ctx.ended(f"ping: unknown host {host}\n", 2)
    if not up:
        raise ctx.ended("connect: Network is unreachable\n", 2)
    ctx.out(f"PING {host} ({address}) {size}({size + 28}) bytes of data.\n")
    each = 0.05 if local else _PING_MS
    for number in range(1, count + 1):
        ctx.spend(10)
        if "q" not in ctx.options:
            told = f"{size + 8} bytes from {address}: icmp_seq={number} ttl=64 time={each:.2f} ms"
            ctx.out(told + "\n")
    ctx.shell.budget.slept(count - 1)
    ctx.machine.clock.advance(count - 1)
    ctx.out(
        f"\n--- {host} ping statistics ---\n{count} packets transmitted, {count} received,"
        f" 0% packet loss, time {1000 * (count - 1)}ms\n"
        f"rtt min/avg/max/mdev = {each:.3f}/{each:.3f}/{each:.3f}/0.000 ms\n"
    )


def _resolved(host: str) -> tuple[str, bool]:
    """The address of a name, and whether it is the phone itself."""
    address = _NAMES.get(host, host)
    try:
        return address, ipaddress.ip_address(address).is_loopback
    except ValueError:
        return _HOST_ADDRESS, False
