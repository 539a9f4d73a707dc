"""Asking a server for a page, by HTTP."""

from __future__ import annotations

import urllib.request
from collections.abc import Mapping
from typing import Any


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *asked: Any) -> None:
        return None


def get(
    page: str, headers: Mapping[str, str], *, timeout: float, most: int, proxies: bool = False
) -> bytes:
    """A page. A token in `headers` is for the server that is named: no redirection is followed.

    Args:
        timeout: Seconds of waiting for each part of the answer.
        most: Bytes that are read.
        proxies: Whether those that the environment names are asked.

    Raises:
        OSError: there is no answer, or one of another status than 200 to 299 (`HTTPError`).
    """
    handlers: list[urllib.request.BaseHandler] = [_NoRedirects()]
    if not proxies:
        handlers.append(urllib.request.ProxyHandler({}))
    asked = urllib.request.Request(page, headers=dict(headers))
    with urllib.request.build_opener(*handlers).open(asked, timeout=timeout) as answer:
        return bytes(answer.read(most))
