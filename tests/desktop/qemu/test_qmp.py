"""The conversation with QEMU, against one that behaves as no QEMU should."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ui_gym.desktop.qemu import qmp
from ui_gym.desktop.qemu.qmp import Qmp, QmpError
from ui_gym.errors import DeviceError, DeviceLost, DeviceTimeout

GREETING = {"QMP": {"version": {"qemu": {"major": 9, "minor": 1, "micro": 2}}, "capabilities": []}}
EVENT = {"event": "RTC_CHANGE", "data": {}, "timestamp": {"seconds": 0, "microseconds": 0}}

Answers = Callable[[dict[str, Any]], list[dict[str, Any]]]


class Peer:
    """The other end: greets, and gives to each request what `answers` says, in order."""

    def __init__(self, answers: Answers, greeting: bytes | None = None) -> None:
        self.ours, self.theirs = socket.socketpair()
        self._answers = answers
        said = json.dumps(GREETING).encode() + b"\n" if greeting is None else greeting
        self.theirs.sendall(said)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with self.theirs.makefile("rb") as lines:
            for line in lines:
                request = json.loads(line)
                if request["execute"] == "qmp_capabilities":
                    self.say({"return": {}, "id": request["id"]})
                    continue
                for answer in self._answers(request):
                    self.say(answer)

    def say(self, message: dict[str, Any]) -> None:
        self.theirs.sendall(json.dumps(message).encode() + b"\r\n")

    def close(self) -> None:
        self.theirs.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self.theirs.close()
        self.ours.close()


@pytest.fixture
def peer() -> Iterator[Callable[..., Peer]]:
    made: list[Peer] = []

    def make(answers: Answers = lambda request: [], greeting: bytes | None = None) -> Peer:
        made.append(Peer(answers, greeting))
        return made[-1]

    yield make
    for one in made:
        one.close()


def returned(request: dict[str, Any], value: Any) -> dict[str, Any]:
    return {"return": value, "id": request["id"]}


def test_a_command_gives_what_it_returned(peer):
    conversation = Qmp(peer(lambda r: [returned(r, r["arguments"])]).ours, timeout=5)
    assert conversation.version == (9, 1, 2)
    assert conversation.execute("echo", {"text": "é"}) == {"text": "é"}


def test_events_between_command_and_answer_are_passed_over(peer):
    conversation = Qmp(peer(lambda r: [EVENT, EVENT, returned(r, 1), EVENT]).ours, timeout=5)
    assert [conversation.execute("one") for _ in range(3)] == [1, 1, 1]


def test_a_refused_command_says_why(peer):
    error = {"class": "CommandNotFound", "desc": "The command foo has not been found"}
    conversation = Qmp(peer(lambda r: [{"error": error, "id": r["id"]}]).ours, timeout=5)
    with pytest.raises(QmpError, match="refused foo: The command foo has not been found") as told:
        conversation.execute("foo")
    assert told.value.kind == "CommandNotFound"


def test_an_answer_that_comes_too_late_is_not_taken_for_the_next_one(peer):
    held: list[dict[str, Any]] = []

    def answers(request: dict[str, Any]) -> list[dict[str, Any]]:
        held.append(request)
        return [] if len(held) == 1 else [returned(r, r["execute"]) for r in held]

    conversation = Qmp(peer(answers).ours, timeout=5)
    with pytest.raises(DeviceTimeout, match="did not give slow in time"):
        conversation.execute("slow", timeout=0.05)
    assert conversation.execute("quick") == "quick"


def jobs(states: list[str], error: str | None = None) -> Answers:
    """A QEMU whose job goes through these states, one at each look."""

    def answers(request: dict[str, Any]) -> list[dict[str, Any]]:
        match request["execute"]:
            case "query-jobs":
                known = {"id": names[0], "type": "snapshot-load", "status": states[0]}
                said = returned(request, [known | ({"error": error} if error else {})])
                if len(states) == 1:
                    return [said]
                states.pop(0)
                return [said, {"event": "JOB_STATUS_CHANGE", "data": {"id": names[0]}}]
            case "job-dismiss":
                dismissed.append(request["arguments"]["id"])
                return [returned(request, {})]
        names.append(request["arguments"]["job-id"])
        return [returned(request, {})]

    names: list[str] = []
    dismissed: list[str] = []
    answers.dismissed = dismissed  # type: ignore[attr-defined]
    return answers


@pytest.mark.parametrize(
    "states",
    [["concluded"], ["created", "running", "pending", "concluded"]],
    ids=["at once", "late"],
)
def test_a_job_is_waited_for_and_dismissed(peer, states):
    answers = jobs(states)
    Qmp(peer(answers).ours, timeout=5).job("snapshot-load", {"tag": "ready"})
    assert len(answers.dismissed) == 1


def test_a_job_that_fails_says_why(peer):
    answers = jobs(["running", "concluded"], "Snapshot 'ready' does not exist")
    with pytest.raises(QmpError, match="snapshot-load failed: Snapshot 'ready' does not exist"):
        Qmp(peer(answers).ours, timeout=5).job("snapshot-load", {"tag": "ready"})
    assert len(answers.dismissed) == 1


def test_a_connection_that_ends_is_a_lost_machine(peer):
    one = peer()
    conversation = Qmp(one.ours, timeout=5)
    one.theirs.shutdown(socket.SHUT_RDWR)
    with pytest.raises(DeviceLost, match="QEMU is gone"):
        conversation.execute("query-status")


def test_closing_ends_a_wait_in_another_thread(peer):
    asked = threading.Event()
    conversation = Qmp(peer(lambda request: asked.set() or []).ours, timeout=60)
    closer = threading.Thread(target=lambda: asked.wait(10) and conversation.close())
    closer.start()
    with pytest.raises(DeviceLost):
        conversation.execute("query-status")
    closer.join()


@pytest.mark.parametrize(
    ("greeting", "error", "message"),
    [
        (b"", DeviceTimeout, "did not give its greeting in time"),
        (b"SSH-2.0-OpenSSH\r\n", DeviceError, "does not speak QMP"),
        (b'{"hello": 1}\n', DeviceError, "does not speak QMP"),
        (b"[1]\n", DeviceError, "does not speak QMP"),
    ],
    ids=["silence", "ssh", "other", "list"],
)
def test_what_is_no_qemu_is_told(peer, greeting: bytes, error, message: str):
    with pytest.raises(error, match=message):
        Qmp(peer(greeting=greeting).ours, timeout=0.2)


def test_a_line_without_end_is_not_read_for_ever(peer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(qmp, "MAX_LINE", 1000)
    with pytest.raises(DeviceLost, match="a line of more than 1000 bytes"):
        Qmp(peer(greeting=b"x" * 5000).ours, timeout=5)


def test_a_refusal_can_be_told_anew():
    assert str(type(QmpError("no", "GenericError"))("step 1: no")) == "step 1: no"
