"""ui-gym for SkyRL: the env class ``ui_gym`` of skyrl-gym, and rows for its data set.

Import this module where SkyRL makes its envs, such as in the Ray task that runs your entry point:
that registers the env. The generator for models that see is SkyRL's own (`SkyRLVLMGymGenerator`,
by ``generator.vision_language_generator=true``); it plays all trajectories of a batch at once, each
of which holds a device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents.chat import Message
from ui_gym_agents.integrations.episodes import (
    EpisodeRow,
    episode_rows,
    needs,
    new_episode,
    write_rows,
)

try:
    needs("skyrl-gym", "0.4", "0.5", "skyrl")
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
    from skyrl_gym.envs.registration import register, registry
except ImportError as error:
    raise UserError(f"skyrl-gym is not whole: {error}; install it anew") from error

ENV_CLASS = "ui_gym"


class UIGymTextEnv(BaseTextEnv):
    """An episode as a conversation whose user shows the screen, in the chat API's content parts.

    Args:
        env_config: What `extras` does not say.
        extras: The row's columns: task, seed, arguments. ``max_turns``, which the generator adds,
            ends the episode.

    Raises:
        UserError: a column is missing; there is no such task; an argument cannot be.
    """

    def __init__(
        self,
        env_config: Mapping[str, Any] | None = None,
        extras: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        given = {**(env_config or {}), **(extras or {})}
        self.row = EpisodeRow.read(given)
        self.max_turns = int(given.get("max_turns") or 0) or None
        self._chat = new_episode(self.row.task, self.row.arguments)
        self._metrics: dict[str, float] = {}

    def init(self, prompt: Sequence[Message]) -> tuple[list[Message], dict[str, Any]]:
        """Begin the episode. `prompt` is a row's, which SkyRL wants there to be; the env asks in
        its own words.

        Raises:
            DeviceError, TaskError: it could not begin.
        """
        self.turns = 0
        self._metrics = {"success": 0.0, "action_errors": 0.0, "failures": 0.0}
        return self._chat.reset(seed=self.row.seed), dict(self.row.columns)

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Do what the model wrote. An episode whose device fails ends with the reward 0, and
        the metric `failures` counts it."""
        step = self._chat.act(action)
        self.turns += 1
        failure = step.info["failure"]
        self._metrics["success"] = float(step.info["success"])
        self._metrics["action_errors"] += step.info["action_error"] is not None
        self._metrics["failures"] += failure is not None
        done = step.done or self.turns == self.max_turns
        return BaseTextEnvStepOutput(
            observations=[] if done else step.news,
            reward=float(step.reward),
            done=done,
            metadata={"score": step.info["score"], "failure": failure},
            postprocessed_action=None,
        )

    def get_metrics(self) -> dict[str, Any]:
        return {**self._metrics, "turns": float(self.turns)}

    def close(self) -> None:
        """Give the device back. May be repeated."""
        self._chat.close()


def register_env() -> None:
    """Make ``env_class="ui_gym"`` known to skyrl-gym. May be repeated."""
    if ENV_CLASS not in registry:
        register(id=ENV_CLASS, entry_point=f"{__name__}:{UIGymTextEnv.__name__}")


def dataset_rows(
    ids: Sequence[str], n: int, *, seed: int = 0, **arguments: Any
) -> list[dict[str, Any]]:
    """Rows of SkyRL's data set, as `episode_rows` says them."""
    prompt = [{"role": "user", "content": "The env says what to do."}]
    return [
        {"prompt": prompt, "env_class": ENV_CLASS, **row.columns}
        for row in episode_rows(ids, n, seed=seed, **arguments)
    ]


def write_dataset(path: Path, ids: Sequence[str], n: int, **arguments: Any) -> None:
    """Write `dataset_rows` as a Parquet file, for ``data.train_data``."""
    write_rows(path, dataset_rows(ids, n, **arguments))


register_env()
