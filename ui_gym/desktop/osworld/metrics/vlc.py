"""Metrics of VLC: what it plays, how large it is, its settings."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

from ui_gym.desktop.osworld.metrics.reading import Broken, as_mapping, read_text, scored, unknown

FILE_INFO = ("filename", "title", "uri", "location", "name")
URL_INFO = ("url", "URI", "location", "title", "filename")
"""Where VLC's status names what is played, the first that is there being meant."""
STREAM_INFO = ("Codec", "Type", "Language")
SLIDER_COLOURS = "153;210;153;20;210;20;255;199;15;245;39;29"
"""VLC's own colours of the volume slider."""


@scored("is_vlc_playing")
def is_vlc_playing(result: object, rule: Mapping[str, Any]) -> float:
    """1 if VLC's ``status.xml`` says that it plays ``rule["file_name"]`` or ``rule["url"]``.

    Of a stream VLC may name the last part of its address only.
    """
    if rule["type"] not in {"file_name", "url"}:
        raise unknown("type of rule", rule["type"], "file_name, url")
    try:
        status = ElementTree.fromstring(read_text(result))
    except ElementTree.ParseError as error:
        raise Broken(f"{result} is not a status: {error}") from error
    if status.findtext("state") != "playing":
        return 0.0
    if rule["type"] == "file_name":
        played = _information(status, FILE_INFO)
        return float(bool(played) and played.endswith(rule["file_name"]))
    return float(_is_of(_information(status, URL_INFO, STREAM_INFO), rule["url"]))


@scored("is_vlc_fullscreen")
def is_vlc_fullscreen(window: object, screen: object) -> float:
    """1 if the window has the size of the screen."""
    sizes = as_mapping(window), as_mapping(screen)
    return float(all(sizes[0].get(side) == sizes[1].get(side) for side in ("width", "height")))


@scored("is_vlc_recordings_folder")
def is_vlc_recordings_folder(result: object, rule: Mapping[str, Any]) -> float:
    """1 if recordings go to ``rule["recording_file_path"]``."""
    for line in _lines(result):
        if "input-record-path" in line and not line.startswith("#"):
            return float(_value(line) == rule["recording_file_path"])
    return 0.0


@scored("check_qt_bgcone")
def check_qt_bgcone(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the cone in the background is shown ("1", VLC's own) or not ("0") as expected."""
    return _has_setting(result, "qt-bgcone", "1", rule["expected_qt_bgcone"])


@scored("check_qt_max_volume")
def check_qt_max_volume(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the largest volume, in per cent, is the expected one (VLC's own: 125)."""
    return _has_setting(result, "qt-max-volume", "125", rule["expected_qt_max_volume"])


@scored("check_qt_minimal_view")
def check_qt_minimal_view(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the view is minimal ("1") or not ("0", VLC's own) as expected."""
    return _has_setting(result, "qt-minimal-view", "0", rule["expected_qt_minimal_view"])


@scored("check_one_instance_when_started_from_file")
def check_one_instance_when_started_from_file(result: object, rule: Mapping[str, Any]) -> float:
    """1 if one window is used for files that are opened ("1", VLC's own) or not as expected."""
    name = "one-instance-when-started-from-file"
    expected = rule["expected_one_instance_when_started_from_file"]
    return _has_setting(result, name, "1", expected)


@scored("check_global_key_play_pause")
def check_global_key_play_pause(result: object, rule: Mapping[str, Any]) -> float:
    """1 if there is a global key for play and pause ("1") or none ("0", VLC's own) as expected."""
    found = _setting(result, "global-key-play-pause", "")
    return float(str(int(found != "")) == str(rule["expected_global_key_play_pause"]))


@scored("check_qt_slider_colours")
def check_qt_slider_colours(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the volume slider's colours are the expected ones ("match"), or all of their values
    are below 100 ("blackish")."""
    if rule["type"] not in {"match", "blackish"}:
        raise unknown("type of rule", rule["type"], "match, blackish")
    colours = _setting(result, "qt-slider-colours", SLIDER_COLOURS)
    if rule["type"] == "match":
        return float(colours == rule["expected_qt_slider_colours"])
    try:
        values = [int(value) for value in colours.split(";")]
    except ValueError:
        return 0.0
    return float(all(value < 100 for value in values[: len(values) // 3 * 3]))


def _information(
    status: ElementTree.Element, meta: tuple[str, ...], stream: tuple[str, ...] = ()
) -> str:
    places = [("meta", name) for name in meta] + [("Stream 0", name) for name in stream]
    for category, name in places:
        text = status.findtext(f'information/category[@name="{category}"]/info[@name="{name}"]')
        if text:
            return text
    return ""


def _is_of(played: str, url: str) -> bool:
    """Whether what VLC names is what lies at the address."""
    if not played:
        return False
    try:
        wanted, actual = urlsplit(url), urlsplit(played)
    except ValueError:
        return url in played
    if url in played or played == posixpath.basename(wanted.path):
        return True
    return "://" in played and wanted.netloc == actual.netloc and wanted.path in actual.path


def _lines(path: object) -> list[str]:
    return read_text(path).split("\n")


def _value(line: str) -> str:
    return line.split("=")[-1].strip()


def _setting(path: object, name: str, default: str) -> str:
    """The value of the last line that sets it. VLC writes its own values as comments
    (``#qt-bgcone=1``), which say the default and so may be read like others; where a comment
    follows a setting, as none of VLC's does, the setting counts."""
    lines = [line for line in _lines(path) if line.lstrip("#").startswith(f"{name}=")]
    written = [line for line in lines if not line.startswith("#")] or lines
    return _value(written[-1]) if written else default


def _has_setting(path: object, name: str, default: str, expected: object) -> float:
    return float(_setting(path, name, default) == str(expected))
