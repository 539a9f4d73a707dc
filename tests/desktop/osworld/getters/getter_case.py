"""Cases of getters, and what they find on a fake desktop."""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
from fake import FakeDesktop

from ui_gym.desktop.osworld.registry import EvaluationContext
from ui_gym.errors import UserError


class Cloud:
    """Files behind addresses: the last part of each is a file's name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        for name in ("gold.txt", "other.txt"):
            (folder / name).write_text(name)

    def get(self, url: str) -> Path:
        path = self.folder / url.rpartition("/")[2]
        if not path.exists():
            raise UserError(f"{url} is not here")
        return path


Prepare = Callable[[EvaluationContext], object]


@dataclass(frozen=True)
class Case:
    """A getter called with `config` brings `expected`; bytes are the content of a local file."""

    id: str
    expected: Any
    config: dict[str, Any] = field(default_factory=dict)
    prepare: Prepare = lambda context: None


def files(**contents: bytes | str) -> Prepare:
    """Puts files into the home folder; a double underscore stands for a slash."""

    def put(context: EvaluationContext) -> None:
        for name, data in contents.items():
            content = data.encode() if isinstance(data, str) else data
            context.device.write(name.replace("__", "/"), content)

    return put


def at(path: str, data: bytes | str | dict[str, Any]) -> Prepare:
    """Puts one file; a mapping as JSON."""
    text = json.dumps(data) if isinstance(data, dict) else data
    return lambda context: files(**{path: text})(context)


def program(name: str, script: str) -> Prepare:
    """Puts a program in the machine's path."""

    def put(context: EvaluationContext) -> None:
        path = Path(context.device.home, "bin", name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    return put


def both(*steps: Prepare) -> Prepare:
    return lambda context: [step(context) for step in steps]


def fake(change: Callable[[FakeDesktop], object]) -> Prepare:
    """Changes the fake desktop itself."""

    def prepare(context: EvaluationContext) -> None:
        assert isinstance(context.device, FakeDesktop)
        change(context.device)

    return prepare


def tree(xml: str) -> Prepare:
    namespace = 'xmlns:st="https://accessibility.ubuntu.example.org/ns/state"'
    whole = f"<desktop-frame {namespace}>{xml}</desktop-frame>"
    return fake(lambda desktop: setattr(desktop, "tree", whole))


def address_bar(text: str) -> Prepare:
    entry = f'<entry name="Address and search bar">{text}</entry>'
    return tree(f'<application name="Google Chrome"><frame>{entry}</frame></application>')


def preferences(**data: Any) -> Prepare:
    return at(".config/google-chrome/Default/Preferences", data)


def local_state(**data: Any) -> Prepare:
    return at(".config/chromium/Local State", data)


def data_base(path: str, *statements: str) -> Prepare:
    def put(context: EvaluationContext) -> None:
        file = Path(context.device.home, path)
        file.parent.mkdir(parents=True)
        connection = sqlite3.connect(file)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()

    return put


def workbook(*rows: list[Any]) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"


def deck(*, target: str = "../media/a.wav", kind: str = "audio", background: bool = True) -> bytes:
    """A presentation, as far as its first slide's relations go."""
    content = io.BytesIO()
    relation = f'<Relationship Id="rId2" Type="{REL}/{kind}" Target="{target}"/>'
    first = f'<Relationship Id="rId1" Type="{REL}/slideLayout" Target="../x.xml"/>'
    blip = '<p:bg><p:bgPr><a:blipFill><a:blip r:embed="rId2"/></a:blipFill></p:bgPr></p:bg>'
    with zipfile.ZipFile(content, "w") as package:
        package.writestr(
            "ppt/slides/slide1.xml",
            f'<p:sld xmlns:p="{P}" xmlns:a="{A}" xmlns:r="{REL}">{blip if background else ""}'
            "</p:sld>",
        )
        package.writestr(
            "ppt/slides/_rels/slide1.xml.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f"{first}{relation}</Relationships>",
        )
        package.writestr("ppt/media/a.wav", "the sound")
    return content.getvalue()


def remember_today(day: date) -> Prepare:
    return lambda context: context.memory.__setitem__("today", day)


def remembered(**contents: str) -> Prepare:
    """Files that an earlier step left in the episode's folder."""
    return lambda context: [
        (context.folder / name).write_text(text) for name, text in contents.items()
    ]


def setting(found: Any, without: Any, change: Prepare) -> list[Case]:
    """A setting of Chrome's profile, and what counts where there is none."""
    return [Case("set", found, {}, change), Case("no profile", without)]
