"""Learning from what a server samples, whose log-probabilities are not quite the learner's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spots  # noqa: F401 - registers its tasks
import torch
from grpo_helpers import gradient, make_learner, make_policy, play, play_episodes, trajectory
from peft import PeftModel
from safetensors.torch import load_file
from train_helpers import metrics, train

from tests.engines.model_server import ModelServer
from ui_gym_agents.engines.agent import EngineAgent
from ui_gym_agents.engines.openai import OpenAIEngine
from ui_gym_agents.groups.gathering import Trajectory
from ui_gym_agents.policy import VLMPolicy
from ui_gym_agents.store import ScreenshotStore

RUN = (
    "--plugin", "grpo", "--trainer.groups", "3", "--trainer.group_size", "4",
    "--trainer.refill", "2", "--env.num_envs", "4", "--run.eval_every", "0", "--run.records", "off",
    "--evaluation.episodes", "0", "--policy.threads", "1", "--policy.lora_rank", "4",
    "--policy.max_new_tokens", "6", "--run.directory", "run", "--tasks.ids", "PaintSpot",
)  # fmt: skip

NOISE = 0.3
"""Nats a token, as of other kernels and half the precision."""


class NoisyServer(ModelServer):
    """Says log-probabilities that are off by `NOISE` (normally distributed)."""

    def _complete(self, body: dict[str, Any], name: str) -> dict[str, Any]:
        found = super()._complete(body, name)
        rng = np.random.default_rng(body["seed"])
        for token in found["choices"][0]["logprobs"]["content"]:
            token["logprob"] += rng.normal(0, NOISE)
        return found


@pytest.fixture
def policies(tiny: Path) -> Iterator[Callable[..., VLMPolicy]]:
    """Equal policies; `served` ones sample on a noisy server."""
    server = NoisyServer(tiny)
    made: list[VLMPolicy] = []

    def make(*, served: bool) -> VLMPolicy:
        policy = make_policy(tiny, threads=1)
        if served:
            engine = OpenAIEngine(
                server.url, "tiny", image_id=policy.encoder.image_id, run=f"run{len(made)}"
            )
            policy.sampler = EngineAgent(policy, engine)
        made.append(policy)
        return policy

    yield make
    for policy in made:
        policy.close()
    server.close()


def exact(policy: VLMPolicy, played: list[Trajectory], store: ScreenshotStore) -> list[Trajectory]:
    """The same turns with the learner's own log-probabilities."""

    def scored(one: Trajectory) -> Trajectory:
        records = [sample.record for sample in one.samples]
        with torch.no_grad():
            values = policy.logprobs(records, store)
        samples = [
            replace(s, record=replace(s.record, logprobs=tuple(v.tolist())))
            for s, v in zip(one.samples, values, strict=True)
        ]
        return replace(one, samples=samples)

    return [scored(one) for one in played]


def test_a_servers_noise_clips_nothing_and_hardly_turns_the_gradient(
    policies: Callable[..., VLMPolicy], tmp_path: Path
) -> None:
    store = ScreenshotStore()
    served = policies(served=True)
    played = [trajectory(e) for e in play_episodes(served, store, count=24)]
    clips, gradients, told = [], [], []
    for policy, turns in (
        (served, exact(served, played, store)),
        (policies(served=False), played),  # as if nobody had known that a server sampled
        (served, played),
    ):
        learner = make_learner(policy, tmp_path, store, lr=1e-9, clip=1e9)
        gradients.append(gradient(learner, turns))
        policy.version = 0
        told.append(learner.learn(turns))
        policy.version = 0
        clips.append(told[-1]["clip_fraction"])
    true, raw, corrected = gradients
    cosine = [float(torch.cosine_similarity(true, other, dim=0)) for other in (raw, corrected)]
    assert clips[1] > 0.15
    assert clips[2] == 0
    assert cosine[0] < 0.9, cosine
    assert cosine[1] > 0.94, cosine
    assert told[2]["logprob_gap_mean"] == pytest.approx(NOISE * (2 / np.pi) ** 0.5, rel=0.15)
    assert told[2]["logprob_k3"] == pytest.approx(NOISE**2 / 2, rel=0.3)
    assert 0.85 < told[2]["effective_sample_size"] < 0.97
    assert told[2]["logprob_gap"] > 2 * NOISE
    assert "stale_turns" not in told[2]  # a server's are not old


def test_the_gap_of_old_turns_is_theirs(tiny: Path, tmp_path: Path) -> None:
    """Not of the learner to itself, which is always 0."""
    learner = make_learner(make_policy(tiny, threads=1), tmp_path)
    far = [
        replace(one, samples=[
            replace(s, record=replace(s.record, logprobs=tuple(p - 3 for p in s.record.logprobs)))
            for s in one.samples
        ])
        for one in play(learner)
    ]  # fmt: skip
    learner.policy.version = 5
    metrics = learner.learn(far)
    assert metrics["logprob_gap"] == pytest.approx(3, abs=1e-3)
    assert metrics["logprob_gap_mean"] == pytest.approx(3, abs=1e-3)
    assert metrics["stale_turns"] == 1
    assert metrics["masked_turns"] == 1
    assert metrics["effective_sample_size"] == 0


def test_playing_ahead_on_a_server_copies_no_model(
    clicker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Yet what is asked of the server is always a whole version, never one half learned."""

    def refuse(model: PeftModel, memo: object) -> None:
        raise AssertionError("a second model")

    monkeypatch.setattr(PeftModel, "__deepcopy__", refuse, raising=False)
    monkeypatch.chdir(tmp_path)
    server = ModelServer(clicker)
    given: dict[str, list[float]] = {}
    take = server._take

    def kept(name: str, path: str) -> None:
        take(name, path)
        found = server.models[name].parameters()
        given[name] = [float(p.detach().abs().sum()) for p in found]

    monkeypatch.setattr(server, "_take", kept)
    try:
        status = train(
            *RUN, "--policy.model", str(clicker), "--policy.engine", f"openai:tiny@{server.url}",
            "--run.steps", "3", "--run.save_every", "1", "--run.keep", "9",
            "--trainer.max_steps_off_policy", "1", "--env.schedule", "free",
        )  # fmt: skip
    finally:
        server.close()
    assert status == 0
    rows = metrics("run")
    assert len(rows) == 3
    assert max(row["logprob_gap_mean"] for row in rows[:1]) < 1e-5
    assert len(given) > 1
    saved = [
        [float(p.abs().sum()) for p in load_file(path).values()]
        for path in Path("run/checkpoints").glob("step_*/adapter_model.safetensors")
    ]
    first, *later = (sorted(values) for values in given.values())
    assert all(sorted(values) != first for values in saved)
    assert all(
        any(values == pytest.approx(sorted(known), rel=1e-6) for known in saved) for values in later
    )
