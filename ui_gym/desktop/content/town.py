"""The web pages of a town: a small web that lies in files, and what can be looked up there."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

import numpy as np

from ui_gym.contract.draws import between, pick, some
from ui_gym.contract.tables import read_table
from ui_gym.desktop.homes import home_files

ROWS = 7
"""Rows of each page's table."""

_WRITTEN = read_table("ui_gym.desktop.content", "town")
_PAGES: Sequence[Mapping[str, Any]] = _WRITTEN["pages"]
_START = "index.html"

LINKS = ("Welcome", *(page["name"] for page in _PAGES))
"""What every page links to, from left to right."""

_KINDS: Mapping[str, Sequence[str]] = {
    "early": [f"{n // 60:02}:{n % 60:02}" for n in range(5 * 60, 8 * 60, 5)],
    "late": [f"{n // 60:02}:{n % 60:02}" for n in range(20 * 60, 24 * 60, 5)],
    "opening": [f"{n // 60:02}:{n % 60:02}" for n in range(7 * 60, 11 * 60, 10)],
    "fare": [f"{n / 100:.2f}" for n in range(120, 480, 10)],
    "price": [f"{n / 100:.2f}" for n in range(90, 690, 15)],
    "crate": [f"{n / 100:.2f}" for n in range(700, 2900, 50)],
    "number": [str(n) for n in range(11, 400)],
    "grams": [str(n) for n in range(20, 520, 10)],
    "phone": [f"555 {n:04}" for n in range(100, 10_000)],
}
"""All values that a column may hold; none of them twice."""


@dataclass(frozen=True)
class Enquiry:
    """A value that is looked up: the table's page, row and column, each counted from 0."""

    page: int
    row: int
    column: int


@dataclass(frozen=True)
class Town:
    """A town by what its pages are made of."""

    seed: int

    @property
    def name(self) -> str:
        name: str = pick(np.random.default_rng(self.seed), _WRITTEN["names"])
        return name

    def table(self, page: int) -> list[list[str]]:
        """The rows of a page's table; the first value is what a row is called."""
        rng = np.random.default_rng([self.seed, page])
        names = sorted(some(rng, _PAGES[page]["rows"], ROWS))
        columns = [some(rng, _KINDS[column["kind"]], ROWS) for column in _PAGES[page]["columns"]]
        return [list(row) for row in zip(names, *columns, strict=True)]

    def asks(self, enquiry: Enquiry) -> str:
        """What is asked, as a part of a sentence."""
        asks: str = _PAGES[enquiry.page]["columns"][enquiry.column]["asks"]
        return asks.format(row=self.table(enquiry.page)[enquiry.row][0])

    def answer(self, enquiry: Enquiry) -> str:
        """The value, as it stands in the table."""
        return self.table(enquiry.page)[enquiry.row][enquiry.column + 1]

    def title(self, page: int) -> str:
        """A page's title, as a browser has it."""
        return f"{_PAGES[page]['title']} - {self.name}"

    def files(self) -> dict[str, bytes]:
        """The pages, and how they look, by their paths."""
        start = {"title": "Welcome", "intro": _WRITTEN["welcome"]}
        made = {_START: self._page(0, start, _list(_PAGES))}
        for number, page in enumerate(_PAGES):
            table = _table([page["first"], *(c["label"] for c in page["columns"])],
                           self.table(number))  # fmt: skip
            made[_path(page)] = self._page(number + 1, page, table)
        style = home_files("ui_gym.desktop.content", "town")["style.css"]
        return {path: text.encode() for path, text in made.items()} | {"style.css": style}

    def _page(self, here: int, page: Mapping[str, Any], content: str) -> str:
        paths = [_START, *map(_path, _PAGES)]
        links = [
            f'<a href="{path}"{" class=here" if n == here else ""}>{name}</a>'
            for n, (path, name) in enumerate(zip(paths, LINKS, strict=True))
        ]
        frame = home_files("ui_gym.desktop.content", "town")["page.html"].decode()
        return Template(frame).substitute(
            title=page["title"], town=self.name, intro=page["intro"], links="".join(links),
            content=content,
        )  # fmt: skip


def enquiry(rng: np.random.Generator) -> Enquiry:
    """Something that can be looked up."""
    page = between(rng, 0, len(_PAGES) - 1)
    column = between(rng, 0, columns(page) - 1)
    return Enquiry(page, between(rng, 0, ROWS - 1), column)


def columns(page: int) -> int:
    """How many values a row of that page's table has."""
    return len(_PAGES[page]["columns"])


def _path(page: Mapping[str, Any]) -> str:
    return f"{page['name'].lower()}.html"


def _list(pages: Sequence[Mapping[str, Any]]) -> str:
    lines = [f'<li><a href="{_path(p)}">{p["title"]}</a><span>{p["intro"]}</span>' for p in pages]
    return "\n".join(["<ul>", *lines, "</ul>"])


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["".join(f"<th>{head}" for head in heads)]
    lines += ["".join(f"<td>{html.escape(value)}" for value in row) for row in rows]
    return "\n".join(["<table>", *(f"<tr>{line}" for line in lines), "</table>"])
