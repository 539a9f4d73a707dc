"""Models of the hub: from its cache, from a server, and where there is none."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

SCRIPT = """
import sys
from ui_gym.errors import UserError
from ui_gym_agents.policy.weights import resolve
try:
    print(resolve(sys.argv[1], weights=sys.argv[2] == "weights"))
except UserError as error:
    print("error:", error)
"""

NAME = "somebody/a-model"
FILES = {"config.json": b"{}", "tokenizer.json": b"{}", "model.safetensors": b"weights"}
COMMIT = "0" * 40


def ask(home: Path, endpoint: str, name: str = NAME, what: str = "weights", **more: str) -> str:
    """What `resolve` says in a process of its own: the hub's address is read at import."""
    environment = {
        **os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1",
        **more,
    }  # fmt: skip
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, name, what],
        env=environment, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return run.stdout.strip()


class Hub(BaseHTTPRequestHandler):
    """As much of the hub as a download needs; `asked` are the paths."""

    asked: list[str]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path.startswith(f"/api/models/{NAME}/tree"):
            files = [
                {"type": "file", "path": name, "size": len(body), "oid": f"{n:040}"}
                for n, (name, body) in enumerate(FILES.items())
            ]
            self.say(200, json.dumps(files).encode(), **{"Content-Type": "application/json"})
        elif self.path.startswith(f"/api/models/{NAME}"):
            siblings = [{"rfilename": name} for name in FILES]
            self.say(200, json.dumps({"id": NAME, "sha": COMMIT, "siblings": siblings}).encode())
        elif self.path.startswith(f"/{NAME}/resolve/"):
            body = FILES[self.path.rpartition("/")[2]]
            self.say(200, body, ETag=f'"{body.hex()}"', **{"X-Repo-Commit": COMMIT})
        elif self.path.startswith("/api/models/broken"):
            self.say(503, b"down")
        else:
            self.say(404, b"{}", **{"X-Error-Code": "RepoNotFound"})

    do_HEAD = do_GET  # noqa: N815 - the name that http.server asks for

    def say(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Nothing on the standard error."""


@pytest.fixture
def hub() -> Iterator[str]:
    """The address of a small hub."""
    Hub.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_model_is_downloaded_once_and_its_weights_when_they_are_wanted(
    hub: str, tmp_path: Path
) -> None:
    folder = Path(ask(tmp_path, hub, what="about"))
    assert {path.name for path in folder.iterdir()} == {"config.json", "tokenizer.json"}
    assert Path(ask(tmp_path, hub)) == folder
    assert {path.name for path in folder.iterdir()} == FILES.keys()
    Hub.asked.clear()
    assert Path(ask(tmp_path, hub)) == folder
    assert Hub.asked == []  # what is in the cache needs no hub


def test_a_model_that_the_hub_does_not_have_is_named(hub: str, tmp_path: Path) -> None:
    said = ask(tmp_path, hub, "somebody/else")
    assert said.startswith("error: the hub has no model 'somebody/else' that this account may see")


@pytest.mark.parametrize(
    ("endpoint", "why"), [("http://127.0.0.1:9", "refused"), ("http://no-hub.invalid", "")]
)
def test_a_hub_that_cannot_be_reached_is_said_with_the_remedy(
    endpoint: str, why: str, tmp_path: Path
) -> None:
    said = ask(tmp_path, endpoint)
    assert said.count("\n") == 0
    assert f"error: the model {NAME} is not on this machine and cannot be had from the hub" in said
    assert why in said
    assert f"hf download {NAME} --local-dir FOLDER" in said


def test_a_hub_that_never_answers_is_given_up_on(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said = ask(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}")
    assert "cannot be had from the hub" in said
    assert "timed out" in said


def test_a_hub_that_fails_is_said(hub: str, tmp_path: Path) -> None:
    assert "503" in ask(tmp_path, hub, "broken/model")
    assert len(Hub.asked) <= 2


def test_who_wants_to_stay_offline_does(hub: str, tmp_path: Path) -> None:
    assert "HF_HUB_OFFLINE is set" in ask(tmp_path, hub, HF_HUB_OFFLINE="1")
    assert Hub.asked == []
