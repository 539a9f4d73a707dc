"""A window's views as `uiautomator dump` writes them."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from ui_gym_phone.ui.scene import PhoneWindow, ViewNode

HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"


def to_xml(window: PhoneWindow, rotation: int = 0) -> str:
    """The XML of a window, on one line, as uiautomator has it."""
    parts = [f'{HEAD}<hierarchy rotation="{rotation}">']
    _write(window.root, window.package, 0, parts)
    parts.append("</hierarchy>")
    return "".join(parts)


def _write(node: ViewNode, package: str, index: int, parts: list[str]) -> None:
    left, top, right, bottom = node.bounds
    resource = node.id.replace(" ", "_")
    if resource and ":id/" not in resource:
        resource = f"{package}:id/{resource}"
    flags = {
        "checkable": node.checkable,
        "checked": node.checked,
        "clickable": node.clickable,
        "enabled": node.enabled,
        "focusable": node.clickable,
        "focused": node.focused,
        "scrollable": node.scrollable,
        "long-clickable": node.long_clickable,
        "password": node.password,
        "selected": node.selected,
    }
    told = " ".join(f'{name}="{str(value).lower()}"' for name, value in flags.items())
    parts.append(
        f'<node index="{index}" text={_quoted(node.text)} resource-id={_quoted(resource)} '
        f'class="{node.cls}" package="{package}" content-desc={_quoted(node.desc)} {told} '
        f'bounds="[{left},{top}][{right},{bottom}]"'
    )
    if node.hint:
        parts.append(f" hint={_quoted(node.hint)}")
    if not node.children:
        parts.append(" />")
        return
    parts.append(">")
    for i, child in enumerate(node.children):
        _write(child, package, i, parts)
    parts.append("</node>")


_ENTITIES = {"\n": "&#10;", '"': "&quot;"}


def _quoted(text: str) -> str:
    clean = "".join(c if c in "\n\t" or ord(c) >= 32 else "." for c in text)
    quoted = quoteattr(clean, _ENTITIES)
    return quoted if quoted.startswith('"') else f'"{quoted[1:-1]}"'
