"""Settings: the service's numbers, what cannot be, and the CUA recipe's files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ui_gym_agents.training import plugin
from ui_gym_agents.training.config import ConfigError, ConfigLoader
from ui_gym_agents.training.settings import RunConfig
from ui_gym_tinker import TinkerConfig, TinkerTrainer


@pytest.mark.parametrize(
    ("settings", "thresholds"),
    [
        ({}, {"clip_low_threshold": 0.8, "clip_high_threshold": 1.28}),
        ({"clip_low": 0.1, "clip_high": 0.5},
         {"clip_low_threshold": 0.9, "clip_high_threshold": 1.5}),
        ({"loss": "cispo"}, {"clip_low_threshold": 0.0, "clip_high_threshold": 5.0}),
        ({"loss": "importance_sampling"}, {}),
    ],
)  # fmt: skip
def test_clips_are_sent_as_thresholds(settings: Any, thresholds: dict[str, float]) -> None:
    assert TinkerConfig(**settings).thresholds == pytest.approx(thresholds)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"loss": "importance_sampling", "clip_low": 0.1}, "has no clips"),
        ({"replay": {"enabled": True}}, "use --plugin grpo"),
        ({"loss": "importance_sampling", "max_steps_off_policy": 1}, "has no clip"),
        ({"group_size": 1}, "compared with itself"),
        ({"advantage": "rolo"}, "no advantage 'rolo'"),
        ({"loss": "ppo_clip"}, "Input should be"),
        ({"loss": "dro"}, "Input should be"),
    ],
)
def test_what_cannot_be_is_refused(settings: Any, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        TinkerConfig(**settings)


def test_the_class_is_looked_at_without_torch_and_sdk() -> None:
    code = (
        "import sys; import ui_gym_tinker; "
        "sys.exit(bool({'torch', 'tinker', 'transformers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def load(path: Path) -> ConfigLoader[Any]:
    loader: ConfigLoader[Any] = ConfigLoader(
        RunConfig.with_trainer(TinkerConfig), foreign=plugin.foreign_keys(TinkerTrainer)
    )
    loader.add_file(path)
    return loader


THEIRS = """
model_name: Qwen/Qwen3-VL-30B-A3B-Instruct
lora_rank: 8
provider: tinker
tasks:
  - source_type: demo_training
  - {source_type: ids, task_ids: [train_03_airplane_mode]}
seed: 7
max_turns: 15
group_size: 4
groups_per_batch: 2
learning_rate: 1e-5
max_tokens: 2048
kl_penalty_coef: 0.1
num_substeps: 3
log_path: somewhere
wandb_project: phones
save_every: 5
max_steps_off_policy: null
max_concurrent_rollouts: 6
max_task_time_seconds: 1800
max_turn_time_seconds: 300
skip_baseline: true
renderer_name: qwen3_vl_instruct
gbox_api_key: ""
"""


def test_a_file_of_the_recipe_is_understood(tmp_path: Path) -> None:
    path = tmp_path / "their.yaml"
    path.write_text(THEIRS)
    loader = load(path)
    loaded = loader.load()
    config = loaded.config
    assert (config.trainer.base_model, config.policy.model) == (
        "Qwen/Qwen3-VL-30B-A3B-Instruct",
    ) * 2
    assert (config.trainer.groups, config.trainer.group_size) == (2, 4)
    assert (config.trainer.epochs, config.trainer.minibatches) == (1, 3)
    rates = [config.trainer.rate(updates, step, 50) for updates, step in ((0, 1), (99, 50))]
    assert rates == pytest.approx([1e-5, 1e-5])
    assert (config.trainer.kl, config.trainer.max_steps_off_policy) == (0.1, 0)
    assert (config.policy.lora_rank, config.policy.max_new_tokens) == (8, 2048)
    assert (config.env.num_envs, config.env.max_steps, config.env.dialect) == (6, 15, "qwen")
    assert (config.env.episode_timeout, config.policy.engine_timeout) == (1800, 300)
    assert (config.run.seed, config.run.directory, config.run.save_every) == (
        7,
        Path("somewhere"),
        5,
    )
    assert (config.run.loggers, config.run.project) == (("wandb",), "phones")
    assert not config.evaluation.before
    assert len(config.tasks.more) == 2
    assert {entry.spec.suite for entry in config.tasks.entries()} == {"android"}
    assert loaded.sources["trainer.lr"] == f"{path}:12"
    (remark,) = loader.remarks
    assert "renderer_name has no effect: the model's own chat template" in remark


def test_a_single_source_and_our_own_sections_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "mixed.yaml"
    path.write_text("tasks: {source_type: demo_eval}\nrun: {steps: 3}\nbaseline_only: false\n")
    assert load(path).load().config.run.steps == 3
    path.write_text("tasks: {ids: [ClickButton]}\ngroup_size: 4\n")
    assert [spec.name for spec in load(path).load().config.tasks.chosen()] == ["ClickButton"]


def test_what_the_recipe_cannot_have_here_is_said_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "their.yaml"
    path.write_text("provider: openrouter\ntinker_api_key: tml-secret\ngroup_sise: 4\n")
    with pytest.raises(ConfigError) as caught:
        load(path).load()
    provider, key, typo = sorted(caught.value.problems)
    assert f"{path}:1: provider: 'openrouter' cannot be done here" in provider
    assert f"{path}:2: tinker_api_key: leave it out, and set TINKER_API_KEY" in key
    assert "secret" not in key
    assert "group_sise: unknown key; did you mean trainer.group_size" in typo


def test_other_plugins_do_not_read_the_recipes_keys(tmp_path: Path) -> None:
    from ui_gym_grpo import GRPOConfig, GRPOTrainer

    path = tmp_path / "their.yaml"
    path.write_text("groups_per_batch: 2\n")
    loader: ConfigLoader[Any] = ConfigLoader(
        RunConfig.with_trainer(GRPOConfig), foreign=plugin.foreign_keys(GRPOTrainer)
    )
    loader.add_file(path)
    with pytest.raises(ConfigError, match="groups_per_batch: unknown key"):
        loader.load()
