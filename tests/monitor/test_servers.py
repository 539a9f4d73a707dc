"""Servers of slots, as the page of workers shows them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from serving import free_port

from ui_gym.errors import UserError
from ui_gym.playing.vector import UIVectorEnv
from ui_gym.remote import wire
from ui_gym.remote.lending import ServerLimits
from ui_gym.remote.server import EnvServer
from ui_gym_agents.monitor import servers
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.servers import ServedSlots, ServerShelf, server_workers

SECRET = "a-token-of-the-test"


@pytest.fixture(autouse=True)
def no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(servers.TOKEN, raising=False)


@pytest.fixture
def serve() -> Iterator[Callable[..., EnvServer]]:
    with ExitStack() as stack:

        def start(slots: int = 4, **settings: Any) -> EnvServer:
            given = {"port": 0, "devices": ["*"], "limits": ServerLimits(slots=slots)} | settings
            return stack.enter_context(EnvServer(**given))

        yield start


def test_the_token_is_the_one_of_clients() -> None:
    assert servers.TOKEN == wire.TOKEN


def test_slots_are_playing_lent_or_free(serve: Callable[..., EnvServer]) -> None:
    server = serve(slots=4)
    envs = UIVectorEnv(2, "PaintText", autoreset_mode="Disabled", workers=server.address)
    try:
        envs.reset(seed=0)
        told = server_workers(server.address)
    finally:
        envs.close()
    assert [slot["state"] for slot in told["slots"]] == ["playing", "playing", "free", "free"]
    assert [slot["slot"] for slot in told["slots"]] == [0, 1, 2, 3]
    (node,) = told["nodes"]
    assert (node["slots"], node["free"], node["playing"], node["ending"]) == (4, 2, 2, False)
    assert node["calls"] >= 2
    assert node["node"] == f"127.0.0.1:{server.port}"
    assert told["note"] == ""


def test_several_servers_are_shown_and_a_dead_one_is_told(serve: Callable[..., EnvServer]) -> None:
    server = serve(slots=2)
    other = free_port()
    told = server_workers(f"{server.address}, ws://127.0.0.1:{other}")
    assert [slot["node"] for slot in told["slots"]] == [f"127.0.0.1:{server.port}"] * 2
    assert len(told["nodes"]) == 2
    assert f"ws://127.0.0.1:{other}: " in told["note"]


def test_a_server_that_is_not_running_is_a_clear_note() -> None:
    told = server_workers(f"ws://127.0.0.1:{free_port()}")
    assert told["slots"] == []
    assert "is `ui-gym serve` running there?" in told["note"]


def test_a_server_that_answers_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        told = server_workers(f"ws://127.0.0.1:{silent.getsockname()[1]}")
    assert "timed out" in told["note"]


def test_a_token_is_said_and_missed(
    serve: Callable[..., EnvServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(token=SECRET)
    told = server_workers(server.address)
    assert f"set {wire.TOKEN} here as it is set there" in told["note"]
    monkeypatch.setenv(wire.TOKEN, SECRET)
    assert len(server_workers(server.address)["slots"]) == 4


@pytest.mark.parametrize("url", ["ws://me:secret@host:7000", "ftp://host:1", "host"])
def test_an_address_is_one_that_clients_take(url: str) -> None:
    with pytest.raises(UserError) as told:
        ServerShelf(url)
    assert "secret" not in str(told.value)


def test_it_is_a_source_that_says_when_its_server_is_gone(
    serve: Callable[..., EnvServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "LOOK", 0.0)
    server = serve()
    (source,) = ServerShelf(server.address.replace("ws:", "http:")).sources()
    assert isinstance(source, ServedSlots)
    index = MonitorIndex(None)
    assert source.refresh(index)
    assert not source.refresh(index)
    assert index.facts(source.id)["source"] == "server"
    assert len(source.workers()["slots"]) == 4
    server.close()
    with pytest.raises(UserError, match="ui-gym serve"):
        source.refresh(index)
