"""Guests: what a client of a server asks for that would reach further than an env.

Each attack has a positive control: where whoever runs the server allows it, or without the server,
the same does what it was meant to.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from ui_gym.contract import registry
from ui_gym.errors import UserError
from ui_gym.remote import wire
from ui_gym.remote.lending import Lender, ServerLimits
from ui_gym.remote.server import EnvServer

Serve = Callable[..., EnvServer]
Ask = Callable[[EnvServer, str, dict[str, Any]], str]


def by_socket(server: EnvServer, task: str, arguments: dict[str, Any]) -> str:
    """What a server says to a client of ours that asks for a task."""
    hello = {
        "protocol": wire.PROTOCOL, "version": wire.VERSION, "session": None, "arguments": {},
        "task": {"id": task, "arguments": arguments, "viewport": (900, 700), "max_steps": 5},
    }  # fmt: skip
    with connect(server.address + wire.PATH) as socket:
        socket.send(wire.pack(hello))
        return str(wire.unpack(socket.recv()))


def by_openenv(server: EnvServer, task: str, arguments: dict[str, Any]) -> str:
    """What it says to one of OpenEnv."""
    with connect(server.address + "/ws") as socket:
        socket.send(json.dumps({"type": "reset", "data": {"task": task, **arguments}}))
        return str(socket.recv())


each_protocol = pytest.mark.parametrize("ask", [by_socket, by_openenv])


@each_protocol
@pytest.mark.parametrize("name", ["UI/OSWorld-v0", "OSWorld"])
def test_no_name_of_a_task_reads_a_file_of_the_server(
    serve: Serve, tmp_path: Path, ask: Ask, name: str
) -> None:
    (tmp_path / "task.json").write_text('{"id": "told to nobody"}')
    given = {"task_file": str(tmp_path / "task.json")}
    assert "is no task file" in ask(serve(tasks=["OSWorld"]), name, given)  # where it is served
    assert "does not serve" in ask(serve(), name, given)
    assert "does not serve" in ask(serve(tasks=["PaintText"]), name, given)


@each_protocol
def test_a_module_that_a_client_names_is_not_imported(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    (tmp_path / "trap_of_a_client.py").write_text(
        "from pathlib import Path\nPath('sprung').touch()"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for tasks in ([], ["PaintText"]):
        assert "does not serve" in ask(serve(tasks=tasks), "trap_of_a_client:UI/Spot-v0", {})
    assert not Path("sprung").exists()
    with pytest.raises(UserError, match="there is no task"):
        registry.spec("trap_of_a_client:UI/Spot-v0")  # where one is asked for at home
    assert Path("sprung").exists()
    sys.modules.pop("trap_of_a_client")


def test_envs_of_others_are_lent_by_name_alone() -> None:
    with pytest.raises(UserError, match="does not serve 'CartPole-v1'"):
        Lender(ServerLimits()).may_play("CartPole-v1")
    Lender(ServerLimits(), ["CartPole-v1"]).may_play("CartPole-v1")


def test_no_client_has_a_desktop_without_walls_unless_it_is_allowed() -> None:
    for device in ("x11:unconfined", "x11:user"):
        with pytest.raises(UserError, match=f"lends no device '{device}'"):
            Lender(ServerLimits()).crew("UI/DesktopWriteNote-v0", {"device": device})
    allowed = Lender(ServerLimits(), devices=["x11:unconfined"])
    for lender, device in ((allowed, "x11:unconfined"), (Lender(ServerLimits()), "x11")):
        _, crew = lender.crew("UI/DesktopWriteNote-v0", {"device": device})
        crew.close()
