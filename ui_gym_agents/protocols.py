"""Protocols: how something is measured, kept as data in a TOML file and read into a frozen model.

What a protocol says goes into its hash, which stands beside every figure: those of different
protocols are not compared.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ui_gym.errors import UserError

P = TypeVar("P", bound=BaseModel)


class VersionedProtocol(BaseModel):
    """Base of protocols: what they are called by."""

    version: str

    @property
    def digest(self) -> str:
        """The SHA-256 of all that stands in it, whatever its file's comments and order."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def name(self) -> str:
        """Version, and the beginning of the hash."""
        return f"{self.version}-{self.digest[:8]}"


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """What a TOML file holds. `UserError` where it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"the {what} {path} cannot be read: {error}") from error


def checked(model: type[P], values: Any, what: str) -> P:
    """A model of some values. `UserError`, with a line for each mistake, where they are none."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, p['loc'])) or 'it'}: {p['msg']}, not {_short(p['input'])}"
            for p in error.errors()
        ]
        raise UserError("\n".join([f"{what}:", *problems])) from None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
