"""UIToolset in Anthropic's SDK: its own tool runner, with a server on loopback as the model."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("anthropic.tools.computer", reason="tox -e computers")

from anthropic import Anthropic, AsyncAnthropic
from anthropic.tools import ToolsetUsageError
from anthropic.types.beta import BetaToolUseBlock

from ui_gym.dialects.jsonish import read_objects
from ui_gym.errors import DeviceError
from ui_gym.playing.env import UIEnv
from ui_gym_agents.integrations.anthropic_computer import AsyncUIToolset, ToolsetTask, UIToolset
from ui_gym_agents.integrations.computer import OVER

Block = dict[str, Any]
TASKS = [
    ("PaintText", {}), ("UI/ClickButton-v0", {"compact": True}),
    ("UI/DataEntry-v0", {"compact": True}),
]  # fmt: skip


class MessagesServer:
    """Speaks the Messages API: each request is answered with the next blocks."""

    def __init__(self) -> None:
        self.turns: Iterator[list[Block]] = iter(())
        self.asked: list[dict[str, Any]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.asked.append({"path": self.path, **body})
                blocks = next(server.turns, [{"type": "text", "text": "Done."}])
                calls = any(block["type"] == "tool_use" for block in blocks)
                answer = {
                    "id": f"msg_{len(server.asked)}", "type": "message", "role": "assistant",
                    "model": "m", "content": blocks,
                    "stop_reason": "tool_use" if calls else "end_turn",
                    "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
                }  # fmt: skip
                data = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                return None

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    @property
    def results(self) -> list[Block]:
        """The tool results of all requests, in order: the SDK sends what is new of a thread."""
        said = [message["content"] for asked in self.asked for message in asked["messages"]]
        blocks = [block for content in said if isinstance(content, list) for block in content]
        return [block for block in blocks if block["type"] == "tool_result"]


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    server = MessagesServer()
    yield server
    server.http.shutdown()
    server.http.server_close()


@pytest.fixture
def toolset(make: Callable[..., UIEnv]) -> UIToolset:
    toolset = UIToolset(make(dialect="anthropic_toolset"))
    toolset.reset(seed=1)
    return toolset


def use(name: str, **arguments: Any) -> Block:
    told = {"name": name, "toolset_name": "computer", "input": arguments}
    return {"type": "tool_use", "id": f"toolu_{name}_{abs(hash(str(arguments)))}", **told}


def oracle(played: ToolsetTask) -> Iterator[list[Block]]:
    """A look, and then what the oracle does now with a look after it, until it is done."""
    yield [use("screenshot")]
    count = 0
    while not played.done:
        said = read_objects(played.chat.info["oracle"]["action_text"], "")
        if said[-1]["name"] in ("answer", "finish"):
            return
        count += 1
        blocks = [{**one, "id": f"toolu_{count}_{i}"} for i, one in enumerate(said)]
        yield [*blocks, {**use("screenshot"), "id": f"toolu_{count}_look"}]


def ask(server: MessagesServer, toolset: UIToolset, *turns: list[Block]) -> list[Block]:
    """Run the turns, and a text after them: the results that the model was told."""
    if turns:
        server.turns = iter(turns)
    server.asked.clear()
    client = Anthropic(base_url=server.url, api_key="none", max_retries=0)
    goal = {"role": "user", "content": toolset.goal}
    runner = client.beta.messages.tool_runner(
        model="m", max_tokens=99, tools=[toolset], messages=[goal]
    )
    assert runner.until_done().content[0].text == "Done."
    return server.results


def texts(result: Block) -> str:
    return " ".join(part["text"] for part in result["content"] if part["type"] == "text")


def picture(result: Block) -> np.ndarray[Any, Any]:
    (part,) = result["content"]
    assert part["source"]["media_type"] == "image/png"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(part["source"]["data"]))))


@pytest.mark.parametrize(("task", "arguments"), TASKS)
def test_an_oracle_wins_in_the_tool_runner(
    server: MessagesServer, task: str, arguments: dict[str, Any]
) -> None:
    toolset = UIToolset(task, **arguments)
    toolset.reset(seed=1, options={"oracle": True})
    server.turns = oracle(toolset)
    results = ask(server, toolset)
    assert not any(result.get("is_error") and texts(result) != OVER for result in results)
    assert toolset.finish() == 1.0
    (tool,) = server.asked[0]["tools"]
    assert tool["type"] == "computer_toolset_20260801"
    assert all(config.get("enabled", True) for config in tool.get("configs", {}).values())
    toolset.close()


def test_an_oracle_wins_in_the_async_runner(server: MessagesServer) -> None:
    async def play() -> float:
        async with AsyncUIToolset("UI/ClickButton-v0", compact=True) as toolset:
            goal = await asyncio.to_thread(toolset.reset, 1, {"oracle": True})
            server.turns = oracle(toolset)
            client = AsyncAnthropic(base_url=server.url, api_key="none", max_retries=0)
            runner = client.beta.messages.tool_runner(
                model="m", max_tokens=99, tools=[toolset],
                messages=[{"role": "user", "content": goal}],
            )  # fmt: skip
            await runner.until_done()
            return await asyncio.to_thread(toolset.finish)

    assert asyncio.run(play()) == 1.0


def test_each_member_that_acts_is_a_step(server: MessagesServer, toolset: UIToolset) -> None:
    results = ask(
        server, toolset,
        [use("left_click", coordinate=[8, 8], text="ctrl"), use("type", text="abc"),
         use("wait", duration=1), use("hold_key", text="shift", duration=1)],
    )  # fmt: skip
    device: Any = toolset.chat.env.device
    assert [str(action) for action in device.performed] == [
        'click(8, 8, keys="ctrl")', 'type("abc")', "wait()"
    ]  # fmt: skip
    assert toolset.chat.info["step"] == 4
    assert [texts(result) for result in results[:3]] == ["Clicked.", "Typed.", "Waited 1s."]
    assert results[3]["is_error"]
    assert "press: paint cannot do that" in texts(results[3])


def test_to_look_costs_no_step(server: MessagesServer, toolset: UIToolset) -> None:
    nowhere = ask(server, toolset, [use("cursor_position")])
    assert nowhere[0]["is_error"]
    results = ask(
        server, toolset,
        [use("screenshot"), use("zoom", region=[0, 0, 48, 16]), use("zoom", region=[9, 9, 9, 9])],
        [use("mouse_move", coordinate=[5, 6]), use("cursor_position")],
    )  # fmt: skip
    np.testing.assert_array_equal(picture(results[0]), toolset.chat.view.screenshot)
    assert picture(results[1]).shape == (32, 96, 3)
    assert "within the screen of 96x64" in texts(results[2])
    assert texts(results[4]) == "X=5,Y=6"
    assert toolset.chat.info["step"] == 1


def test_a_button_that_goes_down_and_up_is_one_action(
    server: MessagesServer, toolset: UIToolset
) -> None:
    results = ask(
        server, toolset,
        [use("mouse_move", coordinate=[8, 8]), use("left_mouse_down"), use("screenshot"),
         use("key", text="a")],
        [use("wait", duration=1), use("left_mouse_up")],
    )  # fmt: skip
    device: Any = toolset.chat.env.device
    assert [str(action) for action in device.performed] == [
        "move(8, 8)", "long_press(8, 8, seconds=1.0)"
    ]  # fmt: skip
    assert "release the mouse button first" in texts(results[3])
    assert [result.get("is_error", False) for result in results].count(True) == 1


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (use("left_click", coordinate=[96, 1]), "outside the screen"),
        (use("left_click"), "where the pointer is, is not known"),
        (use("key", text="a+b"), "names 2 keys beside modifiers"),
        (use("scroll", coordinate=[1, 2], scroll_direction="up", scroll_amount=1, text="ctrl"),
         "in clicks alone"),
        (use("left_mouse_up"), "the left button is not down"),
        (use("double_tap", coordinate=[1, 2]), "double_tap"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_as_an_error(
    server: MessagesServer, toolset: UIToolset, call: Block, why: str
) -> None:
    (result,) = ask(server, toolset, [call])
    assert result["is_error"]
    assert why in texts(result)
    device: Any = toolset.chat.env.device
    assert device.performed == []


def test_after_the_end_nothing_is_done_and_the_model_is_told(
    server: MessagesServer, make: Callable[..., UIEnv]
) -> None:
    toolset = UIToolset(make("PaintClick", dialect="anthropic_toolset"))
    toolset.reset(seed=1, options={"oracle": True})
    (click,) = read_objects(toolset.chat.info["oracle"]["action_text"], "")
    results = ask(server, toolset, [{**click, "id": "toolu_1"}], [use("screenshot")])
    assert OVER in texts(results[0])
    assert not results[0].get("is_error")
    assert results[1]["is_error"]
    assert texts(results[1]) == OVER
    assert (toolset.done, toolset.finish("Done.")) == (True, 1.0)
    assert toolset.chat.info["step"] == 1


def test_a_run_ends_where_the_device_fails_or_no_episode_was_begun(
    server: MessagesServer, toolset: UIToolset, faults: Any
) -> None:
    faults.lose_on = "x"
    with pytest.raises(ToolsetUsageError, match="Play the episode again"):
        ask(server, toolset, [use("left_click", coordinate=[8, 8]), use("type", text="x")])
    with pytest.raises(DeviceError, match="Play the episode again"):
        toolset.finish()
    fresh = UIToolset("PaintText")
    call = {"id": "1", "type": "tool_use", "name": "wait", "input": {"duration": 1}}
    block = BetaToolUseBlock.model_validate({**call, "toolset_name": "computer"})
    with pytest.raises(ToolsetUsageError, match=r"call reset\(\) first"):
        fresh.tool_result(block)
    fresh.close()


def test_members_can_be_switched_off_and_asked_for(server: MessagesServer) -> None:
    asked: list[str] = []
    toolset = UIToolset(
        "PaintText", configs={"zoom": {"enabled": False}},
        confirm=lambda context: bool(asked.append(context.member)),
    )  # fmt: skip
    toolset.reset(seed=1)
    results = ask(server, toolset, [use("zoom", region=[0, 0, 9, 9])], [use("key", text="a")])
    assert [result["is_error"] for result in results] == [True, True]
    assert asked == ["key"]
    assert toolset.chat.info["step"] == 0
    toolset.close()
