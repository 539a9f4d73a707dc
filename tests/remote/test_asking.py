"""Asking servers: what a token goes to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError

import pytest

from ui_gym.remote import asking
from ui_gym.tools.doctor import examine_server

TOKEN = {"Authorization": "Bearer a-secret-of-16-signs"}


class Elsewhere(ThreadingHTTPServer):
    """Answers ``{}``, but for ``/away``, which it sends on; keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.asked: list[tuple[str, str | None]] = []
        self.to = ""
        self.address = f"127.0.0.1:{self.server_port}"


class Answers(BaseHTTPRequestHandler):
    server: Elsewhere

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Authorization")))
        away = self.path == "/away"
        self.send_response(302 if away else 200)
        if away:
            self.send_header("Location", self.server.to)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *said: object) -> None:
        """Nothing."""


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    with Elsewhere() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_no_redirection_takes_a_token_along(elsewhere: Elsewhere) -> None:
    elsewhere.to = f"http://localhost:{elsewhere.server_port}/other"
    with pytest.raises(HTTPError, match="302"):
        asking.get(f"http://{elsewhere.address}/away", TOKEN, timeout=5, most=9)
    assert elsewhere.asked == [("/away", TOKEN["Authorization"])]


def test_a_proxy_is_asked_only_where_that_is_said(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://{elsewhere.address}")
    monkeypatch.delenv("no_proxy", raising=False)
    page = "http://nobody.invalid/page"
    with pytest.raises(OSError, match="urlopen"):
        asking.get(page, TOKEN, timeout=5, most=9)
    assert not elsewhere.asked
    assert json.loads(asking.get(page, TOKEN, timeout=5, most=9, proxies=True)) == {}
    assert elsewhere.asked == [(page, TOKEN["Authorization"])]


def test_no_more_is_read_than_was_said(elsewhere: Elsewhere) -> None:
    assert asking.get(f"http://{elsewhere.address}/", {}, timeout=5, most=1) == b"{"


def test_the_doctor_says_that_something_else_answers(elsewhere: Elsewhere) -> None:
    (found,) = examine_server(f"ws://{elsewhere.address}")
    assert (found.status, "no ui-gym serve" in found.found) == ("fail", True)
