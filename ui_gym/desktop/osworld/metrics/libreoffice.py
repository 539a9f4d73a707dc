"""LibreOffice's own settings: ``registrymodifications.xcu``."""

from __future__ import annotations

import fnmatch
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

from ui_gym.desktop.osworld.metrics.office import examined, opened

REGISTRY = "{http://openoffice.org/2001/registry}"


def _settings(path: object) -> ET.Element:
    return opened(path, lambda file: ET.parse(file).getroot())


def _values(path: object, item: str, name: str) -> list[str]:
    """The values of a setting, in the order of the file; `item` is the end of its path."""
    found = []
    for element in _settings(path).iter("item"):
        if element.get(f"{REGISTRY}path", "").endswith(item):
            for prop in element.iter("prop"):
                if prop.get(f"{REGISTRY}name") == name:
                    found += [value.text or "" for value in prop.iter("value")]
    return found


@examined("find_default_font")
def find_default_font(result: Any, rules: Mapping[str, Any]) -> float:
    """1.0 where Writer's default font is ``font_name``."""
    found = _values(result, "/org.openoffice.Office.Writer/DefaultFont", "Standard")
    return float(found[-1:] == [rules["font_name"]])


@examined("check_presenter_console_disable")
def check_presenter_console_disable(result: Any) -> float:
    """1.0 where Impress shows no presenter console."""
    found = _values(result, "/org.openoffice.Office.Impress/Misc/Start", "EnablePresenterScreen")
    return float([value.lower() for value in found[:1]] == ["false"])


@examined("check_auto_saving_time")
def check_auto_saving_time(result: Any, rules: Mapping[str, Any]) -> float:
    """1.0 where documents are saved by themselves every ``minutes`` minutes."""
    item = "/org.openoffice.Office.Common/Save/Document"
    # The name is spelt so by LibreOffice.
    found = _values(result, item, "AutoSaveTimeIntervall")
    return float(found[-1:] == [str(rules["minutes"])])


@examined("check_libre_locale")
def check_libre_locale(result: Any, rules: Mapping[str, Any]) -> float:
    """1.0 where the locale, or else the language of the menus, is like one of the patterns
    ``locale_set`` (``"en-*"``)."""
    found = _values(result, "L10N", "ooSetupSystemLocale") or _values(result, "L10N", "ooLocale")
    patterns = rules["locale_set"]
    return float(any(fnmatch.fnmatchcase(value, p) for value in found[:1] for p in patterns))
