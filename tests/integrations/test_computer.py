"""UIComputer in OpenAI's Agents SDK: its own Runner, with a model that asks for what is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import pytest

pytest.importorskip("agents.computer", reason="tox -e computers")

from agents import (
    Agent,
    AsyncComputer,
    Computer,
    ComputerProvider,
    ComputerTool,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    Usage,
)
from openai.types.responses import (
    ResponseComputerToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from ui_gym.dialects.jsonish import read_objects
from ui_gym.errors import DeviceError
from ui_gym.playing.env import UIEnv
from ui_gym_agents.integrations.computer import OVER, AsyncUIComputer, UIComputer

Asked = Sequence[dict[str, Any]]


class ToldModel(Model):
    """Calls the computer with each batch of actions, and then ends with a text."""

    def __init__(self, batches: Iterator[Asked], says: str = "", *, preview: bool = False) -> None:
        self.batches = batches
        self.says = says
        self.preview = preview
        self.seen: list[Any] = []

    async def get_response(
        self, system_instructions: Any, input: Any, *rest: Any, **named: Any
    ) -> Any:
        self.seen = input
        turn = sum(item["type"] == "computer_call" for item in input if "type" in item)
        actions = next(self.batches, None)
        item: Any = self._call(actions, turn) if actions is not None else self._message()
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *rest: Any, **named: Any) -> AsyncIterator[Any]:
        raise NotImplementedError

    def _call(self, actions: Asked, turn: int) -> ResponseComputerToolCall:
        told = {"action": actions[0]} if self.preview else {"actions": actions}
        return ResponseComputerToolCall.model_validate(
            {
                "id": f"cu_{turn}", "call_id": f"call_{turn}", "type": "computer_call",
                "status": "completed", "pending_safety_checks": [], **told,
            }
        )  # fmt: skip

    def _message(self) -> ResponseOutputMessage:
        text = ResponseOutputText(type="output_text", text=self.says, annotations=[])
        return ResponseOutputMessage(
            id="msg", type="message", role="assistant", status="completed", content=[text]
        )


def oracle(computer: UIComputer) -> Iterator[Asked]:
    """What the oracle asks for now, until it says that it is done or answers."""
    while not computer.done:
        said = read_objects(computer.chat.info["oracle"]["action_text"], "")
        if said[-1]["type"] == "function_call":
            return
        yield said


def run(computer: Any, goal: str, model: Model) -> Any:
    agent = Agent(name="clerk", model=model, tools=[ComputerTool(computer)])
    config = RunConfig(tracing_disabled=True)
    return Runner.run(agent, goal, max_turns=60, run_config=config)


@pytest.mark.parametrize("preview", [False, True])
@pytest.mark.parametrize(
    ("task", "arguments"),
    [("PaintText", {}), ("UI/ClickButton-v0", {"compact": True}),
     ("UI/DataEntry-v0", {"compact": True})],
)  # fmt: skip
def test_an_oracle_wins_in_the_runner(task: str, arguments: dict[str, Any], preview: bool) -> None:
    computer = UIComputer(task, **arguments)
    goal = computer.reset(seed=1, options={"oracle": True})
    model = ToldModel(oracle(computer), preview=preview)
    result = asyncio.run(run(computer, goal, model))
    assert computer.finish(result.final_output) == 1.0
    assert computer.done
    pictures = [one["output"]["image_url"] for one in model.seen if "output" in one]
    assert pictures
    assert all(url.startswith("data:image/png;base64,") for url in pictures)
    computer.close()


def test_an_oracle_wins_with_an_async_computer() -> None:
    async def play() -> float:
        computer = AsyncUIComputer("UI/ClickButton-v0", compact=True)
        goal = await computer.reset(seed=1, options={"oracle": True})
        await run(computer, goal, ToldModel(oracle(computer.computer)))
        score = await computer.finish()
        await computer.close()
        return score

    assert asyncio.run(play()) == 1.0


def test_the_sdk_knows_both_as_its_own() -> None:
    computer, later = UIComputer("PaintText"), AsyncUIComputer("PaintText")
    assert isinstance(computer, Computer)
    assert isinstance(later, AsyncComputer)
    computer.close()
    asyncio.run(later.close())


def test_a_batch_is_one_step_keys_and_all(make: Callable[..., UIEnv]) -> None:
    computer = UIComputer(make(dialect="openai"))
    goal = computer.reset(seed=1)
    batch = [
        {"type": "click", "x": 8, "y": 8, "button": "left", "keys": ["CTRL"]},
        {"type": "move", "x": 9, "y": 9, "keys": ["SHIFT"]},
        {"type": "type", "text": "abc"},
    ]
    refused = [{"type": "drag", "path": [{"x": 1, "y": 1}, {"x": 5, "y": 5}], "keys": ["CTRL"]}]
    asyncio.run(run(computer, goal, ToldModel(iter([batch, refused, [{"type": "screenshot"}]]))))
    device: Any = computer.chat.env.device
    assert [str(action) for action in device.performed] == [
        'click(8, 8, keys="ctrl")', "move(9, 9)", 'type("abc")'
    ]  # fmt: skip
    assert computer.chat.info["step"] == 2
    assert "keys cannot be held in a drag" in computer.feedback


def test_a_text_is_the_answer_and_the_last_picture_says_that_it_is_over(
    make: Callable[..., UIEnv],
) -> None:
    computer = UIComputer(make("PaintClick", dialect="openai"))
    goal = computer.reset(seed=1, options={"oracle": True})
    first = next(oracle(computer))
    model = ToldModel(iter([first, [{"type": "type", "text": "more"}]]), "Done.")
    result = asyncio.run(run(computer, goal, model))
    assert computer.feedback == OVER
    assert computer.finish(result.final_output) == 1.0
    assert computer.chat.info["step"] == 1
    pictures = [one["output"]["image_url"] for one in model.seen if "output" in one]
    assert pictures[0] == pictures[1]


def test_a_run_ends_where_the_device_fails(make: Callable[..., UIEnv], faults: Any) -> None:
    computer = UIComputer(make(dialect="openai"))
    goal = computer.reset(seed=1)
    faults.lose_on = "x"
    batch = [{"type": "click", "x": 8, "y": 8, "button": "left"}, {"type": "type", "text": "x"}]
    with pytest.raises(DeviceError, match="Play the episode again"):
        asyncio.run(run(computer, goal, ToldModel(iter([batch]))))


def test_a_provider_makes_a_computer_for_each_run() -> None:
    made: list[UIComputer] = []

    def create(*, run_context: Any) -> UIComputer:
        made.append(UIComputer("PaintText"))
        made[-1].reset(seed=len(made))
        return made[-1]

    def dispose(*, run_context: Any, computer: UIComputer) -> None:
        computer.close()

    provider = ComputerProvider(create=create, dispose=dispose)
    batch = [{"type": "click", "x": 8, "y": 8, "button": "left"}]
    for _ in range(2):
        asyncio.run(run(provider, "Click.", ToldModel(iter([batch]))))
    assert len(made) == 2
