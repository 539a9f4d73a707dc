"""Connections, servers and clients that fail, by being made to: no episode is lost or doubled."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any
from urllib.request import urlopen

import numpy as np
import paint
import pytest
from waiting import eventually
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.remote.failing_proxy import Proxy
from ui_gym.errors import DeviceError, DeviceStartError, UserError
from ui_gym.playing.vector import UIVectorEnv
from ui_gym.remote import client, sockets, wire
from ui_gym.remote.server import EnvServer

Serve = Callable[..., EnvServer]
Play = Callable[..., UIVectorEnv]


FULL_DISK = (
    "unshare", "-rm", "sh", "-c",
    'mount -t tmpfs -o size=64k none "$0" && cat /dev/zero > "$0/full"; TMPDIR="$0" exec "$@"',
)  # fmt: skip
"""Runs a program that has no room left in its temporary folder, which is said first."""


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    made = Proxy()
    yield made
    made.close()


@pytest.fixture
def behind(serve: Serve, proxy: Proxy) -> Callable[..., EnvServer]:
    """Starts a server behind the proxy."""

    def start(**settings: Any) -> EnvServer:
        host = serve(names=[proxy.name], **settings)
        proxy.target = host.port
        return host

    return start


def story(env: UIVectorEnv, episodes: int = 3) -> list[Any]:
    """What an oracle's episodes are in all slots: pictures, rewards, ends and infos."""
    told = []
    for episode in range(episodes):
        seeds = [10 * episode + slot for slot in range(env.num_envs)]
        batch, infos = env.reset(seed=seeds, options={"oracle": True, "ground_truth": True})
        told.append((batch["screenshot"].tobytes(), batch["goal"], repr(infos["ground_truth"])))
        for _ in range(5):
            actions = infos["oracle"]["action_text"].tolist()
            batch, rewards, ends, cuts, infos = env.step(actions)
            told.append(
                (batch["screenshot"].tobytes(), rewards.tolist(), ends.tolist(), cuts.tolist(),
                 infos["step"].tolist(), infos["failure"].tolist())
            )  # fmt: skip
            if ends.any():
                break
    return told


def test_cuts_in_the_middle_of_messages_change_nothing(
    behind: Serve, play: Play, proxy: Proxy
) -> None:
    """Each step is done once, and each picture is as it was."""
    behind()
    proxy.chaos = Random(1)
    wanted = story(UIVectorEnv(4, "PaintText", viewport=(320, 256)), episodes=8)
    env = play(proxy.url, 4, viewport=(320, 256))
    assert story(env, episodes=8) == wanted
    assert proxy.cuts >= 10


def test_a_network_that_is_gone_for_a_while_loses_nothing(
    behind: Serve, play: Play, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stalls for longer than a connection may be silent: both sides begin another one."""
    monkeypatch.setattr(client, "BEAT_SECONDS", 0.2)
    host = behind()
    env = play(proxy.url)
    _, infos = env.reset(seed=[1, 2], options={"oracle": True})
    proxy.stall()
    threading.Timer(2.0, proxy.go_on).start()
    infos = env.step(infos["oracle"]["action_text"].tolist())[4]
    assert infos["failure"].tolist() == [None, None]
    assert infos["step"].tolist() == [1, 1]
    assert host.limits.slots - host.free == 2


def test_a_clock_that_jumps_ends_nothing(
    serve: Serve, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = serve(grace=0.5)
    env = play(host.address)
    env.reset(seed=[1, 2])
    day, now = 86400.0, time.time
    for jump in (day, -day):
        monkeypatch.setattr(time, "time", lambda jump=jump: now() + jump)
        assert env.step(["wait(0)"] * 2)[4]["failure"].tolist() == [None, None]
    assert host.playing == 2


def test_a_server_whose_disk_is_full_plays_on(
    server_process: Callable[..., Any], play: Play, tmp_path: Path
) -> None:
    full = [*FULL_DISK, str(tmp_path)]
    if subprocess.run([*full, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount")
    host = server_process(within=full)
    assert shutil.disk_usage(f"/proc/{host.process.pid}/root{tmp_path}").free == 0
    browser = play(host.address, task="ClickButton")
    # A browser with a window wants room, and says so; one without plays.
    with contextlib.suppress(DeviceStartError):
        browser.reset(seed=[1, 2])
    env = play(host.address)
    env.reset(seed=[1, 2])
    assert env.step(["wait(0)"] * 2)[4]["failure"].tolist() == [None, None]


def test_a_session_is_over_after_the_grace_time(behind: Serve, play: Play, proxy: Proxy) -> None:
    host = behind(grace=0.2)
    env = play(proxy.url)
    env.reset(seed=[1, 2])
    proxy.target = 9  # nobody is there
    proxy.cut()
    assert eventually(lambda: host.free == host.limits.slots)
    proxy.target = host.port
    _, _, _, truncated, infos = env.step(["wait(0)"] * 2)
    assert truncated.all()
    assert "is lost" in infos["failure"][0]
    env.reset(seed=[1, 2])
    assert env.step(["wait(0)"] * 2)[4]["step"].tolist() == [1, 1]


def test_a_killed_server_ends_its_episodes_and_the_slots_go_on_elsewhere(
    server_process: Callable[..., Any], play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight vector envs play on it, and on another one."""
    monkeypatch.setattr(client, "REFUSED_SECONDS", 0.5)
    killed, other = server_process(), server_process()
    envs = [play(f"{killed.address},{other.address}") for _ in range(8)]
    begun = [env.reset(seed=[1, 2]) for env in envs]
    killed.kill()
    for env, (first, _) in zip(envs, begun, strict=True):
        _, _, _, truncated, infos = env.step(["wait(0)"] * 2)
        assert truncated.tolist() == [True, False]
        assert killed.address in infos["failure"][0]
        again, infos = env.reset(seed=[1, None], options={"reset_mask": truncated})
        np.testing.assert_array_equal(again["screenshot"][0], first["screenshot"][0])
        assert env.step(["wait(0)"] * 2)[4]["step"].tolist() == [1, 2]
    back = server_process(port=killed.port)  # its slots come home
    link = envs[0]._fleet._crew.links[0]
    assert eventually(lambda: not link.is_down)
    envs[0].reset(seed=[1, 2])
    assert envs[0]._fleet.slots[0].runner._link is link
    assert back.process.is_running()


CLIENT = """
import sys
sys.path.insert(0, {tests!r})
import paint
from ui_gym.playing.vector import UIVectorEnv
env = UIVectorEnv(3, "PaintText", workers={address!r})
env.reset(seed=1)
print("up", flush=True)
sys.stdin.read()
"""


def test_what_a_killed_client_played_is_closed(serve: Serve) -> None:
    host = serve(grace=0.3)
    code = CLIENT.format(tests=str(Path(paint.__file__).parent), address=host.address)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        assert host.free == 5
        process.send_signal(signal.SIGKILL)
    assert eventually(lambda: host.free == 8)
    assert eventually(
        lambda: not [t for t in threading.enumerate() if t.name.startswith("ui-gym-slot")]
    )


def test_a_session_is_its_client_s_alone(serve: Serve, play: Play) -> None:
    env = play(serve().address)
    env.reset(seed=1)
    link = env._fleet._crew.links[0]
    id, secret = link._session
    for wrong in ([id, "0" * 32], ["0" * 16, secret], [id, ""]):
        with connect(link.url + wire.PATH) as socket:
            socket.send(wire.pack(link._hello | {"session": wrong}))
            told = wire.unpack(socket.recv(timeout=10))
            assert told["gone"]
            assert "there is no such session" in told["refused"][1]
    assert env.step(["wait(0)"] * 2)[4]["step"].tolist() == [1, 1]


def test_the_later_of_two_connections_has_the_session(serve: Serve, play: Play) -> None:
    env = play(serve().address)
    env.reset(seed=1)
    link = env._fleet._crew.links[0]
    with connect(link.url + wire.PATH) as socket:
        socket.send(wire.pack(link._hello | {"session": link._session}))
        assert "welcome" in wire.unpack(socket.recv(timeout=10))
        with pytest.raises(ConnectionClosed):  # the first one takes it back
            socket.recv(timeout=10)
    assert env.step(["wait(0)"] * 2)[4]["step"].tolist() == [1, 1]


def ask(socket: Any, message: dict[str, Any]) -> dict[str, Any]:
    socket.send(wire.pack(message))
    told: dict[str, Any] = wire.unpack(socket.recv(timeout=10))
    return told


def test_a_call_is_done_once_however_often_it_is_asked(serve: Serve, play: Play) -> None:
    host = serve()
    hello = play(host.address)._fleet._crew.links[0]._hello | {"session": None}
    with connect(host.address + wire.PATH) as socket:
        ask(socket, hello)
        reset = {"slot": 0, "call": 5, "held": 0, "reset": [3, None], "sets": {}}
        first = ask(socket, reset)
        assert ask(socket, reset) == first
        step = {"slot": 0, "call": 6, "held": 5, "step": "wait(0)"}
        done = ask(socket, step)
        assert done["result"][4]["step"] == 1
        assert done["frame"]["of"] == 5
        assert ask(socket, step | {"step": "finish()"}) == done
        assert ask(socket, reset)["error"] == ["UserError", "call 5 of slot 0 is older than 6"]
        lost = ask(socket, step | {"call": 7, "held": 2})  # a frame that nobody holds any more
        assert lost["frame"]["of"] is None
        assert lost["result"][4]["step"] == 2


def test_a_server_that_ends_lets_episodes_end_and_begins_none(serve: Serve, play: Play) -> None:
    ending, other = serve(), serve()
    env = play(f"{ending.address},{other.address}")
    env.reset(seed=[1, 2])
    ending.drain()
    assert env.step(["wait(0)"] * 2)[4]["step"].tolist() == [1, 1]
    assert env.step(["finish()"] * 2)[2].all()
    assert ending.playing == 0
    env.reset(seed=[3, 4])
    assert (ending.playing, other.playing) == (0, 2)
    with pytest.raises(DeviceError, match="is ending, and takes no new sessions"):
        play(ending.address).reset(seed=1)


def test_ctrl_c_ends_a_server_in_order(server_process: Callable[..., Any], play: Play) -> None:
    host = server_process()
    env = play(host.address)
    env.reset(seed=1)
    env.step(["finish()"] * 2)
    assert host.end() == 0
    with pytest.raises(DeviceError, match="is lost"):
        env.reset(seed=1)


def test_several_processes_serve_as_one(server_process: Callable[..., Any], play: Play) -> None:
    host = server_process("--processes", "2", "--slots", "3")
    assert len(host.address.split(",")) == 2
    env = play(host.address, num_envs=3)
    assert env.reset(seed=[1, 2, 3])[1]["seed"].tolist() == [1, 2, 3]
    with pytest.raises(DeviceError, match="slots of this server are lent"):
        play(host.address, num_envs=4).reset(seed=1)
    parts = [child for child in host.process.children() if "spawn_main" in str(child.cmdline())]
    parts[0].kill()
    # Whatever was played there has ended, and goes on, in the process that is started again.
    infos = env.step(["wait(0)"] * 3)[4]
    assert [failure is not None for failure in infos["failure"]] == [True, False, True]
    env.close()
    assert eventually(lambda: len(free(host.address)) == 2)
    host.kill()
    assert eventually(lambda: not any(part.is_running() for part in parts))


def test_ctrl_c_ends_several_processes(server_process: Callable[..., Any], play: Play) -> None:
    host = server_process("--processes", "2")
    env = play(host.address)
    env.reset(seed=1)
    env.step(["finish()"] * 2)
    children = host.process.children(recursive=True)
    assert host.end() == 0
    assert eventually(lambda: not any(child.is_running() for child in children))


def free(addresses: str) -> list[int]:
    """How many slots each server that answers has."""
    told = []
    for address in addresses.split(","):
        with contextlib.suppress(OSError), urlopen(f"http{address[2:]}/capacity") as answer:
            told.append(json.load(answer)["free"])
    return told


def test_a_client_that_asks_and_does_not_read_is_no_client(
    serve: Serve, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "MOST_WAITING", 100_000)
    host = serve()
    env = play(host.address)
    env.reset(seed=[1, 2])
    link = env._fleet._crew.links[0]
    first = link._socket
    again = wire.pack({"slot": 0, "call": 1, "reset": [1, None], "sets": {}, "held": 0})
    with contextlib.suppress(ConnectionClosed):
        for _ in range(20_000):
            first.send(again)
    assert eventually(lambda: link._socket not in (None, first), 20)
    assert env.step(["wait(0)"] * 2)[4]["failure"].tolist() == [None, None]  # it came back


def test_a_slow_reader_blocks_nobody(behind: Serve, play: Play, proxy: Proxy) -> None:
    host = behind()
    slow, quick = play(proxy.url), play(host.address)
    slow.reset(seed=1)
    quick.reset(seed=1)
    proxy.stall()
    slow.send(["wait(0)"] * 2, [0, 1])
    for step in range(1, 5):
        assert quick.step(["wait(0)"] * 2)[4]["step"].tolist() == [step] * 2
    proxy.go_on()
    assert [result.info["step"] for result in slow.recv(2)] == [1, 1]


def test_a_mix_of_tasks_is_played_elsewhere_as_here(serve: Serve) -> None:
    from ui_gym_agents.tasks.mix import make_envs
    from ui_gym_agents.tasks.sources import TaskSource, entries_of

    entries = entries_of(TaskSource(ids=("PaintText", "PaintClick")), arguments={"boxes": 2})
    told = []
    for workers in ("threads", serve().address):
        env = make_envs(entries, 2, workers=workers)
        batch, infos = env.reset(seed=[1, 2], options={"task": [e.variant for e in entries]})
        told.append((batch["screenshot"].tobytes(), batch["goal"], infos["task"].tolist()))
        env.close()
    assert told[0] == told[1]
    with pytest.raises(UserError, match="does not serve"):
        make_envs(entries, 2, workers=serve(tasks=["PaintClick"]).address).reset(seed=1)
