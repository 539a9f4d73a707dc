"""A judge model's scores as rewards: asked once of an episode, and never a zero where it fails."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import spots  # noqa: F401 - registers its tasks
from serving import QuietHandler, serving
from train_helpers import metrics, train

RUN = (
    "--plugin", "grpo", "--tasks.ids", '["PaintSpot"]', "--env.num_envs", "4",
    "--run.directory", "run", "--run.eval_every", "0", "--run.save_every", "1",
    "--evaluation.episodes", "0", "--policy.lora_rank", "4", "--policy.max_new_tokens", "6",
    "--trainer.groups", "2", "--trainer.group_size", "4", "--trainer.refill", "1",
    "--trainer.judge.attempts", "1", "--trainer.judge.pictures", "1",
)  # fmt: skip


class Answers:
    """What the judge says, by the last thing that the agent did; and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.faults: list[str] = []
        self.lock = threading.Lock()

    def to(self, question: dict[str, Any]) -> tuple[int, str]:
        with self.lock:
            self.asked.append(question)
            fault = self.faults.pop(0) if self.faults else ""
        if fault == "500":
            return 500, "{}"
        did = question["messages"][1]["content"][0]["text"]
        score = sum(map(ord, did)) % 5 / 4
        said = fault or f"It clicked.\n**Score:** {score}"
        return 200, json.dumps({"choices": [{"message": {"content": said}}]})


@pytest.fixture
def judge(
    clicker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Answers, tuple[str, ...]]]:
    """The judge, and the flags of a run that asks it."""
    monkeypatch.chdir(tmp_path)
    answers = Answers()

    class Handler(QuietHandler):
        def answer(self) -> None:
            length = int(self.headers["Content-Length"])
            status, body = answers.to(json.loads(self.rfile.read(length)))
            self.say(body.encode(), status)

    with serving(Handler) as server:
        name = f"openai:judge-7b@http://127.0.0.1:{server.server_address[1]}/v1"
        yield answers, (*RUN, "--policy.model", str(clicker), "--trainer.reward", name)


def kept() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("run/judgements.jsonl").read_text().splitlines()]


def test_a_judge_is_asked_once_about_an_episode_and_not_again_on_resuming(
    judge: tuple[Answers, tuple[str, ...]],
) -> None:
    answers, flags = judge
    assert train(*flags, "--run.steps", "1") == 0
    first = len(answers.asked)
    assert 1 < first == len(kept()) <= 8  # equal episodes are one question
    asked = answers.asked[0]
    assert (asked["model"], asked["temperature"]) == ("judge-7b", 0)
    system, user = asked["messages"]
    assert "'Score: N'" in system["content"][0]["text"]
    assert "Goal: Click the box" in user["content"][0]["text"]
    assert "1. click(" in user["content"][0]["text"]
    (picture,) = (part for part in user["content"] if part["type"] == "image_url")
    assert picture["image_url"]["url"].startswith("data:image/png;base64,")
    assert "loss" in metrics("run")[0]

    assert train("--resume", "run", "--run.steps", "2") == 0
    keys = [line["key"] for line in kept()]
    assert len(keys) == len(set(keys)) == len(answers.asked)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("500", "did not answer: "),
        ("Score: 8/10", "named no score from 0 to 1; its answer ended: 'Score: 8/10'"),
        ("I cannot say.", "named no score from 0 to 1; its answer ended: 'I cannot say.'"),
        ("Score: -1", "named no score from 0 to 1"),
    ],
)
def test_where_it_fails_the_episode_is_left_out(
    judge: tuple[Answers, tuple[str, ...]], fault: str, told: str
) -> None:
    answers, flags = judge
    answers.faults = [fault]
    assert train(*flags, "--run.steps", "1", "--trainer.reward_failures", "0.9") == 0
    assert metrics("run")[0]["unrewarded_episodes"] >= 1
    log = Path("run/log.txt").read_text()
    assert " of UI/PaintSpot-v0 is left out: the judge 'openai:judge-7b@http" in log
    assert told in log
    assert all(0 <= line["score"] <= 1 for line in kept())


def test_a_judge_that_is_down_ends_the_run(
    judge: tuple[Answers, tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    answers, flags = judge
    answers.faults = ["500"] * 100
    assert train(*flags, "--run.steps", "2") == 1
    said = capsys.readouterr().err
    assert "8 of the 8 episodes of step 1 have no reward, and more than 20 %" in said
    assert "the judge 'openai:judge-7b@http://127.0.0.1:" in said
    assert "did not answer: http://127.0.0.1:" in said


@pytest.mark.parametrize("name", ["openai:@http://127.0.0.1:1/v1", "openai:judge@127.0.0.1:1"])
def test_a_name_that_is_no_judges_is_refused(
    judge: tuple[Answers, tuple[str, ...]], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, flags = judge
    assert train(*flags, "--trainer.reward", name) == 2
    assert "names no judge; write openai:MODEL@URL" in capsys.readouterr().err
