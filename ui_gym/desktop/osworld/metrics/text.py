"""Metrics of files of text: plain, CSV, JSON, YAML."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import (
    Broken,
    as_expected,
    as_list,
    as_mapping,
    as_text,
    given,
    matches,
    parse_json,
    read_bytes,
    read_json,
    read_text,
    record_matches,
    scored,
)

CLOCK = re.compile(r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)")
"""A time of day, as the `iostat` of a log line has it."""
HEADERS = ("#!", "# -*- coding:", "# coding:", "# coding=")
"""The lines at the top of a Python file that do not count."""


@scored(read_text, read_text)
def compare_text_file(text: str, wanted: str, **options: Any) -> float:
    """1 if both files hold one text.

    ``ignore_blanks`` takes every run of white space for one blank and none at the ends;
    ``ignore_case`` compares in lower case.
    """
    texts = [text, wanted]
    if options.get("ignore_blanks"):
        texts = [" ".join(text.split()) for text in texts]
    if options.get("ignore_case"):
        texts = [text.lower() for text in texts]
    return texts[0] == texts[1]


@scored(read_text, read_text)
def diff_text_file(text: str, wanted: str) -> float:
    """The share of lines that are common to both files, in order (difflib's ratio)."""
    return difflib.SequenceMatcher(a=text.splitlines(), b=wanted.splitlines()).ratio()


@scored(read_text)
def compare_config(text: str, rules: Mapping[str, Any], **options: Any) -> float:
    """1 if the file's text is ``rules["expected"]``."""
    return bool(text == rules["expected"])


@scored(read_text, read_text)
def compare_result_files(text: str, wanted: str) -> float:
    """1 if the files say the same: one text, or, where a number is expected, that number as part
    of the text or within 1e-4 of it."""
    text, wanted = text.strip(), wanted.strip()
    try:
        number = float(wanted)
    except ValueError:
        return text == wanted
    if wanted in text:
        return 1.0
    try:
        return abs(float(text) - number) < 1e-4
    except ValueError:
        return 0.0


@scored(read_text)
def compare_terminal_and_txt(text: str, terminal: object) -> float:
    """1 if the file holds what the terminal shows."""
    return bool(terminal) and text == terminal


@scored(read_text, read_text)
def compare_python_pure_text(text: str, wanted: str) -> float:
    """1 if two programs are the same line by line, without their shebang and coding lines, blank
    lines, tabs (4 columns) and blanks at the ends of lines. Nothing is run."""
    return _code_lines(text) == _code_lines(wanted)


@scored(read_text)
def file_contains(text: str, rules: Mapping[str, Any]) -> float:
    """1 if the file holds every text of ``rules["expected"]``."""
    return all(part in text for part in rules["expected"])


@scored(read_text)
def check_line_number(text: str, rules: Mapping[str, Any]) -> float:
    """1 if ``rules["expected"]`` lines of the file hold a time of day (hh:mm:ss)."""
    lines = sum(1 for line in text.splitlines() if CLOCK.search(line))
    return lines == int(rules["expected"])


@scored(read_text)
def check_list(text: str, rules: Mapping[str, Any]) -> float:
    """1 if every pattern of ``expect`` is found in some line, and none of ``unexpect`` in any."""
    return as_expected(rules, text.splitlines(keepends=True), re.search)


@scored(read_text)
def check_csv(text: str, rules: Mapping[str, Any]) -> float:
    """1 if every record of ``expect`` (a mapping of columns) matches some row of the table, and
    none of ``unexpect`` any."""
    return as_expected(rules, list(csv.DictReader(io.StringIO(text))), record_matches)


@scored()
def compare_csv(result: object, expected: object, **options: Any) -> float:
    """1 if the file has the lines of the expected one, or of one of several.

    ``strict: false`` leaves blanks at the ends of lines out; ``ignore_case`` compares in lower
    case.
    """

    def lines(path: object) -> list[str]:
        found = _read_any(path).splitlines()
        if not options.get("strict", True):
            found = [line.strip() for line in found]
        return [line.lower() for line in found] if options.get("ignore_case") else found

    references = expected if isinstance(expected, list) else [expected]
    ours = lines(result)
    return any(ours == given(lines, reference) for reference in references)


@scored()
def compare_time_in_speedtest_results(result: object, minutes: object) -> float:
    """1 if the second line's second column ends in a time (hh:mm) that is less than `minutes` from
    now, on the clock of this machine."""
    try:
        found = read_text(result).splitlines()[1].split(",")[1][-5:]
        then = datetime.strptime(found, "%H:%M")
    except (IndexError, ValueError) as error:
        raise Broken(f"no time in {result}: {error}") from error
    now = datetime.strptime(datetime.now().strftime("%H:%M"), "%H:%M")
    return abs((then - now).total_seconds()) / 60 < int(str(minutes))


@scored(read_text)
def check_html_background_image(text: str, rule: Mapping[str, Any]) -> float:
    """1 if a style sheet in the page sets ``rule["value"]`` as a background image."""
    styles = re.findall(r"<style\b[^>]*>(.*?)</style", text, re.S | re.I)
    return any(f"background-image: url('{rule['value']}')" in style for style in styles)


def _code_lines(text: str) -> list[str]:
    lines = text.splitlines()
    top = 0
    while top < min(3, len(lines)) and lines[top].strip().startswith(HEADERS):
        top += 1
    return [line.expandtabs(4).rstrip() for line in lines[top:] if line.strip()]


def _read_any(path: object) -> str:
    """A text in UTF-8, or in the first encoding that a spreadsheet may have written."""
    data = read_bytes(path)
    for encoding in ("utf-8", "latin-1"):
        try:
            return as_text(data.decode(encoding))
        except UnicodeDecodeError:
            continue
    raise Broken(f"{path} is no text")


MISSING = object()


@scored()
def check_json(result: object, rules: Mapping[str, Any], is_yaml: bool = False) -> float:
    """1 if the value under each ``key`` (a list, from the outside in) obeys its rule.

    ``expect`` rules must be obeyed, the key being there; ``unexpect`` rules must not, and a key
    that is missing is None to them.
    """
    data = _read_yaml(result) if is_yaml else read_json(result)
    for rule in rules.get("expect", ()):
        value = _under(data, rule["key"])
        if value is MISSING or not matches(value, rule):
            return 0.0
    for rule in rules.get("unexpect", ()):
        value = _under(data, rule["key"])
        if matches(None if value is MISSING else value, rule):
            return 0.0
    return 1.0


@scored()
def check_json_settings(result: object, rules: Mapping[str, Any], **options: Any) -> float:
    """1 if the object in the file has every key of ``rules["expected"]`` with its value."""
    data = as_mapping(read_json(result))
    return all(data.get(k, MISSING) == v for k, v in rules["expected"].items())


@scored(read_text)
def check_json_keybindings(text: str, rules: Mapping[str, Any], **options: Any) -> float:
    """1 if ``rules["expected"]`` is an item of the list in the file.

    VS Code's keybindings.json may start with a line of comment.
    """
    try:
        bindings = as_list(parse_json(text))
    except Broken:
        bindings = as_list(parse_json(text.partition("\n")[2]))
    return rules["expected"] in bindings


@scored()
def is_included_all_json_objects(expected: object, result: object) -> float:
    """1 if the second file's object has all keys of the first's, with their values."""
    wanted, data = given(read_json, expected), as_mapping(read_json(result))
    return all(data.get(key, MISSING) == value for key, value in wanted.items())


def _read_yaml(path: object) -> Any:
    import yaml

    try:
        data = yaml.safe_load(read_text(path))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Broken(f"{path} is not YAML: {error}") from error
    if data is None:
        raise Broken(f"{path} is empty")
    return data


def _under(data: Any, keys: list[Any]) -> Any:
    for key in keys:
        try:
            data = data[key]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return data
