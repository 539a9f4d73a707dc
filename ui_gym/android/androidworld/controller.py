"""AndroidWorld's controller on a device of the suite.

AndroidWorld reaches a phone through `android_env`: protos of adb calls, which a parser turns into
lines of `adb`, and a forest of accessibility nodes. The parser is android_env's own; the lines are
done by `AdbLines`, and the forest is made of what uiautomator tells.
"""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ui_gym.android.androidworld.lines import AdbLineFailed, AdbLines
from ui_gym.android.device import AndroidDevice
from ui_gym.android.uitree import tree_of
from ui_gym.contract.uitree import parse_xml

MAX_XML = 8 << 20
"""The longest tree that is read, in characters."""

_FLAGS = {
    "checkable": "is_checkable", "checked": "is_checked", "clickable": "is_clickable",
    "enabled": "is_enabled", "focusable": "is_focusable", "focused": "is_focused",
    "long-clickable": "is_long_clickable", "password": "is_password",
    "scrollable": "is_scrollable", "selected": "is_selected",
}  # fmt: skip


def environment(device: AndroidDevice) -> Any:
    """AndroidWorld's `AsyncEnv` on a device."""
    world = _module("android_world.env.android_world_controller")
    # Without a method to get the forest by, nothing is installed; the forest comes from the device.
    controller = world.AndroidWorldController(PhoneEnvironment(device), world.A11yMethod.NONE)
    controller._a11y_method = world.A11yMethod.A11Y_FORWARDER_APP
    controller.get_a11y_forest = lambda: forest_of(device.ui_tree())
    return _module("android_world.env.interface").AsyncAndroidEnv(controller)


def _module(name: str) -> Any:
    # Imported by name: this project does not depend on AndroidWorld.
    return importlib.import_module(name)


class PhoneEnvironment:
    """What AndroidWorld takes for an `AndroidEnv`: only adb calls and looks are wanted of it, since
    the agent's actions go through ui-gym."""

    def __init__(self, device: AndroidDevice) -> None:
        self.device = device
        lines = _ParsedLines(AdbLines(device))
        self._parser = _module("android_env.components.adb_call_parser").AdbCallParser(lines)

    def execute_adb_call(self, call: Any) -> Any:
        """The response to an `AdbRequest`."""
        return self._parser.parse(call)

    def reset(self) -> Any:
        """A look at the screen, as a `TimeStep`."""
        return self.step(None)

    def step(self, action: Any) -> Any:
        """The same, whatever the action."""
        pixels = np.array(self.device.capture().image)
        return SimpleNamespace(observation={"pixels": pixels})

    def close(self) -> None:
        """Nothing: the device is its pool's."""


class _ParsedLines:
    """What android_env's parser takes for its adb."""

    def __init__(self, lines: AdbLines) -> None:
        self._lines = lines
        self._error: type[Exception] = _module("android_env.components.errors").AdbControllerError

    def execute_command(
        self, args: list[str], timeout: float | None = None, device_specific: bool = True
    ) -> bytes:
        try:
            return self._lines.execute(args, timeout)
        except AdbLineFailed as failed:
            raise self._error(
                f"Error executing adb command: [adb {' '.join(args)}]\nCaused by: {failed}"
            ) from failed


def forest_of(xml: str) -> Any:
    """What uiautomator wrote, as the `AndroidAccessibilityForest` that a service would tell."""
    proto = _module("android_env.proto.a11y.android_accessibility_forest_pb2")
    forest = proto.AndroidAccessibilityForest()
    root = parse_xml(tree_of(xml) or xml, MAX_XML, what="the screen's tree", writer="uiautomator")
    window = forest.windows.add(id=1, is_active=True, is_focused=True, window_type=1)
    for child in root:
        _plant(child, window.tree.nodes, 0)
    return forest


def _plant(node: ElementTree.Element, nodes: Any, depth: int) -> int:
    """Add a node and all below it; gives its id."""
    corners = [int(n) for n in node.get("bounds", "[0,0][0,0]")[1:-1].replace("][", ",").split(",")]
    own = nodes.add(
        unique_id=len(nodes) + 1,
        class_name=node.get("class", ""),
        content_description=node.get("content-desc", ""),
        hint_text=node.get("hint", ""),
        package_name=node.get("package", ""),
        text=node.get("text", ""),
        view_id_resource_name=node.get("resource-id", ""),
        window_id=1,
        is_editable=node.get("class", "").endswith("EditText"),
        is_visible_to_user=node.get("visible-to-user", "true") == "true",
        depth=depth,
        **{field: node.get(name) == "true" for name, field in _FLAGS.items()},
    )
    box = own.bounds_in_screen
    box.left, box.top, box.right, box.bottom = corners
    number: int = own.unique_id
    for child in node:
        nodes[number - 1].child_ids.append(_plant(child, nodes, depth + 1))
    return number
