"""SharedInbox: mails are sorted by several agents, one turn after another (PettingZoo, AEC)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv

from ui_gym.contract.device import DevicePool
from ui_gym.contract.task import Split
from ui_gym.multiagent.team_env import RENDER_MODES, RESET_OPTIONS, RoundResult, TeamEnv
from ui_gym.multiagent.triage import SharedTriage
from ui_gym.playing.acting import Observation


class SharedInbox(TeamEnv, AECEnv[str, Observation, str]):
    """Colleagues answer the mails of their inboxes, or hand them to each other, turn by turn.

    ## Description
    Each agent is a clerk with a role (billing, deliveries, repairs, contracts) and a mailbox window
    of its own. What its inbox holds is partly its business, and partly a colleague's: its own mails
    are answered, others are handed over. A mail that is handed over comes to the other's inbox at
    once, and is seen there at the other's next turn. Agents act one after another.

    ## Action Space
    `ActionText` for each agent, as in `UIEnv`: actions as text in the env's dialect. A wrong text
    never raises; the observation's `feedback` says what was wrong. ``finish(...)`` says that the
    agent is done, and does nothing else.

    ## Observation Space
    For each agent the Dict of `UIEnv`: `goal`, `screenshot` (its own window) and `feedback`;
    `elements` with ``observation="elements"`` or ``"both"``. `state()` is a vector: of each mail in
    whose inbox it is (0 to 1), then of each whether it was answered; then a 1 for each agent.

    ## Rewards
    One score for the team, in [0, 1]: the share of the mails that were answered by whom they
    concern, less 0.1 for each that was handed to somebody whom it does not concern. Each agent gets
    the score at the end (``reward="success"``), or what the score gained with each turn
    (``"progress"``).

    ## Starting State
    Drawn from the seed, within the split ``"train"`` or ``"heldout"`` (disjoint) if one is given.
    The first mail of each inbox is somebody else's business.

    ## Episode End
    At the end of a cycle, for all agents. Termination: every mail was answered by whom it concerns,
    or all agents said in this cycle that they are done. Truncation: after `max_cycles` cycles, or
    when an agent's device failed (``info["failure"]``; the reward is 0).

    ## Arguments
    | argument      | default        | meaning                                                    |
    |---------------|----------------|------------------------------------------------------------|
    | `users`       | 2              | how many agents, 2 to 4                                    |
    | `mails`       | 3              | mails in each inbox at the start, 1 to 4                   |
    | `max_cycles`  | 8 a mail       | cycles until truncation                                    |

    All others, and the options of `reset`, are those of `SharedBoard`.

    ## Version History
    * v0: the first.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "shared_inbox_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 4,
        "is_parallelizable": True,
        "reset_options": RESET_OPTIONS,
    }

    def __init__(
        self,
        *,
        users: int = 2,
        mails: int = 3,
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
    ) -> None:
        shared: dict[str, Any] = {
            "dialect": dialect, "observation": observation, "reward": reward, "split": split,
            "max_cycles": max_cycles, "viewport": viewport, "device": device, "timeout": timeout,
            "render_mode": render_mode, "pool": pool,
        }  # fmt: skip
        task = SharedTriage(users=users, mails=mails)
        arguments = {"users": users, "mails": mails, **shared}
        super().__init__(task, arguments, agent="clerk", **shared)

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start the episode of `seed`; without a seed, of one drawn from the last seed's generator.

        Raises:
            UserError: an option with a value that it cannot have.
            TaskError: the page or the oracle is broken.
            DeviceError: an agent's device failed three times in a row, or lacks what it needs.
        """
        self._begin(seed, options)
        self._fault: RoundResult | None = None
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: self._told(agent) for agent in self.agents}
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> Observation:
        """What an agent sees now."""
        return self._seen(agent)

    def step(self, action: str | None) -> None:
        """A turn of the agent that is selected; None once its episode is over.

        Raises:
            ResetNeeded: the episode is over, or none was started.
            TaskError: the page or the oracle is broken.
        """
        self._check_open()
        if not self.agents:
            raise ResetNeeded("the episode is over (or none was begun): call reset() before step()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        user = self.possible_agents.index(agent)
        last = user == len(self.possible_agents) - 1
        agents = self.agents
        result = self._fault or self._play({user: action or ""}, ends_round=last)
        self.agents = agents
        if result.failure is not None and not last:
            # Agents die at the end of a cycle alone, as wrappers ask of it.
            self._fault, result = result, RoundResult(0.0, False, False)
        self.rewards = dict.fromkeys(agents, result.reward)
        self.terminations = dict.fromkeys(agents, result.terminated)
        self.truncations = dict.fromkeys(agents, result.truncated)
        self.infos = {one: self._told(one, result.failure) for one in agents}
        self.agent_selection = self.possible_agents[(user + 1) % len(self.possible_agents)]
        self._accumulate_rewards()
        self._deads_step_first()
