"""SharedBoard: several agents on one document, each in a window of its own (PettingZoo)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gymnasium.error import ResetNeeded
from pettingzoo import ParallelEnv

from ui_gym.contract import registry
from ui_gym.contract.device import DevicePool
from ui_gym.contract.task import Split
from ui_gym.errors import UserError
from ui_gym.multiagent.documents import make_team_task
from ui_gym.multiagent.task import TeamTask
from ui_gym.multiagent.team_env import RENDER_MODES, RESET_OPTIONS, TeamEnv
from ui_gym.playing.acting import Observation

Observations = dict[str, Observation]
Infos = dict[str, dict[str, Any]]
Stepped = tuple[Observations, dict[str, float], dict[str, bool], dict[str, bool], Infos]


class SharedBoard(TeamEnv, ParallelEnv[str, Observation, str]):
    """Several agents work on one document, each in a browser window of its own.

    ## Description
    A kanban board, a spreadsheet or an order form lives on a server (in this process). Each agent
    is a user with a window on it, which shows the document as it was when the window was last told
    of it. All agents act at once, and their edits reach the server in the order of the agents.
    What happens to edits that get in each other's way is the document's own rule:

    | `document` | a window is brought up to date by | edits that collide                         |
    |------------|-----------------------------------|--------------------------------------------|
    | `kanban`   | its own edits, "Refresh", a poll  | the later is refused, and a dialog says so |
    | `sheet`    | "Reload" alone                    | the later row overwrites the earlier       |
    | `order`    | the server, after each round      | a dialog asks how to merge two amounts     |

    With ``goal="common"`` all are told the whole job, and must share it: to do work twice costs.
    With ``goal="split"`` each is told its own part, and parts touch the same columns, rows or
    lines.

    ## Action Space
    `ActionText` for each agent, as in `UIEnv`: actions as text in the env's dialect. A wrong text
    never raises; the observation's `feedback` says what was wrong. ``finish(...)`` says that the
    agent is done, and does nothing else.

    ## Observation Space
    For each agent the Dict of `UIEnv`: `goal`, `screenshot` (its own window) and `feedback`;
    `elements` with ``observation="elements"`` or ``"both"``. `state()` is the server's document as
    a vector of numbers from 0 to 1 (`state_space`), and for each agent whether its window is up to
    date; no agent sees it.

    ## Rewards
    One score for the team, in [0, 1]: the share of the way from the start to what is asked, less
    what was changed without need, less 0.1 for each *clash*: an edit that was refused, an edit that
    was lost under another, work that was done twice. Each agent gets the score at the end of the
    episode (``reward="success"``), or what it gained in this round (``"progress"``).

    ## Starting State
    Drawn from the seed, within the split ``"train"`` or ``"heldout"`` (disjoint) if one is given.
    All windows show the document as it is.

    ## Episode End
    Termination, of all agents at once: the document is as asked, or all agents say in one round
    that they are done. Truncation, of all: after `max_cycles` rounds, or when an agent's device
    fails; the reward is 0 then, and ``info["failure"]`` of every agent names the agent and the
    cause. The next reset gives that agent a new device.

    ## Arguments
    | argument      | default        | meaning                                                    |
    |---------------|----------------|------------------------------------------------------------|
    | `document`    | `"kanban"`     | or `"sheet"`, `"order"`                                    |
    | `users`       | 2              | how many agents, 2 to 4                                    |
    | `goal`        | `"common"`     | or `"split"`                                               |
    | `compact`     | False          | 320x256, which a model of a million parameters can read    |
    | `dialect`     | `"canonical"`  | how actions are written                                    |
    | `observation` | `"screenshot"` | or `"elements"`, `"both"`                                  |
    | `reward`      | `"success"`    | or `"progress"`                                            |
    | `split`       | `"train"`      | or `"heldout"`, or None for both                           |
    | `max_cycles`  | the document's | rounds until truncation                                    |
    | `viewport`    | the document's | (width, height) of each window, pixels                     |
    | `device`      | `"auto"`       | the browser, with an address after a colon                 |
    | `timeout`     | 20.0           | seconds that a single wait on a device may take            |
    | `render_mode` | None           | `"rgb_array"`: all windows side by side; `"human"`         |
    | `pool`        | a new one      | where devices come from; a given pool is not closed        |

    Further arguments are the document's own. `reset` takes the options `split`, `oracle` (True, or
    rates of the team's mistakes: every info tells what the team's oracle would do) and
    `ground_truth`; it passes over others, as PettingZoo's checkers ask of it.

    ## Version History
    * v0: the first.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "shared_board_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 4,
        "is_parallelizable": True,
        "reset_options": RESET_OPTIONS,
    }

    def __init__(
        self,
        document: str | TeamTask[Any] = "kanban",
        *,
        users: int = 2,
        goal: str = "common",
        compact: bool = False,
        dialect: str = "canonical",
        observation: str = "screenshot",
        reward: str = "success",
        split: Split | None = "train",
        max_cycles: int | None = None,
        viewport: tuple[int, int] | None = None,
        device: str = "auto",
        timeout: float = 20.0,
        render_mode: str | None = None,
        pool: DevicePool | None = None,
        **document_arguments: Any,
    ) -> None:
        own = {
            "document": document, "users": users, "goal": goal, "compact": compact,
            "dialect": dialect, "observation": observation, "reward": reward, "split": split,
            "max_cycles": max_cycles, "viewport": viewport, "device": device, "timeout": timeout,
            "render_mode": render_mode, "pool": pool,
        }  # fmt: skip
        task = make_team_task(
            document, compact, list(own), users=users, goal=goal, **document_arguments
        )
        super().__init__(
            task, {**own, **document_arguments}, agent="user", dialect=dialect,
            observation=observation, reward=reward, split=split, max_cycles=max_cycles,
            viewport=viewport, device=device, timeout=timeout, render_mode=render_mode, pool=pool,
        )  # fmt: skip

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """Start the episode of `seed`; without a seed, of one drawn from the last seed's generator.

        Raises:
            UserError: an option with a value that it cannot have.
            TaskError: the document's page or oracle is broken.
            DeviceError: an agent's device failed three times in a row, or lacks what it needs.
        """
        self._begin(seed, options)
        agents = self.agents
        return {a: self._seen(a) for a in agents}, {a: self._told(a) for a in agents}

    def step(self, actions: Mapping[str, str]) -> Stepped:
        """A round: each agent does what its action says, in the env's dialect.

        Raises:
            ResetNeeded: the episode is over, or none was started.
            UserError: an agent has no action.
            TaskError: the document's page or oracle is broken.
        """
        self._check_open()
        if not self.agents:
            raise ResetNeeded("the episode is over (or none was begun): call reset() before step()")
        agents = self.agents
        for agent in agents:
            if agent not in actions:
                raise UserError(f"step takes an action of every agent, and {agent} has none")
        result = self._play({user: actions[agent] for user, agent in enumerate(agents)})
        return (
            {agent: self._seen(agent) for agent in agents},
            dict.fromkeys(agents, result.reward),
            dict.fromkeys(agents, result.terminated),
            dict.fromkeys(agents, result.truncated),
            {agent: self._told(agent, result.failure) for agent in agents},
        )

    def _is_called(self, task: str) -> bool:
        return super()._is_called(task) or registry.spec("SharedBoard").is_called(task)
