"""Requests as routes read them, and what they answer."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from email.parser import HeaderParser
from typing import Any

from ui_gym.remote.guard import Mistake

MAX_FIELDS = 100


@dataclass(frozen=True)
class HttpAnswer:
    """A status, a body and its type."""

    body: bytes = b""
    kind: str = "text/plain; charset=utf-8"
    status: int = 200

    @classmethod
    def text(cls, text: str, status: int = 200) -> HttpAnswer:
        return cls(text.encode(), status=status)

    @classmethod
    def json(cls, value: object, status: int = 200) -> HttpAnswer:
        return cls(json.dumps(value).encode() + b"\n", "application/json", status)

    @classmethod
    def error(cls, message: str, status: int = 500) -> HttpAnswer:
        return cls.json({"status": "error", "message": message}, status)


@dataclass(frozen=True)
class Request:
    """A request that was let in; `headers` know no case."""

    headers: Message
    body: bytes

    def json(self) -> dict[str, Any]:
        """The body as a JSON object; an empty one is none given.

        Raises:
            Mistake: it is something else.
        """
        try:
            value = json.loads(self.body) if self.body.strip() else {}
        except (ValueError, RecursionError):
            raise Mistake(400, "the body is no JSON") from None
        if not isinstance(value, dict):
            raise Mistake(400, "the body is no JSON object")
        return value

    def form(self) -> Form:
        """The body as a form, of either type.

        Raises:
            Mistake: it is none.
        """
        kind = self.headers.get_content_type()
        if kind == "multipart/form-data":
            return _multipart(self.body, self.headers.get_param("boundary"))
        if kind != "application/x-www-form-urlencoded":
            return Form()
        try:
            pairs = urllib.parse.parse_qsl(
                self.body.decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS
            )
        except ValueError:
            raise Mistake(400, "the form cannot be read") from None
        return Form(dict(pairs))


@dataclass(frozen=True)
class Form:
    """A form's fields, and the files that came with it, by their fields' names."""

    fields: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)


def _multipart(body: bytes, boundary: object) -> Form:
    """Read ``multipart/form-data`` (RFC 7578). The boundary is in no part, so parts are cut at it;
    parsers of e-mail would change the line ends of files."""
    if not isinstance(boundary, str) or not boundary:
        raise Mistake(400, "the form has no boundary")
    mark = b"\r\n--" + boundary.encode()
    parts = (b"\r\n" + body).split(mark)
    if len(parts) < 2 or not parts[-1].startswith(b"--"):
        raise Mistake(400, "the form is cut short")
    if len(parts) > MAX_FIELDS:
        raise Mistake(400, f"a form has at most {MAX_FIELDS} fields")
    fields, files = {}, {}
    for part in parts[1:-1]:
        head, found, content = part.partition(b"\r\n\r\n")
        said = HeaderParser().parsestr(head.strip().decode("utf-8", "replace"))
        name = said.get_param("name", header="content-disposition")
        if not found or not isinstance(name, str):
            raise Mistake(400, "a part of the form has no name")
        if said.get_filename() is None:
            fields[name] = content.decode("utf-8", "replace")
        else:
            files[name] = content
    return Form(fields, files)
