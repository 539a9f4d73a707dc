"""Addresses, forms, keys and trees, each by itself."""

from __future__ import annotations

import ast
import copy
import functools
import json
import os
import random
import shutil
import subprocess
import sys
import threading
from email.message import Message

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_gym.contract.action import Click, Press, Scroll, Type
from ui_gym.contract.device import Element
from ui_gym.desktop.http import lowering, remote_scripts
from ui_gym.desktop.http.address import TOKEN, ServerAddress, addresses, token
from ui_gym.desktop.http.client import Refused
from ui_gym.desktop.http.message import Request
from ui_gym.desktop.uitree import MAX_VALUE, elements_from_xml, parse_tree, terminal_text
from ui_gym.errors import ActionError, DeviceError, UserError
from ui_gym.remote.guard import Mistake
from ui_gym.xvfb import XServer


def test_a_refusal_can_be_told_anew_and_sent_on():
    error = Refused("no", 404)
    assert str(type(error)(f"step 1: {error}")) == "step 1: no"
    assert str(copy.copy(error)) == "no"


# -- addresses --


@pytest.mark.parametrize("said", ["correct horse", "correct\nhorse", "pferdestärke"])
def test_what_cannot_be_a_token_is_refused_and_not_shown(monkeypatch, said):
    monkeypatch.setenv(TOKEN, said)
    with pytest.raises(UserError, match=TOKEN) as told:
        token()
    assert said not in str(told.value)


@pytest.mark.parametrize(
    ("text", "said", "called"),
    [
        ("http://127.0.0.1:5000", "http://127.0.0.1:5000", "127.0.0.1:5000"),
        ("host", "http://host:5000", "host:5000"),
        ("host:81", "http://host:81", "host:81"),
        ("https://host", "https://host:443", "host:443"),
        ("http://[::1]:6000/", "http://[::1]:6000", "[::1]:6000"),
        ("http://h:38749?5000=38749&9222=1", "http://h:38749", "h:5000"),
    ],
)
def test_addresses_are_read(text, said, called):
    address = ServerAddress.parse(text)
    assert (str(address), address.called) == (said, called)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "say which machine"),
        ("ftp://host", "is no address"),
        ("http://", "is no address"),
        ("http://host/path", "is no address"),
        ("http://a..b", "is no address"),
        ("http://host:99999", "has no port"),
        ("http://user:secret@host", "takes no token: set the environment variable UI_GYM_OSWORLD"),
        ("http://host?9222", "ports are said as in"),
        ("http://host?9222=0", "ports are said as in"),
    ],
)
def test_wrong_addresses_are_told(text, message):
    with pytest.raises(UserError, match=message) as caught:
        ServerAddress.parse(text)
    assert "secret" not in str(caught.value)


def test_several_machines_are_named_once_each():
    assert addresses("osworld:http://a:1, http://b:1") == ["http://a:1", "http://b:1"]
    with pytest.raises(UserError, match="named twice"):
        addresses("osworld:http://a:5000,a")


# -- what is sent --


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\t"), max_size=60),
    st.booleans(),
)
def test_text_is_a_literal_in_every_script(text, clear):
    tree = ast.parse(lowering.script(lowering.lower(Type(text, clear=clear))))
    typed = ""
    for statement in tree.body:
        if not isinstance(statement, ast.Expr):
            continue
        call = ast.unparse(statement.value.func)
        arguments = [ast.literal_eval(argument) for argument in statement.value.args]
        if call in ("pyautogui.write", "pyperclip.copy"):
            typed += arguments[0]
        elif arguments == ["shift", ","]:
            typed += "<"
        else:
            pasting = call == "pyautogui.hotkey" and arguments in (["ctrl", "a"], ["ctrl", "v"])
            assert pasting or (call, arguments) == ("pyautogui.press", ["delete"])
    assert typed == text


@pytest.mark.parametrize(
    ("action", "line"),
    [
        (Scroll(1, 2, dy=30), "pyautogui.scroll(-1, x=1, y=2)"),
        (Scroll(1, 2, dy=-250), "pyautogui.scroll(2, x=1, y=2)"),
        (Scroll(1, 2, dx=-100), "pyautogui.hscroll(-1, x=1, y=2)"),
        (Press("meta"), "pyautogui.press('win')"),
        (Press("ctrl++"), "pyautogui.hotkey('ctrl', '+')"),
        (Press("A"), "pyautogui.press('A')"),
        (Click(1, 2, "middle", 2), "pyautogui.click(1, 2, clicks=2, button='middle')"),
    ],
    ids=str,
)
def test_actions_become_pyautoguis_calls(action, line):
    assert lowering.lower(action) == [line]


@pytest.mark.parametrize("keys", ["back", "ctrl+hyper", "é", "volume_up"])
def test_keys_that_pyautogui_would_pass_over_are_refused(keys):
    with pytest.raises(ActionError, match="there is no key") as caught:
        lowering.lower(Press(keys))
    assert caught.value.kind == "argument"


def test_a_wheel_is_not_turned_for_ever():
    with pytest.raises(ActionError, match="at most 20000 pixels"):
        lowering.lower(Scroll(1, 1, dy=90_000))


# -- forms --


@pytest.mark.parametrize("seed", range(5))
def test_files_in_forms_are_kept_to_the_byte(seed):
    data = random.Random(seed).randbytes(5000) + b"\r\n--X\r\r\n\n--\r\n"
    head = b'--XY\r\nContent-Disposition: form-data; name="file_data"; filename="a"\r\n\r\n'
    form = Request(_headers("multipart/form-data; boundary=XY"), head + data + b"\r\n--XY--\r\n")
    assert form.form().files == {"file_data": data}


def test_forms_with_fields_without_end_are_refused():
    many = "&".join(f"a{n}=1" for n in range(200)).encode()
    with pytest.raises(Mistake, match="cannot be read"):
        Request(_headers("application/x-www-form-urlencoded"), many).form()


def _headers(kind: str) -> Message:
    headers = Message()
    headers["Content-Type"] = kind
    return headers


# -- trees --

ROOT = (
    '<desktop-frame xmlns:st="https://accessibility.ubuntu.example.org/ns/state" '
    'xmlns:cp="https://accessibility.ubuntu.example.org/ns/component" '
    'xmlns:val="https://accessibility.ubuntu.example.org/ns/value">{}</desktop-frame>'
)


def node(
    tag, name="", box="(10, 20) (30, 40)", states="showing visible sensitive", text="", **more
):
    place, size = (f"({part}" for part in box.lstrip("(").split(" (", 1))
    said = " ".join(f'st:{state}="true"' for state in states.split())
    rest = " ".join(f'{key.replace("_", ":")}="{value}"' for key, value in more.items())
    return (
        f'<{tag} name="{name}" {said} cp:screencoord="{place}" cp:size="{size}" {rest}>'
        f"{text}</{tag}>"
    )


def tell(*nodes, scale=1.0):
    return [str(e) for e in elements_from_xml(ROOT.format("".join(nodes)), scale)]


def test_nodes_are_told_by_role_name_and_state():
    assert tell(
        node("push-button", "Save"),
        node("entry", "Name", states="showing visible sensitive focused", text="a&quot;b"),
        node("check-box", "Wrap", states="showing visible checked"),
        node("label", "", text="Words"),
        node("spin-button", "Size", val_value="12.0"),
        node("icon"),
    ) == [
        '[0] button "Save" @ 25,40 30x40',
        '[1] textbox "Name" @ 25,40 30x40 focused value="a\\"b"',
        '[2] checkbox "Wrap" @ 25,40 30x40 checked disabled',
        '[3] text "Words" @ 25,40 30x40',
        '[4] spinbutton "Size" @ 25,40 30x40 value="12.0"',
        "[5] icon @ 25,40 30x40",
    ]


def test_what_does_not_show_is_not_told():
    assert tell(
        node("push-button", "hidden", states="visible sensitive"),
        node("push-button", "invisible", states="showing sensitive"),
        node("push-button", "empty", box="(10, 20) (0, 5)"),
        node("push-button", "left of the screen", box="(-50, 20) (30, 5)"),
        node("push-button", "unset", box="(-2147483648, -2147483648) (1, 1)"),
        node("panel", "a panel"),
        node("filler"),
        node("label"),
    ) == []  # fmt: skip


def test_values_are_told_where_they_say_more_than_the_name():
    shell = "x" * MAX_VALUE + "\n$ ls\n\n"
    assert tell(
        node("table-cell", "A1", text="42"),
        node("table-cell", "dir", text="dir"),
        node("table-cell", text="a row's own"),
        node("terminal", text=shell),
    ) == [
        '[0] cell "A1" @ 25,40 30x40 value="42"',
        '[1] cell "dir" @ 25,40 30x40',
        f'[2] terminal @ 25,40 30x40 value="...{"x" * (MAX_VALUE - 5)}\\n$ ls"',
    ]


def test_what_sticks_out_is_cut_and_all_is_scaled():
    assert tell(node("push-button", "A", box="(-10, 20) (30, 40)"), scale=(0.5, 2.0)) == [
        '[0] button "A" @ 5,80 10x80'
    ]


def test_what_is_told_can_be_read_again():
    xml = ROOT.format(node("entry", "N", text="x" * 5000) + node("frame", "W"))
    for element in elements_from_xml(xml):
        assert Element.read(str(element)) == element
        assert len(str(element)) < MAX_VALUE + 100


@pytest.mark.parametrize(
    "xml",
    [
        "", "nothing", "<a>", "<a/><b/>",
        '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "<a>\x00</a>", "<a>" * 100,
    ],
)  # fmt: skip
def test_what_is_no_tree_is_an_error_of_the_device(xml):
    with pytest.raises(DeviceError):
        parse_tree(xml)


def test_the_terminal_that_has_the_focus_is_read():
    def terminal(window, states):
        inner = f'<terminal st:{states}="true">$ ls\n\n</terminal>'
        return f'<frame st:{window}="true">{inner}</frame>'

    assert terminal_text(ROOT.format(terminal("active", "focused"))) == "$ ls"
    assert terminal_text(ROOT.format(terminal("showing", "focused"))) is None
    assert terminal_text(ROOT.format(terminal("active", "showing"))) is None


# -- scripts for the machine --


@functools.cache
def _xlib() -> str | None:
    """A Python that has python-xlib, which machines of OSWorld's have."""
    for python in (sys.executable, "python3", "/usr/bin/python3"):
        found = shutil.which(python)
        if (
            found
            and not subprocess.run([found, "-c", "import Xlib"], capture_output=True).returncode
        ):
            return found
    return None


@pytest.mark.skipif(
    _xlib() is None or not all(map(shutil.which, ("Xvfb", "openbox", "mousepad"))),
    reason="needs python-xlib, Xvfb, openbox and mousepad",
)
def test_scripts_tell_windows_and_close_them(tmp_path):
    server = XServer((800, 600))
    environment = {
        "DISPLAY": server.display, "HOME": str(tmp_path), "NO_AT_BRIDGE": "1",
        "PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }  # fmt: skip

    def run(code):
        ran = subprocess.run(
            [_xlib(), "-c", code], env=environment, capture_output=True, timeout=60, check=True
        )
        return json.loads(ran.stdout)

    manager = subprocess.Popen(["openbox"], env=environment)
    editor = subprocess.Popen(["mousepad", "--disable-server"], env=environment)
    try:
        pause = threading.Event()
        for _ in range(100):
            windows = run(remote_scripts.WINDOWS)
            if windows:
                break
            pause.wait(0.2)
        (window,) = windows
        assert window["app"] == "Mousepad"
        assert window["box"][2:] == [640, 480]
        assert 0 < window["box"][0] < 160
        assert run(remote_scripts.close_all(2.0)) == 0
        assert run(remote_scripts.WINDOWS) == []
        assert editor.wait(60) is not None
    finally:
        for process in (editor, manager):
            process.kill()
            process.wait()
        server.close()
