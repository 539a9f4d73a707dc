"""OpenEnv's protocol: its clients play our slots, and our env plays its servers."""

from __future__ import annotations

import base64
import contextlib
import http.server
import io
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.utils.env_checker import check_env
from PIL import Image as Pillow
from waiting import eventually
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.sync.server import serve as serve_sockets

from ui_gym.errors import DeviceError, DeviceLost, DeviceTimeout, UserError
from ui_gym.playing.env import UIEnv
from ui_gym.remote import openenv, wire
from ui_gym.remote.openenv import OpenEnvEnv
from ui_gym.remote.openenv_fields import ActionField, Field, picture_in
from ui_gym.remote.png import png
from ui_gym.remote.server import EnvServer

Serve = Callable[..., EnvServer]

SECRET = "a-token-of-some-length"


class Client:
    """A client that says what it is told to."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    def tell(self, said: str | bytes) -> dict[str, Any]:
        self.socket.send(said)
        return json.loads(self.socket.recv(timeout=20))

    def ask(self, kind: str, **data: Any) -> dict[str, Any]:
        return self.tell(json.dumps({"type": kind, "data": data}))

    def reset(self, task: str | None = "PaintText", **data: Any) -> dict[str, Any]:
        return self.ask("reset", **({"task": task} if task else {}), **data)

    def step(self, action: str) -> dict[str, Any]:
        return self.ask("step", action=action)


@pytest.fixture
def client() -> Iterator[Callable[..., Client]]:
    with contextlib.ExitStack() as stack:

        def make(server: EnvServer, **headers: str) -> Client:
            opening = connect(server.address + "/ws", additional_headers=headers)
            return Client(stack.enter_context(opening))

        yield make


def page(server: EnvServer, path: str, **headers: str) -> tuple[int, Any]:
    url = server.address.replace("ws", "http", 1) + path
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def error_of(reply: dict[str, Any]) -> tuple[str, str]:
    assert reply["type"] == "error", reply
    return reply["data"]["code"], reply["data"]["message"]


def observation_of(reply: dict[str, Any]) -> dict[str, Any]:
    assert reply["type"] == "observation", reply
    return reply["data"]["observation"]


# -- what is told --


def test_a_device_that_does_not_start_is_not_taken_for_a_full_server(
    serve: Serve, client: Any
) -> None:
    code, _ = error_of(client(serve()).reset(device="paint:not_installed=1"))
    assert code == "EXECUTION_ERROR"


def test_a_token_goes_to_no_other_server(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str | None] = []

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.append(self.headers["Authorization"])
            if self.path == "/schema":
                self.send_response(302)
                self.send_header("Location", f"http://localhost:{self.server.server_port}/other")
            else:
                self.send_response(404)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            return

    monkeypatch.setenv(openenv.TOKEN, SECRET)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(UserError, match="answers with 302"):
            OpenEnvEnv(f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    assert told == [f"Bearer {SECRET}"]
    with pytest.raises(UserError, match="takes no token") as refused:
        OpenEnvEnv("http://ann:hunter2@127.0.0.1:1")
    assert "hunter2" not in str(refused.value)


def test_its_pages(serve: Serve) -> None:
    server = serve(tasks=["PaintText"])
    assert page(server, "/health") == (200, {"status": "healthy"})
    told = page(server, "/schema")[1]
    assert told["action"]["required"] == ["action"]
    assert told["action"]["properties"]["action"]["type"] == "string"
    assert set(told["observation"]["properties"]) == {
        "goal", "screenshot", "elements", "feedback", "done", "reward", "metadata",
    }  # fmt: skip
    assert "episode_id" in told["state"]["properties"]
    named = page(server, "/metadata")[1]
    assert (named["name"], named["version"]) == ("UI/PaintText-v0", wire.VERSION)
    assert page(serve(), "/metadata")[1]["name"] == "ui-gym"
    server.drain()
    assert page(server, "/health")[0] == 503


def test_an_episode_is_that_of_the_env(serve: Serve, client: Any, make: Any) -> None:
    env: UIEnv = make(observation="both")
    guest = client(serve())
    seen, info = env.reset(seed=7, options={"oracle": True})
    reply = guest.reset(seed=7, oracle=True, observation="both", episode_id="mine")
    assert reply["data"]["reward"] is None
    done = False
    while not done:
        told = observation_of(reply)
        assert {k: told[k] for k in ("goal", "elements", "feedback")} == {
            k: seen[k] for k in ("goal", "elements", "feedback")
        }
        assert np.array_equal(picture_in(told["screenshot"]), seen["screenshot"])
        metadata = reply["data"]["metadata"]
        assert metadata == told["metadata"]
        assert metadata["oracle"] == info["oracle"]
        state = guest.ask("state")["data"]
        step = {"episode_id": "mine", "step_count": info["step"]}
        assert state == step | {"task": "UI/PaintText-v0", "seed": 7}
        action = metadata["oracle"]["action_text"]
        seen, reward, terminated, truncated, info = env.step(action)
        reply = guest.step(action)
        data = reply["data"]
        done = data["done"]
        assert (data["reward"], done) == (reward, terminated or truncated)
        ends = data["metadata"]["terminated"], data["metadata"]["truncated"]
        assert ends == (terminated, truncated)
    assert (data["reward"], data["metadata"]["success"]) == (1.0, True)


def test_what_is_not_observed_is_null(serve: Serve, client: Any) -> None:
    told = observation_of(client(serve()).reset(observation="elements"))
    assert told["screenshot"] is None
    assert told["elements"].startswith("[0] button")


def test_a_truncated_episode_and_the_truth_are_told(serve: Serve, client: Any) -> None:
    guest = client(serve())
    truth = guest.reset(seed=1, max_steps=1, ground_truth=True)["data"]["metadata"]["ground_truth"]
    assert truth["params"]["target"] in ("red", "green", "blue")
    told = guest.step("nonsense")["data"]
    assert (told["done"], told["metadata"]["terminated"], told["metadata"]["truncated"]) == (
        True, False, True,
    )  # fmt: skip
    assert "nonsense" in told["observation"]["feedback"]
    assert told["metadata"]["action_error"] == "parse"


def test_a_picture_that_the_device_encoded_is_not_encoded_again() -> None:
    from ui_gym.playing.slot import SlotResult
    from ui_gym.remote.openenv_messages import observation

    image = np.zeros((4, 6, 3), np.uint8)
    info = {"screenshot_encoded": b"as it was", "screenshot_format": "png"}
    given = {"goal": "", "feedback": "", "screenshot": image}
    for format, encoded in (("png", b"as it was"), ("jpeg", png(image))):
        result = SlotResult(0, given, 0.0, False, False, info | {"screenshot_format": format})
        url = observation(result)["data"]["observation"]["screenshot"]
        assert base64.b64decode(url.partition(",")[2]) == encoded


@pytest.mark.parametrize("shape", [(1, 1, 3), (3, 5, 3), (64, 96, 3)])
def test_pictures_are_the_same_behind_png(shape: tuple[int, int, int]) -> None:
    image = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    with Pillow.open(io.BytesIO(png(image))) as picture:
        assert (picture.format, picture.mode) == ("PNG", "RGB")
        assert np.array_equal(np.asarray(picture), image)


# -- what is asked --


@pytest.mark.parametrize(
    ("said", "code", "says"),
    [
        ("", "INVALID_JSON", "no JSON"),
        ("{", "INVALID_JSON", "no JSON"),
        ("[" * 100_000, "INVALID_JSON", "no JSON"),
        (b"\x00\xff", "INVALID_JSON", "frames of text"),
        ("[]", "VALIDATION_ERROR", "an object with type and data"),
        ('{"type": "step", "data": 3}', "VALIDATION_ERROR", "an object with type and data"),
        ("{}", "UNKNOWN_TYPE", "Known: reset, step, state, close"),
        ('{"type": ["reset"]}', "UNKNOWN_TYPE", "Known: reset"),
        ('{"type": "mcp", "data": {}}', "UNKNOWN_TYPE", "'mcp'"),
        ('{"type": "step"}', "VALIDATION_ERROR", "the fields here: none"),
        ('{"type": "step", "data": {"action": 5}}', "VALIDATION_ERROR", "a text such as"),
        ('{"type": "step", "data": {"action": "", "x": 1}}', "VALIDATION_ERROR", "action, x"),
        ('{"type": "reset", "data": {"seed": -1}}', "VALIDATION_ERROR", "from 0 on, not -1"),
        ('{"type": "reset", "data": {"seed": true}}', "VALIDATION_ERROR", "not True"),
        ('{"type": "reset", "data": {"episode_id": 1}}', "VALIDATION_ERROR", "episode_id"),
        ('{"type": "reset", "data": {"task": "PaintTxet"}}', "VALIDATION_ERROR", "PaintText"),
        ('{"type": "reset", "data": {"task": 3}}', "VALIDATION_ERROR", "names the task"),
        ('{"type": "reset", "data": {"boxes": 7}}', "VALIDATION_ERROR", "boxes is 2 or 3"),
        ('{"type": "reset", "data": {"bxes": 2}}', "VALIDATION_ERROR", "boxes"),
        ('{"type": "reset", "data": {"pool": 1}}', "VALIDATION_ERROR", "no pool"),
        ('{"type": "reset", "data": {"render_mode": "human"}}', "VALIDATION_ERROR", "a window"),
        ('{"type": "reset", "data": {"timeout": "long"}}', "VALIDATION_ERROR", "cannot be"),
        ('{"type": "reset", "data": {"oracle": "all"}}', "VALIDATION_ERROR", "oracle"),
        ('{"type": "reset", "data": {"task": "PaintClick", "oracle": 5}}', "VALIDATION_ERROR",
         "oracle"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("slots", [1, 8])
def test_what_is_wrong_is_said_and_harms_nothing(
    serve: Serve, client: Any, slots: int, said: str | bytes, code: str, says: str
) -> None:
    server = serve(slots=slots)
    guest = client(server)
    guest.reset(seed=1)
    guest.step("wait(0)")
    found, message = error_of(guest.tell(said))
    assert found == code
    assert says in message
    told = guest.step("wait(0)")["data"]["metadata"]
    assert (told["seed"], told["step"], told["failure"]) == (1, 2, None)
    assert server.free == slots - 1


def test_steps_belong_to_an_episode(serve: Serve, client: Any) -> None:
    guest = client(serve())
    assert error_of(guest.step("wait(0)")) == (
        "EXECUTION_ERROR", "no episode is played: send a reset before a step",
    )  # fmt: skip
    assert guest.ask("state")["data"]["step_count"] == 0
    guest.reset()
    assert guest.step("finish()")["data"]["done"]
    assert "the episode is over" in error_of(guest.step("wait(0)"))[1]
    guest.reset(task=None)
    assert not guest.step("wait(0)")["data"]["done"]


def test_a_reset_says_what_is_played(serve: Serve, client: Any) -> None:
    server = serve()
    guest = client(server)
    assert "names the task" in error_of(guest.reset(task=None))[1]
    guest.reset(boxes=2, max_steps=3)
    slot = server._lender.players[0]
    again = guest.reset(task=None, seed=1)["data"]["metadata"]
    assert (again["max_steps"], server._lender.players) == (3, [slot])
    other = guest.reset(task=None, max_steps=5)["data"]["metadata"]
    assert (other["max_steps"], other["task"]) == (5, "UI/PaintText-v0")
    assert guest.reset(task="UI/PaintClick-v0")["data"]["metadata"]["max_steps"] == 4
    assert server.free == server.limits.slots - 1
    only = client(serve(tasks=["PaintClick"]))
    assert only.reset(task=None)["data"]["metadata"]["task"] == "UI/PaintClick-v0"
    assert "does not serve" in error_of(only.reset(task="PaintText"))[1]


def test_devices_with_addresses_are_not_for_everybody(serve: Serve, client: Any) -> None:
    guest = client(serve(devices=[]))
    code, message = error_of(guest.reset(device="osworld:http://10.0.0.1:5000"))
    assert (code, message[:28]) == ("VALIDATION_ERROR", "this server lends no device ")


# -- slots --


def test_clients_are_as_many_as_slots(serve: Serve, client: Any) -> None:
    server = serve(slots=1)
    first, second = client(server), client(server)
    first.reset(seed=1)
    reply = second.reset(seed=2)
    assert error_of(reply) == ("CAPACITY_REACHED", "all 1 slots of this server are lent")
    assert (reply["data"]["active_sessions"], reply["data"]["max_sessions"]) == (1, 1)
    first.reset(task="PaintClick")  # in place of what it had
    first.socket.send('{"type": "close"}')
    assert eventually(lambda: server.free == 1)
    assert second.reset(seed=2)["data"]["metadata"]["seed"] == 2


def test_two_clients_do_not_notice_each_other(serve: Serve, client: Any) -> None:
    server = serve()
    first, second = client(server), client(server)
    goals = [observation_of(one.reset(seed=n))["goal"] for n, one in enumerate((first, second))]
    assert goals[0] != goals[1]
    first.step("finish()")
    assert second.step("wait(0)")["data"]["metadata"]["step"] == 1
    assert (server.free, server.playing) == (server.limits.slots - 2, 1)


def test_messages_that_do_not_wait_are_answered_in_turn(serve: Serve, client: Any) -> None:
    guest = client(serve())
    guest.reset(max_steps=50)
    for _ in range(30):
        guest.socket.send('{"type": "step", "data": {"action": "wait(0)"}}')
    steps = [json.loads(guest.socket.recv(timeout=20))["data"] for _ in range(30)]
    assert [step["metadata"]["step"] for step in steps] == list(range(1, 31))


def test_a_connection_that_ends_in_a_step_gives_its_slot_back(serve: Serve, client: Any) -> None:
    server = serve()
    guest = client(server)
    guest.reset(device="paint:hang_on=x")
    guest.step("click(1, 1)")
    guest.socket.send('{"type": "step", "data": {"action": "type(\\"x\\")"}}')
    assert eventually(lambda: server._lender.players[0]._busy)
    guest.socket.close()
    assert eventually(lambda: server.free == server.limits.slots)
    assert eventually(
        lambda: not any("ui-gym-openenv" in t.name for t in threading.enumerate()), 20
    )


def test_a_connection_that_ends_in_a_reset_gives_its_slot_back(serve: Serve, client: Any) -> None:
    server = serve()
    for more in ({}, {"boxes": 2}):  # the first, and one that lends another slot
        guest = client(server)
        guest.reset(seed=1)
        said = {"task": "PaintText", "device": "paint:hang_resets=1", **more}
        guest.socket.send(json.dumps({"type": "reset", "data": said}))
        guest.socket.send('{"type": "close"}')
        guest.socket.close()
        assert eventually(lambda: server.free == server.limits.slots)
        assert eventually(lambda: server._lender.players == [])


def test_a_flood_keeps_no_slot(serve: Serve, client: Any) -> None:
    server = serve()
    guest = client(server)
    guest.reset()
    with contextlib.suppress(ConnectionClosed):  # which may be while it is sent, or after it
        for said in ('{"type": "close"}', *['{"type": "state"}'] * 50):
            guest.socket.send(said)
    assert eventually(lambda: server.free == server.limits.slots)


# -- faults --


def test_a_lost_device_ends_its_episode(serve: Serve, client: Any) -> None:
    guest = client(serve())
    guest.reset(seed=1, device="paint:lose_on=x")
    guest.step("click(1, 1)")
    told = guest.step('type("x")')["data"]
    assert (told["done"], told["reward"], told["metadata"]["truncated"]) == (True, 0.0, True)
    assert told["metadata"]["failure"] == "device: the paint has dried"
    assert guest.reset(task=None, seed=2)["data"]["metadata"]["failure"] is None


def test_a_slot_that_gives_no_answer_ends_its_episode(
    serve: Serve, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest = client(serve())
    goal = observation_of(guest.reset(seed=1, device="paint:hang_on=x"))["goal"]
    guest.step("click(1, 1)")
    monkeypatch.setattr("ui_gym.remote.lending.CALL_SECONDS", 0.5)
    told = guest.step('type("x")')["data"]
    assert (told["done"], told["metadata"]["truncated"], told["metadata"]["step"]) == (
        True, True, 2,
    )  # fmt: skip
    assert told["metadata"]["failure"] == "device: no answer within 0.5 s"
    assert told["observation"]["goal"] == goal
    assert "the episode is over" in error_of(guest.step("wait(0)"))[1]
    assert guest.reset(task=None, seed=2)["data"]["metadata"]["failure"] is None


def test_a_device_that_does_not_start_is_said(serve: Serve, client: Any) -> None:
    guest = client(serve())
    code, message = error_of(guest.reset(device="paint:not_installed=1"))
    assert (code, "install brushes" in message) == ("EXECUTION_ERROR", True)
    assert "send a reset" in error_of(guest.step("wait(0)"))[1]


def test_a_server_that_ends_begins_no_episode(serve: Serve, client: Any) -> None:
    server = serve()
    guest, late = client(server), client(server)
    guest.reset(seed=1)
    server.drain()
    assert error_of(late.reset())[0] == "CAPACITY_REACHED"
    assert guest.step("wait(0)")["data"]["metadata"]["step"] == 1
    assert "is ending" in error_of(guest.reset())[1]


def test_the_end_of_the_server_ends_all(serve: Serve, client: Any) -> None:
    server = serve()
    guest = client(server)
    guest.reset(seed=1)
    server.close()
    assert server.free == server.limits.slots


# -- who may come in --


def test_a_token_is_wanted(serve: Serve, client: Any) -> None:
    server = serve(token=SECRET)
    for headers in ({}, {"Authorization": "Bearer something-else-altogether"}):
        with pytest.raises(InvalidStatus, match="401"):
            client(server, **headers)
        assert page(server, "/schema", **headers)[0] == 401
    assert page(server, "/health")[0] == 200
    bearer = {"Authorization": f"Bearer {SECRET}"}
    assert page(server, "/schema", **bearer)[0] == 200
    assert client(server, **bearer).reset()["type"] == "observation"


# -- our env on our server --


@pytest.fixture
def env(serve: Serve) -> Iterator[Callable[..., OpenEnvEnv]]:
    made: list[OpenEnvEnv] = []

    def make_env(server: Any = None, task: str | None = "PaintText", **given: Any) -> OpenEnvEnv:
        url = server if isinstance(server, str) else (server or serve()).address
        given = ({"reset_arguments": {"task": task}} if task else {}) | given
        made.append(OpenEnvEnv(url, **given))
        return made[-1]

    yield make_env
    for one in made:
        one.close()


@pytest.mark.filterwarnings("error::UserWarning")
def test_it_passes_gymnasiums_checker(env: Any) -> None:
    check_env(env(), skip_render_check=True)


def test_it_plays_as_the_env_itself(env: Any, make: Any) -> None:
    there, here = env(), make()
    assert there.observation_space["screenshot"] == here.observation_space["screenshot"]
    for options in ({"oracle": True}, {"oracle": True, "split": "heldout"}):
        seen, info = there.reset(seed=3, options=options)
        own, own_info = here.reset(seed=3, options=options)
        ended = False
        while not ended:
            assert seen in there.observation_space
            assert np.array_equal(seen["screenshot"], own["screenshot"])
            assert (seen["goal"], info["step"]) == (own["goal"], own_info["step"])
            action = own_info["oracle"]["action_text"]
            assert info["oracle"]["action_text"] == action
            seen, *result, info = there.step(action)
            own, *own_result, own_info = here.step(action)
            assert result == own_result
            ended = result[1] or result[2]
        assert result == [1.0, True, False]


def test_seeds_go_on_from_the_first(env: Any) -> None:
    runs = []
    for _ in range(2):
        one = env()
        runs.append([one.reset(seed=5)[1]["seed"]] + [one.reset()[1]["seed"] for _ in range(3)])
    assert runs[0] == runs[1]
    assert len(set(runs[0])) == 4


def test_truncation_is_told_apart(env: Any) -> None:
    one = env(reset_arguments={"task": "PaintText", "max_steps": 1})
    one.reset(seed=1)
    assert one.step("wait(0)")[2:4] == (False, True)
    with pytest.raises(ResetNeeded):
        one.step("wait(0)")
    one.close()
    one.close()
    with pytest.raises(ClosedEnvironmentError):
        one.reset()


def test_what_is_wrong_is_a_users_error(
    env: Any, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match=r"names the task that is played.* \(VALIDATION_ERROR\)"):
        env(task=None)
    with pytest.raises(UserError, match="said as http://HOST:PORT, not 'somewhere'"):
        env("somewhere")
    server = serve(token=SECRET)
    with pytest.raises(UserError, match=r"401: the token is missing.*UI_GYM_OPENENV"):
        env(server)
    assert env(server, headers={"Authorization": f"Bearer {SECRET}"}).reset()
    monkeypatch.setenv(openenv.TOKEN, SECRET)
    one = env(server)
    one.reset(seed=1)
    with pytest.raises(UserError, match="PaintText"):
        one.reset(options={"task": "PaintTxet"})
    one.reset(seed=1)
    assert server.free == server.limits.slots - 2


def test_what_fails_there_is_a_devices_error(env: Any, serve: Serve) -> None:
    with pytest.raises(DeviceLost, match=r"http://127\.0\.0\.1:9 is lost .*is it running there\?"):
        env("http://127.0.0.1:9")
    server = serve(slots=1)
    one = env(server)
    with pytest.raises(DeviceError, match="all 1 slots of this server are lent"):
        env(server)
    one.close()
    assert eventually(lambda: server.free == 1)
    one = env(server, "PaintText", timeout=0.5)
    one.reset(seed=1, options={"device": "paint:hang_on=x"})
    one.step("click(1, 1)")
    with pytest.raises(DeviceTimeout, match=r"Raise timeout \(0\.5 s\)"):
        one.step('type("x")')
    with pytest.raises(ResetNeeded):
        one.step("wait(0)")
    assert eventually(lambda: server.free == 1)  # it hung up, so that the slot is free again
    assert one.reset(seed=1)[1]["failure"] is None


def test_a_server_that_ends_is_lost_until_another_is_there(env: Any, serve: Serve) -> None:
    server = serve()
    one, port = env(server), server.port
    one.reset(seed=1)
    server.close()
    with pytest.raises(DeviceLost, match="is lost"):
        one.step("wait(0)")
    with pytest.raises(DeviceLost, match="is it running there"):
        one.reset(seed=1)
    serve(port=port)
    assert one.reset(seed=1)[1]["seed"] == 1


def test_a_screen_of_another_size_is_not_taken(env: Any) -> None:
    one = env()
    with pytest.raises(DeviceError, match=r"shape \(64, 96, 3\) when the env was made, and is of"):
        one.reset(options={"viewport": [48, 32]})
    assert one.reset()[0]["screenshot"].shape == (64, 96, 3)


# -- our env on others' servers --


SCHEMA = {
    "action": {
        "required": ["move", "by", "half", "far"],
        "properties": {
            "move": {"type": "string"}, "by": {"type": "integer", "minimum": 1, "maximum": 3},
            "half": {"type": "number", "minimum": 0, "maximum": 1}, "far": {"type": "boolean"},
            "metadata": {"type": "object"},
        },
    },
    "observation": {
        "properties": {
            "done": {"type": "boolean"}, "reward": {}, "metadata": {}, "at": {"type": "integer"},
            "won": {"type": "boolean"}, "legal": {"type": "array"}, "screen": {"type": "array"},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        }
    },
}  # fmt: skip


@pytest.fixture
def another() -> Iterator[str]:
    """A server of another hand: a counter, whose messages say no more than they must."""
    asked: list[Any] = []

    def pages(connection: Any, request: Any) -> Any:
        if request.path == "/schema":
            return connection.respond(HTTPStatus.OK, json.dumps(SCHEMA))
        return None if request.path == "/ws" else connection.respond(HTTPStatus.NOT_FOUND, "none")

    def session(socket: Any) -> None:
        at = 0
        for said in socket:
            message = json.loads(said)
            asked.append(message)
            if message["type"] == "close":
                return
            at = 0 if message["type"] == "reset" else at + message["data"]["by"]
            observation = {
                "at": at, "won": at > 2, "note": None, "legal": [1, {"a": 2}],
                "screen": [[[at, 2, 3]] * 2] * 5,
            }  # fmt: skip
            data = {"observation": observation, "reward": None, "done": at > 2}
            socket.send(json.dumps({"type": "observation", "data": data}))

    with serve_sockets(session, "127.0.0.1", 0, process_request=pages) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"
        server.shutdown()
        thread.join()


@pytest.mark.filterwarnings("error::UserWarning")
def test_a_server_with_fields_of_its_own(env: Any, another: str) -> None:
    one = env(another, None)
    check_env(one, skip_render_check=True)
    one = env(another, None)
    seen, info = one.reset(seed=1)
    assert (seen["at"], seen["won"], seen["note"], info) == (0, 0, "", {})
    assert json.loads(seen["legal"]) == [1, {"a": 2}]
    assert seen["screen"].shape == (5, 2, 3)
    seen, reward, *ends, _ = one.step({"move": "up", "by": 1, "half": 0.5, "far": True})
    assert (seen["screen"][0, 0].tolist(), reward, ends) == ([1, 2, 3], 0.0, [False, False])
    assert one.step({"move": "up", "by": np.int64(2), "half": 1, "far": 0})[2:4] == (True, False)
    one.reset()
    with pytest.raises(UserError, match="an action of this env is Dict"):
        one.step({"move": "up"})


def test_no_server_of_openenv_is_said(env: Any, another: str) -> None:
    with pytest.raises(UserError, match="answers with 404: none"):
        env(f"{another}/elsewhere")


@pytest.mark.parametrize(
    ("schema", "action", "sent"),
    [
        ({"required": ["a"], "properties": {"a": {"type": "string"}}}, "click", {"a": "click"}),
        ({"required": ["a"], "properties": {"a": {"type": "object"}}}, '{"a": {}}', {"a": {}}),
        ({"properties": {"a": {"type": "string"}}}, "{}", {}),
        ({"required": ["n"], "properties": {"n": {"type": "integer"}}}, {"n": 3}, {"n": 3}),
    ],
)
def test_actions_are_sent_as_the_schema_says(schema: Any, action: Any, sent: Any) -> None:
    field = ActionField.of(schema)
    assert field.write(action) == sent
    if isinstance(action, str) and not field.fields:
        for wrong in ("no JSON", "[1]", "3", None):
            with pytest.raises(UserError, match="the text of a JSON object"):
                field.write(wrong)


def encoded(format: str, head: str) -> str:
    data = io.BytesIO()
    Pillow.new("RGB", (3, 2), (200, 10, 10)).save(data, format)
    return head + base64.b64encode(data.getvalue()).decode()


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        (encoded("PNG", "data:image/png;base64,"), (2, 3, 3)),
        (encoded("WEBP", "data:image/webp;base64,"), (2, 3, 3)),
        (encoded("PNG", ""), (2, 3, 3)),
        (encoded("JPEG", ""), (2, 3, 3)),
        ([[[0, 255, 3, 4]]], (1, 1, 4)),
        ("data:image/png;base64,AAAA", None),
        ("iVBORw0KGgoxx", None),
        ("text", None),
        ([[[0, 256, 3]]], None),
        ([[[0, -1, 3]]], None),
        ([[[0, 1, 3]], [[1]]], None),
        ([[[0.5, 1, 3]]], None),
        ([[["a", "b", "c"]]], None),
        ([], None),
        ([[]], None),
        ({"a": 1}, None),
        (None, None),
    ],
    ids=str,
)
def test_pictures_are_known_by_their_looks(value: Any, shape: Any) -> None:
    picture = picture_in(value)
    assert (None if picture is None else picture.shape) == shape
    assert (Field.of({"type": "string"}, value).kind == "picture") == (shape is not None)
