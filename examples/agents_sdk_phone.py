"""The Agents SDK's own `Runner`, as it is, trained by ours (docs/integrations.md):

    ui-gym-train --plugin grpo --policy.model tiny-thumb --tasks.ids AndroidQuickSettings \
        --tasks.arguments '{"compact": true}' --run.steps 40 \
        --policy.agent 'command:python examples/agents_sdk_phone.py'

It needs `pip install 'ui-gym[computers]'`, in this interpreter or in another one, which needs no
torch.
"""

from __future__ import annotations

import asyncio

from agents import Agent, ComputerTool, OpenAIResponsesModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI

from ui_gym_agents.integrations.computer import AsyncUIComputer
from ui_gym_agents.serving.client import RolloutEnv, play_all

MODEL = "gpt-5.4"
"""The SDK offers its models of that generation the tool ``computer``; who answers is the policy."""

TURNS = 12


async def run(rollout: RolloutEnv) -> None:
    """Play an episode."""
    async with AsyncOpenAI(base_url=rollout.base_url, api_key=rollout.key) as client:
        model = OpenAIResponsesModel(model=MODEL, openai_client=client)
        tool = ComputerTool(computer=AsyncUIComputer(rollout))
        agent = Agent(name="thumb", model=model, tools=[tool])
        await Runner.run(agent, rollout.goal, max_turns=TURNS)


def play(rollout: RolloutEnv) -> None:
    """Play an episode, to its end: the SDK asks on after it, and the policy answers no more."""
    try:
        asyncio.run(run(rollout))
    except Exception:
        if not rollout.done:
            raise


if __name__ == "__main__":
    set_tracing_disabled(True)
    play_all(play, threads=24)
