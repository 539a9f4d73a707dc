"""Cases of getters, and what they find on a fake desktop."""

from __future__ import annotations

import io
import json
import sqlite3
import tomllib
import zipfile
from collections.abc import Callable, Mapping
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
    """A getter called with `config` brings `brings`; bytes are the content of a local file."""

    id: str
    brings: Any
    config: Mapping[str, Any] = field(default_factory=dict)
    prepare: Prepare = lambda context: None


def world(
    *,
    files: Mapping[str, bytes | str] | None = None,
    preferences: Mapping[str, Any] | None = None,
    local_state: Mapping[str, Any] | None = None,
    programs: Mapping[str, str] | None = None,
    remembered: Mapping[str, str] | None = None,
    today: date | None = None,
    tree: str | None = None,
    address: str | None = None,
) -> Prepare:
    """Puts files into the home folder (those of Chrome's profile as JSON), programs into the
    machine's path, files that an earlier step left into the episode's folder, and says what day it
    is, what the accessibility tree is, or what Chrome's address bar shows."""
    profile = {
        ".config/google-chrome/Default/Preferences": preferences,
        ".config/chromium/Local State": local_state,
    }
    put = dict(files or {})
    put |= {path: json.dumps(data) for path, data in profile.items() if data is not None}
    if address is not None:
        bar = f'<entry name="Address and search bar">{address}</entry>'
        tree = f'<a><application name="Google Chrome"><frame>{bar}</frame></application></a>'

    def prepare(context: EvaluationContext) -> None:
        for path, data in put.items():
            context.device.write(path, data.encode() if isinstance(data, str) else data)
        for name, script in (programs or {}).items():
            program = Path(context.device.home, "bin", name)
            program.parent.mkdir(exist_ok=True)
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
        for name, text in (remembered or {}).items():
            (context.folder / name).write_text(text)
        if today is not None:
            context.memory["today"] = today
        if tree is not None:
            fake(lambda desktop: setattr(desktop, "tree", tree))(context)

    return prepare


def fake(change: Callable[[FakeDesktop], object]) -> Prepare:
    """Changes the fake desktop itself."""

    def prepare(context: EvaluationContext) -> None:
        assert isinstance(context.device, FakeDesktop)
        change(context.device)

    return prepare


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


def read_cases(file: Path) -> dict[str, list[Case]]:
    """The cases of a TOML file, by getter.

    Each has an ``id``, what the getter ``brings`` (None where that is not said) or the text of the
    local ``copy`` that it brings, its ``config`` over that of the getter, and what `world` takes.
    """
    return {
        name: [_read_case(dict(case), table.get("config", {})) for case in table["cases"]]
        for name, table in tomllib.loads(file.read_text()).items()
    }


def _read_case(case: dict[str, Any], config: Mapping[str, Any]) -> Case:
    brings = case.pop("brings", None)
    if "copy" in case:
        brings = case.pop("copy").encode()
    return Case(case.pop("id"), brings, {**config, **case.pop("config", {})}, world(**case))
