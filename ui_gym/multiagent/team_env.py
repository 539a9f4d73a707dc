"""TeamEnv: what envs of several agents share, however the agents take turns.

`SharedBoard` (all at once) and `SharedInbox` (one after another) are PettingZoo's doors to it.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import time
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray

from ui_gym.contract.arguments import OBSERVATIONS, REWARDS, check_viewport, choose
from ui_gym.contract.device import DeviceOptions, DevicePool, Image
from ui_gym.contract.task import SPLITS, GroundTruth, Split, Verdict, params_json, split_of
from ui_gym.dialects import get_dialect
from ui_gym.errors import ActionError, UserError
from ui_gym.multiagent.document import SharedDocument
from ui_gym.multiagent.oracle import TeamOracle
from ui_gym.multiagent.task import TeamTask
from ui_gym.multiagent.team import Team, TeamFault
from ui_gym.playing import acting
from ui_gym.playing.acting import ActOutcome, Observation
from ui_gym.playing.env import Seconds
from ui_gym.playing.spaces import ActionText, observation_space

RESET_OPTIONS = ("split", "oracle", "ground_truth")

RENDER_MODES = ("human", "rgb_array")


@dataclasses.dataclass(frozen=True)
class RoundResult:
    """What a round gave each agent, and whether the episode ended with it."""

    reward: float
    terminated: bool
    truncated: bool
    failure: str | None = None

    @property
    def over(self) -> bool:
        return self.terminated or self.truncated


class TeamEnv:
    """A team at work: its spaces, its windows, the document, the score.

    Arguments are those of `SharedBoard`; `arguments` are what the env is made anew with where it is
    unpickled.
    """

    possible_agents: list[str]
    agents: list[str]

    def __init__(
        self,
        task: TeamTask[Any],
        arguments: Mapping[str, Any],
        *,
        agent: str,
        dialect: str,
        observation: str,
        reward: str,
        split: Split | None,
        max_cycles: int | None,
        viewport: tuple[int, int] | None,
        device: str,
        timeout: float,
        render_mode: str | None,
        pool: DevicePool | None,
    ) -> None:
        self._arguments = dict(arguments)
        self.task = task
        if viewport is not None:
            self.task.viewport = check_viewport(viewport)
        self.size = self.task.viewport
        self.dialect = get_dialect(dialect)
        self.observation_mode = choose(observation, OBSERVATIONS, "observation")
        self.reward_mode = choose(reward, REWARDS, "reward")
        self.split: Split | None = choose(split, (*SPLITS, None), "split")
        self.max_cycles = self.task.max_cycles if max_cycles is None else max_cycles
        if not isinstance(self.max_cycles, int) or self.max_cycles < 1:
            raise UserError(f"max_cycles is a whole number from 1 on, not {max_cycles!r}")
        if not timeout > 0:
            raise UserError(f"timeout is a number of seconds above 0, not {timeout!r}")
        self.render_mode = choose(render_mode, (*RENDER_MODES, None), "render_mode")

        self.possible_agents = [f"{agent}_{number}" for number in range(self.task.users)]
        self.agents: list[str] = []
        shown = {"screenshot": observation != "elements", "elements": observation != "screenshot"}
        self._spaces = {
            name: (observation_space(self.size, **shown), ActionText(dialect, self.size))
            for name in self.possible_agents
        }
        self.state_space = Box(0.0, 1.0, (self.task.state_size() + self.task.users,), np.float32)
        self._rng = np.random.default_rng()
        self._closed = False
        self._verdict = Verdict(0.0)
        self._owns_pool = pool is None
        self._pool = pool if pool is not None else self._new_pool(device, timeout)
        self._team = Team(
            self.task.users, self._pool, self.dialect, self.size, self.observation_mode
        )
        self._finalizer = weakref.finalize(
            self, _close, self._team, self._pool if self._owns_pool else None
        )

    def observation_space(self, agent: str) -> Space[Any]:
        """The observation space of an agent: the same object each time."""
        return self._spaces[agent][0]

    def action_space(self, agent: str) -> ActionText:
        """The action space of an agent: the same object each time."""
        return self._spaces[agent][1]

    def state(self) -> NDArray[np.float32]:
        """The server's document, and then for each agent 1 where its window was told of all of it,
        else 0; shape (`state_space.shape`), float32, numbers from 0 to 1."""
        users = range(self.task.users)
        fresh = [float(not self._team.is_stale(user)) for user in users]
        return np.concatenate([self._document.vector(), np.asarray(fresh, np.float32)])

    def render(self) -> Image | None:
        """The last pictures of all windows side by side, shape (H, N * W, 3), uint8, RGB; None
        unless in ``rgb_array`` mode."""
        if self.render_mode != "rgb_array":
            return None
        frames = [window.frame for window in self._team.windows]
        if any(frame is None for frame in frames):
            raise ResetNeeded("there is nothing to render yet: call reset() before render()")
        return np.concatenate([frame.image for frame in frames if frame], axis=1)

    def close(self) -> None:
        """Give all devices back, and close the pool if it is this env's own. May be repeated."""
        self._closed = True
        self.agents = []
        self._finalizer()

    # -- for those who look after envs --

    @property
    def windows(self) -> Team:
        """The agents' windows, and the document that they show."""
        return self._team

    @property
    def document(self) -> SharedDocument:
        """The server's document."""
        return self._document

    @property
    def pool(self) -> DevicePool:
        """Where devices come from."""
        return self._pool

    @property
    def params(self) -> Any:
        """What was drawn for this episode."""
        return self._params

    def __reduce__(self) -> tuple[Any, ...]:
        """An env that was not reset yet is made anew where it is unpickled.

        Raises:
            TypeError: it cannot be.
        """
        if self._closed or any(window.loan.used for window in self._team.windows):
            raise TypeError(
                "an env that was reset or closed cannot be pickled, since its devices belong to "
                "this process: pickle it before its first reset, or a function that makes it"
            )
        if not self._owns_pool:
            raise TypeError(
                "an env on a given pool cannot be pickled, since the pool belongs to this process: "
                "make it without pool="
            )
        return functools.partial(type(self), **self._arguments), ()

    # -- an episode --

    def _begin(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """Start the episode of `seed`, as `SharedBoard.reset` says."""
        self._check_open()
        asked = options or {}
        task = asked.get("task")
        if task is not None and not self._is_called(task):
            raise UserError(f"this env plays {self.task.name} alone, not {task!r}")
        split = choose(asked.get("split", self.split), (*SPLITS, None), "split")
        rates = self._rates(asked.get("oracle"))
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._seed = int(self._rng.integers(2**31)) if seed is None else int(seed)
        self.agents = []  # should anything raise
        self._params = self.task.draw(self._seed, split)
        self._goals = self.task.goals(self._params)
        self._drawn_split = split_of(self._params)
        self._tells = bool(asked.get("ground_truth"))
        self._step = 0
        self._finished = [False] * self.task.users
        self._outcomes: dict[int, ActOutcome] = {}
        self._document = self.task.open(self._params)
        pages = [self.task.page_params(self._params, user) for user in range(self.task.users)]
        names = [f"{self.task.name}, {agent}" for agent in self.possible_agents]
        digest = hashlib.sha256(params_json(self._params).encode()).digest()
        self._team.begin(
            self._document, self.task.page, pages, int.from_bytes(digest[:4], "big"), names
        )
        self._verdict = self.task.judge(self._document, self._params)
        self._oracle: TeamOracle | None = None
        if rates is not None:
            mistake = self.task.draw_mistake(rates, self._seed)
            self._oracle = TeamOracle(self.task, self._team, self._params, mistake, self.dialect)
        self.agents = list(self.possible_agents)

    def _play(self, texts: Mapping[int, str], *, ends_round: bool = True) -> RoundResult:
        """Let some agents act. With the end of a round the step goes up, and the episode may end.

        Raises:
            TaskError: the document's page or oracle is broken.
        """
        playing, self.agents = self.agents, []  # should anything raise
        before = self._verdict.score
        self._step += ends_round
        try:
            self._outcomes |= self._team.play(texts)
            self._judge(texts)
            terminated = ends_round and (self._verdict.done or all(self._finished))
            truncated = ends_round and not terminated and self._step >= self.max_cycles
            if ends_round and not (terminated or truncated):
                self._advance_oracle()
        except TeamFault as fault:
            self._verdict, self._outcomes = Verdict(0.0), {}
            why = f"device: {self.possible_agents[fault.user]}: {fault}"
            return RoundResult(0.0, False, True, why)
        if not (terminated or truncated):
            self.agents = playing
        score = self._verdict.score
        gained = score - before
        reward = gained if self.reward_mode == "progress" else score * (terminated or truncated)
        return RoundResult(float(reward), terminated, truncated)

    def _judge(self, texts: Mapping[int, str]) -> None:
        started = time.perf_counter()
        self._verdict = self.task.judge(self._document, self._params)
        judged = time.perf_counter() - started
        for user in texts:
            self._finished[user] = self._outcomes[user].ended
            self._team.windows[user].times["judge"] = judged

    def _advance_oracle(self) -> None:
        went_well = all(outcome.error is None for outcome in self._outcomes.values())
        if self._oracle is not None and went_well:
            self._oracle.advance()

    def _seen(self, agent: str) -> Observation:
        """What an agent sees now."""
        user = self.possible_agents.index(agent)
        frame = self._team.windows[user].frame
        assert frame is not None
        error = self._error(user)
        feedback = str(error) if error else ""
        return acting.observed(frame, self._goals[user], feedback, self.observation_mode)

    def _told(self, agent: str, failure: str | None = None) -> dict[str, Any]:
        """What is known beyond an agent's observation, as `UIEnv` tells it."""
        user = self.possible_agents.index(agent)
        window, error = self._team.windows[user], self._error(user)
        assert window.frame is not None
        info: dict[str, Any] = {
            "task": self.task.name,
            "seed": self._seed,
            "split": self._drawn_split,
            "step": self._step,
            "max_steps": self.max_cycles,
            "action_error": error.kind if error else None,
            "success": self._verdict.success,
            "score": float(self._verdict.score),
            "failure": failure,
            "notes": self._verdict.notes,
            "details": dict(self._verdict.details),
            **{f"time_{phase}": Seconds(spent) for phase, spent in window.times.items()},
            "screenshot_encoded": window.frame.encoded,
            "screenshot_format": window.frame.format,
        }
        if self._oracle is not None:
            told = {"action_text": self._oracle.texts[user]}
            info["oracle"] = {**told, "caption": self._oracle.captions[user]}
        if self._tells and self._step == 0:
            info["ground_truth"] = GroundTruth(dataclasses.asdict(self._params))
        return info

    def _error(self, user: int) -> ActionError | None:
        outcome = self._outcomes.get(user)
        return outcome.error if outcome else None

    # -- inside --

    def _new_pool(self, device: str, timeout: float) -> DevicePool:
        from ui_gym.browser.pool import browser_pool

        options = DeviceOptions(device, self.size, timeout)
        options.headless = self.render_mode != "human"
        options.elements = self.observation_mode != "screenshot"
        return browser_pool(options)

    def _rates(self, oracle: Any) -> dict[str, float] | None:
        if oracle is None or oracle is False:
            return None
        if oracle is True:
            return {}
        if not isinstance(oracle, Mapping):
            raise UserError(f"oracle is True or a dict of mistakes to rates, not {oracle!r}")
        for mistake, rate in oracle.items():
            choose(mistake, self.task.mistakes, f"mistake of {self.task.name}")
            if not isinstance(rate, int | float) or not 0 <= rate <= 1:
                raise UserError(f"the rate of the mistake {mistake!r} is 0 to 1, not {rate!r}")
        return dict(oracle)

    def _is_called(self, task: str) -> bool:
        """Whether what this env plays has the name `task`."""
        return task == self.task.name

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedEnvironmentError("this env is closed; make a new one")
        self._team.windows[0].loan.check_process()


def _close(team: Team, pool: DevicePool | None) -> None:
    """Give all devices back, and close the pool."""
    team.close()
    if pool is not None:
        pool.close()
