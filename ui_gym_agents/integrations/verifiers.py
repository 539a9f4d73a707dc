"""ui-gym for verifiers 0.4: a taskset of seeds, and the env that plays them with any model.

verifiers finds a taskset by the name of a top-level module; `deploy/environments-hub` is such a
package, for ``vf-eval ui-gym-env``. The classes are verifiers' own kinds: see its `v1/taskset.py`,
`v1/env.py` and `v1/harness.py`. All pictures stay in the conversation, so that an episode is one
sequence to learn from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field

from ui_gym.errors import UserError
from ui_gym_agents.integrations.episodes import AsyncEpisode, episode_rows, needs

try:
    needs("verifiers", "0.4", "0.5", "verifiers")
    import httpx
    import verifiers.v1 as vf
    from verifiers.v1.dialects.chat import message_to_wire
except ImportError as error:
    raise UserError(f"verifiers is not whole: {error}; install it anew") from error

__all__ = ["UIGymEnv", "UIGymHarness", "UIGymTaskset"]


class UIGymData(vf.TaskData):
    """What a row plays: rollouts of the same row begin with the same screen."""

    task: str
    seed: int
    arguments: dict[str, Any]


class UIGymTask(vf.Task[UIGymData]):
    """A task's episode of one seed; the env judges it."""


class UIGymTasksetConfig(vf.TasksetConfig):
    """Which episodes there are, under ``--env.taskset.*``."""

    ids: list[str] = ["UI/DataEntry-v0"]
    """Tasks by id or name, which take turns."""
    split: Literal["train", "heldout"] | None = "train"
    n: int = Field(100, ge=1)
    """Rows."""
    seed: int = Field(0, ge=0)
    """Of the first row; each of the others has the next one."""
    dialect: str = "canonical"
    """How actions are written."""
    observation: Literal["screenshot", "elements", "both"] = "screenshot"
    max_turns: int | None = Field(None, ge=1)
    """Steps of an episode; by default as many as its task allows."""
    device: str = "auto"
    arguments: dict[str, Any] = Field(default_factory=dict)
    """What else the tasks take, such as compact or level."""


class UIGymTaskset(vf.Taskset[UIGymTask, UIGymTasksetConfig]):
    """Episodes of ui-gym's tasks."""

    def load(self) -> Iterator[UIGymTask]:
        config = self.config
        arguments = {
            "split": config.split, "dialect": config.dialect, "observation": config.observation,
            "max_steps": config.max_turns, "device": config.device, **config.arguments,
        }  # fmt: skip
        for row in episode_rows(config.ids, config.n, seed=config.seed, **arguments):
            name = f"{row.task}#{row.seed}"
            yield UIGymTask(
                UIGymData(id=name, name=name, task=row.task, seed=row.seed, arguments=arguments),
                config.task,
            )


class UIGymHarnessConfig(vf.HarnessConfig):
    """The harness has no settings of its own."""


class UIGymHarness(vf.Harness[UIGymHarnessConfig]):
    """Asks the model once a turn, from this process.

    verifiers' own chat harness starts a program for each turn; what is asked is the same.
    """

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: Mapping[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        _, prompt = self.resolve_prompt(data)
        asked = [
            message_to_wire(message) for message in prompt or [] if not isinstance(message, str)
        ]
        async with httpx.AsyncClient(timeout=None) as client:
            answer = await client.post(
                f"{endpoint}/chat/completions",
                json={"model": ctx.model, "messages": asked},
                headers={"Authorization": f"Bearer {secret}"},
            )
        return vf.ProgramResult(0 if answer.is_success else 1, "", answer.text)


class UIGymEnvConfig(vf.EnvConfig):
    """Who plays, and how many at once, under ``--env.*``."""

    player: vf.AgentConfig = vf.AgentConfig(runtime={"type": "subprocess"})
    slots: int = Field(8, ge=1)
    """Episodes that hold a device at the same time; the others wait."""


class UIGymEnv(vf.Env[UIGymEnvConfig]):
    """An episode of a task with one player. Its reward is `success`: what the env gave.

    An episode whose device failed is an error, not a reward of 0: ``--env.retries`` plays it again.
    """

    def __init__(self, config: UIGymEnvConfig) -> None:
        super().__init__(config)
        self._slots = asyncio.Semaphore(config.slots)

    async def run(self, task: vf.Task[UIGymData], agents: vf.Agents) -> None:
        data, reward, errors, steps = task.data, 0.0, 0, 0
        async with self._slots, AsyncEpisode(data.task, data.arguments) as episode:
            asked = await episode.reset(data.seed)
            async with agents.player.interaction(task) as interaction:
                segment = await interaction.turn(asked)
                while not segment.terminated:
                    step = await episode.act(segment.last_reply)
                    reward += step.reward
                    steps += 1
                    errors += step.info["action_error"] is not None
                    if step.done:
                        break
                    segment = await interaction.turn(step.news)
                interaction.trace.record_reward("success", reward)
                interaction.trace.record_metric("steps", float(steps))
                interaction.trace.record_metric("action_errors", float(errors))
