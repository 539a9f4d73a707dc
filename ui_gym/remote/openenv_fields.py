"""Fields of OpenEnv's actions and observations as Gymnasium spaces, from their JSON schemas."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, Space
from PIL import Image as Pillow

from ui_gym.contract.device import Image
from ui_gym.errors import DeviceError, UserError
from ui_gym.playing.spaces import MAX_ACTION, FreeText

MAX_TEXT = 1 << 20
"""The longest text of an observation, in characters; what is longer is cut."""

NUMBERS = {"integer": np.int64, "number": np.float64}

SIMPLE = ("string", "boolean", *NUMBERS)

_PICTURE = re.compile(r"data:image/[\w.+-]+;base64,|(?=iVBORw0KGgo|/9j/)")
"""How a picture in a text begins: a data URL, or the base64 of a PNG or JPEG file."""


@dataclass(frozen=True)
class Field:
    """One field: its space, and how it stands in JSON."""

    kind: str
    """A simple type of JSON's schemas, ``picture``, or ``json`` for whatever else."""
    space: Space[Any]

    @classmethod
    def of(cls, schema: Mapping[str, Any], value: Any = None) -> Self:
        """The field of a schema, which was seen with this value; None if it was not seen."""
        picture = picture_in(value)
        if picture is not None:
            return cls("picture", Box(0, 255, picture.shape, np.uint8))
        kind = _type(schema)
        if kind == "boolean":
            return cls(kind, Discrete(2))
        if kind in NUMBERS:
            most = 2**31 if kind == "integer" else np.inf
            low, high = schema.get("minimum", -most), schema.get("maximum", most)
            return cls(kind, Box(low, high, (), NUMBERS[kind]))
        return cls(kind or "json", FreeText(MAX_TEXT))

    def read(self, name: str, value: Any) -> Any:
        """What came as JSON, as a value of the space.

        Raises:
            DeviceError: it is no picture, or one of another size.
        """
        if self.kind == "picture":
            picture = picture_in(value)
            if picture is None or picture.shape != self.space.shape:
                found = "none" if picture is None else f"of shape {picture.shape}"
                raise DeviceError(
                    f"{name} was a picture of shape {self.space.shape} when the env was made, and "
                    f"is {found} now: make an env for each size"
                )
            return picture
        if self.kind == "string":
            return "" if value is None else str(value)[:MAX_TEXT]
        if self.kind in NUMBERS:
            return np.asarray(value or 0, NUMBERS[self.kind])
        return int(bool(value)) if self.kind == "boolean" else json.dumps(value)[:MAX_TEXT]

    def write(self, value: Any) -> Any:
        """A value of the space, or what a person writes for it, as JSON has it."""
        if self.kind in NUMBERS:
            return np.asarray(value).item()
        return bool(value) if self.kind == "boolean" else str(value)


@dataclass(frozen=True)
class ActionField:
    """What an action is, and the fields that it is sent as."""

    space: Space[Any]
    fields: dict[str, Field]
    """Empty where an action is the text of a JSON object."""

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> Self:
        known = schema.get("properties", {})
        fields = {name: Field.of(known.get(name, {})) for name in schema.get("required", ())}
        kinds = [field.kind for field in fields.values()]
        if kinds == ["string"]:
            return cls(FreeText(MAX_ACTION), fields)
        if kinds and "json" not in kinds:
            return cls(Dict({name: field.space for name, field in fields.items()}), fields)
        return cls(FreeText(MAX_ACTION), {})

    def write(self, action: Any) -> dict[str, Any]:
        """An action as the server wants it.

        Raises:
            UserError: it is none.
        """
        try:
            if isinstance(self.space, Dict):
                return {name: field.write(action[name]) for name, field in self.fields.items()}
            if self.fields:
                return dict.fromkeys(self.fields, str(action))
            return dict(json.loads(action))
        except (KeyError, TypeError, ValueError):
            kind = self.space if self.fields else "the text of a JSON object"
            raise UserError(f"an action of this env is {kind}, not {action!r}") from None


def picture_in(value: Any) -> Image | None:
    """The picture that a value is, shape (H, W, C), uint8; None if it is none."""
    if isinstance(value, str) and (head := _PICTURE.match(value)):
        with contextlib.suppress(ValueError, OSError, SyntaxError):
            data = base64.b64decode(value[head.end() :])
            with Pillow.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP")) as picture:
                return np.array(picture.convert("RGB"))
    if isinstance(value, list) and isinstance(_first(_first(value)), list):
        with contextlib.suppress(ValueError):  # rows of different lengths
            pixels = np.array(value)
            whole = pixels.ndim == 3 and pixels.shape[2] in (1, 3, 4) and pixels.dtype.kind == "i"
            if whole and not np.any(pixels >> 8):
                return pixels.astype(np.uint8)
    return None


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else None


def _type(schema: Mapping[str, Any]) -> str:
    """The simple type of a field; that of one that may be null too, where it is a text."""
    kinds = [part.get("type") for part in schema.get("anyOf", ())] or [schema.get("type")]
    if sorted(map(str, kinds)) == ["null", "string"]:
        return "string"
    return str(kinds[0]) if len(kinds) == 1 and kinds[0] in SIMPLE else ""
