"""Slots of a served model: each keeps a question of its own open, and none waits for another's."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from typing import Any

import paint
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from serving import AllAtOnce, QuietHandler, serving

from ui_gym.errors import UserError
from ui_gym.playing.env import UIEnv
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.agents.openai_chat import OpenAIAgent
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest, schedule_for
from ui_gym_agents.collecting.stage import FreeStage
from ui_gym_agents.engines.protocol import RequestLimits

Make = Callable[..., UIVectorEnv]
SLOTS = 6


def requests(count: int) -> list[EpisodeRequest]:
    return [EpisodeRequest(seed=seed, group=f"g{seed}") for seed in range(count)]


class Clerk:
    """Says what a chat server says, of its `wait` for each answer."""

    def __init__(self, stack: ExitStack) -> None:
        self.wait: Callable[[], None] = lambda: None
        self.statuses: list[int] = []
        """Of the next answers, before all goes well."""
        clerk = self

        class Handler(QuietHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                status = clerk.statuses.pop(0) if clerk.statuses else 200
                clerk.wait()
                said = {"choices": [{"message": {"content": "click(1, 1)"}}]}
                self.say(json.dumps(said).encode(), status)

        host, port = stack.enter_context(serving(Handler)).server_address[:2]
        self.agent = OpenAIAgent(
            "m", f"http://{host}:{port}/v1", limits=RequestLimits(20, attempts=1)
        )
        stack.callback(self.agent.close)


@pytest.fixture
def clerk() -> Iterator[Clerk]:
    with ExitStack() as stack:
        yield Clerk(stack)


def test_every_slot_keeps_a_question_open(make_vector: Make, clerk: Clerk) -> None:
    envs = make_vector(SLOTS, max_steps=5)
    clerk.wait = together = AllAtOnce(SLOTS, answers=30)
    episodes = Collector(envs, clerk.agent, schedule="free").collect(requests(12))
    assert (together.starved, together.left) == (0, 0)
    assert [episode.failure for episode in episodes] == [None] * 12
    assert [episode.steps for episode in episodes] == [5] * 12
    assert all(turn.times["act"] > 0 for episode in episodes for turn in episode.turns)


def test_more_slots_than_a_client_has_connections_by_itself(
    make_vector: Make, clerk: Clerk
) -> None:
    envs = make_vector(40, max_steps=1)
    clerk.wait = together = AllAtOnce(40, answers=40)
    Collector(envs, clerk.agent, schedule="free").collect(requests(80))
    assert together.starved == 0


def test_it_plays_alike_in_batches(make_vector: Make, clerk: Clerk, pool: paint.PaintPool) -> None:
    """Where slots move together, and where the schedule asks for whole batches."""
    envs = make_vector(3, max_steps=3)
    stock = SyncVectorEnv(
        [lambda: UIEnv("PaintText", pool=pool, max_steps=3)] * 3,
        autoreset_mode=AutoresetMode.DISABLED,
    )
    told = [
        [
            (e.id, e.score, [t.screenshot_id for t in e.turns])
            for e in collector.collect(requests(5))
        ]
        for collector in (
            Collector(envs, clerk.agent, schedule="free"),
            Collector(envs, clerk.agent, schedule="cohorts"),
            Collector(stock, clerk.agent, schedule="free"),
        )
    ]
    stock.close()
    assert told[0] == told[1] == told[2]


def test_the_schedule_follows_from_who_answers(clerk: Clerk) -> None:
    assert schedule_for(clerk.agent) == "free"
    assert schedule_for(Later()) == "free"
    assert schedule_for(Batches()) == "cohorts"
    assert schedule_for(clerk.agent, "cohorts") == "cohorts"


def test_a_question_that_fails_costs_its_episode_a_try(make_vector: Make, clerk: Clerk) -> None:
    clerk.statuses = [500, 400]
    episodes = Collector(make_vector(2, max_steps=2), clerk.agent).collect(requests(3))
    assert [episode.failure for episode in episodes] == [None] * 3
    clerk.statuses = [500] * 9
    episodes = Collector(make_vector(2, max_steps=2), clerk.agent).collect(requests(3))
    assert [str(episode.failure)[:8] for episode in episodes] == ["server: "] * 3


def test_what_can_never_be_answered_ends_the_collection_and_leaves_it_usable(
    make_vector: Make, clerk: Clerk
) -> None:
    collector = Collector(make_vector(3, max_steps=2), clerk.agent)
    clerk.statuses = [401]
    with pytest.raises(UserError, match="the key was refused"):
        collector.collect(requests(4))
    assert [episode.failure for episode in collector.collect(requests(4))] == [None] * 4


class Batches:
    """Answers whole batches alone."""

    submit = None

    def act(self, views: Sequence[View]) -> list[Decision]:
        return [Decision("click(1, 1)") for _ in views]


class Later(Batches):
    """Answers by `settle`, and those that are not held back at once."""

    def __init__(self, held: Sequence[int] = ()) -> None:
        self.held = set(held)
        self.open: list[Future[Decision]] = []

    def submit(self, view: View) -> Future[Decision]:  # type: ignore[override]
        future: Future[Decision] = Future()
        if view.info["seed"] in self.held:
            self.open.append(future)
        else:
            future.set_result(Decision("click(1, 1)"))
        return future


def test_an_answer_that_hangs_costs_its_episode_alone(make_vector: Make) -> None:
    agent = Later(held=[1])
    collector = Collector(make_vector(2, max_steps=3), agent, episode_timeout=0.3)
    episodes = collector.collect(requests(4))
    said = "collector: it took longer than 0.3 s"
    assert [episode.failure for episode in episodes] == [None, said, None, None]
    assert [episode.steps for episode in episodes] == [3, 0, 3, 3]
    (late,) = agent.open
    assert late.cancelled()


def test_all_answers_may_be_late_and_come_from_any_thread(make_vector: Make) -> None:
    """While no env owes anything, and while some do."""
    agent = Later(held=range(4))
    done = threading.Event()

    def settle() -> None:
        while not done.is_set():
            for future in [f for f in agent.open if not f.done()]:
                future.set_result(Decision("click(1, 1)"))

    thread = threading.Thread(target=settle)
    thread.start()
    try:
        episodes = Collector(make_vector(3, max_steps=4), agent).collect(requests(8))
    finally:
        done.set()
        thread.join()
    assert [episode.steps for episode in episodes] == [4] * 8


def test_a_collection_that_is_left_early_asks_no_further(make_vector: Make) -> None:
    agent = Later(held=[1])
    collector = Collector(make_vector(2, max_steps=2), agent)
    next(iter(collector.episodes(requests(2))))
    assert [future.cancelled() for future in agent.open] == [True]
    agent.held.clear()
    assert [episode.steps for episode in collector.collect(requests(3))] == [2] * 3


def test_envs_that_cannot_be_woken_are_played_in_batches(make_vector: Make) -> None:
    class Deaf:
        """A third party's envs: `send` and `recv`, and no more."""

        def __init__(self, envs: Any) -> None:
            self.num_envs, self.metadata = envs.num_envs, envs.metadata
            self.send, self.send_reset = envs.send, envs.send_reset
            self.recv = lambda at_least, timeout: envs.recv(at_least, timeout)

        @property
        def unwrapped(self) -> Any:
            return self

    deaf: Any = Deaf(make_vector(2, max_steps=2))
    assert not FreeStage(deaf).wakes
    agent = Later(held=range(3))
    episodes = Collector(deaf, agent).collect(requests(3))
    assert [episode.steps for episode in episodes] == [2] * 3
    assert agent.open == []
