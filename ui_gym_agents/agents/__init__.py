"""Agents that need no model here: the oracle, a random agent, a scripted agent, and any model that
a server offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

import gymnasium

from ui_gym.errors import UserError, nearest
from ui_gym_agents.agents.agent import SERVED, VENDORS, Agent, Decision, View

if TYPE_CHECKING:
    from ui_gym_agents.engines.protocol import RequestLimits

BUILT_IN = ("oracle", "careless", "random")
CARELESS = 0.5
"""In how many of its episodes the careless oracle makes one of the task's mistakes."""


class OracleAgent:
    """Does what the task's oracle does; with `mistakes` (name -> rate), as somebody careless would.

    It needs envs that tell the oracle's next action in ``info["oracle"]`` (every `UIEnv`).
    """

    wants_ground_truth = True

    def __init__(self, mistakes: Mapping[str, float] | None = None) -> None:
        self.reset_options: dict[str, Any] = {"oracle": dict(mistakes) if mistakes else True}

    def act(self, views: Sequence[View]) -> list[Decision]:
        """The next step of every view's oracle."""
        return [self._decide(view) for view in views]

    def _decide(self, view: View) -> Decision:
        oracle = view.info.get("oracle")
        if oracle is None:
            raise UserError("this env tells no oracle's actions; the oracle agent needs a UIEnv")
        return Decision(oracle["action_text"], caption=oracle["caption"])


class CarelessAgent(OracleAgent):
    """Does what the oracle does of an episode that was asked for with `careless_options`."""

    def __init__(self) -> None:
        super().__init__()
        self.reset_options = {}  # else they would win over those of the request


def careless_options(mistakes: Sequence[str], noise: int) -> dict[str, Any]:
    """The reset options of an episode of a careless oracle: at the rate `CARELESS`, one of a task's
    mistakes is made, drawn by `noise`. A task that knows none is played right.

    One at a time: not every two mistakes of a task go together, and one is enough to fail.
    """
    drawn = Random(noise)
    makes = bool(mistakes) and drawn.random() < CARELESS
    return {"oracle": {drawn.choice(mistakes): 1.0} if makes else True}


class RandomAgent:
    """Draws valid actions from the action space; the draw depends on the view's noise alone."""

    def __init__(self, action_space: gymnasium.Space[str]) -> None:
        self._space = action_space

    def act(self, views: Sequence[View]) -> list[Decision]:
        """A random valid action for every view."""
        decisions = []
        for view in views:
            self._space.seed(view.noise % 2**31)
            decisions.append(Decision(self._space.sample()))
        return decisions


class ScriptedAgent:
    """Plays the same list of actions in every episode, then repeats the last one."""

    def __init__(self, script: Sequence[str]) -> None:
        if not script:
            raise UserError("a script needs at least one action")
        self._script = list(script)

    def act(self, views: Sequence[View]) -> list[Decision]:
        """The script's next action for every view."""
        last = len(self._script) - 1
        return [Decision(self._script[min(len(view.turns), last)]) for view in views]


def make_agent(
    name: str,
    action_space: gymnasium.Space[str],
    limits: RequestLimits | None = None,
    *,
    suite: str = "browser",
    elements: bool = False,
) -> Agent:
    """A built-in agent by its name, or a served model as ``openai:MODEL@URL`` or as `VENDORS` are.

    `limits` say how long a server is waited for, `suite` of which suite the env is, and `elements`
    whether it lists them.

    Raises:
        UserError: there is no such agent; the message names the nearest.
    """
    if name == "oracle":
        return OracleAgent()
    if name == "careless":
        return CarelessAgent()
    if name == "random":
        return RandomAgent(action_space)
    if name.startswith(SERVED):
        from ui_gym_agents.agents.openai_chat import OpenAIAgent

        return OpenAIAgent.named(name, action_space, limits, elements=elements)
    if name.startswith(VENDORS):
        from ui_gym_agents.agents.vendor import vendor_class

        return vendor_class(name).named(name, action_space, limits, suite=suite)
    raise UserError(f"there is no built-in agent {name!r}. {nearest(name, BUILT_IN)}")
