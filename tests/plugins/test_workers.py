"""Training is the same to the bit, whoever plays the envs."""

from __future__ import annotations

from pathlib import Path

import pytest
import ray
from train_helpers import metrics, train

from ui_gym.remote.server import EnvServer

MAIN_JOB = (
    "--plugin", "grpo", "--run.steps", "2", "--run.eval_every", "0", "--run.records", "off",
    "--evaluation.episodes", "0", "--trainer.groups", "3", "--trainer.group_size", "4",
    "--env.num_envs", "6", "--policy.threads", "1",
)  # fmt: skip


@pytest.mark.nightly
def test_the_main_job_learns_the_same_adapter_behind_all_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Two steps of it in Chromium, with two servers, and two actors."""
    monkeypatch.chdir(tmp_path)
    request.addfinalizer(ray.shutdown)
    with EnvServer(port=0) as one, EnvServer(port=0) as other:
        kinds = {
            "here": "threads", "apart": "processes:2", "far": f"{one.address},{other.address}",
            "cluster": "ray?slots=3",
        }  # fmt: skip
        for name, workers in kinds.items():
            assert train(*MAIN_JOB, "--run.directory", name, "--env.workers", workers) == 0
        assert one.free == other.free == one.limits.slots
    learned = [Path(name, "checkpoints", "step_000002") for name in kinds]
    assert len({(path / "adapter_model.safetensors").read_bytes() for path in learned}) == 1
    assert all(metrics(name) == metrics("here") for name in kinds)
    assert metrics("here")[1]["episodes"] > 0
