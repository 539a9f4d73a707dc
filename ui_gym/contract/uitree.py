"""Trees of what is on a screen, as XML: what the readers of the suites' formats share.

A reader says which nodes are worth telling, what each is called and where it is:
`ui_gym.android.uitree` reads what `uiautomator` writes, `ui_gym.desktop.uitree` what OSWorld's
server does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from xml.etree import ElementTree

from ui_gym.contract.device import Element
from ui_gym.errors import DeviceError

Scale = float | tuple[float, float]
"""Observed pixels for one of the screen's; across and down, where they differ."""

Corners = tuple[int, int, int, int]
"""(left, top, right, bottom) in the screen's pixels."""

Told = tuple[str, str, Corners | None, Iterable[str]]
"""(role, name, where it is, states) of a node."""


def parse_xml(xml: str, limit: int, *, what: str, writer: str) -> ElementTree.Element:
    """The root of a tree of at most `limit` characters.

    Raises:
        DeviceError: it is no XML, too long, or has a declaration, which no `writer` writes.
    """
    if len(xml) > limit:
        raise DeviceError(f"{what} has {len(xml)} characters; at most {limit} are read")
    if "<!" in xml:  # neither entities nor a DTD has any business there
        raise DeviceError(f"{what} is not as {writer} writes it: it has a declaration")
    try:
        return ElementTree.fromstring(xml.encode("utf-8", "replace"))
    except ElementTree.ParseError as error:
        raise DeviceError(f"{what} is not XML: {error}") from None


def elements_of(nodes: Iterable[Told], scale: Scale) -> tuple[Element, ...]:
    """The nodes of which something can be seen, as elements that are numbered from 0."""
    across, down = scale if isinstance(scale, tuple) else (scale, scale)
    found: list[Element] = []
    for role, name, corners, states in nodes:
        if corners is None:
            continue
        left, top, right, bottom = corners
        x, y = round(left * across), round(top * down)
        width, height = round(right * across) - x, round(bottom * down) - y
        if width > 0 and height > 0:
            found.append(Element(len(found), role, name, (x, y, width, height), tuple(states)))
    return tuple(found)


def value_state(value: str) -> str:
    """The state that tells what stands in a node."""
    return f"value={json.dumps(value, ensure_ascii=False)}"
