"""AsyncUIComputer in cua-agent: its own ComputerAgent, with a loop that asks for what is told."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

os.environ["CUA_TELEMETRY_ENABLED"] = "false"

pytest.importorskip("cua_agent", reason="tox -e cua")

from cua_agent import ComputerAgent
from cua_agent.computers import is_agent_computer
from cua_agent.decorators import register_agent

from ui_gym.dialects.jsonish import read_objects
from ui_gym_agents.integrations.computer import AsyncUIComputer

TOLD: dict[str, Iterator[list[dict[str, Any]]]] = {}
"""The items of each turn, by the model's name."""


@register_agent(models=r"told-.*", priority=99)
class ToldLoop:
    """Gives the items of the next turn; a text ends it."""

    async def predict_step(
        self, messages: list[dict[str, Any]], model: str, **rest: Any
    ) -> dict[str, Any]:
        text = {"type": "output_text", "text": "It is done."}
        last = {"type": "message", "role": "assistant", "content": [text]}
        return {"output": next(TOLD[model], [last]), "usage": {}}

    async def predict_click(self, *rest: Any, **named: Any) -> None:
        return None

    def get_capabilities(self) -> list[str]:
        return ["step"]


def calls(actions: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for number, action in enumerate(actions):
        call = {"type": "computer_call", "call_id": f"call_{number}", "status": "completed"}
        yield [{**call, "action": action, "pending_safety_checks": []}]


def oracle(computer: AsyncUIComputer) -> Iterator[dict[str, Any]]:
    while not computer.done:
        (said,) = read_objects(computer.computer.chat.info["oracle"]["action_text"], "")
        if said["type"] == "function_call":
            return
        yield said


async def play(computer: AsyncUIComputer, name: str, goal: str) -> list[dict[str, Any]]:
    agent = ComputerAgent(
        model=name, tools=[computer], telemetry_enabled=False, screenshot_delay=0, verbosity=50
    )
    said: list[dict[str, Any]] = []
    turns: AsyncIterator[Any] = agent.run(goal)
    async for turn in turns:
        said += turn["output"]
    return said


@pytest.mark.parametrize(
    ("task", "arguments"),
    [("PaintText", {}), ("UI/ClickButton-v0", {"compact": True}),
     ("UI/DataEntry-v0", {"compact": True})],
)  # fmt: skip
def test_an_oracle_wins_in_the_agent(task: str, arguments: dict[str, Any]) -> None:
    async def run() -> tuple[float, list[Any]]:
        computer = AsyncUIComputer(task, **arguments)
        goal = await computer.reset(seed=1, options={"oracle": True})
        assert is_agent_computer(computer)
        TOLD["told-oracle"] = calls(oracle(computer))
        said = await play(computer, "told-oracle", goal)
        score = await computer.finish()
        await computer.close()
        return score, said

    score, said = asyncio.run(run())
    assert score == 1.0
    assert any(item["type"] == "computer_call_output" for item in said)


def test_the_actions_of_anthropics_loop_are_done() -> None:
    async def run() -> str:
        computer = AsyncUIComputer("PaintText")
        goal = await computer.reset(seed=1)
        steps = [
            {"type": "left_mouse_down", "x": 8, "y": 8}, {"type": "left_mouse_up", "x": 8, "y": 8},
            {"type": "wait"}, {"type": "screenshot"},
        ]  # fmt: skip
        TOLD["told-steps"] = calls(iter(steps))
        await play(computer, "told-steps", goal)
        assert await computer.get_dimensions() == (96, 64)
        assert await computer.get_environment() == "linux"
        device: Any = computer.computer.chat.env.device
        done = "; ".join(str(action) for action in device.performed)
        await computer.close()
        return done

    assert asyncio.run(run()) == "click(8, 8); wait(seconds=2.0)"
