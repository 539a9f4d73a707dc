"""What applications say that they show: the tree of AT-SPI, read over its D-Bus.

Source of the interfaces: https://gitlab.gnome.org/GNOME/at-spi2-core (``xml/``). The tree is
written as the XML of OSWorld's server. Questions are asked level by level, many at a time: asked
one by one, each would cost two changes of process.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from jeepney import DBusAddress, HeaderFields, MessageType, new_method_call
from jeepney.io.blocking import DBusConnection
from jeepney.low_level import Message

from ui_gym.desktop.uitree import NAMESPACES
from ui_gym.desktop.x11.sandbox import Sandbox
from ui_gym.errors import DeviceError, DeviceTimeout

TIMEOUT = 5.0
"""Seconds that all applications together may take to answer."""

SILENCE = 1.5
"""Seconds after which a program that does not answer is asked nothing more."""

MOST_NODES = 5000
MOST_DEPTH = 50
MOST_TEXT = 20_000
"""Nodes, levels, and characters of a node's text that are read."""

AT_ONCE = 400
"""Questions that are on their way together."""

STATES = (
    "invalid", "active", "armed", "busy", "checked", "collapsed", "defunct", "editable", "enabled",
    "expandable", "expanded", "focusable", "focused", "has_tooltip", "horizontal", "iconified",
    "modal", "multi_line", "multiselectable", "opaque", "pressed", "resizable", "selectable",
    "selected", "sensitive", "showing", "single_line", "stale", "transient", "vertical", "visible",
    "manages_descendants", "indeterminate", "required", "truncated", "animated", "invalid_entry",
    "supports_autocompletion", "selectable_text", "is_default", "visited", "checkable",
    "has_popup", "read_only",
)  # fmt: skip
"""The states by their bits (``AtspiStateType``)."""

_A11Y = "org.a11y.atspi."
_ROOT = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
_PROPERTIES = "org.freedesktop.DBus.Properties"
_SCREEN = 0
_NO_TAG = re.compile(r"[^A-Za-z0-9_.-]+")

Reference = tuple[str, str]
"""Where an object is: the name of its program on the bus, and its path there."""


@dataclass
class AccessibleNode:
    """An accessible object."""

    where: Reference
    name: str = ""
    role: str = "unknown"
    states: frozenset[str] = frozenset()
    interfaces: frozenset[str] = frozenset()
    box: tuple[int, int, int, int] | None = None
    text: str = ""
    value: dict[str, float] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    actions: Sequence[tuple[str, str, str]] = ()
    children: list[AccessibleNode] = field(default_factory=list)


def read_tree(sandbox: Sandbox, *, showing: bool = False) -> str:
    """The tree of a sandbox's applications, as XML; only what shows if `showing`.

    Raises:
        DeviceError: applications were started without telling (`SessionSpec.accessible`).
        DeviceTimeout: none of them answered.
    """
    with _Bus(sandbox) as bus:
        top = AccessibleNode(_ROOT, role="desktop-frame")
        level = [top]
        count = 0
        for depth in range(MOST_DEPTH):
            level = bus.expand(level, showing=showing)
            if depth == 0 and bus.silent and not level:
                raise DeviceTimeout("no application told what it shows: none answers")
            count += len(level)
            if not level or count > MOST_NODES:
                break
    for prefix, uri in NAMESPACES.items():
        ElementTree.register_namespace(prefix, uri)
    return ElementTree.tostring(_xml(top), encoding="unicode")


class _Bus:
    """A connection to the bus of the accessible applications."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._deadline = time.monotonic() + TIMEOUT
        self.silent: set[str] = set()
        user = sandbox.user
        session = sandbox.environment["DBUS_SESSION_BUS_ADDRESS"]
        with _connection(sandbox, session, user) as bus:
            address = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
            try:
                asked = new_method_call(address, "GetAddress")
                answer = bus.send_and_get_reply(asked, timeout=TIMEOUT)
            except TimeoutError:
                raise DeviceTimeout("the desktop's accessibility bus did not answer") from None
        if answer.header.message_type is MessageType.error:
            raise DeviceError(
                "the desktop has no accessibility: install it (Debian: apt-get install "
                f"at-spi2-core), then reset; it said: {answer.body}"
            )
        self._connection = _connection(sandbox, answer.body[0], user)

    def __enter__(self) -> _Bus:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def expand(self, parents: Sequence[AccessibleNode], *, showing: bool) -> list[AccessibleNode]:
        """Give these nodes their children; those children."""
        found: list[AccessibleNode] = []
        lists = self._ask(
            (node.where, _A11Y + "Accessible", "GetChildren", "", ()) for node in parents
        )
        for parent, children in zip(parents, lists, strict=True):
            parent.children = [
                AccessibleNode((name, path)) for name, path in (children or [()])[0] or ()
            ]
            found += parent.children
        self._describe(found)
        for parent in parents:
            # A program that is not done starting, or has ended, has no states.
            parent.children = [
                node
                for node in parent.children
                if "defunct" not in node.states
                and (
                    not showing or node.role in ("application", "frame") or "showing" in node.states
                )
            ]
        kept = [node for parent in parents for node in parent.children]
        self._measure(kept)
        return [
            node for node in kept if "manages_descendants" not in node.states or len(kept) < AT_ONCE
        ]

    def _describe(self, nodes: Sequence[AccessibleNode]) -> None:
        accessible = _A11Y + "Accessible"
        questions = (
            (accessible, "GetRoleName", "", ()),
            (accessible, "GetState", "", ()),
            (accessible, "GetInterfaces", "", ()),
            (_PROPERTIES, "Get", "ss", (accessible, "Name")),
            (accessible, "GetAttributes", "", ()),
        )
        answers = self._ask((node.where, *question) for node in nodes for question in questions)
        for n, node in enumerate(nodes):
            role, states, interfaces, name, attributes = answers[5 * n : 5 * n + 5]
            node.role = (role or ("",))[0] or "unknown"
            node.states = _states((states or ((),))[0])
            node.interfaces = frozenset((interfaces or ((),))[0])
            node.name = name[0][1] if name else ""
            node.attributes = dict((attributes or ({},))[0])

    def _measure(self, nodes: Sequence[AccessibleNode]) -> None:
        """What depends on the interfaces that a node has."""
        asked: list[tuple[AccessibleNode, str, tuple[Any, ...]]] = []
        for node in nodes:
            interfaces = {name.removeprefix(_A11Y) for name in node.interfaces}
            if "Component" in interfaces and {"visible", "showing"} <= node.states:
                extents = (_A11Y + "Component", "GetExtents", "u", (_SCREEN,))
                asked.append((node, "box", extents))
            if "Text" in interfaces:
                asked.append((node, "text", (_A11Y + "Text", "GetText", "ii", (0, MOST_TEXT))))
            if "Value" in interfaces:
                # One by one: asked for all, Chromium 156 aborts itself.
                for name in _VALUES.values():
                    get = (_PROPERTIES, "Get", "ss", (_A11Y + "Value", name))
                    asked.append((node, name, get))
            if "Action" in interfaces:
                asked.append((node, "actions", (_A11Y + "Action", "GetActions", "", ())))
        answers = self._ask((node.where, *question) for node, _, question in asked)
        for (node, what, _), answer in zip(asked, answers, strict=True):
            if not answer:
                continue
            value = answer[0]
            if what in _VALUES.values():
                node.value[what] = value[1]
                continue
            if what == "text":
                value = value.replace("\ufffc", "").replace("\ufffd", "")
            setattr(node, what, value)

    def _ask(self, questions: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...] | None]:
        """The bodies of the answers; None where there was none in time, or an error."""
        messages = [
            new_method_call(DBusAddress(path, name, interface), method, signature or None, body)
            for (name, path), interface, method, signature, body in questions
        ]
        answers: list[tuple[Any, ...] | None] = []
        for start in range(0, len(messages), AT_ONCE):
            answers += self._exchange(messages[start : start + AT_ONCE])
        return answers

    def _exchange(self, messages: Sequence[Message]) -> list[tuple[Any, ...] | None]:
        numbers: dict[Any, int] = {}
        data = bytearray()
        for n, message in enumerate(messages):
            if message.header.fields[HeaderFields.destination] not in self.silent:
                serial = next(self._connection.outgoing_serial)
                numbers[serial] = n
                data += message.serialise(serial=serial)
        self._connection.sock.sendall(data)
        answers: list[tuple[Any, ...] | None] = [None] * len(messages)
        heard = time.monotonic()
        while numbers:
            left = min(self._deadline, heard + SILENCE) - time.monotonic()
            try:
                said = self._connection.receive(timeout=max(left, 0.001))
            except TimeoutError:
                still = [messages[n] for n in numbers.values()]
                self.silent |= {one.header.fields[HeaderFields.destination] for one in still}
                break
            except OSError as error:
                raise DeviceError(f"the desktop's accessibility bus has ended: {error}") from None
            reply_to: Any = said.header.fields.get(HeaderFields.reply_serial)
            n = numbers.pop(reply_to, -1)
            heard = time.monotonic()
            if n >= 0 and said.header.message_type is MessageType.method_return:
                answers[n] = said.body
        return answers


def _connection(sandbox: Sandbox, address: str, user: int) -> DBusConnection:
    """A connection to a bus of the sandbox, as its user."""
    path = re.search(r"path=([^,;]+)", address)
    if path is None:
        raise DeviceError(f"the desktop's bus has an address that cannot be reached: {address}")
    line = sandbox.connect(path[1])
    try:
        identity = str(user).encode().hex().encode()
        line.sendall(b"\0AUTH EXTERNAL " + identity + b"\r\n")
        if not line.recv(1024).startswith(b"OK "):
            raise DeviceError("the desktop's bus refuses its user")
        line.sendall(b"BEGIN\r\n")
        return DBusConnection(line)
    except (OSError, DeviceError) as error:
        line.close()
        raise DeviceError(f"the desktop's bus does not answer: {error}") from None


def _states(words: Sequence[int]) -> frozenset[str]:
    bits = sum(word << (32 * n) for n, word in enumerate(words))
    return frozenset(name for n, name in enumerate(STATES) if bits >> n & 1)


def _xml(node: AccessibleNode) -> ElementTree.Element:
    uris = NAMESPACES
    made = ElementTree.Element(_tag(node.role.strip()) or "unknown")
    if node.where != _ROOT:
        made.set("name", _clean(node.name))
    for state in sorted(node.states):
        made.set(f"{{{uris['st']}}}{state}", "true")
    for name, value in node.attributes.items():
        if name:
            made.set(f"{{{uris['attr']}}}{_tag(name)}", _clean(value))
    if node.box is not None:
        made.set(f"{{{uris['cp']}}}screencoord", str(tuple(node.box[:2])))
        made.set(f"{{{uris['cp']}}}size", str(tuple(node.box[2:])))
    for key, name in _VALUES.items():
        if name in node.value:
            made.set(f"{{{uris['val']}}}{key}", str(node.value[name]))
    for name, description, keys in node.actions:
        tag = _tag(name)
        made.set(f"{{{uris['act']}}}{tag}_desc", _clean(description))
        made.set(f"{{{uris['act']}}}{tag}_kb", _clean(keys))
    if node.text:
        made.text = _clean(node.text)
    made.extend(_xml(child) for child in node.children)
    return made


_VALUES = {
    "value": "CurrentValue", "min": "MinimumValue", "max": "MaximumValue",
    "step": "MinimumIncrement",
}  # fmt: skip


def _tag(name: str) -> str:
    """As XML may call it."""
    tag = _NO_TAG.sub("-", name)
    return f"_{tag}" if tag[:1] in "-.0123456789" and tag else tag


def _clean(text: str) -> str:
    """Without the characters that XML cannot hold."""
    return re.sub(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", text)
