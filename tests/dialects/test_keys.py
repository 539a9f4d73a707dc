from __future__ import annotations

import pytest

from ui_gym.contract.action import split_keys
from ui_gym.dialects.keys import ANDROID, OPENAI, PYAUTOGUI, XDOTOOL, KeyNames
from ui_gym.errors import ActionError


@pytest.mark.parametrize(
    ("names", "said", "ours"),
    [
        (XDOTOOL, ["Return"], "enter"),
        (XDOTOOL, ["ctrl+shift+Page_Up"], "ctrl+shift+pageup"),
        (XDOTOOL, ["Control_L+plus"], "ctrl++"),
        (XDOTOOL, ["KP_Enter"], "enter"),
        (XDOTOOL, ["Super_L"], "meta"),
        (XDOTOOL, ["F5"], "f5"),
        (XDOTOOL, ["ctrl+A"], "ctrl+A"),
        (OPENAI, ["CTRL", "A"], "ctrl+a"),
        (OPENAI, ["ARROWLEFT"], "left"),
        (OPENAI, ["OPTION", "TAB"], "alt+tab"),
        (OPENAI, ["/"], "/"),
        (PYAUTOGUI, ["ctrlleft", "pgdn"], "ctrl+pagedown"),
        (PYAUTOGUI, ["win", "d"], "meta+d"),
        (PYAUTOGUI, [" "], "space"),
        (PYAUTOGUI, ["+"], "+"),
        (PYAUTOGUI, ["ctrl", "+"], "ctrl++"),
        (PYAUTOGUI, ["subtract"], "-"),
        (ANDROID, ["APP_SWITCH"], "recents"),
        (ANDROID, ["DPAD_UP"], "up"),
        (ANDROID, ["VOLUME_DOWN"], "volume_down"),
    ],
)
def test_names_of_other_vocabularies_are_read(names: KeyNames, said: list[str], ours: str) -> None:
    assert names.read(said) == ours


@pytest.mark.parametrize(
    ("names", "ours", "written"),
    [
        (XDOTOOL, "ctrl+pageup", ["ctrl", "Page_Up"]),
        (XDOTOOL, "ctrl++", ["ctrl", "plus"]),
        (OPENAI, "ctrl+escape", ["CTRL", "ESC"]),
        (OPENAI, "meta+left", ["CMD", "ARROWLEFT"]),
        (PYAUTOGUI, "meta+space", ["win", "space"]),
        (ANDROID, "recents", ["app_switch"]),
    ],
)
def test_ours_are_written_as_theirs(names: KeyNames, ours: str, written: list[str]) -> None:
    assert names.write(ours) == written


@pytest.mark.parametrize(
    ("names", "ours"),
    [(OPENAI, "A"), (PYAUTOGUI, "esc"), (PYAUTOGUI, "Enter"), (PYAUTOGUI, "ctrl + c")],
)
def test_names_that_would_be_read_as_others_are_refused(names: KeyNames, ours: str) -> None:
    with pytest.raises(ActionError, match="no way to write the keys") as caught:
        names.write(ours)
    assert caught.value.kind == "name"


@pytest.mark.parametrize(
    ("chord", "keys"),
    [
        ("a", ["a"]),
        ("+", ["+"]),
        (" ", [" "]),
        ("ctrl+c", ["ctrl", "c"]),
        ("ctrl++", ["ctrl", "+"]),
        ("ctrl + c", ["ctrl", "c"]),
        ("ctrl+", ["ctrl", ""]),
        ("a++", ["a", "+"]),
    ],
)
def test_a_chord_is_split_at_its_pluses(chord: str, keys: list[str]) -> None:
    assert split_keys(chord) == keys
