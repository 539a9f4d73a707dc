"""Episode: the one format of a trajectory, for learning, evaluation, export and replay."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

PurposeKind = Literal["", "step", "baseline", "evaluation", "final", "filter"]


@dataclass(frozen=True)
class Purpose:
    """What an episode is played for.

    `kind` is ``step`` (training), ``baseline`` (an evaluation before training), ``evaluation``,
    ``final`` (the evaluation after training) or ``filter`` (a choice of tasks); empty: not said.
    `step` is the training step that asked for the episode (from 1 on), or how many steps were done
    when the evaluation began. `mode` is ``greedy`` or ``sampled`` for evaluations, else empty.
    """

    kind: PurposeKind = ""
    step: int = 0
    mode: str = ""


NOT_SAID = Purpose()
"""Of an episode of which nobody said what it is for."""


@dataclass(frozen=True)
class TokenRecord:
    """What the sampler saw and said in one turn, as token ids: the truth for training.

    `prompt_ids` hold one placeholder id per image token. `images` are the pictures' hashes (keys
    of the screenshot store) in the order of their placeholders. `logprobs` has one value per id of
    `output_ids`: the log-probability, in nats, under the distribution that was sampled from
    (temperature and suppressed ids included). `weights` (default: ones) scales each output token's
    part in a supervised loss. `version` counts the policy's updates.
    """

    prompt_ids: tuple[int, ...]
    output_ids: tuple[int, ...]
    logprobs: tuple[float, ...] = ()
    images: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    temperature: float = 1.0
    version: int = 0
    truncated: bool = False
    """The output was cut at the limit of new tokens."""
    before: tuple[TokenRecord, ...] = ()
    """What else was sampled on the way to this turn's action, in order, by an agent that asks its
    model several times."""

    @property
    def all(self) -> tuple[TokenRecord, ...]:
        """This one, after those `before` it."""
        return (*self.before, self)


@dataclass(frozen=True)
class TokenUsage:
    """How many tokens a server counted: of what it read, pictures included, and of what it wrote,
    thoughts included."""

    prompt: int
    completion: int

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(self.prompt + other.prompt, self.completion + other.completion)

    def __str__(self) -> str:
        return f"{self.prompt:,} in, {self.completion:,} out"


@dataclass
class Turn:
    """One step of an episode: what was seen, said and what came of it."""

    screenshot_id: str
    """Hash of the picture that the agent saw; empty where it saw elements alone."""
    action_text: str
    """The agent's text."""
    feedback: str = ""
    """The env's feedback *after* the action; empty when it was fine."""
    elements: str = ""
    tokens: TokenRecord | None = None
    caption: str = ""
    reward: float = 0.0
    action_error: str | None = None
    times: dict[str, float] = field(default_factory=dict)
    """Seconds by phase: act, action, capture, decode."""
    usage: TokenUsage | None = None
    """What the server counted that was asked; None where none was, or it tells nothing."""

    @property
    def seen(self) -> str:
        """What tells apart what the agent saw: the picture's hash, or without one the elements."""
        return self.screenshot_id or self.elements


@dataclass
class Episode:
    """One episode, whole.

    `failure` names a fault of the infrastructure (``"device: ..."``); such an episode says nothing
    about the agent. `final_screenshot_id` is the last picture's.
    """

    task: str
    seed: int
    goal: str
    turns: list[Turn]
    id: str = ""
    group: str = ""
    split: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    score: float = 0.0
    success: bool = False
    terminated: bool = False
    truncated: bool = False
    failure: str | None = None
    notes: str = ""
    final_screenshot_id: str = ""
    seconds: float = 0.0
    blind_rate: float | None = None
    """What a guesser would reach here (`Task.blind_rate`)."""
    version: int = 0
    """The policy's version at the first turn."""
    max_turns: int | None = None
    """The number of turns after which the episode would have been cut; None: not recorded."""
    purpose: Purpose = NOT_SAID
    started_at: str = ""
    """When it began, ISO 8601 in UTC; it ended `seconds` later. Empty: not recorded."""

    @property
    def screenshot_ids(self) -> tuple[str, ...]:
        """The pictures' hashes, one a turn and the last; empty where there was none."""
        return (*(turn.screenshot_id for turn in self.turns), self.final_screenshot_id)

    @property
    def finished_at(self) -> str:
        """When it ended, as `started_at` says it."""
        if not self.started_at:
            return ""
        begun = datetime.fromisoformat(self.started_at)
        return (begun + timedelta(seconds=self.seconds)).isoformat()

    @property
    def steps(self) -> int:
        return len(self.turns)

    @property
    def valid_action_share(self) -> float:
        """The share of turns whose actions could all be done, in [0, 1]; 0 without any turn."""
        valid = sum(turn.action_error is None for turn in self.turns)
        return valid / len(self.turns) if self.turns else 0.0

    @property
    def consecutive_repeats(self) -> int:
        """How many turns say what the turn before said, though that had changed nothing.

        Scrolling on, or pressing the same key again, is no repeat: the picture is another one.
        """
        pairs = itertools.pairwise(self.turns)
        return sum(
            a.seen == b.seen and a.action_text.strip() == b.action_text.strip() for a, b in pairs
        )

    @property
    def ran_out_of_turns(self) -> bool:
        """Whether it was cut at the limit of turns."""
        return self.truncated and self.failure is None

    @property
    def first_success_turn(self) -> int | None:
        """The number (from 1) of the turn that brought the score to 1; None if none did.

        Where the env rewards at the end alone (``reward="success"``), that is the last turn.
        """
        gained = 0.0
        for number, turn in enumerate(self.turns, start=1):
            gained += turn.reward
            if gained >= 1.0 - 1e-9:
                return number
        return self.steps if self.success and self.turns else None

    @property
    def turn_share(self) -> float | None:
        """Turns taken, as a share of `max_turns`; None where that was not recorded."""
        return self.steps / self.max_turns if self.max_turns else None

    @property
    def error_counts(self) -> dict[str, int]:
        """How many actions failed, by kind (parse, name, argument, runtime)."""
        return Counter(turn.action_error for turn in self.turns if turn.action_error)
