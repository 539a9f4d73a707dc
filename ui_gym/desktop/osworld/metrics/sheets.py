"""Workbooks (.xlsx) as the rules of `compare_table` look at them: a file, read in three ways.

Each way is read when a rule first asks for it: `frame` what a sheet shows, as a table with a
header (OSWorld reads it with pandas); `cells` the values as they lie in the file; `styled` the
workbook with its formats, charts and filters. Source of the format: ECMA-376, part 1, 18.
"""

from __future__ import annotations

import io
import os
import posixpath
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from ui_gym.desktop.osworld.metrics.reading import Broken, given, library, opened, read_bytes
from ui_gym.desktop.osworld.metrics.table_frame import TableFrame, frame
from ui_gym.errors import UserError

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
TARGET = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"

T = TypeVar("T")

CellValue = str | float | bool | None


@dataclass
class WorkbookFile:
    """A workbook file, `expected` by the task or left by an agent.

    Where the file cannot be read, every method raises `Broken`; `UserError` if it is the expected.
    """

    path: str
    expected: bool = False
    _kept: dict[Any, Any] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of the sheets, in order."""
        return list(self._values().sheetnames)

    @property
    def styled(self) -> Any:
        """openpyxl's workbook, with formulas where there are some."""
        if "styled" not in self._kept:
            self._kept["styled"] = self._read(_load_styled)
        return self._kept["styled"]

    def sheet(self, name: str) -> Any:
        """openpyxl's worksheet of that name. A sheet that holds only a chart is none."""
        return self._read(lambda path: _named(self.styled.worksheets, name, path))

    def frame(self, name: str) -> TableFrame:
        """What a sheet shows: results, where it holds formulas."""
        key = ("frame", name)
        if key not in self._kept:
            sheets = self._values().worksheets
            self._kept[key] = self._read(lambda path: frame(_rows(_named(sheets, name, path))))
        return cast(TableFrame, self._kept[key])

    def cells(self, name: str) -> dict[str, CellValue]:
        """The values of a sheet's cells by coordinate (``"B3"``), as they lie in the file."""
        key = ("cells", name)
        if key not in self._kept:
            self._kept[key] = self._read(lambda path: dict(_cells(path, name)))
        return cast("dict[str, CellValue]", self._kept[key])

    def printed(self, name: str) -> list[str]:
        """The lines of a sheet as it was saved beside the workbook (``prices-Sheet1.csv``), without
        the blanks around them and the empty ones at the end."""
        path = f"{os.path.splitext(self.path)[0]}-{name}.csv"
        lines = [line.strip() for line in self._blamed(lambda: _text_of(path)).splitlines()]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def part(self, name: str) -> ET.Element:
        """The XML of a sheet."""
        return self._read(lambda path: _sheet_part(path, name))

    def _values(self) -> Any:
        if "values" not in self._kept:
            self._kept["values"] = self._read(_load_values)
        return self._kept["values"]

    def _read(self, load: Callable[[str], T]) -> T:
        return self._blamed(lambda: opened(self.path, load))

    def _blamed(self, read: Callable[[], T]) -> T:
        return given(lambda _: read(), None) if self.expected else read()


@dataclass(frozen=True)
class WorkbookFiles:
    """The workbook that an agent left and the one that the task expects, if it expects one."""

    result: WorkbookFile
    expected: WorkbookFile | None

    def find(self, place: int | str) -> tuple[WorkbookFile, str]:
        """The book and the name of the sheet that a rule means.

        ``0`` and ``"RI0"``: the first sheet of the result; ``"EI0"``: that of the expected file;
        ``"RNPrices"`` and ``"ENPrices"``: the sheet "Prices".

        Raises:
            Broken: the result has no such sheet.
            UserError: the expected file has no such sheet, or `place` is of none of these forms.
        """
        text = f"RI{place}" if isinstance(place, int) else str(place)
        form, rest = text[:2], text[2:]
        if form not in {"RI", "RN", "EI", "EN"}:
            raise UserError(
                f"a rule of compare_table names the sheet {place!r}: give a number, or RI, RN, EI "
                "or EN with a number or a name after it"
            )
        book = self.result if form[0] == "R" else self.expected
        if book is None:
            raise UserError(f"a rule names the sheet {place!r} of an expected file; there is none")
        names = book.names
        try:
            name = names[int(rest)] if form[1] == "I" else rest
        except (IndexError, ValueError):
            name = ""
        if name not in names:
            if book is self.result:
                raise Broken(f"{book.path} has no sheet {place!r}")
            raise UserError(f"the expected file {book.path} has no sheet {place!r}: {names}")
        return book, name


def _text_of(path: str) -> str:
    data = read_bytes(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _load_styled(path: str) -> Any:
    return library("openpyxl").load_workbook(path)


def _load_values(path: str) -> Any:
    # From memory: what is read bit by bit would keep the file open.
    data = io.BytesIO(Path(path).read_bytes())
    return library("openpyxl").load_workbook(data, read_only=True, data_only=True, keep_links=False)


def _named(sheets: list[Any], name: str, path: str) -> Any:
    for sheet in sheets:
        if sheet.title == name:
            return sheet
    raise Broken(f"{path} has no worksheet {name!r}")


def _rows(sheet: Any) -> Iterator[list[Any]]:
    # A file may claim the size of its sheet wrongly; without the claim all rows are read.
    sheet.reset_dimensions()
    for row in sheet.iter_rows(values_only=True):
        yield list(row)


def _sheet_part(path: str, name: str) -> ET.Element:
    """The sheet's XML, found by the workbook's relations: its number need not be its place."""
    with zipfile.ZipFile(path) as file:
        book = ET.fromstring(file.read("xl/workbook.xml"))
        links = ET.fromstring(file.read("xl/_rels/workbook.xml.rels"))
        targets = {link.get("Id"): link.get("Target", "") for link in links.iter(TARGET)}
        for sheet in book.iter(f"{MAIN}sheet"):
            if sheet.get("name") == name:
                target = posixpath.join("/xl", targets[sheet.get(LINK)])
                return ET.fromstring(file.read(target.lstrip("/")))
    raise Broken(f"{path} has no sheet {name!r}")


def _shared_texts(path: str) -> list[str]:
    with zipfile.ZipFile(path) as file:
        if "xl/sharedStrings.xml" not in file.namelist():
            return []
        root = ET.fromstring(file.read("xl/sharedStrings.xml"))
    return [_text(item) for item in root.iter(f"{MAIN}si")]


def _text(item: ET.Element) -> str:
    """A text and its runs, without the reading aids of East Asian texts (``rPh``)."""
    parts = [*item.findall(f"{MAIN}t"), *item.findall(f"{MAIN}r/{MAIN}t")]
    return "".join(part.text or "" for part in parts)


def _cells(path: str, name: str) -> Iterator[tuple[str, CellValue]]:
    texts = _shared_texts(path)
    for cell in _sheet_part(path, name).iter(f"{MAIN}c"):
        place = cell.get("r")
        if place:
            yield place, _value(cell, texts)


def _value(cell: ET.Element, texts: list[str]) -> CellValue:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        inline = cell.find(f"{MAIN}is")
        return None if inline is None else _text(inline).strip() or None
    value = (cell.findtext(f"{MAIN}v") or "").strip()
    if not value:
        return None
    try:
        if kind == "n":
            return float(value)
        if kind == "s":
            return texts[int(value)]
    except (ValueError, IndexError):
        return None
    return value == "1" if kind == "b" else value
