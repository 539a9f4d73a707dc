"""Documents: what a built-in page is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Para:
    text: str


@dataclass(frozen=True)
class Link:
    """A line that leads to a page; `to` is an address without its scheme."""

    text: str
    to: str
    note: str = ""


@dataclass(frozen=True)
class Facts:
    """A table of (name, value)."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Download:
    """A file to download: its name, what it is, and its text."""

    file: str
    about: str
    text: str


Block = Heading | Para | Link | Facts | Download


@dataclass(frozen=True)
class Site:
    """A made-up site of a made-up host."""

    host: str
    name: str
    icon: str
    colour: str
    about: str


@dataclass(frozen=True)
class Document:
    """A page of a site."""

    title: str
    blocks: tuple[Block, ...]
