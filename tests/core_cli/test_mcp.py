"""``ui-gym mcp``, by the package's own clients: on standard input and output, and over HTTP."""

from __future__ import annotations

import asyncio
import base64
import importlib
import io
import json
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from waiting import eventually

from ui_gym.errors import UserError
from ui_gym.playing.env import UIEnv
from ui_gym.tools.mcp_server import TaskServer

pytest.importorskip("mcp", reason="needs the extra `mcp`")

from mcp import ClientSession, StdioServerParameters, stdio_client

Play = Callable[[ClientSession], Coroutine[Any, Any, None]]

MODULE = ["-m", "ui_gym.tools.cli"]
COMMAND = [*MODULE, "mcp", "UI/ClickButton-v0", "DataEntry", "--compact"]
ALONE = [*MODULE, "mcp", "UI/ClickButton-v0", "--compact"]


def on_stdio(play: Play, arguments: list[str] = COMMAND) -> None:
    async def main() -> None:
        server = StdioServerParameters(command=sys.executable, args=arguments)
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            await play(session)

    asyncio.run(main())


async def said(session: ClientSession, tool: str, **arguments: Any) -> tuple[str, Any]:
    """A tool's words, and its picture as an array; None without one."""
    content = (await session.call_tool(tool, arguments)).content
    words = " ".join(part.text for part in content if part.type == "text")
    pictures = [part.data for part in content if part.type == "image"]
    if not pictures:
        return words, None
    return words, np.asarray(Image.open(io.BytesIO(base64.b64decode(pictures[0]))))


def test_a_task_is_played_to_its_end() -> None:
    env = UIEnv("UI/ClickButton-v0", compact=True)
    seen, info = env.reset(seed=1, options={"oracle": True})
    env.close()

    async def play(session: ClientSession) -> None:
        tools = {tool.name for tool in (await session.list_tools()).tools}
        assert tools == {"start_task", "screenshot", "act", "finish"}
        for tool, arguments in (("act", {"action": "wait(0)"}), ("finish", {}), ("screenshot", {})):
            assert "call start_task" in (await said(session, tool, **arguments))[0]
        words, picture = await said(session, "start_task", seed=1)
        assert words == f"Goal: {seen['goal']}"
        np.testing.assert_array_equal(picture, seen["screenshot"])
        words, picture = await said(session, "act", action="nonsense")
        assert "is not an action" in words
        np.testing.assert_array_equal(picture, seen["screenshot"])
        words, _ = await said(session, "act", action=info["oracle"]["action_text"])
        assert words == "The task is over (it ended). Score: 1 of 1."
        assert "call start_task" in (await said(session, "act", action="wait(0)"))[0]

    on_stdio(play)


def test_screens_of_different_sizes_are_not_served_together() -> None:
    with pytest.raises(UserError, match="screens of different sizes"):
        TaskServer(["ClickButton", "AndroidWifi"], {})


def test_another_task_another_seed_and_giving_up() -> None:
    async def play(session: ClientSession) -> None:
        assert (
            "There are: ClickButton, DataEntry"
            in (await said(session, "start_task", task="Nothing"))[0]
        )
        assert "from 0 on" in (await said(session, "start_task", seed=-1))[0]
        goals = [
            (await said(session, "start_task", task=task, seed=seed))[0]
            for task in ("ClickButton", "DataEntry") for seed in (1, 2)
        ]  # fmt: skip
        assert len(set(goals)) == 4
        words, _ = await said(session, "finish", answer="I cannot")
        assert "Score: 0 of 1" in words

    on_stdio(play)


def first_click(task: str = "UI/ClickButton-v0", seed: int = 1) -> tuple[int, int]:
    """The point that the oracle clicks first, in the compact task."""
    env = UIEnv(task, compact=True)
    _, info = env.reset(seed=seed, options={"oracle": True})
    env.close()
    found = re.match(r"click\((\d+), (\d+)\)", info["oracle"]["action_text"])
    assert found
    return int(found[1]), int(found[2])


def test_each_action_can_be_a_tool_with_typed_arguments() -> None:
    x, y = first_click()

    async def play(session: ClientSession) -> None:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert {"click", "double_click", "type", "scroll", "drag", "answer"} <= set(tools)
        assert "act" not in tools
        schema = getattr(tools["click"], "input_schema", None) or tools["click"].inputSchema
        assert schema["required"] == ["x", "y"]
        assert schema["properties"]["x"]["type"] == "integer"
        assert schema["properties"]["button"]["enum"] == ["left", "middle", "right"]
        assert "call start_task" in (await said(session, "click", x=1, y=1))[0]
        await said(session, "start_task", seed=1)
        assert "outside the screen" in (await said(session, "click", x=9999, y=1))[0]
        assert "count must be" in (await said(session, "click", x=1, y=1, count=7))[0]
        assert "left" in (await said(session, "click", x=1, y=1, button="up"))[0]
        assert (await said(session, "type", text='quo"te \n'))[1] is not None
        words, _ = await said(session, "click", x=x, y=y)
        assert words == "The task is over (it ended). Score: 1 of 1."

    on_stdio(play, [*ALONE, "--tools", "actions"])


def test_a_double_click_is_a_click_of_two() -> None:
    tools = TaskServer(["ClickButton"], {}, each=True)
    written: list[str] = []

    async def act(action: str) -> list[Any]:
        written.append(action)
        return []

    tools.act = act  # type: ignore[method-assign]
    asyncio.run(tools.tools["double_click"](x=3, y=4))
    assert written == ["click(x=3, y=4, count=2)"]


def test_the_one_episode_of_a_seed_is_played_once_and_its_score_is_kept(tmp_path: Path) -> None:
    x, y = first_click(seed=5)
    score = tmp_path / "score"

    async def play(session: ClientSession) -> None:
        assert score.read_text() == "0\n"
        goal, before = await said(session, "start_task")
        await said(session, "act", action="move(1, 1)")
        again, after = await said(session, "start_task")
        assert goal == again
        np.testing.assert_array_equal(before, after)
        assert "Score: 1 of 1" in (await said(session, "act", action=f"click({x}, {y})"))[0]
        assert score.read_text() == "1\n"
        await said(session, "start_task")
        assert "played once" in (await said(session, "act", action="wait(0)"))[0]

    on_stdio(play, [*ALONE, "--seed", "5", "--score", str(score)])
    assert score.read_text() == "1\n"


def test_an_episode_whose_device_failed_has_no_score(tmp_path: Path) -> None:
    score = tmp_path / "score"
    tools = TaskServer(["ClickButton"], {"compact": True}, seed=1, score=score)
    (env,) = tools.envs.values()
    asyncio.run(tools.start_once())
    seen, _, _, _, info = env.step("wait(0)")
    env.step = lambda action: (seen, 0.0, False, True, {**info, "failure": "device: lost"})  # type: ignore[method-assign]
    words, *_ = asyncio.run(tools.act("wait(0)"))
    tools.close()
    assert "device: lost" in words
    assert not score.exists()


@pytest.mark.parametrize(
    ("tasks", "named", "told"),
    [
        (["ClickButton", "DataEntry"], {"seed": 1}, "of one task"),
        (["ClickButton"], {"seed": -1}, "from 0 on"),
        (["ClickButton"], {"score": Path("x")}, "--score is for the one episode"),
        (["ClickButton"], {"seed": 1, "score": Path("/proc/x")}, "cannot be written"),
    ],
)
def test_what_one_episode_cannot_be_is_said(tasks: list[str], named: Any, told: str) -> None:
    with pytest.raises(UserError, match=told):
        TaskServer(tasks, {"compact": True}, **named)


def test_a_client_written_from_the_documentation_plays_three_tasks() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "integrations.md").read_text()
    (settings,) = re.findall(r"^\{\"mcpServers\".*\}$", page, re.M)
    server = json.loads(settings)["mcpServers"]["ui-gym"]
    assert server["command"] == "ui-gym"  # this very one, whether its folder is on the path or not
    arguments = [*MODULE, *server["args"], "ClickButton", "UI/CheckboxSet-v0"]

    async def play(session: ClientSession) -> None:
        for task in ("DataEntry", "ClickButton", "CheckboxSet"):
            with TaskPlayed(f"UI/{task}-v0", seed=2) as played:
                words, _ = await said(session, "start_task", seed=2, task=task)
                while "The task is over" not in words:
                    words, picture = await said(session, "act", action=played.next_action())
                    assert picture is not None
                assert words.endswith("Score: 1 of 1."), task

    on_stdio(play, arguments)


class TaskPlayed:
    """The same episode here, for the oracle's next action; a model would look at the screen."""

    def __init__(self, task: str, seed: int) -> None:
        self.env = UIEnv(task, compact=True)
        self.info = self.env.reset(seed=seed, options={"oracle": True})[1]

    def __enter__(self) -> TaskPlayed:
        return self

    def __exit__(self, *error: object) -> None:
        self.env.close()

    def next_action(self) -> str:
        action = str(self.info["oracle"]["action_text"])
        self.info = self.env.step(action)[4]
        return action


@pytest.fixture
def served() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([sys.executable, *COMMAND, "--http", str(port)]) as process:
        url = f"http://127.0.0.1:{port}/mcp"
        assert eventually(lambda: status(url) is not None, 30)
        yield url
        process.send_signal(2)
        assert process.wait(20) == 0


def status(url: str, **headers: str) -> int | None:
    """What a request is answered with; None where nobody is there."""
    try:
        request = urllib.request.Request(url, b"{}", {"Content-Type": "application/json"} | headers)
        with urllib.request.urlopen(request, timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


def test_over_http_pages_of_others_find_no_way_in_and_ctrl_c_ends_it(served: str) -> None:
    async def main() -> None:
        async with streamable(served) as streams, ClientSession(*streams[:2]) as session:
            await session.initialize()
            assert (await said(session, "start_task", seed=1))[1] is not None

    asyncio.run(main())
    assert status(served, Host="evil.example") == 421
    assert status(served, Origin="http://evil.example") == 403


def streamable(url: str) -> Any:
    """The package's client over HTTP, which changed its name in version 2."""
    module: Any = importlib.import_module("mcp.client.streamable_http")
    names = ("streamable_http_client", "streamablehttp_client")
    return next(getattr(module, name) for name in names if hasattr(module, name))(url)
