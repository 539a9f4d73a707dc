"""Metrics of text files: the same, alike, with lines that match."""

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
    as_text,
    given,
    read_bytes,
    read_text,
    scored,
)
from ui_gym.desktop.osworld.metrics.rules import record_matches

CLOCK = re.compile(r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)")
"""A time of day, as the `iostat` of a log line has it."""
HEADERS = ("#!", "# -*- coding:", "# coding:", "# coding=")
"""The lines at the top of a Python file that do not count."""


@scored("compare_text_file")
def compare_text_file(result: object, expected: object, **options: Any) -> float:
    """1 if both files hold one text.

    ``ignore_blanks`` takes every run of white space for one blank and none at the ends;
    ``ignore_case`` compares in lower case.
    """
    texts = [read_text(result), given(read_text, expected)]
    if options.get("ignore_blanks"):
        texts = [" ".join(text.split()) for text in texts]
    if options.get("ignore_case"):
        texts = [text.lower() for text in texts]
    return float(texts[0] == texts[1])


@scored("diff_text_file")
def diff_text_file(result: object, expected: object) -> float:
    """The share of lines that are common to both files, in order (difflib's ratio)."""
    ours, theirs = read_text(result).splitlines(), given(read_text, expected).splitlines()
    return difflib.SequenceMatcher(a=ours, b=theirs).ratio()


@scored("compare_config")
def compare_config(result: object, rules: Mapping[str, Any], **options: Any) -> float:
    """1 if the file's text is ``rules["expected"]``."""
    return float(read_text(result) == rules["expected"])


@scored("compare_result_files")
def compare_result_files(result: object, expected: object) -> float:
    """1 if the files say the same: one text, or, where a number is expected, that number as part
    of the text or within 1e-4 of it."""
    text, wanted = read_text(result).strip(), given(read_text, expected).strip()
    try:
        number = float(wanted)
    except ValueError:
        return float(text == wanted)
    if wanted in text:
        return 1.0
    try:
        return float(abs(float(text) - number) < 1e-4)
    except ValueError:
        return 0.0


@scored("compare_terminal_and_txt")
def compare_terminal_and_txt(result: object, terminal: object) -> float:
    """1 if the file holds what the terminal shows."""
    return float(bool(terminal) and read_text(result) == terminal)


@scored("compare_python_pure_text")
def compare_python_pure_text(result: object, expected: object) -> float:
    """1 if two programs are the same line by line, without their shebang and coding lines, blank
    lines, tabs (4 columns) and blanks at the ends of lines. Nothing is run."""
    return float(_code_lines(read_text(result)) == given(_code_of, expected))


@scored("file_contains")
def file_contains(result: object, rules: Mapping[str, Any]) -> float:
    """1 if the file holds every text of ``rules["expected"]``."""
    text = read_text(result)
    return float(all(part in text for part in rules["expected"]))


@scored("check_line_number")
def check_line_number(result: object, rules: Mapping[str, Any]) -> float:
    """1 if ``rules["expected"]`` lines of the file hold a time of day (hh:mm:ss)."""
    lines = sum(1 for line in read_text(result).splitlines() if CLOCK.search(line))
    return float(lines == int(rules["expected"]))


@scored("check_list")
def check_list(result: object, rules: Mapping[str, Any]) -> float:
    """1 if every pattern of ``expect`` is found in some line, and none of ``unexpect`` in any."""
    lines = read_text(result).splitlines(keepends=True)

    def found(pattern: str) -> bool:
        return any(re.search(pattern, line) for line in lines)

    expected = all(found(pattern) for pattern in rules.get("expect", ()))
    return float(expected and not any(found(pattern) for pattern in rules.get("unexpect", ())))


@scored("check_csv")
def check_csv(result: object, rules: Mapping[str, Any]) -> float:
    """1 if every record of ``expect`` (a mapping of columns) matches some row of the table, and
    none of ``unexpect`` any."""
    rows = list(csv.DictReader(io.StringIO(read_text(result))))

    def found(pattern: Mapping[str, Any]) -> bool:
        return any(record_matches(pattern, row) for row in rows)

    expected = all(found(pattern) for pattern in rules.get("expect", ()))
    return float(expected and not any(found(pattern) for pattern in rules.get("unexpect", ())))


@scored("compare_csv")
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
    return float(any(ours == given(lines, reference) for reference in references))


@scored("compare_time_in_speedtest_results")
def compare_time_in_speedtest_results(result: object, minutes: object) -> float:
    """1 if the second line's second column ends in a time (hh:mm) that is less than `minutes` from
    now, on the clock of this machine."""
    try:
        found = read_text(result).splitlines()[1].split(",")[1][-5:]
        then = datetime.strptime(found, "%H:%M")
    except (IndexError, ValueError) as error:
        raise Broken(f"no time in {result}: {error}") from error
    now = datetime.strptime(datetime.now().strftime("%H:%M"), "%H:%M")
    return float(abs((then - now).total_seconds()) / 60 < int(str(minutes)))


@scored("check_html_background_image")
def check_html_background_image(result: object, rule: Mapping[str, Any]) -> float:
    """1 if a style sheet in the page sets ``rule["value"]`` as a background image."""
    styles = re.findall(r"<style\b[^>]*>(.*?)</style", read_text(result), re.S | re.I)
    return float(any(f"background-image: url('{rule['value']}')" in style for style in styles))


def _code_of(path: object) -> list[str]:
    return _code_lines(read_text(path))


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
