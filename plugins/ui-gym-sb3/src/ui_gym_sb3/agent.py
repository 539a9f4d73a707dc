"""SB3Agent: a policy of Stable-Baselines3 as an agent, which the host's collector can play."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.policies import ActorCriticPolicy, BasePolicy
from stable_baselines3.dqn.policies import DQNPolicy

from ui_gym.errors import UserError
from ui_gym.playing.spaces import ActionText
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.training.tensors import load_tensors
from ui_gym_sb3 import models
from ui_gym_sb3.config import SB3Config
from ui_gym_sb3.seeing import Observer, batch

AGENT = "agent.json"
"""The file of a checkpoint that says what its policy sees and writes."""


class SB3Agent:
    """Sees views as the policy was trained to, and writes its choice in the env's dialect.

    Attributes:
        temperature: 0: the likeliest action; otherwise as the policy draws them, from the view's
            noise alone. A DQN draws at random with the share `epsilon`.
    """

    def __init__(
        self, policy: BasePolicy, observer: Observer, config: SB3Config,
        epsilon: Callable[[], float] | None = None,
    ) -> None:  # fmt: skip
        """`epsilon` gives a DQN's share of actions at random; its last, if None."""
        self.temperature = 1.0
        self.policy = policy
        self.observer = observer
        self.config = config
        self._epsilon = epsilon or (lambda: config.exploration_final)

    def act(self, views: Sequence[View]) -> list[Decision]:
        """The next action of every view.

        Raises:
            UserError: a view has no picture, or no elements, which the mask is made from.
        """
        if not views:
            return []
        seen = batch([self.observer.see(view.screenshots, view.goal) for view in views])
        masks = np.stack([self._mask(view) for view in views]) if self.config.masked else None
        self.policy.set_training_mode(False)
        tensors, _ = self.policy.obs_to_tensor(seen)
        with torch.no_grad():
            scores = self._scores(tensors, masks)
        return [
            Decision(self.observer.text(self._choose(view, [part[row] for part in scores])))
            for row, view in enumerate(views)
        ]

    def save(self, directory: Path) -> None:
        """Write what `load` needs beside the weights."""
        actions = self.observer.actions
        told = {
            "config": self.config.model_dump(mode="json"),
            "dialect": actions.dialect,
            "screen": list(actions.size),
        }
        (directory / AGENT).write_text(json.dumps(told, indent=1), encoding="utf-8")

    def _mask(self, view: View) -> NDArray[np.bool_]:
        if not view.elements:
            raise UserError(
                "this policy clicks where elements are, and the env tells none: ask for "
                'observation="both"'
            )
        return self.observer.mask(view.elements)

    def _scores(self, seen: Any, masks: NDArray[np.bool_] | None) -> list[NDArray[Any]]:
        """Of each part of an action, the probabilities, or a DQN's values, shape (N, values)."""
        policy: Any = self.policy
        if isinstance(policy, DQNPolicy):
            return [policy.q_net(seen).cpu().numpy()]
        assert isinstance(policy, ActorCriticPolicy | MaskableActorCriticPolicy)
        given = {} if masks is None else {"action_masks": masks}
        found: Any = policy.get_distribution(seen, **given)
        several = getattr(found, "distributions", None) or found.distribution
        parts = several if isinstance(several, list | tuple) else [several]
        return [part.probs.double().cpu().numpy() for part in parts]

    def _choose(self, view: View, scores: Sequence[NDArray[Any]]) -> Any:
        """One value for each part."""
        rng = np.random.default_rng(view.noise)
        drawn = self.temperature != 0
        if isinstance(self.policy, DQNPolicy):
            (values,) = scores
            if drawn and rng.random() < self._epsilon():
                return int(rng.integers(len(values)))
            return int(values.argmax())
        if drawn:
            chosen = [int(rng.choice(len(part), p=part / part.sum())) for part in scores]
        else:
            chosen = [int(part.argmax()) for part in scores]
        return chosen if len(chosen) > 1 else chosen[0]


def load(folder: str | Path, device: str = "cpu") -> SB3Agent:
    """The agent of a checkpoint (``runs/<run>/checkpoints/step_<n>``), ready to play.

    Raises:
        UserError: it is no checkpoint of this trainer.
    """
    folder = Path(folder)
    try:
        told = json.loads((folder / AGENT).read_text(encoding="utf-8"))
        weights = load_tensors(folder / models.POLICY)
    except FileNotFoundError as error:
        raise UserError(
            f"{folder} is no checkpoint of the trainer sb3: {error.filename} is missing; name a "
            "folder such as runs/<run>/checkpoints/step_000040"
        ) from error
    config = SB3Config(**told["config"])
    width, height = told["screen"]
    observer = Observer(config, ActionText(told["dialect"], (width, height)))
    policy = models.bare_policy(config, observer.space, observer.action_space, observer.grid.parts)
    models.put_weights(policy, weights)
    return SB3Agent(policy.to(device), observer, config)
