"""UI-RL's servers and ours speak the same protocol, and both generations of clients play on ours.

The clients and servers below ask and answer as UI-RL's own do (its DockerSessionRuntime, the older
TaskRunner, and the two servers of ui-verifiers).
"""

from __future__ import annotations

import contextlib
import http.client
import http.server
import io
import itertools
import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import numpy as np
import paint
import pytest
from PIL import Image, ImageDraw
from starlette.routing import Route
from waiting import eventually

from ui_gym.contract.action import Action, Click, Drag, Move, Press, Scroll, Type, Wait
from ui_gym.errors import ActionError, DeviceError, DeviceLost, DeviceStartError, UserError
from ui_gym.playing.env import UIEnv
from ui_gym.remote import ui_verifiers_http, ui_verifiers_server, ui_verifiers_words
from ui_gym.remote.lending import Lender, LentSlot
from ui_gym.remote.server import EnvServer
from ui_gym.remote.ui_verifiers_server import FEEDBACK
from ui_gym.remote.ui_verifiers_words import read_actions

Serve = Callable[..., EnvServer]

SECRET = "a-token-of-some-length"
TASK = "UI/UIVerifiersDataEntry-v0"
PAINT = "type=PaintText&device=paint"


def url_of(server: EnvServer) -> str:
    return f"http://127.0.0.1:{server.port}"


# -- clients as theirs are --


class Answered(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(f"{status}: {said}")
        self.status = status


class Client:
    """Asks as their clients do, which say no more than a method and an address."""

    def __init__(self, url: str, **headers: str) -> None:
        self.url = url
        self.headers = headers

    def ask(self, path: str, method: str = "GET") -> Any:
        asked = urllib.request.Request(self.url + path, method=method, headers=self.headers)
        try:
            with urllib.request.urlopen(asked, timeout=100) as answer:
                self.answered = answer.headers
                kind, body = answer.headers["Content-Type"], answer.read()
        except urllib.error.HTTPError as error:
            raise Answered(error.code, error.read().decode()) from None
        if kind == "image/png":
            return np.asarray(Image.open(io.BytesIO(body)))
        return json.loads(body) if kind == "application/json" else body.decode()

    def act(self, **action: Any) -> Any:
        return self.ask(f"{self.session}/act?" + query(action))

    def progress(self) -> Any:
        return self.ask(f"{self.session}/progress")

    session = ""


class OldClient(Client):
    """Of the generation with many sessions: it always says the delay."""

    def __init__(self, url: str, asked: str = "type=simple_data_entry&n=1") -> None:
        super().__init__(url)
        (id,) = self.ask(f"/session?{asked}", "POST")["session_ids"]
        self.session = f"/session/{id}"

    def act(self, **action: Any) -> Any:
        return super().act(**action, delay=1.0)

    def close(self) -> Any:
        return self.ask(self.session, "DELETE")


def query(action: dict[str, Any]) -> str:
    return "&".join(f"{name}={quote(str(said))}" for name, said in action.items())


# -- our page, as a test has to know it --


class Form:
    """The spreadsheet of a session of ours, and where its form is."""

    def __init__(self, server: EnvServer) -> None:
        (slot,) = server._lender.players
        assert isinstance(slot, LentSlot)
        params = slot._runner.call("_params", (), {})
        page = slot._runner.call("device", (), {})
        self.people: tuple[tuple[str, ...], ...] = params.people
        columns = ("first", "last", "email")[: len(self.people[0])]
        order = [params.fields.index(column) for column in columns]
        self.fields = [page.center(f"[data-position='{place}']") for place in order]
        self.button = page.center("form button")

    def steps(self, *values: str) -> Iterator[dict[str, Any]]:
        """What enters one row and submits it, as a model would say it."""
        for (x, y), value in zip(self.fields, values, strict=True):
            yield {"action_type": "left_click", "x": x, "y": y}
            yield {"action_type": "type", "text": value}
        yield {"action_type": "left_click", "x": self.button[0], "y": self.button[1]}

    def enter(self, client: Client, *rows: int) -> Any:
        for row in rows:
            for step in self.steps(*self.people[row]):
                picture = client.act(**step)
        return picture


# -- our server --


@pytest.mark.parametrize("many", [False, True], ids=["one session", "many sessions"])
def test_data_entry_is_played_by_clients_of_theirs(serve: Serve, many: bool) -> None:
    server = serve(slots=2)
    status = Client(url_of(server)).ask("/")
    assert "simple_data_entry" in status
    assert server.free == 2  # to look lends nothing
    client = OldClient(url_of(server)) if many else Client(url_of(server))
    before = client.act(action_type="screenshot")
    assert before.shape == (800, 1280, 3)
    form = Form(server)
    assert len(form.people) == 100
    none = {"submitted_row_indices": [], "num_incorrect_submissions": 0}
    assert none.items() <= client.progress().items()
    after = form.enter(client, 4, 77)
    assert after.shape == before.shape
    assert not np.array_equal(after, before)
    for step in form.steps("No", "Body", 'a"\\); type("x")&text=é'):
        client.act(**step)
    form.enter(client, 0)
    assert client.progress() == {
        "submitted_row_indices": [4, 77, 0], "num_incorrect_submissions": 1,
        "num_correct_submissions": 3,
    }  # fmt: skip
    assert server.free == 1
    if many:
        assert np.array_equal(
            client.ask(f"{client.session}/screenshot"), client.act(action_type="screenshot")
        )
        assert isinstance(client, OldClient)
        assert client.close() == {"deleted": client.session.rpartition("/")[2]}
        assert server.free == 2


def test_the_keys_mouse_and_wheel_of_theirs_do_what_they_do_there(serve: Serve) -> None:
    server = serve()
    client = Client(url_of(server))
    top = client.act(action_type="screenshot")
    x, y = (form := Form(server)).fields[0]
    below = client.act(action_type="scroll", x=300, y=400, direction="down")
    assert not np.array_equal(below, top)
    # Without a point, where the pointer is.
    assert np.array_equal(client.act(action_type="scroll", direction="up")[:, :700], top[:, :700])
    client.act(action_type="left_click", x=x, y=y)
    client.act(action_type="type", text="wrong")
    client.act(action_type="keys", keys="Ctrl+A")
    client.act(action_type="type", text=form.people[0][0])
    client.act(action_type="double_click", x=x, y=y)
    client.act(action_type="triple_click", x=x, y=y)
    client.act(action_type="right_click", x=900, y=700)
    client.act(action_type="mouse_move", x=x, y=y)
    for (x, y), value in zip(form.fields[1:], form.people[0][1:], strict=True):
        client.act(action_type="left_click", x=x, y=y)
        client.act(action_type="type", text=value)
    client.act(action_type="type", text="\n")
    assert client.progress()["submitted_row_indices"] == [0]


def test_any_task_of_ours_is_played_to_its_end(serve: Serve) -> None:
    server = serve()
    asked = "type=DataEntry&compact=true&rows=2&length=4&seed=3"
    client = OldClient(url_of(server), asked)
    told = client.ask(client.session)
    assert told["goal"].count(" ") > 2
    assert (told["type"], told["action_count"]) == ("DataEntry", 0)
    assert client.progress() == {
        "task": "UI/DataEntry-v0", "seed": 3, "score": 0.0, "success": False, "step": 0,
        "max_steps": 20, "notes": "", "done": False,
    }  # fmt: skip
    (slot,) = server._lender.players
    asked_rows = slot._runner.call("_params", (), {}).asked  # type: ignore[attr-defined]
    picture = Form(server).enter(client, *(row - 1 for row in asked_rows))
    assert picture.shape == (256, 320, 3)
    done = client.progress()
    assert (done["success"], done["done"], done["step"]) == (True, True, 10)
    assert np.array_equal(client.act(action_type="screenshot"), picture)
    with pytest.raises(Answered, match="409: the episode is over"):
        client.act(action_type="left_click", x=1, y=1)


def test_an_answer_ends_an_episode_too(serve: Serve) -> None:
    client = OldClient(url_of(serve()), PAINT)
    client.act(action_type="finish")
    assert client.progress()["done"]


def test_a_seed_says_what_is_shown(serve: Serve) -> None:
    client = Client(url_of(serve(slots=4)))

    def shown(asked: str) -> list[Any]:
        ids = client.ask(f"/session?{PAINT}&{asked}", "POST")["session_ids"]
        pictures = [client.ask(f"/session/{id}/screenshot").tolist() for id in ids]
        seeds = [client.ask(f"/session/{id}/progress")["seed"] for id in ids]
        for id in ids:
            client.ask(f"/session/{id}", "DELETE")
        return list(zip(seeds, pictures, strict=True))

    three = shown("n=3&seed=0")
    assert [seed for seed, _ in three] == [0, 1, 2]
    assert shown("seed=2") == three[2:]
    assert shown("")[0][0] not in (0, shown("")[0][0])


def test_a_session_acts_in_turn_and_others_do_not_wait(serve: Serve) -> None:
    server = serve()
    url = url_of(server)
    client, other = OldClient(url, PAINT), OldClient(url, PAINT)
    with ThreadPoolExecutor() as threads:
        slow = threads.submit(Client.act, client, action_type="mouse_move", x=1, y=1, delay=0.1)
        acts = [threads.submit(client.act, action_type="mouse_move", x=n, y=1) for n in range(3)]
        assert other.act(action_type="screenshot").shape == (64, 96, 3)
        assert all(act.result().shape == (64, 96, 3) for act in (slow, *acts))
    assert client.progress()["step"] == 4
    assert client.ask(client.session)["action_count"] == 4


# -- what is refused --


@pytest.mark.parametrize(
    ("action", "says"),
    [
        ({"action_type": "left_klick"}, "no action_type 'left_klick'. Did you mean 'left_click'"),
        ({}, "there is no action_type ''"),
        ({"action_type": "left_click", "x": 1}, "left_click needs the argument y"),
        ({"action_type": "left_click", "x": "a", "y": 1}, "x is a whole number, not 'a'"),
        ({"action_type": "left_click", "x": 5000, "y": 1}, "is outside the screen"),
        ({"action_type": "type"}, "type needs the argument text"),
        ({"action_type": "type", "text": "\x1b"}, "control character"),
        ({"action_type": "keys", "keys": "a+b"}, "names 2 keys"),
        ({"action_type": "scroll", "direction": "left"}, "direction is up or down, not 'left'"),
        ({"action_type": "mouse_move", "x": 1, "y": 1, "delay": "1e9"}, "must be 0 to 60"),
        ({"action_type": "mouse_move", "x": 1, "y": 1, "delay": "nan"}, "must be 0 to 60"),
    ],
)
def test_an_action_that_cannot_be_is_refused_and_nothing_done(
    serve: Serve, action: dict[str, Any], says: str
) -> None:
    client = OldClient(url_of(serve()), PAINT)
    with pytest.raises(Answered, match=says) as refused:
        Client.act(client, **action)
    assert refused.value.status == 400
    assert client.progress()["step"] == 0


def test_what_the_screen_cannot_do_is_said_beside_the_picture(serve: Serve) -> None:
    client = OldClient(url_of(serve()), PAINT)
    assert client.act(action_type="keys", keys="enter").shape == (64, 96, 3)
    assert client.answered[FEEDBACK] == "press: paint cannot do that"
    client.act(action_type="mouse_move", x=1, y=1)
    assert FEEDBACK not in client.answered


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("type=simple_date_entry", "there is no task 'simple_date_entry'"),
        (f"{PAINT}&n=0", "n is a whole number from 1 to 8"),
        (f"{PAINT}&n=two", "n is a whole number from 1 to 8"),
        (f"{PAINT}&seed=-1", "seed is a whole number from 0"),
        (f"{PAINT}&boxes=7", "boxes is 2 or 3"),
        (f"{PAINT}&box=7", "takes no argument 'box'"),
        (f"{PAINT}&timeout=[]", "these arguments cannot be"),
        (f"{PAINT}&dialect=json", "the argument dialect is not for clients"),
        (f"{PAINT}&pool=1", "the argument pool is not for clients"),
    ],
)
def test_a_session_that_cannot_be_is_refused(serve: Serve, asked: str, says: str) -> None:
    server = serve()
    with pytest.raises(Answered, match=says) as refused:
        Client(url_of(server)).ask(f"/session?{asked}", "POST")
    assert refused.value.status == 400
    assert server.free == 8


def test_only_what_is_served_may_be_played(serve: Serve) -> None:
    server = serve(tasks=["PaintText"], devices=[])
    client = Client(url_of(server))
    for asked, says in (
        ("type=PaintClick", "does not serve 'UI/PaintClick-v0'"),
        ("type=simple_data_entry", "does not serve 'UI/SimpleDataEntry-v0'"),
        (f"{PAINT}:hang_on=x", "lends no device"),
    ):
        with pytest.raises(Answered, match=says):
            client.ask(f"/session?{asked}", "POST")
    OldClient(url_of(serve(tasks=["SimpleDataEntry"])))


def test_slots_are_as_many_as_they_are_and_come_back(serve: Serve) -> None:
    server = serve(slots=2)
    client = Client(url_of(server))
    with pytest.raises(Answered, match="n is a whole number from 1 to 2"):
        client.ask(f"/session?{PAINT}&n=3", "POST")
    ids = client.ask(f"/session?{PAINT}&n=2", "POST")["session_ids"]
    assert len({*ids}) == 2
    assert all(len(id) == 32 for id in ids)
    for ask in (lambda: client.ask(f"/session?{PAINT}", "POST"), client.progress):
        with pytest.raises(Answered, match=r"503: .* slots of this server are"):
            ask()
    told = client.ask("/status")
    assert [told[key]["id"] for key in told] == [1, 2]
    assert not any(id in json.dumps(told) for id in ids)
    client.ask(f"/session/{ids[0]}", "DELETE")
    assert server.free == 1
    for path in ("", "/screenshot", "/act?action_type=screenshot", "/progress"):
        with pytest.raises(Answered, match="404: there is no such session"):
            client.ask(f"/session/{ids[0]}{path}")
    with pytest.raises(Answered, match="404"):
        client.ask(f"/session/{ids[0]}", "DELETE")
    OldClient(url_of(server), PAINT)
    assert server.free == 0


def test_none_is_begun_where_one_cannot_be(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(slots=4)
    lend, number = server._lender.lend, itertools.count()

    def lend_three(*arguments: Any) -> LentSlot:
        if next(number) == 2:
            raise DeviceError("no more")
        return lend(*arguments)

    monkeypatch.setattr(server._lender, "lend", lend_three)
    with pytest.raises(Answered, match="503: no more"):
        Client(url_of(server)).ask(f"/session?{PAINT}&n=4", "POST")
    assert (next(number), server.free) == (4, 4)


def test_a_session_that_nobody_uses_ends(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ui_verifiers_server, "IDLE_SECONDS", 1.0)
    server = serve(slots=2)
    dead, alive = OldClient(url_of(server), PAINT), OldClient(url_of(server), PAINT)

    def ended() -> bool:
        alive.act(action_type="screenshot")
        return server.free == 1

    assert eventually(ended)
    with pytest.raises(Answered, match="404"):
        dead.progress()
    alive.progress()


def test_a_session_that_acts_for_long_is_used(serve: Serve, monkeypatch: Any) -> None:
    monkeypatch.setattr(ui_verifiers_server, "IDLE_SECONDS", 1.0)
    server = serve(slots=1)
    client = OldClient(url_of(server), "type=PaintText&device=paint:hang_on=x")
    client.act(action_type="left_click", x=1, y=1)
    with ThreadPoolExecutor() as threads:
        acting = threads.submit(client.act, action_type="type", text="x")
        assert not eventually(lambda: server.free, 2.5)
        client.close()  # a busy one too
        with pytest.raises(Answered, match="410: this session is over"):
            acting.result()
    assert eventually(lambda: server.free)


def test_a_device_that_fails_ends_its_session_alone(serve: Serve) -> None:
    server = serve()
    client = OldClient(url_of(server), "type=PaintText&device=paint:lose_on=x")
    other = OldClient(url_of(server), PAINT)
    client.act(action_type="left_click", x=1, y=1)
    with pytest.raises(Answered, match=r"410: this session is over, .* the paint has dried"):
        client.act(action_type="type", text="x")
    with pytest.raises(Answered, match="404"):
        client.progress()
    assert other.progress()["step"] == 0
    assert server.free == 7


def test_a_bug_of_a_task_ends_its_session_and_frees_the_slot(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(slots=1)
    client = Client(url_of(server))
    (id,) = client.ask("/session?type=PaintText&seed=1", "POST")["session_ids"]

    def judge(*_: Any) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr(paint.PaintText, "judge", judge)
    with pytest.raises(Answered, match="a bug") as answered:
        client.ask(f"/session/{id}/act?action_type=left_click&x=1&y=1")
    assert answered.value.status == 500
    assert eventually(lambda: server.free == 1)
    with pytest.raises(Answered) as answered:
        client.ask(f"/session/{id}/screenshot")
    assert answered.value.status == 404


def test_the_one_session_is_begun_again_once_it_is_over(serve: Serve, monkeypatch: Any) -> None:
    paint = type(ui_verifiers_server.SIMPLE_DATA_ENTRY)("PaintText", "paint", "paint:PaintText")
    monkeypatch.setattr(ui_verifiers_server, "SIMPLE_DATA_ENTRY", paint)
    monkeypatch.setattr(ui_verifiers_server, "IDLE_SECONDS", 1.0)
    server = serve(slots=1)
    client, begun = Client(url_of(server)), server._lender.counts
    with ThreadPoolExecutor() as threads:  # those who come first at the same time share it
        list(threads.map(lambda _: client.act(action_type="screenshot"), range(4)))
    assert begun["sessions"] == 1
    assert eventually(lambda: server.free == 1)
    client.act(action_type="screenshot")
    assert begun["sessions"] == 2


def test_the_end_of_a_server_ends_what_acts(serve: Serve) -> None:
    with EnvServer(port=0, devices=["*"]) as server:
        client = OldClient(url_of(server), "type=PaintText&device=paint:hang_on=x")
        client.act(action_type="left_click", x=1, y=1)
        with ThreadPoolExecutor() as threads:
            acting = threads.submit(client.act, action_type="type", text="x")
            assert eventually(lambda: server.playing)
            server.drain()
            with pytest.raises(Answered, match="503: this server is ending"):
                OldClient(url_of(server), PAINT)
            server.close()
            with pytest.raises((Answered, OSError, http.client.HTTPException)):
                acting.result()
    assert server.free == server.limits.slots


def test_a_token_is_wanted(serve: Serve) -> None:
    server = serve(token=SECRET)
    for path in ("/", "/act?action_type=screenshot", "/progress", "/status", "/session/1/progress"):
        with pytest.raises(Answered, match="401"):
            Client(url_of(server)).ask(path)
    with pytest.raises(Answered, match="401"):
        Client(url_of(server)).ask(f"/session?{PAINT}", "POST")
    with pytest.raises(Answered, match="403"):
        Client(url_of(server), Origin="http://evil.example").ask("/act?action_type=screenshot")
    client = Client(url_of(server), Authorization=f"Bearer {SECRET}")
    assert client.ask(f"/session?{PAINT}", "POST")["session_ids"]


def test_a_query_becomes_actions() -> None:
    def read(said: str) -> list[Action]:
        return read_actions(dict(parse_qsl(said, keep_blank_values=True)), (7, 8))

    assert read("action_type=scroll&direction=Down") == [Scroll(7, 8, dy=300)]
    assert read("action_type=keys&keys=ctrl%2Bshift%2Bc") == [Press("ctrl+shift+c")]
    assert read("action_type=keys&keys=Return") == [Press("enter")]
    assert read("action_type=triple_click&x=1&y=2") == [Click(1, 2, count=3)]
    assert read("action_type=type&text=a%0Ab%0A") == [Type("a\nb", enter=True)]
    assert read("action_type=type&text=") == [Type("")]
    assert read("action_type=mouse_move&x=1&y=2&delay=0.5") == [Move(1, 2), Wait(0.5)]
    assert len(read("action_type=finish&delay=1")) == 1


# -- servers as theirs are --


class Theirs(http.server.ThreadingHTTPServer):
    """A server of UI-RL's of one generation, whose form is a line of text that Enter submits."""

    daemon_threads = True

    def __init__(self, many: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.many = many
        self.sessions: dict[str, dict[str, Any]] = {} if many else {"": new_session()}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.faults: list[str] = []
        """What goes wrong with the next requests: an error's status, ``drop`` or ``half``."""
        self.size = (1280, 800)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


def new_session() -> dict[str, Any]:
    return {"text": "", "rows": [], "wrong": 0, "acts": 0}


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Theirs

    def do_GET(self) -> None:
        path, asked = self._asked()
        if self._goes_wrong():
            return
        session = self._session(path)
        if session is None:
            self._say(404, {"detail": "Session not found"})
        elif path.endswith("/progress"):
            told = {"submitted_row_indices": session["rows"]}
            self._say(200, told | {"num_incorrect_submissions": session["wrong"]})
        elif path.endswith("/act"):
            self._act(session, asked)
        else:
            self._send(200, "text/plain", b"UI Verifiers Session Server")

    def do_POST(self) -> None:
        path, asked = self._asked()
        if self._goes_wrong():
            return
        if not self.server.many or path != "/session":
            self._say(404, {"detail": "Not Found"})
            return
        first = len(self.server.asked)
        ids = [first + index for index in range(int(asked["n"]))]
        self.server.sessions |= {str(id): new_session() for id in ids}
        self._say(200, {"session_ids": ids})

    def do_DELETE(self) -> None:
        path, _ = self._asked()
        id = path.split("/")[2]
        gone = self.server.sessions.pop(id, None)
        self._say(200 if gone else 404, {"deleted": id})

    def log_message(self, *_: Any) -> None:
        pass

    def _asked(self) -> tuple[str, dict[str, str]]:
        parts = urlsplit(self.path)
        asked = dict(parse_qsl(parts.query, keep_blank_values=True))
        self.server.asked.append((parts.path, asked))
        return parts.path, asked

    def _session(self, path: str) -> dict[str, Any] | None:
        id = path.split("/")[2] if path.startswith("/session/") else ""
        return self.server.sessions.get(id)

    def _act(self, session: dict[str, Any], asked: dict[str, str]) -> None:
        kind = asked["action_type"]
        if kind not in (*ui_verifiers_words.ACTION_TYPES[:-2], "screenshot"):
            self._say(422, {"detail": [{"msg": "Input should be 'screenshot', ..."}]})
            return
        if kind == "type":
            session["text"] += asked["text"]
        elif kind == "keys" and asked["keys"] == "enter":
            word, _, number = session["text"].partition(" ")
            right = word == "row" and number.isdigit() and int(number) < 100
            session["rows"] += [int(number)] if right else []
            session["wrong"] += not right
            session["text"] = ""
        elif kind == "keys" and asked["keys"] == "delete":
            session["text"] = ""
        session["acts"] += kind != "screenshot"
        time.sleep(0 if kind == "screenshot" else float(asked.get("delay", 0.02)))
        picture = Image.new("RGB", self.server.size, (session["acts"], 90, 90))
        ImageDraw.Draw(picture).text((20, 20), session["text"])
        written = io.BytesIO()
        picture.save(written, "PNG")
        self._send(200, "image/png", written.getvalue())

    def _goes_wrong(self) -> bool:
        fault = self.server.faults.pop(0) if self.server.faults else ""
        if fault == "half":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"\x89PNG")
        elif fault == "drip":
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):
                while True:
                    self.wfile.write(b"x")
                    time.sleep(0.1)
        elif fault and fault != "drop":
            self._say(int(fault), {"detail": "Something went wrong"})
        return bool(fault)

    def _say(self, status: int, told: Any) -> None:
        self._send(status, "application/json", json.dumps(told).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def theirs() -> Iterator[Callable[[bool], Theirs]]:
    started: list[Theirs] = []

    def start(many: bool) -> Theirs:
        started.append(Theirs(many))
        threading.Thread(target=started[-1].serve_forever, args=(0.02,), daemon=True).start()
        return started[-1]

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


@pytest.fixture
def make() -> Iterator[Callable[..., UIEnv]]:
    made: list[UIEnv] = []

    def start(*urls: str, **given: Any) -> UIEnv:
        made.append(UIEnv(TASK, device=f"ui-verifiers:{','.join(urls)}", **given))
        return made[-1]

    yield start
    for env in made:
        env.close()


Make = Callable[..., UIEnv]
Start = Callable[[bool], Theirs]


def asked_rows(env: UIEnv) -> list[int]:
    return list(env._params.asked)


# -- our device --


@pytest.mark.parametrize("many", [False, True], ids=["one session", "many sessions"])
def test_servers_of_theirs_are_played(theirs: Start, make: Make, many: bool) -> None:
    server = theirs(many)
    env = make(server.url, rows=2)
    observation, _ = env.reset(seed=5)
    first, second = asked_rows(env)
    assert f"{first + 2}, {second + 2}" in observation["goal"]
    before = observation["screenshot"]
    assert before.shape == (800, 1280, 3)
    observation, reward, *_, info = env.step(f'type("row {second}", enter=True)')
    assert not np.array_equal(observation["screenshot"], before)
    assert (reward, info["score"]) == (0.0, 1 / 3)
    _, reward, terminated, _, info = env.step(f'type("row {first}"); press("enter")')
    assert (reward, terminated, info["success"]) == (1.0, True, True)
    assert info["details"] == {
        "submitted_row_indices": [second, first], "num_incorrect_submissions": 0,
    }  # fmt: skip
    env.reset(seed=6)  # a session of its own, or a count from here on
    assert env.step('click(9, 9); type("nonsense", enter=True)')[2:4] == (True, False)
    assert len(server.sessions) == 1
    env.close()
    assert len(server.sessions) == (0 if many else 1)


def test_a_wrong_row_ends_it_and_is_not_worth_all(theirs: Start, make: Make) -> None:
    server = theirs(False)
    env = make(server.url, rows=2, reward="progress")
    env.reset(seed=5)
    first, second = asked_rows(env)
    assert env.step(f'type("row {first}", enter=True)')[1] == 1 / 3
    other = next(row for row in range(100) if row not in (first, second))
    _, reward, terminated, _, info = env.step(f'type("row {other}", enter=True)')
    assert (reward, terminated, info["success"]) == (0.0, True, False)
    assert info["notes"] == "1 of 2 rows are submitted, and 1 others"


def test_actions_in_their_words_and_pauses(theirs: Start, make: Make) -> None:
    server = theirs(False)
    env = make(server.url)
    env.reset(seed=1)
    server.asked.clear()
    env.step('type("a&b=c d", clear=True, enter=True); scroll(3, 4, dy=-650); click(1, 2, count=3)')
    said = [asked for path, asked in server.asked if path == "/act"]
    assert said == [
        {"action_type": "keys", "keys": "ctrl+a", "delay": "0"},
        {"action_type": "keys", "keys": "delete", "delay": "0"},
        {"action_type": "type", "text": "a&b=c d", "delay": "0"},
        {"action_type": "keys", "keys": "enter"},
        {"action_type": "scroll", "x": "3", "y": "4", "direction": "up", "delay": "0"},
        {"action_type": "scroll", "x": "3", "y": "4", "direction": "up"},
        {"action_type": "triple_click", "x": "1", "y": "2"},
    ]
    env.reset(seed=1)
    server.asked.clear()
    env.step("wait(0)")  # another look
    assert [asked.get("action_type") for _, asked in server.asked] == ["screenshot", None]


@pytest.mark.parametrize(
    "action",
    [
        Drag(1, 1, 2, 2), Click(1, 1, "middle"), Click(1, 1, keys="ctrl"), Click(1, 1, "right", 2),
        Type("é"), Type(""), Press("ctrl++"), Scroll(1, 1, dx=100), Scroll(1, 1, dy=90_000),
    ],
    ids=str,
)  # fmt: skip
def test_what_they_have_no_words_for_is_said(action: Action) -> None:
    with pytest.raises(ActionError, match="cannot be done by ui-verifiers"):
        ui_verifiers_words.acts(action)


def test_what_they_refuse_is_feedback(theirs: Start, make: Make) -> None:
    server = theirs(True)
    env = make(server.url)
    env.reset(seed=1)
    server.faults = ["422"]
    observation, *_, info = env.step("click(1, 1)")
    assert "422" in observation["feedback"]
    assert (info["action_error"], info["failure"]) == ("runtime", None)


@pytest.mark.parametrize("many", [False, True], ids=["one session", "many sessions"])
def test_sessions_of_our_own_server_are_played(
    serve: Serve, make: Make, monkeypatch: pytest.MonkeyPatch, many: bool
) -> None:
    if not many:
        pages = ui_verifiers_server.routes

        def few(lender: Lender) -> list[Route]:
            return [page for page in pages(lender) if not page.path.startswith("/session")]

        monkeypatch.setattr(ui_verifiers_server, "routes", few)
    server = serve(slots=1)
    env = make(url_of(server), first_row=1)
    env.reset(seed=3)
    form = Form(server)
    (row,) = asked_rows(env)
    assert env._brief.goal.count(str(row + 1))
    for step in form.steps(*form.people[row]):
        if step["action_type"] == "type":
            done = env.step(f"type({step['text']!r})")
        else:
            done = env.step(f"click({step['x']}, {step['y']})")
    assert (done[1], done[2], done[4]["notes"]) == (1.0, True, "all asked rows are submitted")
    env.reset(seed=4)
    assert env.step("finish()")[1] == 0.0
    env.close()
    assert server.free == many


# -- our device's troubles --


def test_a_look_is_asked_again_and_an_action_never(theirs: Start, make: Make) -> None:
    server = theirs(True)
    env = make(server.url)
    server.faults = ["503", "", "502", "drop", ""]  # to begin, then to look
    env.reset(seed=1)
    acts = next(iter(server.sessions.values()))["acts"]
    server.faults = ["500"]
    *_, truncated, info = env.step("click(1, 1)")
    assert truncated
    assert "answered" in info["failure"]
    assert list(server.sessions.values())[0:1] in ([], [{**new_session(), "acts": acts}])
    for fault in ("drop", "half"):
        env.reset(seed=1)
        server.faults = [fault]
        assert "is lost" in env.step("click(1, 1)")[4]["failure"]
    env.reset(seed=1)
    server.sessions.clear()
    assert "the session is gone" in env.step("click(1, 1)")[4]["failure"]
    env.reset(seed=1)
    assert env.step("click(1, 1)")[4]["failure"] is None


def test_an_answer_that_drips_for_ever_is_given_up(theirs: Start, make: Make) -> None:
    server = theirs(False)
    env = make(server.url, timeout=1.0)
    env.reset(seed=1)
    server.faults = ["drip"]
    started = time.monotonic()
    assert "did not answer GET /act within 1 s" in env.step("click(1, 1)")[4]["failure"]
    assert time.monotonic() - started < 5


def test_closing_ends_a_request_in_progress(theirs: Start, make: Make) -> None:
    server = theirs(True)
    env = make(server.url)
    env.reset(seed=1)
    device = env.device
    server.faults = ["drip"]
    with ThreadPoolExecutor() as threads:
        acting = threads.submit(device.perform, Click(1, 1))
        assert eventually(lambda: not server.faults)
        device.close()
        with pytest.raises(DeviceLost, match="was closed"):
            acting.result(5)
    assert not server.sessions
    device.close()


def test_a_server_that_is_not_there_or_no_such_server(make: Make, theirs: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(DeviceStartError, match=f"127.0.0.1:{port} is lost.* ui-verifiers there"):
        make(f"http://127.0.0.1:{port}", timeout=0.5).reset(seed=1)
    server = theirs(False)
    server.faults = ["404"] * 6
    with pytest.raises(DeviceStartError, match="answered /act with 404"):
        make(server.url + "/proxy/x", timeout=0.5).reset(seed=1)
    server.faults.clear()
    server.size = (640, 480)
    with pytest.raises(UserError, match=r"make the env with viewport=\(640, 480\)"):
        make(server.url).reset(seed=1)
    make(server.url, viewport=(640, 480)).reset(seed=1)


def test_a_progress_without_rows_is_said(
    theirs: Start, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = make(theirs(False).url)
    monkeypatch.setattr(_Handler, "_say", lambda self, *_: _Handler._send(self, 200, "", b"{}"))
    monkeypatch.setattr(_Handler, "do_POST", lambda self: self.send_error(404))
    with pytest.raises(DeviceError, match="without submitted_row_indices"):
        env.reset(seed=1)


def test_a_proxy_before_it_may_have_a_path(theirs: Start, make: Make) -> None:
    server = theirs(False)
    make(server.url + "/proxy/abc/").reset(seed=1)
    assert {path for path, _ in server.asked} == {
        "/proxy/abc/session", "/proxy/abc/act", "/proxy/abc/progress",
    }  # fmt: skip


def test_one_session_is_for_one_slot(theirs: Start, make: Make) -> None:
    one, two = theirs(False), theirs(False)
    env = make(one.url)
    env.reset(seed=1)
    with pytest.raises(UserError, match="has one session, which another slot plays"):
        env.clone().reset(seed=1)
    both = make(one.url, two.url)
    clone = both.clone()
    both.reset(seed=1)
    clone.reset(seed=1)
    clone.close()
    many = make(theirs(True).url)
    clones = [many.clone() for _ in range(3)]
    for clone in clones:
        clone.reset(seed=1)
        clone.close()


def test_the_token_is_sent_and_none_is_in_an_address(
    serve: Serve, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(token=SECRET)
    with pytest.raises(DeviceStartError, match=r"401: .*UI_GYM_UI_VERIFIERS_TOKEN holds a token"):
        make(url_of(server)).reset(seed=1)
    monkeypatch.setenv(ui_verifiers_http.TOKEN, SECRET)
    make(url_of(server)).reset(seed=1)
    with pytest.raises(UserError, match="it takes no token") as refused:
        make(f"http://user:{SECRET}@h:1")
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("device", "says"),
    [
        ("auto", "say which, as device='ui-verifiers:http://"),
        ("chromium", "the ui-verifiers suite has no device 'chromium'"),
        ("ui-verifiers", "is said as in device="),
        ("ui-verifiers:ftp://h", "is said as in device="),
        ("ui-verifiers:http://h:99999", "is no address of a server"),
        ("ui-verifiers:http://h:1,http://h:1", "is named twice"),
    ],
)
def test_wrong_devices_are_refused_at_once(device: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        UIEnv(TASK, device=device)


def test_pictures_are_all_that_is_seen() -> None:
    with pytest.raises(UserError, match="shows pictures alone"):
        UIEnv(TASK, device="ui-verifiers:http://h:1", observation="elements")
    with pytest.raises(UserError, match="the browser suite has no device 'ui-verifiers'"):
        UIEnv("UI/DataEntry-v0", device="ui-verifiers:http://h:1")
