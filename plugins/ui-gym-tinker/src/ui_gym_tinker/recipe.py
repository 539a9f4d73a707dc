"""The CUA recipe's configuration (tinker-cookbook's ``recipes/cua_rl``), as ours.

Its keys are flat, and ours have sections; the one that both have, ``tasks``, is the recipe's where
it is a list or has a ``source_type``. What cannot be done here is refused, and what has no meaning
here is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ui_gym_agents.training.config import ForeignKeys, Read

NAMES = {
    "base_url": "trainer.base_url",
    "eval_every": "run.eval_every",
    "group_size": "trainer.group_size",
    "groups_per_batch": "trainer.groups",
    "kl_penalty_coef": "trainer.kl",
    "learning_rate": "trainer.lr",
    "load_checkpoint_path": "trainer.load_checkpoint",
    "log_path": "run.directory",
    "lora_rank": "policy.lora_rank",
    "max_concurrent_rollouts": "env.num_envs",
    "max_task_time_seconds": "env.episode_timeout",
    "max_tokens": "policy.max_new_tokens",
    "max_turn_time_seconds": "policy.engine_timeout",
    "max_turns": "env.max_steps",
    "model_name": "trainer.base_model",
    "num_substeps": "trainer.minibatches",
    "save_every": "run.save_every",
    "seed": "run.seed",
    "temperature": "policy.temperature",
    "wandb_project": "run.project",
}
"""What is called otherwise, and means the same."""

BESIDES: Mapping[str, Mapping[str, Any]] = {
    "learning_rate": {"trainer.final_lr": 1.0, "trainer.warmup": 0},
    "num_substeps": {"trainer.epochs": 1},
    "wandb_project": {"run.loggers": ("wandb",)},
}
"""What a key of the recipe says without saying it: its rate is constant, its passes are one."""

ONLY = {
    "box_type": ("android", "tasks say what they are played on"),
    "env_mode": ("cua_gbox", "name that env's tasks in tasks.custom"),
    "provider": ("tinker", "another server is named in --policy.engine of --plugin grpo"),
}
"""Keys that may have one value alone, and what to do instead."""

SECRETS = {
    "gbox_api_key": "GBOX_API_KEY",
    "provider_api_key": "TINKER_API_KEY",
    "tinker_api_key": "TINKER_API_KEY",
}
"""Keys are read from the environment alone, so that no run keeps them."""

WITHOUT_EFFECT = {
    "behavior_if_log_dir_exists": "a run goes on by --resume",
    "compute_post_kl": "the metric kl is that of what was sampled",
    "coordinate_mode": "the model writes coordinates itself",
    "coordinate_scale": "the dialect says what coordinates mean (env.dialect)",
    "eval_tasks": "evaluations play held-out instances of the same tasks",
    "log_dir": "runs lie in runs/, or where run.directory says",
    "num_groups_to_log": "all groups are recorded",
    "provider_base_url": "the address of the server is trainer.base_url",
    "renderer_name": "the model's own chat template is used",
    "use_default_eval_tasks": "evaluations play held-out instances of the same tasks",
    "wandb_name": "runs are called as their folder",
}
"""What is told, where it says something."""

OTHERS = ("baseline_only", "max_steps_off_policy", "model_name_for_tokenizer", "skip_baseline")

KEYS = {*NAMES, *ONLY, *SECRETS, *WITHOUT_EFFECT, *OTHERS, "tasks"}


def read(values: Mapping[str, Any]) -> Iterator[Read]:
    """The recipe's keys as ours."""
    for key, value in values.items():
        if value is None:
            continue
        if key in NAMES:
            yield Read(key, NAMES[key], value)
            for name, meant in BESIDES.get(key, {}).items():
                yield Read(key, name, meant)
        elif key in ONLY and value != ONLY[key][0]:
            yield Read(key, problem=f"{value!r} cannot be done here: {ONLY[key][1]}")
        elif key in SECRETS and value:
            yield Read(key, problem=f"leave it out, and set {SECRETS[key]} in the environment")
        elif key in WITHOUT_EFFECT and value:
            yield Read(key, remark=f"has no effect: {WITHOUT_EFFECT[key]}")
    yield from _others(values)


def _others(values: Mapping[str, Any]) -> Iterator[Read]:
    sources = values.get("tasks")
    if sources is not None:
        yield Read("tasks", "tasks.more", sources if isinstance(sources, list) else [sources])
    words = values.get("model_name_for_tokenizer") or values.get("model_name")
    if words is not None:
        key = "model_name_for_tokenizer" if words != values.get("model_name") else "model_name"
        yield Read(key, "policy.model", words)
        if str(words).startswith("Qwen/"):
            yield Read(key, "env.dialect", "qwen")
    if "max_steps_off_policy" in values:
        behind = values["max_steps_off_policy"] or 0
        yield Read("max_steps_off_policy", "trainer.max_steps_off_policy", behind)
    if values.get("skip_baseline"):
        yield Read("skip_baseline", "evaluation.before", False)
    if values.get("baseline_only"):
        yield Read("baseline_only", "run.steps", 0)


def is_recipes(key: str, value: Any) -> bool:
    """Whether a key at the top of a file is the recipe's, and none of our sections."""
    if key == "tasks":
        return isinstance(value, list) or (isinstance(value, Mapping) and "source_type" in value)
    return key in KEYS


RECIPE = ForeignKeys(is_recipes, read)
