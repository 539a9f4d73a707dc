"""Steps that bring files to the machine: ``download``, ``upload_file``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ui_gym.desktop.osworld.placeholders import expanded
from ui_gym.desktop.osworld.registry import EvaluationContext, setup
from ui_gym.errors import UserError


@setup("download")
def download(context: EvaluationContext, files: Sequence[Mapping[str, str]]) -> None:
    """Put the file of each ``url`` at its ``path``; it comes from the file cache."""
    for file in files:
        url, path = file.get("url"), file.get("path")
        if not url or not path:
            raise UserError(f"a file has a url and a path, not {dict(file)!r}")
        _write(context, path, context.files.get(url))


@setup("upload_file")
def upload_file(context: EvaluationContext, files: Sequence[Mapping[str, str]]) -> None:
    """Put each ``local_path`` of this machine at its ``path`` there; a relative one lies beside
    the task file."""
    for file in files:
        local, path = file.get("local_path"), file.get("path")
        if not local or not path:
            raise UserError(f"a file has a local_path and a path, not {dict(file)!r}")
        _write(context, path, context.files.get(f"file:{local}"))


def _write(context: EvaluationContext, path: str, source: Path) -> None:
    context.device.write(expanded(path, context.device.home), source.read_bytes())
