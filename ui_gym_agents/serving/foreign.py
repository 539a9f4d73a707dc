"""ForeignAgent: somebody else's agent as an agent of ours, which plays with our policy's words.

The collector hands it views and awaits decisions, as of any agent. Here a view is what the
agent's program is shown of its env, and an action of that program is the decision; what the policy
said to it since the last one, over OpenAI's APIs, are the decision's tokens. So a trainer, its
envs, its evaluations and its records know nothing of the program, nor it of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ui_gym.contract.action import Action, Answer, Finish
from ui_gym.dialects import get_dialect
from ui_gym.errors import ActionError, UserError
from ui_gym.remote.png import data_url, png
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.serving.policy_server import PolicyServer
from ui_gym_agents.serving.programs import RolloutPlayer, make_player
from ui_gym_agents.serving.responses_wire import in_their_words
from ui_gym_agents.serving.rollouts import Rollout, RolloutError, Said, joined, new_key
from ui_gym_agents.serving.voice import PolicyVoice
from ui_gym_agents.serving.wire import Json

if TYPE_CHECKING:
    from ui_gym_agents.policy import VLMPolicy

POLL = 10.0
"""Seconds that an agent waits for a rollout before it asks anew."""


@dataclass
class _Open:
    """An episode that an agent plays."""

    rollout: Rollout
    view: View
    decided: Future[Decision] | None
    """What the collector awaits; None while the env is at work."""
    shown: Future[View | None] = field(default_factory=Future)
    """What the agent awaits while the env is at work: None where the episode is over."""
    agent: str = ""
    """Who plays it; empty as long as nobody does."""
    failure: str = ""
    """Why nobody plays it any more."""


class ForeignAgent:
    """Plays the views of a collector with somebody else's agent. For any thread.

    Args:
        policy: Whose words the agent gets.
        name: ``command:PROGRAM ARGUMENTS``, which asks for rollouts as `client` does, or a function
            ``module:play`` that plays one.
        dialect: How the policy, and the collector's envs, write actions.
        slots: How many episodes are played at a time.

    Raises:
        UserError: there is no such function or program.
    """

    def __init__(self, policy: VLMPolicy, name: str, *, dialect: str, slots: int) -> None:
        self.policy = policy
        self._dialect = get_dialect(dialect)
        self._lock = threading.RLock()
        self._by_slot: dict[int, _Open] = {}
        self._by_key: dict[str, _Open] = {}
        self._waiting: deque[_Open] = deque()
        self._askers: deque[tuple[str, Future[_Open | None]]] = deque()
        self._dead: set[str] = set()
        """Agents that have ended."""
        self._served: set[str] = set()
        """Agents that were given an episode."""
        self._broken: Exception | None = None
        self._closed = False
        self._voice = PolicyVoice(
            policy, self._dialect, lambda: len(self._by_key), broken=self._break
        )
        self._server = PolicyServer(self._voice, self)
        self._secret = new_key()
        self._player: RolloutPlayer = make_player(
            name, slots, self._secret, lost=self._lost, broken=self._break
        )
        self._started = False

    @property
    def temperature(self) -> float:
        return self.policy.temperature

    @temperature.setter
    def temperature(self, value: float) -> None:
        self.policy.temperature = value

    # -- for the collector --

    def act(self, views: Sequence[View]) -> list[Decision]:
        """The agent's decision for each view."""
        return [future.result() for future in [self.submit(view) for view in views]]

    def submit(self, view: View) -> Future[Decision]:
        """The decision for one view, to come; the future raises what the program failed of."""
        decided: Future[Decision] = Future()
        with self._lock:
            if self._broken is not None:
                decided.set_exception(self._broken)
                return decided
            played = self._by_slot.get(view.slot)
            if played is None or not view.turns:
                self.ended(view.slot)
                played = _Open(Rollout(new_key()), view, decided)
                self._by_slot[view.slot] = self._by_key[played.rollout.key] = played
                self._waiting.append(played)
            played.view, played.decided = view, decided
            played.rollout.noise = view.noise
            played.shown.set_result(view)
            if played.failure:  # its agent ended while the env was at work
                self._fail(played, played.failure)
        if not self._started:
            self._started = True
            self._server.__enter__()
            self._player.start(self._server.url)
        self._hand_out()
        return decided

    def ended(self, slot: int) -> None:
        """The episode of a slot is over: nothing is sampled for it any more.

        Waits for what is sampled right now: a learner may change the weights next.
        """
        with self._lock:
            played = self._by_slot.pop(slot, None)
            if played is None:
                return
            del self._by_key[played.rollout.key]
            played.rollout.end()
            played.decided = None
            with contextlib.suppress(ValueError):
                self._waiting.remove(played)
            if not played.shown.done():
                played.shown.set_result(None)
        self._voice.settle(played.rollout)

    def metrics(self) -> dict[str, float]:
        """What was measured since the last time, by names of metrics."""
        return self.policy.metrics()

    def close(self) -> None:
        """End the agent's program and the server. May be repeated."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            askers, self._askers = self._askers, deque()
        for slot in list(self._by_slot):
            self.ended(slot)
        for _, asker in askers:
            if asker.set_running_or_notify_cancel():
                asker.set_result(None)
        self._player.close()
        if self._started:
            self._server.close()
        self._voice.close()

    # -- for the server --

    def rollout(self, key: str, header: str) -> Rollout:
        with self._lock:
            played = self._by_key.get(header or key)
        if played is None:
            raise RolloutError(401, "the API key names no rollout that is being played")
        return played.rollout

    async def next(self, agent: str) -> Json:
        if not hmac.compare_digest(agent[: len(self._secret)].encode(), self._secret.encode()):
            raise RolloutError(401, "this program was not started by the trainer that is asked")
        asker: Future[_Open | None] = Future()
        with self._lock:
            if self._closed or agent in self._dead:
                return {"over": True}
            self._askers.append((agent, asker))
        self._hand_out()
        await asyncio.wait([asyncio.wrap_future(asker)], timeout=POLL)
        if asker.cancel():
            return {}
        played = asker.result()  # even if it came in the last moment: nobody else plays it
        if played is None:
            return {"over": True}
        rollout = played.rollout
        shown = await asyncio.to_thread(self._shown, played)
        return {"key": rollout.key, "model": rollout.model, "env": shown}

    async def env(self, rollout: Rollout) -> Json:
        return await asyncio.to_thread(self._shown, self._of(rollout))

    async def step(self, rollout: Rollout, body: Json) -> Json:
        played = self._of(rollout)
        with self._lock:
            decided = played.decided
            if decided is None:
                raise RolloutError(409, "the env is at work: one action at a time")
            said = rollout.taken()
            text = self._text(body, played, said[-1] if said else None)
            rollout.clear()
            shown: Future[View | None] = Future()
            played.shown, played.decided = shown, None
        pictures = [image for one in said for image in one.pictures]
        self._decide(decided, Decision(text, joined(said), pictures=pictures))
        view = await asyncio.wrap_future(shown)
        if view is None:
            return {**self._facts(played), "terminated": True, "truncated": False}
        return await asyncio.to_thread(self._shown, played)

    async def end(self, rollout: Rollout, body: Json) -> Json:
        failure = body.get("failure")
        if not failure:
            return await self.step(rollout, {"finish": True})
        self._fail(self._of(rollout), str(failure)[:500])
        return {}

    # -- inside --

    def _of(self, rollout: Rollout) -> _Open:
        with self._lock:
            played = self._by_key.get(rollout.key)
        if played is None:
            raise RolloutError(409, "the episode is over")
        return played

    def _hand_out(self) -> None:
        """Give waiting episodes to agents that ask for one."""
        with self._lock:
            while self._waiting and self._askers:
                agent, asker = self._askers.popleft()
                if asker.set_running_or_notify_cancel():
                    played = self._waiting.popleft()
                    played.agent = agent
                    self._served.add(agent)
                    asker.set_result(played)

    def _facts(self, played: _Open) -> Json:
        info = played.view.info
        shown = played.view.screenshots
        return {
            "task": info.get("task", ""), "seed": info.get("seed"),
            "size": [shown[-1].shape[1], shown[-1].shape[0]] if shown else [0, 0],
            "step": len(played.view.turns), "max_steps": info.get("max_steps"),
        }  # fmt: skip

    def _shown(self, played: _Open) -> Json:
        """What the env shows an agent."""
        view = played.view
        found = self._facts(played) | {
            "goal": view.goal, "elements": view.elements, "feedback": view.feedback,
            "terminated": False, "truncated": False,
        }  # fmt: skip
        if view.screenshots:
            found["screenshot"] = data_url(png(view.screenshots[-1]))
        return found

    def _text(self, body: Json, played: _Open, last: Said | None) -> str:
        """An agent's action in the dialect of the envs: as the policy said it, if it did."""
        size = tuple(self._facts(played)["size"])
        if body.get("finish"):
            answer = str(body.get("answer") or "")
            if last is not None and any(isinstance(a, Answer | Finish) for a in last.actions or ()):
                return last.text
            return self._dialect.render([Answer(answer) if answer else Finish("success")], size)
        text, name = str(body.get("action", "")), body.get("dialect") or self._dialect.name
        try:
            dialect = get_dialect(str(name))
        except UserError as error:
            raise RolloutError(400, str(error)) from None
        if dialect is self._dialect:
            return text
        try:
            actions = dialect.parse(text, size)
            if last is not None and _retold(last.actions or (), dialect.name, size) == actions:
                return last.text
            return self._dialect.render(actions, size)
        except ActionError:
            return text  # which the env cannot read either, and says so

    def _decide(self, decided: Future[Decision], decision: Decision) -> None:
        if decided.set_running_or_notify_cancel():
            decided.set_result(decision)

    def _fail(self, played: _Open, failure: str) -> None:
        with self._lock:
            played.failure = failure
            decided, played.decided = played.decided, None
        if decided is not None:
            self._decide(decided, Decision("", failure=f"agent: {failure}"))

    def _lost(self, agent: str, failure: str) -> bool:
        """A program has ended: what it played has failed. Whether it played, and to the end."""
        with self._lock:
            self._dead.add(agent)
            gone = [asker for asker in self._askers if asker[0] == agent]
            for asker in gone:
                self._askers.remove(asker)
            lost = [one for one in self._by_key.values() if one.agent == agent]
            has_played = agent in self._served
        for _, answered in gone:
            if answered.set_running_or_notify_cancel():
                answered.set_result(None)
        for played in lost:
            self._fail(played, failure)
        return has_played and not lost

    def _break(self, error: Exception) -> None:
        """The program cannot play: whoever waits for it is told."""
        with self._lock:
            self._broken = error
            waiting = [played.decided for played in self._by_key.values()]
            for played in self._by_key.values():
                played.decided = None
        for decided in waiting:
            if decided is not None and decided.set_running_or_notify_cancel():
                decided.set_exception(error)


def _retold(actions: Sequence[Action], name: str, size: tuple[int, int]) -> list[Action] | None:
    """Actions as they come back from an API whose words are those of another dialect."""
    dialect = get_dialect(name)
    told = json.dumps(in_their_words(actions)) if name == "openai" else None
    try:
        return dialect.parse(dialect.render(actions, size) if told is None else told, size)
    except ActionError:
        return None
