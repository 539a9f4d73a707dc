"""Evaluations of served models whose servers answer what no server should."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from serving import QuietHandler, serving

from tests.evaluation.test_eval_play import evaluate, settings
from ui_gym.dialects import DIALECTS, get_dialect
from ui_gym.errors import ActionError
from ui_gym_agents.engines.http import JsonClient
from ui_gym_agents.engines.protocol import EngineError, RequestLimits
from ui_gym_agents.evaluation import cli as eval_cli
from ui_gym_agents.evaluation.play import FinishedEvaluation
from ui_gym_agents.store import EpisodeStore

DEEP = 200_000


@contextlib.contextmanager
def answering(answer: Callable[[QuietHandler], None]) -> Iterator[str]:
    """The address of a server that reads each question and leaves the rest to `answer`."""

    class Handler(QuietHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            with contextlib.suppress(OSError):  # the client has gone away
                answer(self)

    with serving(Handler) as server:
        yield f"http://127.0.0.1:{server.server_port}/v1"


def completion(said: str) -> bytes:
    return json.dumps({"choices": [{"message": {"content": said}}]}).encode()


def played(body: bytes, out: Path, dialect: str = "canonical") -> FinishedEvaluation:
    """An evaluation of a model whose server has one answer for everything."""
    with answering(lambda request: request.say(body)) as url:
        agent = f"openai:m@{url}"
        asked = settings(
            "PaintClick", agent=agent, dialect=dialect, out=out, episodes=2, max_steps=2
        )
        return evaluate(asked)


SAID = {
    "surrogate": "\ud83d",
    "typed surrogate": '{"action": "type", "text": "\ud83d"}',
    "NUL": "\x00",
    "objects": '{"action":' * DEEP,
    "lists": '{"action": "click", "x": ' + "[" * DEEP,
    "brackets": "(" * DEEP,
    "long": "x" * 1_200_000,
    "words": "word " * 240_000,
}


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
@pytest.mark.parametrize("dialect", ["canonical", "json"])
def test_whatever_a_model_says_is_held_and_reported(
    said: str, dialect: str, tmp_path: Path
) -> None:
    found = played(completion(said), tmp_path, dialect)
    assert (found.report.n, found.report.total.valid_actions) == (2, 0.0)
    kept = list(EpisodeStore(tmp_path))
    assert [turn.action_text for episode in kept for turn in episode.turns] == [said] * 4
    assert {path.name for path in found.files} == {
        "film.png", "report.json", "report.md", "report.html"
    }  # fmt: skip
    # A report is to be looked at: it shows what is said by its beginning.
    assert (tmp_path / "report.html").stat().st_size < 1_000_000


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_refuses_it_in_few_words(said: str, dialect: str) -> None:
    with pytest.raises(ActionError) as refused:
        get_dialect(dialect).parse(said, (320, 256))
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("out", [False, True])
def test_an_evaluation_of_which_every_episode_failed_has_failed(
    out: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering(lambda request: request.say(b'"out of order"')) as url:
        asked = ["--task", "PaintClick", "--episodes", "2", "--agent", f"openai:m@{url}"]
        asked += ["--out", str(tmp_path)] if out else ["--json"]
        monkeypatch.setattr("sys.argv", ["ui-gym-eval", *asked])
        assert eval_cli.main() == 1
    printed, told = capsys.readouterr()
    assert "error: all 2 episodes failed by the infrastructure's fault" in told
    assert "nothing was measured. The first: UI/PaintClick-v0, seed " in told
    assert "its answer is no chat completion" in told
    if out:
        assert ["success", "unknown  (no episode counts)"] in [
            line.split("\t") for line in printed.splitlines()
        ]
        assert (
            "| success | **unknown** (95 %: 0.0 % to 100.0 %) |"
            in (tmp_path / "report.md").read_text()
        )
        assert "<b>unknown</b><span>success" in (tmp_path / "report.html").read_text()
    else:
        assert json.loads(printed)["n"] == 0


@pytest.mark.parametrize(
    "body",
    [
        b"[" * DEEP + b"]" * DEEP,
        b'{"choices":' * DEEP,
        b'{"choices": [{"message": {"content": ' + b"9" * 10_000 + b"}}]}",
        b"\xff\xfe",
        b"",
    ],
    ids=["deep", "deep and cut", "digits", "no UTF-8", "nothing"],
)
def test_a_body_that_is_no_answer_fails_its_episodes_and_no_more(
    body: bytes, tmp_path: Path
) -> None:
    found = played(body, tmp_path)
    assert (found.report.n, found.report.total.failures) == (0, 2)
    assert "its answer is no chat completion" in found.report.failed[0]
    assert (tmp_path / "report.html").exists()


def test_an_endless_body_is_read_up_to_its_limit(tmp_path: Path) -> None:
    """The bytes that a server could send, not the memory, are counted: they are what is held."""
    sent: list[int] = []
    part = b"x" * (1 << 20)

    def endless(request: QuietHandler) -> None:
        request.send_response(200)
        request.end_headers()
        sent.append(0)
        while True:
            request.wfile.write(part)
            sent[-1] += len(part)

    with answering(endless) as url:
        client = JsonClient(url, limits=RequestLimits(answer_bytes=4 << 20))
        with pytest.raises(EngineError, match="answered with more than 4,194,304 bytes"):
            client.post("/chat/completions", {})
        with pytest.raises(EngineError, match="answered with more than 1,024 bytes"):
            client.post("/chat/completions", {}, RequestLimits(answer_bytes=1024))
        client.close()
        found = evaluate(settings("PaintClick", agent=f"openai:m@{url}", out=tmp_path, episodes=1))
    assert len(sent) == 2 + 3  # it is asked for again with its episode alone
    # Beside the limit, what lies in the buffers of two sockets.
    assert sent[0] < 32 << 20
    assert "answered with more than" in found.report.failed[0]


def test_the_first_ctrl_c_ends_it_while_a_server_hangs(tmp_path: Path) -> None:
    asked, released = threading.Event(), threading.Event()

    def hang(request: QuietHandler) -> None:
        asked.set()
        released.wait(120)

    with answering(hang) as url:
        command = [sys.executable, "-m", eval_cli.__name__, "--task", "UI/DataEntry-v0"]
        command += ["--set", "compact=true", "--episodes", "3", "--agent", f"openai:m@{url}"]
        process = subprocess.Popen(
            [*command, "--out", str(tmp_path)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        try:
            assert asked.wait(60)
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            _, told = process.communicate(timeout=20)
        finally:
            released.set()
            process.kill()
            process.communicate()
    assert process.returncode == 130
    assert told.endswith("error: interrupted\n")
    assert "Traceback" not in told


def test_deadline_and_attempts_are_flags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    questions: list[None] = []
    released = threading.Event()

    def hang(request: QuietHandler) -> None:
        questions.append(None)
        released.wait(60)

    with answering(hang) as url:
        asked = ["--task", "PaintClick", "--episodes", "1", "--agent", f"openai:m@{url}"]
        asked += ["--server-timeout", "0.2", "--server-attempts", "2", "--out", str(tmp_path)]
        monkeypatch.setattr("sys.argv", ["ui-gym-eval", *asked])
        assert eval_cli.main() == 1
        told = " ".join(capsys.readouterr().err.split())
        released.set()
    assert "failed 2 times, at last with ReadTimeout" in told
    assert len(questions) == 2 * 3  # an episode is played again twice
    # They bear on no episode, so that the evaluation may go on with others.
    assert "server" not in (tmp_path / "evaluation.json").read_text()


def test_a_packed_answer_is_not_unpacked() -> None:
    def bomb(request: QuietHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Encoding", "gzip, gzip")
        request.send_header("Content-Length", "2")
        request.end_headers()
        request.wfile.write(b"\x1f\x8b")

    with answering(bomb) as url:
        client = JsonClient(url)
        with pytest.raises(EngineError, match=r"packs its answer \(gzip, gzip\), unasked"):
            client.post("/chat/completions", {})
        client.close()


def test_a_server_that_dribbles_its_headers_meets_the_deadline() -> None:
    def dribble(request: QuietHandler) -> None:
        request.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        while True:
            request.wfile.write(b"x")
            gone.wait(0.05)

    gone = threading.Event()
    with answering(dribble) as url:
        client = JsonClient(url, limits=RequestLimits(timeout=0.3, attempts=1))
        with pytest.raises(EngineError, match="ReadTimeout: the answer was not complete in time"):
            client.post("/chat/completions", {})
        client.close()
