"""ui-gym in verifiers 0.4: its own env and interception, with a server on loopback as the model."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import paint
import pytest

pytest.importorskip("verifiers.v1", reason="tox -e verifiers")

import verifiers.v1 as vf
from verifiers.v1.utils.loaders import environment_class, load_environment, resolve_env_config

from tests.integrations.scripted import Oracle, pictures, words
from ui_gym.errors import DeviceLost
from ui_gym_agents.integrations.episodes import EpisodeRow

HUB = Path(__file__).parents[2] / "deploy" / "environments-hub"
sys.path.insert(0, str(HUB))

Play = Callable[[list[dict[str, Any]]], str]


class Model:
    """A chat server on loopback that says what a function of the messages says."""

    def __init__(self) -> None:
        self.says: Play = lambda messages: "finish()"
        self.asked: list[list[dict[str, Any]]] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.asked.append(body["messages"])
                said = {"role": "assistant", "content": model.says(body["messages"])}
                answer = {
                    "id": "1", "object": "chat.completion", "created": 1, "model": "m",
                    "choices": [{"index": 0, "finish_reason": "stop", "message": said}],
                    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
                }  # fmt: skip
                data = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                return None

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def context(self) -> Any:
        url = f"http://127.0.0.1:{self.server.server_port}/v1"
        client = vf.EvalClientConfig(base_url=url, api_key_var="UI_GYM_TEST_KEY")
        return vf.ModelContext(model="m", client=client, sampling=vf.SamplingConfig())


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    monkeypatch.setenv("UI_GYM_TEST_KEY", "none")
    model = Model()
    yield model
    model.server.shutdown()
    model.server.server_close()


def env_of(*, slots: int = 8, max_retries: int = 0, **taskset: Any) -> Any:
    asked = {"id": "ui-gym-env", "ids": ["PaintText"], "n": 4} | taskset
    retries = {"max_retries": max_retries}
    return load_environment(
        resolve_env_config({"slots": slots, "retries": retries, "taskset": asked})
    )


def oracle_of(env: Any) -> Oracle:
    rows = [task.data for task in env.taskset]
    return Oracle([EpisodeRow(row.task, row.seed, row.arguments) for row in rows])


def played(env: Any, model: Model, rollouts: int = 1) -> list[Any]:
    """The episodes of all rows, `rollouts` of each, all at the same time."""

    async def main() -> list[Any]:
        async with env.serving():
            slots = [slot for task in env.taskset for slot in env.slots(task, rollouts)]
            return await asyncio.gather(*(env.run_slot(slot, model.context()) for slot in slots))

    return asyncio.run(main())


def test_the_hubs_package_names_one_class_of_each_kind() -> None:
    import ui_gym_env

    kinds = [(vf.Taskset, "UIGymTaskset"), (vf.Env, "UIGymEnv"), (vf.Harness, "UIGymHarness")]
    for kind, name in kinds:
        found = [n for n in ui_gym_env.__all__ if issubclass(getattr(ui_gym_env, n), kind)]
        assert found == [name]
    assert environment_class("owner/ui-gym-env@0.1.0").__name__ == "UIGymEnv"


def test_an_oracle_wins_several_rollouts_at_a_time_and_sees_the_pictures(model: Model) -> None:
    env = env_of(n=3)
    model.says = oracle_of(env)
    episodes = played(env, model, rollouts=3)
    assert [episode.ok for episode in episodes] == [True] * 9
    for episode in episodes:
        (trace,) = episode.traces
        assert trace.reward == trace.rewards["success"].score == 1.0
        assert trace.metrics["steps"] == trace.num_turns
        assert len(trace.branches) == 1  # one sequence to learn from
        assert trace.metrics["action_errors"] == 0
    for asked in model.asked:
        assert len(pictures(asked)) == sum(message["role"] == "user" for message in asked)


def test_a_group_shares_its_start_and_rows_do_not(model: Model) -> None:
    env = env_of(n=2, seed=5)
    model.says = oracle = oracle_of(env)
    played(env, model, rollouts=2)
    first = [pictures(asked)[0] for asked in model.asked if len(asked) == 2]
    assert sorted(first) == sorted(oracle.seen[seed][0] for seed in (5, 5, 6, 6))


def test_what_is_no_action_is_told_and_the_episode_ends_at_its_last_turn(model: Model) -> None:
    model.says = lambda messages: "I do not know."
    (episode,) = played(env_of(n=1, max_turns=2), model)
    (trace,) = episode.traces
    assert (trace.reward, trace.num_turns, trace.metrics["action_errors"]) == (0.0, 2, 2.0)
    assert "cannot read 'I do not know.'" in words(model.asked[1][-1])


def test_a_failed_device_is_an_error_and_no_reward(model: Model) -> None:
    model.says = lambda messages: "click(1, 1); type('boom')"
    (episode,) = played(env_of(n=1, device="paint:lose_on=boom"), model)
    assert not episode.ok
    assert "the paint has dried" in str(episode.errors or episode.traces[0].errors)


def test_a_failed_episode_is_played_again_where_retries_are_asked_for(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = env_of(n=1, max_retries=1)
    model.says = oracle_of(env)
    perform, failed = paint.PaintDevice.perform, []

    def fails_once(device: paint.PaintDevice, action: Any) -> None:
        if not failed:
            failed.append(action)
            raise DeviceLost("once")
        perform(device, action)

    monkeypatch.setattr(paint.PaintDevice, "perform", fails_once)
    (episode,) = played(env, model)
    assert episode.ok
    assert episode.traces[-1].reward == 1.0


def test_no_more_devices_are_held_than_there_are_slots(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, most = set(), []
    acquire, release = paint.PaintPool.acquire, paint.PaintPool.release

    def counted(pool: paint.PaintPool) -> paint.PaintDevice:
        device = acquire(pool)
        held.add(device)
        most.append(len(held))
        return device

    def returned(pool: paint.PaintPool, device: Any, *, healthy: bool) -> None:
        held.discard(device)
        release(pool, device, healthy=healthy)

    monkeypatch.setattr(paint.PaintPool, "acquire", counted)
    monkeypatch.setattr(paint.PaintPool, "release", returned)
    episodes = played(env_of(n=6, slots=2), model)
    assert all(episode.ok for episode in episodes)
    assert max(most) == 2
    assert not held


def test_a_task_that_is_not_there_is_told_with_the_nearest_one() -> None:
    with pytest.raises(Exception, match="PaintText"):
        list(env_of(ids=["PaintTexts"]).taskset)
