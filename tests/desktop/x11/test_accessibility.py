"""The accessibility tree of real applications."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from x11_helpers import NOTES, SIZE

from ui_gym.contract.action import Click, Press, Type
from ui_gym.contract.device import DeviceOptions
from ui_gym.desktop.device import SessionSpec
from ui_gym.desktop.uitree import NAMESPACES, parse_tree
from ui_gym.desktop.x11.device import X11Device
from ui_gym.errors import DeviceError, DeviceTimeout


@pytest.fixture(scope="module")
def told() -> Iterator[X11Device]:
    device = X11Device(DeviceOptions("x11", SIZE, elements=True))
    device.start()
    yield device
    device.close()


def test_elements_are_where_they_are_seen(told: X11Device) -> None:
    told.renew(NOTES)
    elements = {(one.role, one.name): one for one in told.elements()}
    text = next(one for one in told.elements() if one.role == "textbox")
    assert 'value="alpha\\nbeta' in " ".join(text.states)
    told.perform(Click(*elements["menuitem", "Edit"].center))
    told.capture()
    opened = {one.name: one for one in told.elements() if one.role == "menuitem"}
    told.perform(Click(*opened["Select All"].center))
    told.perform(Type("gone"))
    told.perform(Press("ctrl+s"))
    told.capture()
    assert (told.read("notes.txt") or b"").rstrip() == b"gone"


def test_a_picture_comes_with_its_elements(told: X11Device) -> None:
    told.renew(NOTES)
    assert told.capture().elements == ()
    names = [one.name for one in told.capture(elements=True).elements]
    assert {"File", "Edit", "Search"} <= set(names)


def test_the_tree_has_what_does_not_show_and_osworlds_attributes(told: X11Device) -> None:
    told.renew(SessionSpec(launch=[["galculator"]]))
    tree = parse_tree(told.ui_tree())
    assert tree.tag == "desktop-frame"
    (application,) = [node for node in tree if node.get("name") == "galculator"]
    assert application.tag == "application"
    button = next(node for node in tree.iter("toggle-button") if node.get("name") == "sqrt")
    state, component, act = (NAMESPACES[name] for name in ("st", "cp", "act"))
    assert button.get(f"{{{state}}}showing") == "true"
    assert (button.get(f"{{{component}}}screencoord") or "").startswith("(")
    assert any(key.startswith(f"{{{act}}}Click") for key in button.attrib)
    hidden = [node for node in tree.iter() if node.get(f"{{{state}}}showing") is None]
    assert len(hidden) > 10


def test_a_session_may_ask_for_it(told: X11Device) -> None:
    device = X11Device(DeviceOptions("x11", SIZE))
    device.start()
    try:
        device.renew(SessionSpec(files=NOTES.files, launch=NOTES.launch, accessible=True))
        assert [one.name for one in device.elements() if one.role == "menuitem"][:2] == [
            "File",
            "Edit",
        ]
        device.renew(NOTES)
        assert [one for one in device.elements() if one.role == "menuitem"] == []
    finally:
        device.close()


def test_a_program_that_hangs_does_not_hide_the_others(told: X11Device) -> None:
    told.renew(SessionSpec(files=NOTES.files, launch=[*NOTES.launch, ["galculator"]]))
    told.run("pkill -STOP mousepad")
    assert "sqrt" in [element.name for element in told.elements()]
    told.run("pkill -STOP galculator")
    with pytest.raises(DeviceTimeout, match="none answers"):
        told.elements()


def test_a_bus_that_is_gone_is_named(told: X11Device) -> None:
    told.renew(NOTES)
    told.run("pkill -9 dbus-daemon")
    with pytest.raises(DeviceError):
        told.ui_tree()
