"""What VLC, Thunderbird and LibreOffice play and keep: settings, filters, mail folders."""

from __future__ import annotations

import fnmatch
import posixpath
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ui_gym.desktop.osworld.metrics.reading import (
    Broken,
    as_expected,
    as_list,
    as_mapping,
    examined,
    given,
    matches,
    opens,
    parse_json,
    read_bytes,
    read_text,
    record_matches,
    scored,
    unknown,
)

FILE_INFO = ("filename", "title", "uri", "location", "name")
URL_INFO = ("url", "URI", "location", "title", "filename")
"""Where VLC's status names what is played, the first that is there being meant."""
STREAM_INFO = ("Codec", "Type", "Language")
SLIDER_COLOURS = "153;210;153;20;210;20;255;199;15;245;39;29"
"""VLC's own colours of the volume slider."""


@scored()
def is_vlc_playing(result: object, rule: Mapping[str, Any]) -> float:
    """1 if VLC's ``status.xml`` says that it plays ``rule["file_name"]`` or ``rule["url"]``.

    Of a stream VLC may name the last part of its address only.
    """
    if rule["type"] not in {"file_name", "url"}:
        raise unknown("type of rule", rule["type"], "file_name, url")
    try:
        status = ET.fromstring(read_text(result))
    except ET.ParseError as error:
        raise Broken(f"{result} is not a status: {error}") from error
    if status.findtext("state") != "playing":
        return 0.0
    if rule["type"] == "file_name":
        played = _information(status, FILE_INFO)
        return bool(played) and played.endswith(rule["file_name"])
    return _is_of(_information(status, URL_INFO, STREAM_INFO), rule["url"])


@scored(as_mapping)
def is_vlc_fullscreen(found: dict[str, Any], screen: object) -> float:
    """1 if the window has the size of the screen."""
    sizes = found, as_mapping(screen)
    return all(sizes[0].get(side) == sizes[1].get(side) for side in ("width", "height"))


@scored()
def is_vlc_recordings_folder(result: object, rule: Mapping[str, Any]) -> float:
    """1 if recordings go to ``rule["recording_file_path"]``."""
    for line in _lines(result):
        if "input-record-path" in line and not line.startswith("#"):
            return bool(_value(line) == rule["recording_file_path"])
    return 0.0


SETTINGS = {
    "check_qt_bgcone": ("qt-bgcone", "1"),
    "check_qt_max_volume": ("qt-max-volume", "125"),
    "check_qt_minimal_view": ("qt-minimal-view", "0"),
    "check_one_instance_when_started_from_file": ("one-instance-when-started-from-file", "1"),
}
"""Metrics of a setting of VLC, and VLC's own value of it. ``1`` and ``0`` are on and off: whether
the cone in the background is shown, the view is minimal, and files open in one window; the largest
volume is in per cent."""


def _register_setting(metric: str, setting: str, default: str) -> None:
    key = f"expected_{setting.replace('-', '_')}"

    @scored(names=(metric,))
    def has_setting(result: object, rule: Mapping[str, Any]) -> float:
        """1 if the setting has the value that the rule expects."""
        return _setting(result, setting, default) == str(rule[key])


for metric, setting in SETTINGS.items():
    _register_setting(metric, *setting)


@scored()
def check_global_key_play_pause(result: object, rule: Mapping[str, Any]) -> float:
    """1 if there is a global key for play and pause ("1") or none ("0", VLC's own) as expected."""
    found = _setting(result, "global-key-play-pause", "")
    return str(int(found != "")) == str(rule["expected_global_key_play_pause"])


@scored()
def check_qt_slider_colours(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the volume slider's colours are the expected ones ("match"), or all of their values
    are below 100 ("blackish")."""
    if rule["type"] not in {"match", "blackish"}:
        raise unknown("type of rule", rule["type"], "match, blackish")
    colours = _setting(result, "qt-slider-colours", SLIDER_COLOURS)
    if rule["type"] == "match":
        return bool(colours == rule["expected_qt_slider_colours"])
    try:
        values = [int(value) for value in colours.split(";")]
    except ValueError:
        return 0.0
    return all(value < 100 for value in values[: len(values) // 3 * 3])


def _information(status: ET.Element, meta: tuple[str, ...], stream: tuple[str, ...] = ()) -> str:
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


PREFERENCE = re.compile(r'^user_pref\("(?P<key>(?:[^"]|\\")+)", (?P<value>.+)\);$')
CONDITION = re.compile(
    r"\b(?:AND|OR) \((?:[\w ]+),(?:[\w ']+),(?:\"(?:(?:[^\"]|\")+)\"|(?:[^)]+))\)|\bALL\b"
)
FIELD = re.compile(r'^(?P<key>\w+)="(?P<value>.*)"$')
FIELDS = {"name", "enabled", "type", "action", "actionValue", "condition"}
MESSAGE = re.compile(r"^From - ", re.M | re.I)
"""What begins each message of a folder (mbox)."""


@scored()
def check_thunderbird_prefs(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the preferences in a ``prefs.js`` obey the rules under their names.

    ``expect`` ones must be there and obey, ``unexpect`` ones, where they are there, must not.
    """
    expect, unexpect = rule.get("expect", {}), rule.get("unexpect", {})
    met = dict.fromkeys(expect, False)
    for line in read_text(result).splitlines():
        found = PREFERENCE.match(line.strip())
        if found is None or found["key"] not in {*expect, *unexpect}:
            continue
        key, value = found["key"], parse_json(found["value"])
        if key in expect:
            met[key] = matches(value, expect[key])
        elif matches(value, unexpect[key]):
            return 0.0
    return all(met.values())


@scored(read_text)
def check_thunderbird_filter(text: str, rules: Mapping[str, Any]) -> float:
    """1 if each record of ``expect`` matches some filter in a ``msgFilterRules.dat``, and none of
    ``unexpect`` any.

    A filter has ``name``, ``enabled``, ``type``, ``action``, ``actionValue`` and ``condition``, a
    list of texts like ``AND (from,contains,someone)``.
    """
    return as_expected(rules, _filters(text), record_matches)


@scored()
def check_thunderbird_folder(result: object, expected: object, **options: Any) -> float:
    """1 if each mail folder (an mbox file) has the messages of its counterpart, in any order.

    ``ignore_status`` and ``ignore_keys`` leave out Mozilla's header lines of these names;
    ``remove_deleted`` (on) leaves out messages whose status says so, ``remove_duplicate`` (on)
    takes equal ones for one. OSWorld's own keeps only empty messages, by a slip, so that there
    any two folders are equal; here the messages are compared.
    """
    references = expected if isinstance(expected, list) else [expected]
    results = as_list(result) if isinstance(expected, list) else [result]
    if len(results) < len(references):
        raise Broken("a folder is missing")

    def messages(path: object) -> list[str]:
        return _messages(path, options)

    pairs = zip(results, references, strict=False)
    return all(messages(one) == given(messages, other) for one, other in pairs)


def _filters(text: str) -> list[dict[str, Any]]:
    """The filters of the file: fields up to each condition."""
    filters: list[dict[str, Any]] = []
    current: dict[str, Any] = {}
    for line in text.splitlines():
        found = FIELD.match(line)
        if found is None or found["key"] not in FIELDS:
            continue
        key, value = found["key"], found["value"].replace('\\"', '"').replace("\\\\", "\\")
        if key == "name":
            current = {}
        current[key] = CONDITION.findall(value) if key == "condition" else value
        if key == "condition":
            filters.append(current)
    return filters


def _messages(path: object, options: Mapping[str, Any]) -> list[str]:
    # A message may be in any encoding; latin-1 reads every byte as one sign.
    text = read_bytes(path).decode("latin-1").replace("\r\n", "\n")
    first, *others = MESSAGE.split(text)
    # The line after "From - " says when it was delivered here, and is not a part of the message.
    parts = [first, *(message.partition("\n")[2] for message in others)]
    if options.get("remove_deleted", True):
        parts = [part for part in parts if not re.search(r"X-Mozilla-Status: 000[89]", part)]
    found = [_plain(part, options) for part in parts if part.strip()]
    return sorted(set(found) if options.get("remove_duplicate", True) else found)


def _plain(message: str, options: Mapping[str, Any]) -> str:
    if options.get("ignore_status"):
        message = re.sub(r"X-Mozilla-Status\d?:[\s\d]+", "", message)
    if options.get("ignore_keys"):
        message = re.sub(r"(X-Mozilla-Keys:[^\n]*?)\n(MIME-Version)", r"\2", message)
    return message.strip()


REGISTRY = "{http://openoffice.org/2001/registry}"


@opens
def _office_settings(path: str) -> ET.Element:
    """LibreOffice's own ``registrymodifications.xcu``."""
    return ET.parse(path).getroot()


def _values(settings: ET.Element, item: str, name: str) -> list[str]:
    """The values of a setting, in the order of the file; `item` is the end of its path."""
    found = []
    for element in settings.iter("item"):
        if element.get(f"{REGISTRY}path", "").endswith(item):
            for prop in element.iter("prop"):
                if prop.get(f"{REGISTRY}name") == name:
                    found += [value.text or "" for value in prop.iter("value")]
    return found


@examined(_office_settings)
def find_default_font(settings: ET.Element, rules: Mapping[str, Any]) -> float:
    """1.0 where Writer's default font is ``font_name``."""
    found = _values(settings, "/org.openoffice.Office.Writer/DefaultFont", "Standard")
    return found[-1:] == [rules["font_name"]]


@examined(_office_settings)
def check_presenter_console_disable(settings: ET.Element) -> float:
    """1.0 where Impress shows no presenter console."""
    item = "/org.openoffice.Office.Impress/Misc/Start"
    found = _values(settings, item, "EnablePresenterScreen")
    return [value.lower() for value in found[:1]] == ["false"]


@examined(_office_settings)
def check_auto_saving_time(settings: ET.Element, rules: Mapping[str, Any]) -> float:
    """1.0 where documents are saved by themselves every ``minutes`` minutes."""
    item = "/org.openoffice.Office.Common/Save/Document"
    # The name is spelt so by LibreOffice.
    return _values(settings, item, "AutoSaveTimeIntervall")[-1:] == [str(rules["minutes"])]


@examined(_office_settings)
def check_libre_locale(settings: ET.Element, rules: Mapping[str, Any]) -> float:
    """1.0 where the locale, or else the language of the menus, is like one of the patterns
    ``locale_set`` (``"en-*"``)."""
    locale = _values(settings, "L10N", "ooSetupSystemLocale")
    found = locale or _values(settings, "L10N", "ooLocale")
    return any(fnmatch.fnmatchcase(value, p) for value in found[:1] for p in rules["locale_set"])
