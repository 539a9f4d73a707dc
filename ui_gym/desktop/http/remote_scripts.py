"""Scripts that run on a machine of OSWorld's, where its server has no route.

They are fixed texts, sent to ``/execute`` as ``python -c`` and run there. They use python-xlib,
which OSWorld's server itself needs.
"""

from __future__ import annotations

_WINDOWS = """
import json, time
from Xlib import X, display
from Xlib.protocol import event
d = display.Display()
root = d.screen().root
atom = d.intern_atom

def prop(window, name):
    found = window.get_full_property(atom(name), X.AnyPropertyType)
    return None if found is None else found.value

def text(value):
    return value.decode('utf-8', 'replace') if isinstance(value, bytes) else (value or '')

def told(window):
    kinds = prop(window, '_NET_WM_WINDOW_TYPE')
    hidden = [atom('_NET_WM_WINDOW_TYPE_' + kind) for kind in ('DESKTOP', 'DOCK')]
    return not any(kind in hidden for kind in (kinds if kinds is not None else ()))

def windows():
    ids = prop(root, '_NET_CLIENT_LIST_STACKING')
    if ids is None:
        ids = prop(root, '_NET_CLIENT_LIST')
    for number in (ids if ids is not None else ()):
        window = d.create_resource_object('window', number)
        try:
            if told(window):
                yield window
        except Exception:
            pass
"""

WINDOWS = (
    _WINDOWS
    + """
active = prop(root, '_NET_ACTIVE_WINDOW')
active = active[0] if active is not None and len(active) else 0
found = []
for window in windows():
    try:
        shape = window.get_geometry()
        place = root.translate_coords(window, 0, 0)
        found.append({
            'id': window.id,
            'title': text(prop(window, '_NET_WM_NAME') or window.get_wm_name()),
            'app': (window.get_wm_class() or ('', ''))[1],
            'box': [place.x, place.y, shape.width, shape.height],
            'active': window.id == active,
        })
    except Exception:
        pass
print(json.dumps(found))
"""
)
"""Prints the windows as JSON, the lowest first."""

CLOSE_ALL = (
    _WINDOWS
    + """
deadline = time.monotonic() + TIMEOUT
asked = set()
while time.monotonic() < deadline:
    left = list(windows())
    if not left:
        break
    for window in left:
        if window.id not in asked:
            asked.add(window.id)
            root.send_event(event.ClientMessage(
                window=window, client_type=atom('_NET_CLOSE_WINDOW'), data=(32, [0, 2, 0, 0, 0])
            ), event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
    d.sync()
    time.sleep(0.1)
for window in windows():
    window.kill_client()
d.sync()
deadline = time.monotonic() + TIMEOUT
while list(windows()) and time.monotonic() < deadline:
    time.sleep(0.1)
print(len(list(windows())))
"""
)
"""Closes all windows, kills what does not close in time, and prints how many are left."""


def close_all(seconds: float) -> str:
    """`CLOSE_ALL` with this timeout before windows are killed, in seconds."""
    return f"TIMEOUT = {float(seconds)!r}\n{CLOSE_ALL}"
